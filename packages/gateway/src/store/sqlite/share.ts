// Sharing the signatures of a batch between two threads: which of them the other one makes, and collecting those.

import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Seal } from './seal.ts'

/** Signatures and leaves, 96 bytes for each id. */
export interface SharedSeals {
  /** One behind the other, 64 characters each. */
  readonly ids: string
  readonly seals: Uint8Array<ArrayBuffer>
}

const SEAL = 96
// Fewer are signed sooner than a thread is woken.
const WORTH_SHARING = 8

/** How many of the first entries of a batch the other thread signs: all while the writer is busy, else every other one. */
export function shareOf(entries: number, busy: boolean): number {
  if (entries < WORTH_SHARING) return 0
  return busy ? entries : Math.floor(entries / 2)
}

/** Collects what the other thread has signed. */
export interface Collector {
  /** The seal of an entry that the other thread was to sign; undefined if it does not come. Each is given out once. */
  take(id: string): Promise<Seal | undefined>
}

// Longer than any batch takes to sign. Who waited so long in vain signs by itself from then on.
const PATIENCE_MS = 2000

/** Collects from a port; without one there is nothing to collect. */
export function createCollector(port: MessagePort | undefined): Collector {
  const seals = new Map<string, Seal>()
  let alive = port !== undefined

  function collect(): void {
    for (let got = port && receiveMessageOnPort(port); got; got = port && receiveMessageOnPort(port)) {
      // Sound: only `signer-thread.ts` writes to the other end.
      const { ids, seals: bytes } = got.message as SharedSeals
      for (let i = 0; SEAL * i < bytes.length; i++) {
        const at = SEAL * i
        const seal = { signature: bytes.subarray(at, at + 64), leaf: bytes.subarray(at + 64, at + SEAL) }
        seals.set(ids.slice(64 * i, 64 * (i + 1)), seal)
      }
    }
  }

  return {
    async take(id) {
      const end = performance.now() + PATIENCE_MS
      while (alive && !seals.has(id)) {
        collect()
        if (seals.has(id)) break
        alive = performance.now() < end
        await new Promise((resolve) => setImmediate(resolve))
      }
      const seal = seals.get(id)
      seals.delete(id)
      return seal
    },
  }
}
