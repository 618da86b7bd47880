// Who waits: streams, and requests that are answered when something happens. They end when the gateway does, and nobody may
// have so many that there is no connection left for others.

import type { Identity } from '../tokens.ts'
import { Problem } from './problem.ts'
import type { DoorRequest } from './route.ts'

/** Everything that waits. */
interface Waits {
  /**
   * Counts one more that waits, in the same tick, until the returned function is called or the caller is gone.
   *
   * @throws Problem `too-many-waiting` if the principal has as many as it may.
   */
  reserve(identity: Identity, asked: DoorRequest): () => void
  /** Calls back when all of them are to end or the caller is gone, until the returned function is called. */
  add(asked: DoorRequest, listener: () => void): () => void
  end(): void
}

const MOST_OF_ONE = 32

/** Nobody waits. */
export function createWaits(): Waits {
  const listeners = new Set<() => void>()
  const open = new Map<string, number>()

  function reserve(identity: Identity, asked: DoorRequest): () => void {
    const owner = ownerOf(identity)
    const before = open.get(owner) ?? 0
    if (before >= MOST_OF_ONE) throw new Problem('too-many-waiting')
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

/** One name for a principal of a tenant. */
export function ownerOf({ tenant, principal }: Identity): string {
  return `${tenant}\n${principal}`
}

/** Lowers a count; what is at nothing is forgotten. */
export function lower(counts: Map<string, number>, owner: string): void {
  const left = (counts.get(owner) ?? 0) - 1
  if (left > 0) counts.set(owner, left)
  else counts.delete(owner)
}

/** Runs something once: when the returned function is called, or when the caller is gone, whatever is first. */
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
