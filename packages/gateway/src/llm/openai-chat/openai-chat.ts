import type { Dialect } from '../dialect.ts'
import { governChatReply } from './reply.ts'
import { readChatRequest } from './request.ts'
import { ChatStream } from './stream.ts'

/** The dialect of Chat Completions, of OpenAI and compatible servers. */
export const openaiChat: Dialect = {
  provider: 'openai',
  readRequest: readChatRequest,
  governReply: governChatReply,
  openStream: (judge) => new ChatStream(judge),
}
