// How much may be under way at once: nobody may have so much that there is no room for others.

import { Refused } from './dialect.ts'

/** Room for requests. */
export interface Room {
  /** Lets a request in, with a body of so many bytes; it leaves when the returned function is called. @throws Refused */
  enter(owner: string, bytes: number): () => void
}

const MOST_BYTES = 256 << 20
const MOST_OF_ONE = 256

/** An empty room. */
export function createRoom(mostBytes: number = MOST_BYTES, mostOfOne: number = MOST_OF_ONE): Room {
  const inside = new Map<string, number>()
  let held = 0
  return {
    enter(owner, bytes) {
      const own = inside.get(owner) ?? 0
      if (own >= mostOfOne) {
        throw new Refused(
          429,
          'TOO_MANY_OPEN',
          `there are ${own} requests under way already; wait for some to end`,
        )
      }
      if (held + bytes > mostBytes && held > 0) {
        throw new Refused(503, 'BUSY', 'too much is being sent at once; try again in a moment')
      }
      inside.set(owner, own + 1)
      held += bytes
      let left = false
      return () => {
        if (left) return
        left = true
        held -= bytes
        const now = (inside.get(owner) ?? 1) - 1
        if (now === 0) inside.delete(owner)
        else inside.set(owner, now)
      }
    },
  }
}
