// Shares the signatures of a batch between the writer thread and the signer thread, and collects them.

import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Seal } from '../seal.ts'

/** Signatures and leaves, 96 bytes per id. */
export interface SharedSeals {
  /** Concatenated, 64 characters each. */
  readonly ids: string
  readonly seals: Uint8Array<ArrayBuffer>
}

const SEAL = 96
// Signing fewer entries is faster than waking a thread.
const WORTH_SHARING = 8

/** How many of the first entries the signer thread signs: all while the writer is busy, otherwise half of them. */
export function shareOf(entries: number, busy: boolean): number {
  if (entries < WORTH_SHARING) return 0
  return busy ? entries : Math.floor(entries / 2)
}

export interface Collector {
  /** The seal of an entry from the signer thread; undefined if it does not arrive. Each seal is returned once. */
  take(id: string): Promise<Seal | undefined>
}

// Longer than any batch takes. After one such wait the writer signs everything itself.
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
