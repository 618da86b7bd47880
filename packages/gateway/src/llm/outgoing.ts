// A stream on its way out: what is written is taken as fast as the client takes it, and a quiet stream stays alive.

import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { SSE_COMMENT } from '../sse.ts'

/** A stream on its way out. */
export interface Outgoing extends AsyncIterable<string> {
  /** Gives a text to whoever takes them. */
  write(text: string): void
  /** Waits while too much has not been taken yet. */
  drained(): Promise<void>
  /** There is no more. What did not come to its end breaks off behind what was written: nobody may take it for whole. */
  end(how: 'whole' | 'broken'): void
}

/** Ends a connection behind half an answer. */
class BrokenOff extends Error {
  constructor() {
    super('the reply broke off')
    this.name = 'BrokenOff'
  }
}

// How finely silence is measured.
const PARTS = 3
// Who takes nothing for so long is gone.
const STALLED_MS = 120_000
// So much may wait; whoever writes it should then wait as well.
const MUCH = 65_536

/** Opens one. `onGone` is told if nobody takes it any more; a comment is sent whenever nothing was for `quiet` milliseconds. */
export function createOutgoing(quiet: number, onGone: () => void): Outgoing {
  let waiting = ''
  let ended: 'whole' | 'broken' | undefined
  let quietFor = 0
  let wake = (): void => undefined
  let room = (): void => undefined
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
    room()
  }

  async function next(): Promise<IteratorResult<string, undefined>> {
    if (waiting === '' && ended === undefined) await new Promise<void>((resolve) => (wake = resolve))
    if (waiting === '' && ended === 'broken') throw new BrokenOff()
    if (waiting === '') return { done: true, value: undefined }
    const value = waiting
    waiting = ''
    room()
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
      await new Promise<void>((resolve) => (room = resolve))
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
