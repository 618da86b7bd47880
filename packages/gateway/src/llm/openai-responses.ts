// The Responses API of OpenAI, and of whoever speaks it.

import type { Dialect } from './dialect.ts'
import { governReply } from './openai-responses-reply.ts'
import { readRequest } from './openai-responses-request.ts'
import { openStream } from './openai-responses-stream.ts'

/** OpenAI's Responses. */
export const openaiResponses: Dialect = { provider: 'openai', readRequest, governReply, openStream }
