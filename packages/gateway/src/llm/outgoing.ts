// The outgoing side of a stream, with flow control and keep-alive comments.

import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { SSE_COMMENT } from '../sse.ts'

/** Cuts the connection after a partial answer. */
class BrokenOff extends Error {
  constructor() {
    super('the reply ended early')
    this.name = 'BrokenOff'
  }
}

// Fractions of the quiet interval.
const PARTS = 3
// A reader that takes nothing for this long is gone.
const STALLED_MS = 120_000
// Above this length of unread text, the writer waits.
const MUCH = 65_536

export class Outgoing implements AsyncIterable<string> {
  readonly #onGone: () => void
  readonly #alive: NodeJS.Timeout
  #unread = ''
  #ended: 'whole' | 'broken' | undefined
  /** Fractions of the quiet interval since the last text. */
  #quietFor = 0
  #wake = (): void => undefined
  #resume = (): void => undefined

  /** `onGone` is called when the reader is gone. `ping` is sent after `quiet` milliseconds without text. */
  constructor(quiet: number, onGone: () => void, ping: string = SSE_COMMENT) {
    this.#onGone = onGone
    this.#alive = setInterval(() => {
      if (++this.#quietFor >= PARTS) this.write(ping)
    }, quiet / PARTS).unref()
  }

  /** Queues a text for the reader. */
  write(text: string): void {
    if (this.#ended !== undefined || text === '') return
    this.#quietFor = 0
    this.#unread += text
    this.#wake()
  }

  /** Waits while too much text is unread. */
  async drained(): Promise<void> {
    if (this.#unread.length <= MUCH || this.#ended !== undefined) return
    const late = setTimeout(() => {
      this.#onGone()
      this.end('broken')
    }, STALLED_MS)
    await new Promise<void>((resolve) => (this.#resume = resolve))
    clearTimeout(late)
  }

  /** Ends the stream. A broken stream cuts the connection, so that the reader does not take it for whole. */
  end(how: 'whole' | 'broken'): void {
    this.#ended = how
    clearInterval(this.#alive)
    this.#wake()
    this.#resume()
  }

  [Symbol.asyncIterator](): AsyncIterator<string, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.#onGone()
        this.end('whole')
        this.#unread = ''
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  async #next(): Promise<IteratorResult<string, undefined>> {
    const isEmpty = (): boolean => this.#unread === ''
    if (isEmpty() && this.#ended === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (isEmpty() && this.#ended === 'broken') throw new BrokenOff()
    if (isEmpty()) return { done: true, value: undefined }
    const value = this.#unread
    this.#unread = ''
    this.#resume()
    return { done: false, value }
  }
}
