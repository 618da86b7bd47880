// The dialect of the Gemini API. The path says whether a reply is streamed, so there is one object for each form.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Dialect, type Judge } from '../dialect.ts'
import { ContentReply } from './reply.ts'
import { readContentRequest, readCountRequest } from './request.ts'
import { ContentStream } from './stream.ts'

/** Judges a whole reply. @throws Garbled */
async function governReply(reply: Json, judge: Judge): Promise<JsonObject> {
  if (!isObject(reply)) throw new Garbled('the reply is not an object')
  if (isObject(reply['error'])) throw new Garbled('the reply is an error without its status')
  const content = new ContentReply(judge)
  const governed = await content.take(reply)
  if (!content.isOver) judge.requireForced?.()
  return governed
}

function dialectOf(stream: boolean): Dialect {
  return {
    readRequest: (body, further, restored) => readContentRequest(stream, body, further, restored),
    governReply,
    openStream: (judge) => new ContentStream(judge),
  }
}

/** The dialect of `generateContent`. */
export const geminiContent: Dialect = dialectOf(false)

/** The dialect of `streamGenerateContent`. */
export const geminiStream: Dialect = dialectOf(true)

/** Reads the requests of `countTokens`. */
export const geminiCount: Pick<Dialect, 'readRequest'> = { readRequest: readCountRequest }
