// Decompresses deflate data: raw, or in gzip and zlib frames.

import { isText } from './bytes.ts'
import { inflate } from './inflate.ts'

/** The number of bytes that may still be decompressed for a text. */
export interface UnpackBudget {
  left: number
}

const SAMPLE = 96
const MIN_LENGTH = 12
// A raw stream has no signature, so a shorter one could be text by chance.
const MIN_RAW_LENGTH = 18

/** Returns the decompressed text; undefined if there is none. */
export function unpacked(bytes: Uint8Array, budget: UnpackBudget): Uint8Array | undefined {
  const start = bodyOf(bytes)
  if (bytes.length - start < MIN_LENGTH || (start === 0 && bytes.length < MIN_RAW_LENGTH)) return undefined
  if (!isText(inflate(bytes, start, Math.min(SAMPLE, budget.left)))) return undefined
  const text = inflate(bytes, start, budget.left)
  budget.left -= text.length
  return text
}

/** Returns the start of the stream, after its frame if it has one. */
function bodyOf(bytes: Uint8Array): number {
  const [first = 0, second = 0, third = 0, flags = 0] = bytes
  if (first === 0x1f && second === 0x8b && third === 8) return gzipBody(bytes, flags)
  return first === 0x78 && ((first << 8) | second) % 31 === 0 && (second & 0x20) === 0 ? 2 : 0
}

function gzipBody(bytes: Uint8Array, flags: number): number {
  let place = 10
  if ((flags & 4) !== 0) place += 2 + (bytes[place] ?? 0) + ((bytes[place + 1] ?? 0) << 8)
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue
    while (place < bytes.length && bytes[place] !== 0) place++
    place++
  }
  return (flags & 2) === 0 ? place : place + 2
}
