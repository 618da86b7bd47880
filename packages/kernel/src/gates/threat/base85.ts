// Decodes base85 in three alphabets: Ascii85, RFC 1924 and Z85. Its runs contain punctuation, so the search looks for long
// ranges without white space.

import { isInvalid, isText, moreAfter, writeText } from './bytes.ts'
import { codeAt, type View, type Writer } from './view.ts'

const DIGITS = '0123456789'
const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SMALL = CAPITALS.toLowerCase()

const ALPHABETS: readonly Int8Array[] = [
  String.fromCharCode(...Array.from({ length: 85 }, (_, i) => i + 33)),
  `${DIGITS}${CAPITALS}${SMALL}!#$%&()*+-;<=>?@^_\`{|}~`,
  `${DIGITS}${SMALL}${CAPITALS}.-:+=^!/*?&<>()[]{}@%$#`,
].map((alphabet) => {
  const values = new Int8Array(128).fill(-1)
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
  return values
})

const MIN_RUN_LENGTH = 25

/** Decodes the base85 runs of a view. */
export function decodeBase85(view: View, out: Writer): void {
  for (let i = 0; i < view.length;) {
    const last = lastBlank(view, i)
    if (last >= i) {
      i = last + 1
      continue
    }
    let end = i + MIN_RUN_LENGTH
    while (end < view.length && isVisible(codeAt(view, end))) end++
    i = Math.max(end, decodeStretch(view, i, end, out))
  }
}

/** Returns the last blank in the next `MIN_RUN_LENGTH` units; less than `start` if there is none. Skips most words quickly. */
function lastBlank(view: View, start: number): number {
  const { codes } = view
  let i = start + MIN_RUN_LENGTH - 1
  // The end of the view counts as a blank.
  if (i >= view.length) return i
  while (i >= start && isVisible(codes[i] ?? 0)) i--
  return i
}

function isVisible(code: number): boolean {
  return code > 32 && code < 127
}

/** Decodes the runs in a range without white space, which may be a whole document. Returns the end of the decoded part. */
function decodeStretch(view: View, start: number, end: number, out: Writer): number {
  const { codes } = view
  for (let i = start; i + MIN_RUN_LENGTH <= end;) {
    const before = i === start ? 0 : (codes[i - 1] ?? 0)
    if (i > start && OPENS[before] === 0) {
      i++
      continue
    }
    const closed = closedBy(view, i, before)
    i = closed > i ? closed : Math.max(i + 1, decodeAt(view, i, out))
    if (i > end) return i
  }
  return end
}

// A run can begin after quotes, `=`, and the `~` of `<~`.
const OPENS = new Uint8Array(128)
for (const sign of '"\'`=~') OPENS[sign.charCodeAt(0)] = 1

/** Returns the end of a string that is too short for a run; 0 if it is long enough or no string begins here. */
function closedBy(view: View, start: number, quote: number): number {
  if (quote !== 0x22 && quote !== 0x27 && quote !== 0x60) return 0
  const { codes } = view
  for (let i = start; i < start + MIN_RUN_LENGTH; i++)
    if (codes[i] === quote && codes[i - 1] !== 0x5c) return Math.max(i, start + 1)
  return 0
}

function decodeAt(view: View, start: number, out: Writer): number {
  for (const values of ALPHABETS) {
    if (!mayBeText(view, start, values)) continue
    const sample = decodeRun(view, start, values, MIN_RUN_LENGTH)
    if (sample.bytes.length < 20 || !isText(sample.bytes)) continue
    const { bytes, end } = decodeRun(view, start, values, Infinity)
    writeText(view, start, end, bytes, out)
    return end
  }
  return 0
}

const SAMPLE = 10

/** Returns whether the first two groups can be text. */
function mayBeText(view: View, start: number, values: Int8Array): boolean {
  let group = 0
  let more = 0
  for (let i = 0; i < SAMPLE; i++) {
    const code = codeAt(view, start + i)
    const value = code < 128 ? (values[code] ?? -1) : -1
    if (value < 0) return false
    group = i % 5 === 0 ? value : group * 85 + value
    if (i % 5 === 4) more = moreAfterGroup(group, more)
    if (more < 0) return false
  }
  return true
}

/** Returns the expected number of continuation bytes after a group; -1 if it cannot be text. */
function moreAfterGroup(group: number, before: number): number {
  if (group > 0xffffffff) return -1
  let more = before
  for (let shift = 24; shift >= 0; shift -= 8) {
    const byte = (group >>> shift) & 255
    if (byte === 0 || isInvalid(byte, more)) return -1
    more = moreAfter(byte, more)
  }
  return more
}

const FULL_LINE = 56

interface Base85Run {
  readonly bytes: Uint8Array
  readonly end: number
}

/** Decodes groups of five from a position on, at most `most` units. A full line continues in the next. */
function decodeRun(view: View, start: number, values: Int8Array, most: number): Base85Run {
  const bytes: number[] = []
  let group: number[] = []
  let line = start
  let end = start
  let i = start
  for (; i < Math.min(view.length, start + most); i++) {
    const code = codeAt(view, i)
    if ((code === 10 || code === 13) && i - line >= FULL_LINE) {
      if (code === 13 && codeAt(view, i + 1) === 10) i++
      line = i + 1
      continue
    }
    const value = code < 128 ? (values[code] ?? -1) : -1
    // `z` is four zeros, which text does not contain. A run ends with `~>` or a quote.
    if (value < 0 || (code === 0x7e && codeAt(view, i + 1) === 0x3e)) break
    group.push(value)
    end = i + 1
    if (group.length < 5) continue
    // The bytes so far are valid. The rest of a document may follow.
    if (!take(group, 4, bytes)) return { bytes: Uint8Array.from(bytes), end: end - 5 }
    group = []
  }
  if (group.length > 1) {
    const { length } = group
    take([...group, 84, 84, 84].slice(0, 5), length - 1, bytes)
  }
  return { bytes: Uint8Array.from(bytes), end }
}

/** Appends the bytes of a group; returns false if the value is too large or cannot be text. */
function take(group: readonly number[], count: number, bytes: number[]): boolean {
  const value = group.reduce((sum, digit) => sum * 85 + digit, 0)
  if (value > 0xffffffff) return false
  for (let n = 0; n < count; n++) {
    const byte = (value >>> (24 - n * 8)) & 255
    if (byte < 32 ? byte !== 9 && byte !== 10 && byte !== 13 : byte === 127) return false
    bytes.push(byte)
  }
  return true
}
