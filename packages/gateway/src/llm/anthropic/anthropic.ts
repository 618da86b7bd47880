import { governReply } from './reply.ts'
import { readRequest } from './request.ts'
import { MessageStream } from './stream.ts'
import type { Dialect } from '../dialect.ts'

/** The dialect of Anthropic's Messages API. */
export const anthropicMessages: Dialect = {
  provider: 'anthropic',
  readRequest,
  governReply,
  openStream: (judge) => new MessageStream(judge),
}
