// Who waits: streams, and requests that are answered when something happens. They end when the gateway does, and nobody may
// have so many that there is no connection left for others.

import type { Identity } from '../tokens.ts'
import { Problem } from './problem.ts'
import type { Asked } from './route.ts'

/** Everything that waits. */
export interface Waits {
  /** @throws Problem `too-many-waiting` if the principal has as many as it may. */
  check(identity: Identity): void
  /** Calls back when all of them are to end or the caller is gone, until the returned function is called. */
  add(identity: Identity, asked: Asked, listener: () => void): () => void
  end(): void
}

const MOST_OF_ONE = 32

/** Nobody waits. */
export function createWaits(): Waits {
  const waiting = new Map<() => void, string>()
  const ownerOf = ({ tenant, principal }: Identity): string => `${tenant}\n${principal}`
  return {
    check(identity) {
      const owner = ownerOf(identity)
      const open = [...waiting.values()].filter((each) => each === owner).length
      if (open >= MOST_OF_ONE) throw new Problem('too-many-waiting')
    },
    add(identity, asked, listener) {
      waiting.set(listener, ownerOf(identity))
      const forget = asked.onGone(listener)
      return () => {
        waiting.delete(listener)
        forget()
      }
    },
    end() {
      for (const listener of [...waiting.keys()]) listener()
    },
  }
}
