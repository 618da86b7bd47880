// Checks signatures in worker threads. In one thread they take most of the time of a verification.

import { Worker } from 'node:worker_threads'
import type { SignatureChecker, SignatureJob } from '../src/index.ts'

/** A message to a worker. `jobs` has the key index and payload length of each job, `bytes` all signatures and payloads. */
export interface Batch {
  readonly id: number
  readonly keys: readonly Uint8Array[]
  readonly jobs: Uint32Array
  readonly bytes: Uint8Array
}

/** The answer of a worker: 1 for each valid signature. `holds` is missing if the worker failed. */
export interface Answer {
  readonly id: number
  readonly holds?: Uint8Array
}

/** A checker with threads. Close it, or its threads keep the process running. */
export interface SignaturePool extends SignatureChecker {
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (answers: readonly boolean[]) => void
  readonly reject: (fault: Error) => void
}

/** Starts a pool of `size` threads. If a thread dies, all running and later batches are rejected. */
export function createSignaturePool(size: number): SignaturePool {
  const waiting = new Map<number, Waiting>()
  let next = 0
  let broken: Error | undefined

  function fail(fault: Error): void {
    broken ??= fault
    for (const { reject } of waiting.values()) reject(broken)
    waiting.clear()
  }

  function start(): Worker {
    const worker = new Worker(new URL('./signature-worker.js', import.meta.url))
    worker.on('message', ({ id, holds }: Answer) => {
      if (!holds) return fail(new Error('a worker thread failed to check signatures'))
      waiting.get(id)?.resolve(Array.from(holds, (held) => held === 1))
      waiting.delete(id)
    })
    worker.on('error', fail)
    worker.on('messageerror', fail)
    worker.on('exit', () => fail(new Error('a worker thread that checks signatures ended')))
    return worker
  }

  const workers = Array.from({ length: size }, start)
  return {
    // Two batches per thread: one in progress and one queued, so that no thread idles.
    parallel: 2 * size,
    check(jobs) {
      return new Promise((resolve, reject) => {
        if (broken) return reject(broken)
        const id = next++
        const batch = pack(id, jobs)
        waiting.set(id, { resolve, reject })
        // Sound: `size` is at least 1, and the index is below it.
        const worker = workers[id % size] as Worker
        worker.postMessage(batch, [batch.bytes.buffer as ArrayBuffer])
      })
    },
    async close() {
      broken ??= new Error('the pool is closed')
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function pack(id: number, jobs: readonly SignatureJob[]): Batch {
  const keys = [...new Map(jobs.map(({ key }) => [key.id, key.bytes]))]
  const places = new Map(keys.map(([keyId], place) => [keyId, place]))
  const table = new Uint32Array(2 * jobs.length)
  const bytes = new Uint8Array(jobs.reduce((sum, { receipt }) => sum + 64 + receipt.payload.length, 0))
  let at = 0
  for (const [i, { receipt, key }] of jobs.entries()) {
    table.set([places.get(key.id) ?? 0, receipt.payload.length], 2 * i)
    bytes.set(receipt.signature, at)
    bytes.set(receipt.payload, at + 64)
    at += 64 + receipt.payload.length
  }
  return { id, keys: keys.map(([, raw]) => raw), jobs: table, bytes }
}
