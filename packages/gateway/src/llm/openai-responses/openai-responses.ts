// The Responses API of OpenAI, and of whoever speaks it.

import type { Dialect } from '../dialect.ts'
import { governReply } from './reply.ts'
import { readRequest } from './request.ts'
import { openStream } from './stream.ts'

/** OpenAI's Responses. */
export const openaiResponses: Dialect = { provider: 'openai', readRequest, governReply, openStream }
