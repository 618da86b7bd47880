// Limits the concurrent requests of the door and their memory, so that one principal cannot use all of it.

import { Refused } from './dialect.ts'

interface Capacity {
  /** Admits a request with a body of so many bytes. @throws Refused */
  enter(owner: string, bytes: number): RequestPlace
}

interface RequestPlace {
  /** Corrects the size of its body. @throws Refused */
  resize(bytes: number): void
  leave(): void
}

const MAX_BYTES = 256 << 20
const MAX_PER_OWNER = 256

/** Returns an empty capacity. One owner gets at most half of the bytes. */
export function createCapacity(maxBytes: number = MAX_BYTES, maxPerOwner: number = MAX_PER_OWNER): Capacity {
  const inside = new Map<string, { count: number; bytes: number }>()
  let held = 0

  function add(owner: string, bytes: number): void {
    const own = inside.get(owner)
    if (!own) return
    own.bytes += bytes
    held += bytes
    if (own.count === 0) inside.delete(owner)
  }

  /** An owner without active requests may send a body of any allowed size, if there is capacity left. */
  function requireCapacity(owner: string, bytes: number): void {
    const own = inside.get(owner)?.bytes ?? 0
    const mine = own === 0 || own + bytes <= maxBytes / 2
    const ours = held === 0 || held + bytes <= maxBytes
    if (!mine || !ours) throw new Refused(503, 'BUSY', 'the gateway is busy; try again in a moment')
  }

  return {
    enter(owner, bytes) {
      const own = inside.get(owner) ?? { count: 0, bytes: 0 }
      if (own.count >= maxPerOwner) {
        const message = `${own.count} requests are already in progress; wait for some to end`
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
