// The dialect of Anthropic's Messages.

import { governReply } from './anthropic-reply.ts'
import { readRequest } from './anthropic-request.ts'
import { openStream } from './anthropic-stream.ts'
import type { Dialect } from './dialect.ts'

/** Anthropic's Messages. */
export const anthropicMessages: Dialect = { provider: 'anthropic', readRequest, governReply, openStream }
