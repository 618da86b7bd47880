// Handles characters that hide content: zero width, direction, tags, selectors, private use.

import {
  BIDI,
  CLEANING,
  INVISIBLE,
  isAlphanumeric,
  PRIVATE,
  READING,
  LETTER,
  SELECTOR,
} from './characters.ts'
import { add, HIGH, LOW, MEDIUM, NONE, type Grade, type Report } from './report.ts'
import { codeAt, endOf, startOf, write, type View, type Writer } from './view.ts'

const SOFT_HYPHEN = 0xad
const MANY_INVISIBLE = 8

/** Skips characters without width. Some scripts and emoji need them, so they are not always a finding. */
export function zeroWidth(view: View, i: number, report: Report): number {
  let end = i + 1
  let soft = codeAt(view, i) === SOFT_HYPHEN ? 1 : 0
  while (end < view.length && CLEANING[codeAt(view, end)] === INVISIBLE) {
    if (codeAt(view, end++) === SOFT_HYPHEN) soft++
  }
  const inWord = i > 0 && isAlphanumeric(codeAt(view, i - 1)) && isAlphanumeric(codeAt(view, end))
  const many = end - i >= MANY_INVISIBLE
  const grade = many ? MEDIUM : inWord && soft < end - i ? LOW : NONE
  add(report, 'ZERO_WIDTH', grade, startOf(view, i), endOf(view, end - 1))
  return end
}

/** Skips a direction control. An override is always a finding. Other controls are usual near right-to-left text. */
export function bidi(view: View, i: number, report: Report): number {
  const code = codeAt(view, i)
  let grade: Grade = code === 0x202d || code === 0x202e ? MEDIUM : LOW
  if (grade === LOW && hasRightToLeft(view, i)) grade = NONE
  add(report, 'BIDI_CONTROL', grade, startOf(view, i), endOf(view, i))
  return i + 1
}

const NEARBY = 32

function hasRightToLeft(view: View, i: number): boolean {
  for (let at = Math.max(0, i - NEARBY); at < i + NEARBY; at++) {
    const code = codeAt(view, at)
    if (code >= 0x590 && code < 0x900 && CLEANING[code] !== BIDI) return true
  }
  return false
}

const MANY_PRIVATE = 8

/** Skips private use characters. A few of them are icons. */
export function privateRun(view: View, i: number, out: Writer, report: Report): number {
  let end = i
  let count = 0
  for (let size = privateAt(view, end); size > 0; size = privateAt(view, end)) {
    end += size
    count++
  }
  if (count >= MANY_PRIVATE) add(report, 'PRIVATE_USE', LOW, startOf(view, i), endOf(view, end - 1))
  write(out, 0xfffd, startOf(view, i), endOf(view, end - 1))
  return end
}

/** Returns the length of a private use character; 0 if there is none. */
function privateAt(view: View, i: number): number {
  const code = codeAt(view, i)
  if (CLEANING[code] === PRIVATE) return 1
  return code >= 0xdb80 && code <= 0xdbff && isLow(codeAt(view, i + 1)) ? 2 : 0
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** Returns the byte that a tag or selector encodes; -1 if there is none. */
function byteAt(view: View, i: number): number {
  const code = codeAt(view, i)
  if (CLEANING[code] === SELECTOR) return code - 0xfe00
  if (code !== 0xdb40) return -1
  const low = codeAt(view, i + 1) - 0xdc00
  if (low >= 0 && low < 0x80) return low
  return low >= 0x100 && low < 0x1f0 ? low - 0x100 + 16 : -1
}

/** Decodes consecutive tags and selectors into text, separated from the text around it. */
export function hiddenRun(view: View, i: number, out: Writer, report: Report): number {
  const isTag = codeAt(view, i) === 0xdb40 && codeAt(view, i + 1) < 0xdc80
  const start = out.length
  let end = i
  let readable = 0
  write(out, 10, startOf(view, i), endOf(view, i))
  for (let byte = byteAt(view, end); byte >= 0; byte = byteAt(view, end)) {
    const size = codeAt(view, end) === 0xdb40 ? 2 : 1
    if (byte >= 32 && byte < 127) {
      readable++
      write(out, byte, startOf(view, end), endOf(view, end + size - 1))
    } else if (byte === 10) write(out, 10, startOf(view, end), endOf(view, end))
    end += size
  }
  // Half of a pair that is not a hidden character.
  if (end === i) end = i + 2
  write(out, 10, startOf(view, end - 1), endOf(view, end - 1))
  const count = CLEANING[codeAt(view, i)] === SELECTOR ? end - i : (end - i) >> 1
  const grade = isTag ? tagGrade(view, i, end, readable) : selectorGrade(view, i, count, readable)
  add(report, isTag ? 'TAG_CHARACTERS' : 'SELECTOR_STREAM', grade, startOf(view, i), endOf(view, end - 1))
  if (grade === NONE) out.length = start
  return end
}

/** A regional flag is a black flag, a few tags, and the closing tag. */
function tagGrade(view: View, i: number, end: number, readable: number): Grade {
  const flag = codeAt(view, i - 2) === 0xd83c && codeAt(view, i - 1) === 0xdff4
  const closed = codeAt(view, end - 1) === 0xdc7f
  if (i >= 2 && flag && closed && readable >= 3 && readable <= 6) return NONE
  return readable >= 3 ? HIGH : MEDIUM
}

/** A single selector after a character that has several forms is normal. */
function selectorGrade(view: View, i: number, count: number, readable: number): Grade {
  if (count >= 4) return readable >= 4 ? HIGH : MEDIUM
  if (count > 1) return LOW
  const before = i > 0 ? codeAt(view, i - 1) : 0
  // Letters of alphabets have no other forms. Ideographs, signs and emoji have.
  return READING[before] === LETTER && !(before >= 48 && before < 58) && before < 0x1000 ? LOW : NONE
}
