// The number sequence of RFC 8785's published test file: the same values in the same order, one line each, hashed.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { formatNumber } from '../src/canonical.ts'
import { vectorFolder } from './json-vectors.ts'

/** SHA-256 of the published file's first lines, by their number. */
export const PUBLISHED: Readonly<Record<number, string>> = {
  1_000: 'be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687',
  10_000: 'b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892',
  100_000: '22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7',
  1_000_000: '49415fee2c56c77864931bd3624faad425c3c577d6d74e89a83bc725506dad16',
  10_000_000: 'b9f8a44a91d46813b21b9602e72f112613c91408db0b8341fb94603d9db135e0',
}

const CONSECUTIVE = 2000

/** Computes the published hashes of the first `lines` lines. */
export function hashNumberLines(lines: number): Record<number, string> {
  const hash = createHash('sha256')
  const reached: Record<number, string> = {}
  let chunk = ''
  let count = 0
  for (const line of numberLines()) {
    chunk += line
    count++
    if (count in PUBLISHED || chunk.length > 60_000) {
      hash.update(chunk)
      chunk = ''
    }
    if (count in PUBLISHED) reached[count] = hash.copy().digest('hex')
    if (count === lines) break
  }
  return reached
}

/** One line for each number: its bits in hexadecimal, a comma, its canonical form. */
function* numberLines(): Generator<string> {
  const view = new DataView(new ArrayBuffer(8))
  const line = (): string => `${bitsOf(view)},${formatNumber(view.getFloat64(0))}\n`
  for (const bits of staticBits()) {
    view.setBigUint64(0, bits)
    yield line()
  }
  for (let i = 0; i < CONSECUTIVE; i++) {
    view.setBigUint64(0, 0x0010000000000000n + BigInt(i))
    yield line()
  }
  for (let block = Buffer.alloc(32); ;) {
    block = createHash('sha256').update(block).digest()
    for (let at = 0; at < 32; at += 8) {
      const value = block.readDoubleLE(at)
      if (value === 0 || !Number.isFinite(value)) continue
      view.setFloat64(0, value)
      yield line()
    }
  }
}

function bitsOf(view: DataView): string {
  const high = view.getUint32(0)
  const low = view.getUint32(4).toString(16)
  return high === 0 ? low : high.toString(16) + low.padStart(8, '0')
}

function staticBits(): readonly bigint[] {
  const text = readFileSync(new URL('number-sequence.txt', vectorFolder('canonical')), 'utf8')
  const bits = text.trimEnd().split('\n')
  return bits.map((hex) => BigInt(`0x${hex}`))
}
