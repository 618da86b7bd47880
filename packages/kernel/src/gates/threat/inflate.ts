// Decompresses deflate data (RFC 1951) up to a limit, because a small text can expand to a huge one.

const MAX_BITS = 15
const MAX_LENGTHS = 288

/** The number of codes of each length, and the symbols in the order of their codes. */
interface Codes {
  readonly counts: Uint16Array
  readonly symbols: Uint16Array
}

interface Stream {
  readonly bytes: Uint8Array
  place: number
  buffer: number
  held: number
  out: Uint8Array
  length: number
  readonly most: number
}

/** The stream is broken or ended. The output so far is valid. */
const BROKEN = -1

/** Returns the decompressed data from a position on, at most `most` bytes. A truncated stream is allowed. */
export function inflate(bytes: Uint8Array, start: number, most: number): Uint8Array {
  const out = new Uint8Array(Math.min(most, bytes.length * 4))
  const stream: Stream = { bytes, place: start, buffer: 0, held: 0, out, length: 0, most }
  for (let isLast = false; !isLast;) isLast = blockOf(stream)
  return stream.out.subarray(0, stream.length)
}

/** Decompresses one block; returns whether it was the last. */
function blockOf(stream: Stream): boolean {
  const last = bitsOf(stream, 1)
  const kind = bitsOf(stream, 2)
  if (last === BROKEN || kind === BROKEN || kind === 3) return true
  const codes = kind === 1 ? FIXED : kind === 2 ? dynamicCodes(stream) : undefined
  if (kind === 2 && codes === undefined) return true
  const whole = codes ? codedBlock(stream, codes[0], codes[1]) : storedBlock(stream)
  return !whole || last === 1
}

function bitsOf(stream: Stream, count: number): number {
  while (stream.held < count) {
    if (stream.place >= stream.bytes.length) return BROKEN
    stream.buffer |= (stream.bytes[stream.place++] ?? 0) << stream.held
    stream.held += 8
  }
  const value = stream.buffer & ((1 << count) - 1)
  stream.buffer >>>= count
  stream.held -= count
  return value
}

/** Writes a byte; returns false if the limit is reached. */
function put(stream: Stream, byte: number): boolean {
  if (stream.length >= stream.most) return false
  if (stream.length === stream.out.length) {
    const larger = new Uint8Array(Math.min(stream.most, stream.length * 2 + 64))
    larger.set(stream.out)
    stream.out = larger
  }
  stream.out[stream.length++] = byte
  return true
}

function storedBlock(stream: Stream): boolean {
  stream.buffer = stream.held = 0
  const { bytes, place } = stream
  const length = (bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8)
  const check = (bytes[place + 2] ?? 0) | ((bytes[place + 3] ?? 0) << 8)
  if (length !== (~check & 0xffff)) return false
  stream.place += 4
  for (let i = 0; i < length; i++) {
    if (stream.place >= stream.bytes.length || !put(stream, bytes[stream.place++] ?? 0)) return false
  }
  return true
}

// The first value and the number of extra bits of each length and distance symbol.
const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
] // oxfmt-ignore
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0] // oxfmt-ignore
const DISTANCES: readonly number[] = Array.from({ length: 30 }, (_, i) =>
  i < 4 ? i + 1 : ((2 + (i & 1)) << ((i >> 1) - 1)) + 1,
)

function codedBlock(stream: Stream, literals: Codes, distances: Codes): boolean {
  for (;;) {
    const symbol = symbolOf(stream, literals)
    if (symbol === 256) return true
    if (symbol === BROKEN || symbol > 285) return false
    if (symbol < 256 ? !put(stream, symbol) : !copy(stream, symbol - 257, distances)) return false
  }
}

function copy(stream: Stream, kind: number, distances: Codes): boolean {
  const more = bitsOf(stream, LENGTH_BITS[kind] ?? 0)
  const far = symbolOf(stream, distances)
  if (more === BROKEN || far === BROKEN || far > 29) return false
  const bits = bitsOf(stream, far < 4 ? 0 : (far >> 1) - 1)
  const distance = (DISTANCES[far] ?? 1) + bits
  if (bits === BROKEN || distance > stream.length) return false
  for (let left = (LENGTHS[kind] ?? 0) + more; left > 0; left--) {
    if (!put(stream, stream.out[stream.length - distance] ?? 0)) return false
  }
  return true
}

/** Returns the next symbol. The codes of each length are consecutive, so counting finds it. */
function symbolOf(stream: Stream, { counts, symbols }: Codes): number {
  let code = 0
  let first = 0
  let index = 0
  for (let length = 1; length <= MAX_BITS; length++) {
    const bit = bitsOf(stream, 1)
    if (bit === BROKEN) return BROKEN
    code |= bit
    const count = counts[length] ?? 0
    if (code - count < first) return symbols[index + code - first] ?? BROKEN
    index += count
    first = (first + count) << 1
    code <<= 1
  }
  return BROKEN
}

function codesOf(lengths: Uint8Array): Codes | undefined {
  const counts = new Uint16Array(MAX_BITS + 1)
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1
  let left = 1
  for (let length = 1; length <= MAX_BITS; length++) left = left * 2 - (counts[length] ?? 0)
  // More codes than this length allows.
  if (left < 0) return undefined
  const places = new Uint16Array(MAX_BITS + 2)
  for (let i = 1; i <= MAX_BITS; i++) places[i + 1] = (places[i] ?? 0) + (counts[i] ?? 0)
  const symbols = new Uint16Array(lengths.length)
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue
    const place = places[length] ?? 0
    symbols[place] = symbol
    places[length] = place + 1
  }
  return { counts, symbols }
}

const NO_CODES: Codes = { counts: new Uint16Array(MAX_BITS + 1), symbols: new Uint16Array(0) }
const FIXED: readonly [Codes, Codes] = [
  codesOf(
    Uint8Array.from({ length: MAX_LENGTHS }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8)),
  ) ?? NO_CODES,
  codesOf(new Uint8Array(30).fill(5)) ?? NO_CODES,
]

const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

function dynamicCodes(stream: Stream): readonly [Codes, Codes] | undefined {
  const literals = bitsOf(stream, 5) + 257
  const distances = bitsOf(stream, 5) + 1
  const given = bitsOf(stream, 4) + 4
  const small = new Uint8Array(19)
  for (let i = 0; i < given; i++) small[ORDER[i] ?? 0] = Math.max(0, bitsOf(stream, 3))
  const codes = codesOf(small)
  const lengths = codes && lengthsOf(stream, codes, literals + distances)
  if (!lengths || literals > 286 || lengths[256] === 0) return undefined
  const first = codesOf(lengths.subarray(0, literals))
  const second = codesOf(lengths.subarray(literals))
  return first && second ? [first, second] : undefined
}

/** Reads the code lengths, which are compressed: 16 repeats the last one, 17 and 18 are runs of zeros. */
function lengthsOf(stream: Stream, codes: Codes, count: number): Uint8Array | undefined {
  const lengths = new Uint8Array(count)
  for (let i = 0; i < count;) {
    const symbol = symbolOf(stream, codes)
    if (symbol === BROKEN || (symbol === 16 && i === 0)) return undefined
    if (symbol < 16) {
      lengths[i++] = symbol
      continue
    }
    const bits = bitsOf(stream, symbol === 16 ? 2 : symbol === 17 ? 3 : 7)
    const times = bits + (symbol === 18 ? 11 : 3)
    if (bits === BROKEN || i + times > count) return undefined
    lengths.fill(symbol === 16 ? (lengths[i - 1] ?? 0) : 0, i, i + times)
    i += times
  }
  return lengths
}
