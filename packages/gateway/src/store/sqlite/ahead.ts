// Between the threads that sign ahead and write: gathering what is to be signed, and collecting what has been.

import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import type { Entry } from '@tollgate/kernel'
import { packEntries, type PackedEntries } from './batch.ts'
import type { Seal } from './seal.ts'

/** Signatures and leaves, 96 bytes for each id. */
export interface SealedAhead {
  /** One behind the other, 64 characters each. */
  readonly ids: string
  readonly seals: Uint8Array<ArrayBuffer>
}

const SEAL = 96
// Handed over in pieces of this many: waking a thread costs as much as a signature. What is left over when the batch is
// written, the writer signs itself.
const PIECE = 16

/** Gathers entries for the thread that signs. */
export interface Gatherer {
  add(entries: readonly Entry[]): void
  /** Forgets what was gathered and not handed over: its batch is on its way. */
  forget(): void
}

/** Gathers entries, and hands them to `send` in pieces. */
export function createGatherer(send: (entries: PackedEntries) => void): Gatherer {
  let gathered: Entry[] = []
  return {
    add(entries) {
      gathered.push(...entries)
      if (gathered.length < PIECE) return
      send(packEntries(gathered))
      gathered = []
    },
    forget() {
      gathered = []
    },
  }
}

/** Collects what was signed ahead. */
export interface Collector {
  /** The seal of an entry, once; undefined if it was not signed ahead. */
  take(id: string): Seal | undefined
  /** Takes in what has come, before a batch; and forgets what no batch has asked for. */
  collect(): void
}

/** Collects from a port; without one there is nothing to collect. */
export function createCollector(port: MessagePort | undefined): Collector {
  let seals = new Map<string, Seal>()
  return {
    take: (id) => seals.get(id),
    collect() {
      if (!port) return
      // Only entries of the next batch, or of the one behind it, are ever signed ahead.
      if (seals.size > MOST_KEPT) seals = new Map()
      for (let got = receiveMessageOnPort(port); got; got = receiveMessageOnPort(port)) {
        // Sound: only `signer-thread.ts` writes to the other end.
        const { ids, seals: bytes } = got.message as SealedAhead
        for (let i = 0; SEAL * i < bytes.length; i++) {
          const at = SEAL * i
          const id = ids.slice(64 * i, 64 * (i + 1))
          seals.set(id, { signature: bytes.subarray(at, at + 64), leaf: bytes.subarray(at + 64, at + SEAL) })
        }
      }
    },
  }
}

const MOST_KEPT = 20_000
