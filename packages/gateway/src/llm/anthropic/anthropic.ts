// The dialect of Anthropic's Messages.

import { governReply } from './reply.ts'
import { readRequest } from './request.ts'
import { openStream } from './stream.ts'
import type { Dialect } from '../dialect.ts'

/** Anthropic's Messages. */
export const anthropicMessages: Dialect = { provider: 'anthropic', readRequest, governReply, openStream }
