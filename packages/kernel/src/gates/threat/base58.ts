// Decodes base58. The whole run is one large number, so its length is limited to bound the work.

import { codeAt, type View } from './view.ts'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const VALUES = new Int8Array(128).fill(-1)
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i

const MIN_RUN_LENGTH = 24
const MAX_RUN_LENGTH = 512
// A limb has 24 bits, so that 58 times a limb plus a carry fits into 32 bits.
const LIMB_BITS = 24
const LIMB = 0xffffff

/** Returns the bytes of a base58 run; undefined if it is not base58, too short or too long. */
export function base58(view: View, start: number, end: number): Uint8Array | undefined {
  if (end - start < MIN_RUN_LENGTH || end - start > MAX_RUN_LENGTH || !isBase58(view, start, end))
    return undefined
  const limbs = new Int32Array(Math.ceil(((end - start) * 6) / LIMB_BITS))
  let used = 0
  for (let i = start; i < end; i++) {
    let carry = VALUES[codeAt(view, i)] ?? 0
    for (let n = 0; n < used || carry > 0; n++) {
      const value = (limbs[n] ?? 0) * 58 + carry
      limbs[n] = value & LIMB
      carry = value >>> LIMB_BITS
      used = Math.max(used, n + 1)
    }
  }
  return bytesOf(limbs, used)
}

/** Returns whether all units are in the alphabet and have all three kinds: digits, capitals and small letters. */
function isBase58(view: View, start: number, end: number): boolean {
  let kinds = 0
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code > 127 || (VALUES[code] ?? -1) < 0) return false
    kinds |= code < 58 ? 1 : code < 91 ? 2 : 4
  }
  return kinds === 7
}

function bytesOf(limbs: Int32Array, used: number): Uint8Array {
  const bytes = new Uint8Array(used * 3)
  for (let n = 0; n < used; n++) {
    const limb = limbs[used - 1 - n] ?? 0
    bytes.set([limb >> 16, (limb >> 8) & 255, limb & 255], n * 3)
  }
  let first = 0
  while (first < bytes.length && bytes[first] === 0) first++
  return bytes.subarray(first)
}
