// Verifies a pack on disk as a stream, with worker threads for large packs.

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { verifyPack, type Entry, type Progress, type Report, type Trust } from '../src/index.ts'
import { createSignaturePool } from './pool.ts'

/** The options of `verifyFile`. */
export interface VerifyFileOptions {
  readonly trust?: Trust
  /** Threads for signatures; 0 checks them in this thread. Default: one per core for large packs, else 0. */
  readonly workers?: number
  readonly onProgress?: (progress: Progress, total: number) => void
  /** As in `verifyPack`: an entry is an unverified claim until the report is there. */
  readonly onReceipt?: (entry: Entry) => void
}

// Below this size, starting a thread takes longer than checking the signatures.
const MIN_THREADED_BYTES = 2 << 20

/** Verifies a pack in a file. Throws only if the file cannot be read or a thread dies. */
export async function verifyFile(path: string, options: VerifyFileOptions = {}): Promise<Report> {
  const { size } = await stat(path)
  const workers = options.workers ?? (size >= MIN_THREADED_BYTES ? availableParallelism() : 0)
  const pool = workers > 0 ? createSignaturePool(workers) : undefined
  const input = createReadStream(path, { highWaterMark: 1 << 20 })
  try {
    // Sound: a stream without an encoding yields bytes.
    return await verifyPack(input as AsyncIterable<Uint8Array>, {
      ...(options.trust && { trust: options.trust }),
      ...(pool && { signatures: pool }),
      ...(options.onReceipt && { onReceipt: options.onReceipt }),
      onProgress: (progress) => options.onProgress?.(progress, size),
    })
  } finally {
    input.destroy()
    await pool?.close()
  }
}
