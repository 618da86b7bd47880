// Where sentences and fields begin and end: phrases do not reach over the end of a sentence, and a finding stops there.

import { IDEOGRAPH, isSpace, LETTER, READING } from './characters.ts'
import { at, push, type Ints, codeAt, type View } from './view.ts'
import type { ViewReading } from './reading.ts'

// More than any phrase may leave out.
const FAR = 64

/** Ends a sentence or a field at a place. */
function close(result: ViewReading, place: number): void {
  push(result.bounds, place)
  result.ordinal += FAR
}

/** A full stop, an exclamation or a question mark. */
export function sentenceEnd(view: View, result: ViewReading, i: number, code: number): void {
  const next = codeAt(view, i + 1)
  const ends = next === 0 || isSpace(next) || next === 0x22 || next === 0x29 || next >= 0x2000
  if (ends || code === 0x3002) close(result, i + 1)
}

const SHORT_LINE = 40
const LOOK_AHEAD = 64

/**
 * A line break. An empty line ends a sentence. A single break may be a wrapped line: phrases go over it, but a finding
 * stops there if the line is short or the next one does not go on with a word.
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

/** A double quote next to the punctuation of JSON begins or ends a field. */
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

const INLINE = new Set([
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

/** The start of a tag. Its name is no word of the text; a tag that shapes no line does not end one either. */
export function tag(view: View, result: ViewReading, i: number): void {
  let start = i + 1
  if (codeAt(view, start) === 0x2f) start++
  let name = ''
  for (let end = start; end < start + MAX_TAG && isLetter(codeAt(view, end)); end++) {
    name += String.fromCharCode(codeAt(view, end) | 32)
  }
  if (name !== '') result.ordinal--
  if (!INLINE.has(name)) push(result.bounds, i)
}

function isLetter(code: number): boolean {
  return (code | 32) >= 0x61 && (code | 32) <= 0x7a
}

/** The sentence, field or line around a stretch, without the white space at its ends. */
export function sentenceOf(view: View, bounds: Ints, start: number, end: number): readonly [number, number] {
  let first = bound(bounds, start, -1)
  let last = bound(bounds, end, view.length)
  while (first < start && isSpace(codeAt(view, first))) first++
  while (last > end && isSpace(codeAt(view, last - 1))) last--
  return [first, last]
}

/** The last bound at or before a place if `otherwise` is negative, else the first one at or after it. */
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
