// Decodes runs of base64, base32, base58 or hex, and decompresses them if needed.

import { base58 } from './base58.ts'
import { isInvalid, isText, moreAfter, writeText } from './bytes.ts'
import { isAlphanumeric } from './characters.ts'
import { at, type Ints, codeAt, type View, type Writer } from './view.ts'
import { unpacked, type UnpackBudget } from './packed.ts'
import { matches } from './scan-state.ts'

/** Decodes the runs of a view. `long` holds the ranges of its long words. */
export function decodeRuns(view: View, long: Ints, out: Writer, budget: UnpackBudget): void {
  let done = 0
  for (let i = 0; i + 1 < long.length; i += 2) {
    const word = at(long, i)
    const start = runStart(view, word, done)
    if (start < done) continue
    const end = runEnd(view, start)
    done = end
    if (end - start >= MIN_RUN_LENGTH) decodeRun(view, { start, word, end }, out, budget)
  }
}

/** Decodes the run at a position, even a short one, unless it holds a long word, which `decodeRuns` handles. */
function decodeRunAt(view: View, start: number, out: Writer, budget: UnpackBudget): void {
  const end = runEnd(view, start)
  let letters = 0
  for (let i = start; i < end && letters < MIN_RUN_LENGTH; i++)
    letters = isAlphanumeric(codeAt(view, i)) ? letters + 1 : 0
  if (letters < MIN_RUN_LENGTH && end - start >= MIN_DECLARED_LENGTH)
    decodeRun(view, { start, word: start, end }, out, budget)
}

/** Both alphabets of base64. */
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

/** A run continues in the next line if the line is full. */
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

// A shorter run often occurs inside a longer word.
const MIN_RUN_LENGTH = 16
// A run with a `;base64,` marker can be shorter.
const MIN_DECLARED_LENGTH = 12
const SAMPLE = 96

interface Run {
  readonly start: number
  /** The start of the first long word. The text before it may be a path. */
  readonly word: number
  readonly end: number
}

/** An alphabet in which each letter encodes a fixed number of bits. */
interface Base {
  readonly bits: number
  readonly valueOf: (code: number) => number
  /** The number of start offsets to try, because a path before a run can look like a part of it. */
  readonly shifts: number
}

const HEX: Base = { bits: 4, valueOf: hexOf, shifts: 2 }
const BASE32: Base = { bits: 5, valueOf: base32Of, shifts: 1 }
const BASE64: Base = { bits: 6, valueOf, shifts: 4 }

/** Decodes a run with the first encoding that yields text. */
function decodeRun(view: View, run: Run, out: Writer, budget: UnpackBudget): void {
  const { start, word, end } = run
  const bytes =
    textIn(view, start, end, HEX) ??
    textIn(view, word, end, BASE32) ??
    textIn(view, start, end, BASE64) ??
    textOf(base58(view, word, end)) ??
    unpackedIn(view, run, budget)
  if (bytes) writeText(view, start, end, bytes, out)
}

function textOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes && isText(bytes) ? bytes : undefined
}

/** Returns the text of a run; undefined if it is not text. */
function textIn(view: View, start: number, end: number, base: Base): Uint8Array | undefined {
  for (let shift = 0; shift < base.shifts; shift++) {
    const from = start + shift
    if (!mayBeText(view, from, Math.min(end, from + QUICK_SAMPLE), base)) continue
    const sample = bytesOf(view, from, Math.min(end, start + SAMPLE), base)
    if (sample && isText(sample)) return bytesOf(view, from, end, base)
  }
  return undefined
}

const MIN_PACKED_LENGTH = 24

/** Returns the text that was compressed before it was encoded. */
function unpackedIn(view: View, { start, word, end }: Run, budget: UnpackBudget): Uint8Array | undefined {
  if (end - word < MIN_PACKED_LENGTH) return undefined
  for (const base of [BASE64, HEX]) {
    for (const from of start === word ? [start] : [start, word]) {
      const first = bytesOf(view, from, from + 3, base)?.[0] ?? 0
      // Raw deflate streams are only expected in base64. A hash in hex is not one.
      const isPacked = first === 0x1f || first === 0x78 || (base === BASE64 && mayBeDeflated(first))
      const bytes = isPacked ? bytesOf(view, from, end, base) : undefined
      const text = bytes && unpacked(bytes, budget)
      if (text) return text
    }
  }
  return undefined
}

/** Returns whether a raw stream can begin with this byte: the last block, with fixed or dynamic codes. */
function mayBeDeflated(first: number): boolean {
  return (first & 7) === 3 || (first & 7) === 5
}

// A quick test, because names in programs are as long as short runs and very common.
const QUICK_SAMPLE = 24

/** Returns whether the first bytes can be text. One mistake is allowed. */
function mayBeText(view: View, start: number, end: number, base: Base): boolean {
  const { bits } = base
  let buffer = 0
  let held = 0
  let bad = 0
  let more = 0
  for (let i = start; i < end; i++) {
    const value = base.valueOf(codeAt(view, i))
    if (value < 0) return isLineBreak(codeAt(view, i))
    buffer = ((buffer << bits) | value) & 0xffff
    held += bits
    if (held < 8) continue
    held -= 8
    const byte = (buffer >> held) & 255
    if (isInvalid(byte, more) && ++bad > 1) return false
    more = moreAfter(byte, more)
  }
  return true
}

function isLineBreak(code: number): boolean {
  return code === 10 || code === 13
}

function bytesOf(view: View, start: number, end: number, base: Base): Uint8Array | undefined {
  const { bits } = base
  const bytes = new Uint8Array(((end - start) * bits) >> 3)
  let length = 0
  let buffer = 0
  let held = 0
  for (let i = start; i < end; i++) {
    const value = base.valueOf(codeAt(view, i))
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

/** Base32, in upper case or lower case. */
function base32Of(code: number): number {
  if (code >= 50 && code < 56) return code - 24
  const letter = (code | 32) - 97
  return code < 128 && letter >= 0 && letter < 26 ? letter : -1
}

function hexOf(code: number): number {
  if (code >= 48 && code < 58) return code - 48
  const letter = (code | 32) - 87
  return isAlphanumeric(code) && letter >= 10 && letter < 16 ? letter : -1
}

const MARK = ';base64,'

/**
 * Decodes the data after each `;base64,` of a data URL: `data:text/plain;base64,…`. Such data is certainly encoded, so short
 * and broken runs are decoded too.
 */
export function decodeDataUrls(view: View, out: Writer, budget: UnpackBudget): void {
  if (view.origin === 'plain' && !view.text.includes(MARK)) return
  for (let i = 0; i + MARK.length < view.length; i++) {
    if (view.codes[i] === 0x3b && matches(view, i, MARK)) decodeRunAt(view, i + MARK.length, out, budget)
  }
}
