// Limits the streams and waiting requests of each principal, so that it cannot use up all connections. Ends them when the
// gateway stops.

import type { Identity } from '../tokens.ts'
import { Problem } from './problem.ts'
import type { DoorRequest } from './route.ts'

interface Waits {
  /**
   * Counts one more waiting request until the returned function is called or the caller disconnects.
   *
   * @throws Problem `too-many-waiting` if the principal is at its limit.
   */
  reserve(identity: Identity, asked: DoorRequest): () => void
  /** Calls the listener when all must end or the caller disconnects. Returns a function that removes it. */
  add(asked: DoorRequest, listener: () => void): () => void
  end(): void
}

const MAX_OF_ONE = 32

export function createWaits(): Waits {
  const listeners = new Set<() => void>()
  const open = new Map<string, number>()

  function reserve(identity: Identity, asked: DoorRequest): () => void {
    const owner = ownerOf(identity)
    const before = open.get(owner) ?? 0
    if (before >= MAX_OF_ONE) throw new Problem('too-many-waiting')
    open.set(owner, before + 1)
    return untilGone(asked, () => lower(open, owner))
  }

  return {
    reserve,
    add(asked, listener) {
      listeners.add(listener)
      const forget = asked.onGone(listener)
      return () => {
        listeners.delete(listener)
        forget()
      }
    },
    end() {
      for (const listener of [...listeners]) listener()
    },
  }
}

/** A unique name for the principal within its tenant. */
export function ownerOf({ tenant, principal }: Identity): string {
  return `${tenant}\n${principal}`
}

/** Lowers a count. Removes it at zero. */
export function lower(counts: Map<string, number>, owner: string): void {
  const left = (counts.get(owner) ?? 0) - 1
  if (left > 0) counts.set(owner, left)
  else counts.delete(owner)
}

/** Runs a function once: when the returned function is called or the caller disconnects, whichever comes first. */
function untilGone(asked: DoorRequest, run: () => void): () => void {
  let done = false
  let forget = (): void => undefined
  const once = (): void => {
    if (done) return
    done = true
    forget()
    run()
  }
  forget = asked.onGone(once)
  return once
}
