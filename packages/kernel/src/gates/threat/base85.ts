// Base85 in its three alphabets: Ascii85, that of RFC 1924, and Z85. Its runs are full of punctuation, so they are looked for
// as long stretches without white space.

import { isBad, isText, moreAfter, writeText } from './bytes.ts'
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

const SHORTEST = 25

/** Decodes the runs of base85 in a view. */
export function decodeBase85(view: View, out: Writer): void {
  for (let i = 0; i < view.length;) {
    const last = blankBefore(view, i)
    if (last >= i) {
      i = last + 1
      continue
    }
    let end = i + SHORTEST
    while (end < view.length && isDark(codeAt(view, end))) end++
    i = Math.max(end, decodeStretch(view, i, end, out))
  }
}

/** The last blank of as many units as a run has at least; less than `start` if there is none. Most words are passed so. */
function blankBefore(view: View, start: number): number {
  const { codes } = view
  let i = start + SHORTEST - 1
  // Behind the end there is nothing to read: that is as good as a blank.
  if (i >= view.length) return i
  while (i >= start && isDark(codes[i] ?? 0)) i--
  return i
}

function isDark(code: number): boolean {
  return code > 32 && code < 127
}

/** Decodes the runs in a stretch: it may be a whole document without white space. Returns how far it was read. */
function decodeStretch(view: View, start: number, end: number, out: Writer): number {
  const { codes } = view
  for (let i = start; i + SHORTEST <= end;) {
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

// What a run may begin after: quotes, `=`, and the `~` of `<~`.
const OPENS = new Uint8Array(128)
for (const sign of '"\'`=~') OPENS[sign.charCodeAt(0)] = 1

/** Where the string ends that begins here, if it is too short for a run; most strings are. */
function closedBy(view: View, start: number, quote: number): number {
  if (quote !== 0x22 && quote !== 0x27 && quote !== 0x60) return 0
  const { codes } = view
  for (let i = start; i < start + SHORTEST; i++)
    if (codes[i] === quote && codes[i - 1] !== 0x5c) return Math.max(i, start + 1)
  return 0
}

function decodeAt(view: View, start: number, out: Writer): number {
  for (const values of ALPHABETS) {
    if (!mayBeText(view, start, values)) continue
    const glance = decodeRun(view, start, values, SHORTEST)
    if (glance.bytes.length < 20 || !isText(glance.bytes)) continue
    const { bytes, end } = decodeRun(view, start, values, Infinity)
    writeText(view, start, end, bytes, out)
    return end
  }
  return 0
}

const GLANCE = 10

/** Whether the first two groups can be text. */
function mayBeText(view: View, start: number, values: Int8Array): boolean {
  let group = 0
  let more = 0
  for (let i = 0; i < GLANCE; i++) {
    const code = codeAt(view, start + i)
    const value = code < 128 ? (values[code] ?? -1) : -1
    if (value < 0) return false
    group = i % 5 === 0 ? value : group * 85 + value
    if (i % 5 === 4) more = moreAfterGroup(group, more)
    if (more < 0) return false
  }
  return true
}

/** How many bytes are due after four more of them; -1 if they cannot be text. */
function moreAfterGroup(group: number, before: number): number {
  if (group > 0xffffffff) return -1
  let more = before
  for (let shift = 24; shift >= 0; shift -= 8) {
    const byte = (group >>> shift) & 255
    if (byte === 0 || isBad(byte, more)) return -1
    more = moreAfter(byte, more)
  }
  return more
}

const FULL_LINE = 56

interface Base85Run {
  readonly bytes: Uint8Array
  readonly end: number
}

/** The bytes of the groups of five from a place on, at most so many units; a full line goes on in the next. */
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
    // `z` is four zeros, of which text has none; the end of a run is `~>` or a quote.
    if (value < 0 || (code === 0x7e && codeAt(view, i + 1) === 0x3e)) break
    group.push(value)
    end = i + 1
    if (group.length < 5) continue
    // What was read so far is good: behind it there may be the rest of a document.
    if (!take(group, 4, bytes)) return { bytes: Uint8Array.from(bytes), end: end - 5 }
    group = []
  }
  if (group.length > 1) {
    const { length } = group
    take([...group, 84, 84, 84].slice(0, 5), length - 1, bytes)
  }
  return { bytes: Uint8Array.from(bytes), end }
}

/** Writes the bytes of a group; false if they are more than fit, or cannot be text. */
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
