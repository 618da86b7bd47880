// Finds the boundaries of sentences and fields. Phrases and findings do not cross the end of a sentence.

import { IDEOGRAPH, isSpace, LETTER, READING } from './characters.ts'
import { at, push, type Ints, codeAt, type View } from './view.ts'
import type { ViewReading } from './reading.ts'

// Larger than any gap of a phrase.
const SENTENCE_GAP = 64

/** Ends a sentence or a field at a position. */
function close(result: ViewReading, place: number): void {
  push(result.bounds, place)
  result.ordinal += SENTENCE_GAP
}

/** Handles a full stop, an exclamation mark or a question mark. */
export function sentenceEnd(view: View, result: ViewReading, i: number, code: number): void {
  const next = codeAt(view, i + 1)
  const ends = next === 0 || isSpace(next) || next === 0x22 || next === 0x29 || next >= 0x2000
  if (ends || code === 0x3002) close(result, i + 1)
}

const SHORT_LINE = 40
const LOOK_AHEAD = 64

/**
 * Handles a line break. An empty line ends a sentence. A phrase can span a single break, because the line may be wrapped. A
 * finding ends there if the line is short or the next line does not start with a word.
 */
export function newline(view: View, result: ViewReading, i: number): void {
  let next = i + 1
  while (next < i + LOOK_AHEAD && isBlank(codeAt(view, next))) next++
  const code = codeAt(view, next)
  if (code === 10) close(result, i)
  else if (i - result.lineStart < SHORT_LINE || !isWord(code)) push(result.bounds, i)
  result.lineStart = i + 1
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13
}

function isWord(code: number): boolean {
  return READING[code] === LETTER || READING[code] === IDEOGRAPH
}

/** Handles a double quote. Next to JSON punctuation it begins or ends a field. */
export function quote(view: View, result: ViewReading, i: number): void {
  const next = pastBlank(view, i + 1, 1)
  if (next === 0x2c || next === 0x3a || next === 0x7d || next === 0x5d) close(result, i)
  const before = pastBlank(view, i - 1, -1)
  if (before === 0x2c || before === 0x3a || before === 0x7b || before === 0x5b) close(result, i + 1)
}

function pastBlank(view: View, start: number, step: number): number {
  let place = start
  for (let left = 4; left > 0 && place >= 0 && isSpace(codeAt(view, place)); left--) place += step
  return place < 0 ? 0 : codeAt(view, place)
}

const INLINE_TAGS = new Set([
  'b',
  'i',
  'em',
  'strong',
  'a',
  'span',
  'code',
  'u',
  's',
  'small',
  'mark',
  'font',
  'wbr',
])
const MAX_TAG = 7

/** Handles the start of a tag. The tag name does not count as a word. An inline tag is not a boundary. */
export function tag(view: View, result: ViewReading, i: number): void {
  let start = i + 1
  if (codeAt(view, start) === 0x2f) start++
  let name = ''
  for (let end = start; end < start + MAX_TAG && isLetter(codeAt(view, end)); end++) {
    name += String.fromCharCode(codeAt(view, end) | 32)
  }
  if (name !== '') result.ordinal--
  if (!INLINE_TAGS.has(name)) push(result.bounds, i)
}

function isLetter(code: number): boolean {
  return (code | 32) >= 0x61 && (code | 32) <= 0x7a
}

/** Returns the sentence, field or line around a range, trimmed. */
export function sentenceOf(view: View, bounds: Ints, start: number, end: number): readonly [number, number] {
  let first = bound(bounds, start, -1)
  let last = bound(bounds, end, view.length)
  while (first < start && isSpace(codeAt(view, first))) first++
  while (last > end && isSpace(codeAt(view, last - 1))) last--
  return [first, last]
}

/** Returns the last bound at or before a position if `otherwise` is negative, else the first one at or after it. */
function bound(bounds: Ints, place: number, otherwise: number): number {
  let low = 0
  let high = bounds.length
  const before = otherwise < 0
  while (low < high) {
    const middle = (low + high) >> 1
    const value = at(bounds, middle)
    if (value < place || (before && value === place)) low = middle + 1
    else high = middle
  }
  if (before) return low === 0 ? 0 : at(bounds, low - 1)
  return low === bounds.length ? otherwise : at(bounds, low)
}
