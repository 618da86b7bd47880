// The thread that signs its share of a batch while the writer signs the rest or waits for the disk. The writer itself signs
// what does not arrive in time.

import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { SharedSeals } from './share.ts'
import { unpackEntries, type PackedEntries } from './batch.ts'
import { createSealer, importSeeds } from '../seal.ts'

export interface SignerThreadData {
  readonly seeds: readonly Uint8Array[]
  /** The port to the writer, for signatures. */
  readonly port: MessagePort
}

// Sound: `store.ts` passes this value.
const { seeds, port } = workerData as SignerThreadData
const sealer = importSeeds(seeds).then(createSealer)

parentPort?.on('message', (packed: PackedEntries) => void sealAll(packed))

async function sealAll(packed: PackedEntries): Promise<void> {
  const seal = await sealer
  const entries = unpackEntries(packed)
  const seals = new Uint8Array(SEAL * entries.length)
  let at = 0
  for (const entry of entries) {
    const { signature, leaf } = await seal(entry)
    seals.set(signature, at)
    seals.set(leaf, at + 64)
    at += SEAL
  }
  const sealed: SharedSeals = { ids: entries.map(({ id }) => id).join(''), seals }
  port.postMessage(sealed, [seals.buffer])
}

const SEAL = 96
