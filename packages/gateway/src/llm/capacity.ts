// How much may be under way at once: nobody may have so much that there is no room for others.

import { Refused } from './dialect.ts'

/** Capacity for requests. */
interface Capacity {
  /** Lets a request in, with a body of so many bytes. @throws Refused */
  enter(owner: string, bytes: number): RequestPlace
}

/** The place of one request. */
interface RequestPlace {
  /** Its body is of this size after all. @throws Refused */
  resize(bytes: number): void
  leave(): void
}

const MOST_BYTES = 256 << 20
const MOST_OF_ONE = 256

/** An empty room. Nobody has more than half of it. */
export function createCapacity(mostBytes: number = MOST_BYTES, mostOfOne: number = MOST_OF_ONE): Capacity {
  const inside = new Map<string, { count: number; bytes: number }>()
  let held = 0

  function add(owner: string, bytes: number): void {
    const own = inside.get(owner)
    if (!own) return
    own.bytes += bytes
    held += bytes
    if (own.count === 0) inside.delete(owner)
  }

  /** Whoever has nothing inside may send what is allowed at all, as long as the others leave room. */
  function requireCapacity(owner: string, bytes: number): void {
    const own = inside.get(owner)?.bytes ?? 0
    const mine = own === 0 || own + bytes <= mostBytes / 2
    const ours = held === 0 || held + bytes <= mostBytes
    if (!mine || !ours)
      throw new Refused(503, 'BUSY', 'too much is being sent at once; try again in a moment')
  }

  return {
    enter(owner, bytes) {
      const own = inside.get(owner) ?? { count: 0, bytes: 0 }
      if (own.count >= mostOfOne) {
        const message = `there are ${own.count} requests under way already; wait for some to end`
        throw new Refused(429, 'TOO_MANY_OPEN', message)
      }
      requireCapacity(owner, bytes)
      inside.set(owner, own)
      own.count++
      add(owner, bytes)
      let has = bytes
      let left = false
      return {
        resize(real) {
          if (left) return
          add(owner, -has)
          has = 0
          requireCapacity(owner, real)
          has = real
          add(owner, real)
        },
        leave() {
          if (left) return
          left = true
          own.count--
          add(owner, -has)
        },
      }
    },
  }
}
