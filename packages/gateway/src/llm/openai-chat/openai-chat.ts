// OpenAI's Chat Completions, as OpenAI and the servers that are compatible with it speak it.

import type { Dialect } from '../dialect.ts'
import { governChatReply } from './reply.ts'
import { readChatRequest } from './request.ts'
import { openChatStream } from './stream.ts'

/** The dialect of Chat Completions. */
export const openaiChat: Dialect = {
  provider: 'openai',
  readRequest: readChatRequest,
  governReply: governChatReply,
  openStream: openChatStream,
}
