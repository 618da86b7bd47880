// The answer to one HTTP request: a single JSON object if the answer comes first, else an event stream.

import type { Out } from '../conversation.ts'
import type { RpcError } from '../message.ts'
import { orLate } from '../waiting.ts'

type Opening =
  /** The answer, with nothing before it. */
  | { readonly kind: 'answer'; readonly text: string; readonly error: RpcError | undefined }
  /** Another message came first, or none for a while: from now on it is a stream. */
  | { readonly kind: 'stream' }
  /** There will be no answer. */
  | { readonly kind: 'ended' }

export type Ending =
  /** The answer has been sent. */
  | 'answered'
  /** The client disconnected. */
  | 'gone'
  /** There will be no answer: the client has cancelled. */
  | 'cancelled'
  /** The client does not read. */
  | 'flooded'
  /** The gateway ended it: the token is revoked, or the gateway stops. */
  | 'ended'

const OPENED = ': tollgate\n\n'
const BEAT = ': \n\n'

export class HttpChannel {
  readonly out: Out = { send: (...message) => this.#send(...message), end: () => this.end('cancelled') }
  readonly #most: number
  readonly #over: (why: Ending) => void
  /** The pieces of the stream that wait for the reader, and their length. */
  readonly #queue: string[] = []
  #length = 0
  #isStream = false
  #ending: Ending | undefined
  /** The answer, if nothing came before it. */
  #only: Opening | undefined
  /** Wakes the reader. */
  #wake = (): void => undefined

  /** Buffers at most `most` characters. `over` is called once, with the reason for the end. */
  constructor(most: number, over: (why: Ending) => void) {
    this.#most = most
    this.#over = over
  }

  end(why: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = why
    // The reader is gone.
    if (why !== 'answered' && why !== 'cancelled') this.#queue.length = 0
    this.#wake()
    this.#over(why)
  }

  #send(text: string, last: boolean, error?: RpcError): void {
    if (this.#ending !== undefined) return
    if (last && !this.#isStream && this.#queue.length === 0) this.#only = { kind: 'answer', text, error }
    else this.#push(`data: ${text}\n\n`)
    if (last) this.end('answered')
  }

  #push(piece: string): void {
    this.#length += piece.length
    this.#queue.push(piece)
    if (this.#length > this.#most) this.end('flooded')
    this.#wake()
  }

  /** Sends a heartbeat. A client that does not read gets only one. */
  beat(): void {
    if (this.#isStream && this.#isQuiet()) this.#push(BEAT)
  }

  #isQuiet(): boolean {
    return this.#queue.length === 0 && this.#ending === undefined
  }

  /** Waits at most `patience` milliseconds for the beginning of the answer. Called once. */
  async opening(patience: number): Promise<Opening> {
    if (this.#isQuiet()) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      await orLate(woken, patience)
    }
    if (this.#only) return this.#only
    // A cancelled request becomes a stream without an answer.
    this.#isStream = this.#queue.length > 0 || this.#ending === undefined || this.#ending === 'cancelled'
    return { kind: this.#isStream ? 'stream' : 'ended' }
  }

  /** The events of the stream, for one reader. */
  async *pieces(): AsyncGenerator<string> {
    // Sends something at once, so that the headers leave.
    if (this.#queue.length === 0) yield OPENED
    while (true) {
      const next = this.#queue.shift()
      if (next !== undefined) {
        this.#length -= next.length
        yield next
      } else if (this.#ending !== undefined) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
