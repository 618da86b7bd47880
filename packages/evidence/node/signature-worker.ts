// The worker thread that checks batches of signatures.

import { parentPort } from 'node:worker_threads'
import { importPublicKey, type PublicKey } from '../src/index.ts'
import { signatureHolds } from '../src/receipt.ts'
import type { Batch, Answer } from './pool.ts'

const keys = new Map<string, PublicKey>()

parentPort?.on('message', (batch: Batch) => {
  answer(batch).then(
    (reply) => parentPort?.postMessage(reply),
    // Answered, not thrown: the pool must learn of the failure under any `--unhandled-rejections` mode.
    () => parentPort?.postMessage({ id: batch.id } satisfies Answer),
  )
})

async function answer({ id, keys: rawKeys, jobs, bytes }: Batch): Promise<Answer> {
  const known = rawKeys.map(keyFor)
  const holds = new Uint8Array(jobs.length / 2)
  let at = 0
  for (let i = 0; i < holds.length; i++) {
    const [keyIndex = 0, length = 0] = jobs.subarray(2 * i, 2 * i + 2)
    const signature = bytes.subarray(at, at + 64)
    const payload = bytes.subarray(at + 64, at + 64 + length)
    at += 64 + length
    const key = known[keyIndex]
    holds[i] = key && (await signatureHolds({ payload, signature }, key)) ? 1 : 0
  }
  return { id, holds }
}

/** Imports each key once per thread: the check of its order takes longer than a signature. */
function keyFor(raw: Uint8Array): PublicKey {
  const name = Buffer.from(raw).toString('hex')
  const known = keys.get(name) ?? importPublicKey(raw)
  keys.set(name, known)
  return known
}
