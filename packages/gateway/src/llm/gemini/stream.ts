// Governs a streamed Gemini reply. Each event is a response: its texts and calls are whole, so nothing is held longer than a decision
// takes.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type Rewriter } from '../dialect.ts'
import { isGiven, objectIn, word } from '../filter.ts'
import { formatSse, type SseEvent } from '../../sse.ts'
import { ContentReply } from './reply.ts'

/** Rewrites the events of one reply in order. Each waits for the one before. */
export class ContentStream implements Rewriter {
  failed = false
  readonly #reply: ContentReply
  /** Judgements that are running or have failed. Until they are settled, the stream has not ended. */
  #unsettled = 0

  constructor(judge: Judge) {
    this.#reply = new ContentReply(judge)
  }

  get ended(): boolean {
    return this.#unsettled === 0 && (this.failed || this.#reply.isOver)
  }

  take({ data }: SseEvent): string | Promise<string> {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8').trim()
    if (text === '') return ''
    if (this.failed) throw new Garbled('an event follows an error')
    const response = objectIn(text)
    if (!response) throw new Garbled('an event is not a JSON object')
    if (isGiven(response['error'])) return this.#fail(response['error'])
    // An unreadable event leaves the stream unsettled, so that it does not look whole.
    this.#unsettled++
    const taken = this.#reply.take(response)
    return taken instanceof Promise ? taken.then((made) => this.#settled(made)) : this.#settled(taken)
  }

  #settled(made: JsonObject): string {
    this.#unsettled--
    return formatSse(JSON.stringify(made))
  }

  #fail(error: Json): string {
    this.failed = true
    return formatSse(JSON.stringify({ error: errorOf(error) }))
  }
}

const MAX_ERROR = 500

function errorOf(error: Json): JsonObject {
  const { code, message, status } = isObject(error) ? error : {}
  return {
    code: typeof code === 'number' ? code : 500,
    message: typeof message === 'string' ? message.slice(0, MAX_ERROR) : 'the provider gives no reason',
    status: word(status) ?? 'INTERNAL',
  }
}
