// Runs of base64 or hex, decoded apart from the text around them.

import { isAlphanumeric } from './characters.ts'
import { at, type Ints } from './ints.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

/** What the runs of a view say, one after the other; undefined if none says anything. `long` are its long words. */
export function decodeRuns(view: View, long: Ints): View | undefined {
  const out = writer(64)
  let done = 0
  for (let i = 0; i + 1 < long.length; i += 2) {
    const start = runStart(view, at(long, i), done)
    if (start < done) continue
    const end = runEnd(view, start)
    done = end
    if (end - start >= SHORTEST_RUN) decodeRun(view, start, end, out)
  }
  return out.length === 0 ? undefined : written(out, view.text, 'decoded')
}

/** Base64 in both of its alphabets. */
function valueOf(code: number): number {
  if (code >= 65 && code <= 90) return code - 65
  if (code >= 97 && code <= 122) return code - 71
  if (code >= 48 && code <= 57) return code + 4
  if (code === 0x2b || code === 0x2d) return 62
  return code === 0x2f || code === 0x5f ? 63 : -1
}

function runStart(view: View, word: number, done: number): number {
  let start = word
  while (start > done && valueOf(codeAt(view, start - 1)) >= 0) start--
  return start < done ? word : start
}

const FULL_LINE = 56

/** A run goes on in the next line if the line is full of it. */
function runEnd(view: View, start: number): number {
  let end = start
  let line = start
  while (end < view.length) {
    if (valueOf(codeAt(view, end)) >= 0) {
      end++
      continue
    }
    const next = codeAt(view, end) === 13 ? end + 2 : end + 1
    const breaks = codeAt(view, end) === 10 || (codeAt(view, end) === 13 && codeAt(view, end + 1) === 10)
    if (!breaks || end - line < FULL_LINE || valueOf(codeAt(view, next)) < 0) break
    end = line = next
  }
  return end
}

// A word of other letters can hold a shorter run.
const SHORTEST_RUN = 16
const SAMPLE = 96

/** Decodes a run in the first way in which it is text. */
function decodeRun(view: View, start: number, end: number, out: Writer): void {
  for (const base of ['hex', 'base64'] as const) {
    // What stands before a run, such as the folders of a path, may look like a part of it.
    for (let shift = 0; shift < (base === 'hex' ? 2 : 4); shift++) {
      if (!mayBeText(view, start + shift, Math.min(end, start + shift + GLANCE), base)) continue
      const sample = bytesOf(view, start + shift, Math.min(end, start + SAMPLE), base)
      if (sample === undefined || !isText(sample)) continue
      const bytes = bytesOf(view, start + shift, end, base)
      if (bytes) writeText(view, start, end, bytes, out)
      return
    }
  }
}

// Names in programs are as long as short runs, and there are very many of them.
const GLANCE = 24

/** Whether the first bytes can be text: at a glance, with one mistake allowed. */
function mayBeText(view: View, start: number, end: number, base: 'hex' | 'base64'): boolean {
  const bits = base === 'hex' ? 4 : 6
  let buffer = 0
  let held = 0
  let bad = 0
  let more = 0
  for (let i = start; i < end; i++) {
    const value = base === 'hex' ? hexOf(codeAt(view, i)) : valueOf(codeAt(view, i))
    if (value < 0) return isLineBreak(codeAt(view, i))
    buffer = ((buffer << bits) | value) & 0xffff
    held += bits
    if (held < 8) continue
    held -= 8
    const byte = (buffer >> held) & 255
    if (isBad(byte, more) && ++bad > 1) return false
    more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : more > 0 ? more - 1 : 0
  }
  return true
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13
}

/** A control character, or a byte out of place in UTF-8. Zeros are half of a longer unit. */
function isBad(byte: number, more: number): boolean {
  if (byte >= 0x80) return byte >= 0xf5 || byte === 0xc0 || byte === 0xc1 || byte < 0xc0 !== more > 0
  return more > 0 || byte === 127 || (byte < 32 && byte !== 0 && byte !== 9 && !isLineBreak(byte))
}

function bytesOf(view: View, start: number, end: number, base: 'hex' | 'base64'): Uint8Array | undefined {
  const bits = base === 'hex' ? 4 : 6
  const bytes = new Uint8Array(((end - start) * bits) >> 3)
  let length = 0
  let buffer = 0
  let held = 0
  for (let i = start; i < end; i++) {
    const value = base === 'hex' ? hexOf(codeAt(view, i)) : valueOf(codeAt(view, i))
    if (value < 0) {
      if (isLineBreak(codeAt(view, i))) continue
      return undefined
    }
    buffer = ((buffer << bits) | value) & 0xffff
    held += bits
    if (held < 8) continue
    held -= 8
    bytes[length++] = (buffer >> held) & 255
  }
  return bytes.subarray(0, length)
}

function hexOf(code: number): number {
  if (code >= 48 && code < 58) return code - 48
  const letter = (code | 32) - 87
  return isAlphanumeric(code) && letter >= 10 && letter < 16 ? letter : -1
}

const SHORTEST_TEXT = 8

/** Whether nearly all of it is text: printable, or the bytes of longer characters. Text of two bytes each has zeros. */
function isText(bytes: Uint8Array): boolean {
  let plain = 0
  let letters = 0
  let zeros = 0
  for (let i = 0; i < bytes.length;) {
    const size = characterSize(bytes, i)
    const byte = bytes[i] ?? 0
    if (byte === 0) zeros++
    else if (size > 0) plain += size
    if (((byte | 32) >= 97 && (byte | 32) <= 122) || size > 1 || byte === 32 || (byte >= 48 && byte < 58))
      letters += size
    i += Math.max(1, size)
  }
  const wide = zeros * 5 >= bytes.length * 2
  const all = wide ? bytes.length - zeros : bytes.length
  return all >= SHORTEST_TEXT && plain * 20 >= all * 19 && letters * 2 >= all
}

/** How many bytes the character at a place takes; 0 if it is none that is shown. A cut end counts as whole. */
function characterSize(bytes: Uint8Array, i: number): number {
  const first = bytes[i] ?? 0
  if (first < 0x80)
    return first >= 32 ? (first === 127 ? 0 : 1) : first === 9 || first === 10 || first === 13 ? 1 : 0
  const size =
    first >= 0xf0 && first < 0xf5
      ? 4
      : first >= 0xe0 && first < 0xf0
        ? 3
        : first >= 0xc2 && first < 0xe0
          ? 2
          : 0
  for (let n = i + 1; n < Math.min(i + size, bytes.length); n++)
    if (((bytes[n] ?? 0) & 0xc0) !== 0x80) return 0
  return Math.min(size, bytes.length - i)
}

function writeText(view: View, start: number, end: number, bytes: Uint8Array, out: Writer): void {
  const from = startOf(view, start)
  const to = endOf(view, end - 1)
  for (let i = 0; i < bytes.length;) {
    const size = characterSize(bytes, i)
    if (size > 0) writePoint(pointOf(bytes, i, size), from, to, out)
    i += Math.max(1, size)
  }
  write(out, 10, from, to)
  write(out, 10, from, to)
}

function pointOf(bytes: Uint8Array, i: number, size: number): number {
  const first = bytes[i] ?? 0
  if (size === 1) return first
  let point = first & (0xff >> (size + 1))
  for (let n = 1; n < size; n++) point = point * 64 + ((bytes[i + n] ?? 0) & 63)
  return Math.min(point, 0x10ffff)
}

function writePoint(point: number, from: number, to: number, out: Writer): void {
  if (point > 0xffff) write(out, 0xd800 + ((point - 0x10000) >> 10), from, to)
  write(out, point > 0xffff ? 0xdc00 + (point & 0x3ff) : point, from, to)
}
