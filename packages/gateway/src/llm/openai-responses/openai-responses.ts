import type { Dialect } from '../dialect.ts'
import { governReply } from './reply.ts'
import { readRequest } from './request.ts'
import { ResponseStream } from './stream.ts'

/** The dialect of OpenAI's Responses API, also of compatible servers. */
export const openaiResponses: Dialect = {
  provider: 'openai',
  readRequest,
  governReply,
  openStream: (judge, onItem) => new ResponseStream(judge, onItem),
}
