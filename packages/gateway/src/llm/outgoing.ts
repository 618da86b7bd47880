// The outgoing side of a stream, with flow control and keep-alive comments.

import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { SSE_COMMENT } from '../sse.ts'

export interface Outgoing extends AsyncIterable<string> {
  /** Queues a text for the reader. */
  write(text: string): void
  /** Waits while too much text is unread. */
  drained(): Promise<void>
  /** Ends the stream. A broken stream cuts the connection, so that the reader does not take it for whole. */
  end(how: 'whole' | 'broken'): void
}

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

/** Opens a stream. `onGone` is called when the reader is gone. A comment is sent after `quiet` milliseconds without text. */
export function createOutgoing(quiet: number, onGone: () => void): Outgoing {
  let waiting = ''
  let ended: 'whole' | 'broken' | undefined
  let quietFor = 0
  let wake = (): void => undefined
  let resume = (): void => undefined
  const alive = setInterval(() => {
    if (++quietFor >= PARTS) write(SSE_COMMENT)
  }, quiet / PARTS)
  alive.unref()

  function write(text: string): void {
    if (ended !== undefined || text === '') return
    quietFor = 0
    waiting += text
    wake()
  }

  function end(how: 'whole' | 'broken'): void {
    ended = how
    clearInterval(alive)
    wake()
    resume()
  }

  async function next(): Promise<IteratorResult<string, undefined>> {
    if (waiting === '' && ended === undefined) await new Promise<void>((resolve) => (wake = resolve))
    if (waiting === '' && ended === 'broken') throw new BrokenOff()
    if (waiting === '') return { done: true, value: undefined }
    const value = waiting
    waiting = ''
    resume()
    return { done: false, value }
  }

  return {
    write,
    end,
    async drained() {
      if (waiting.length <= MUCH || ended !== undefined) return
      const late = setTimeout(() => {
        onGone()
        end('broken')
      }, STALLED_MS)
      await new Promise<void>((resolve) => (resume = resolve))
      clearTimeout(late)
    },
    [Symbol.asyncIterator]: () => ({
      next,
      return() {
        onGone()
        end('whole')
        waiting = ''
        return Promise.resolve({ done: true, value: undefined })
      },
    }),
  }
}
