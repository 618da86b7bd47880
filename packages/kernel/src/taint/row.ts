// Whether a value stands in a row of data: a line of short parts, as lists of people, signatures and tables have them. A sentence has
// a long part, or goes on from the line before.

import type { Stretch } from '../threat/fields.ts'

const LONGEST_LINE = 240
const MOST_WORDS = 4
const PARTS = /[,;|:()<>[\]{}"\t•·]|\s[-–—]{1,2}\s|\s{2,}/u
const WORD = /\p{L}/u
/** A line as long as this, without an end, may go on in the next. */
const LONG_LINE = 48
const ENDED = /[.!?:;,。！？：][\s"'”’)\]*_]{0,8}$/u

/** Whether the line around a value is a row. */
export function standsInRow(text: string, { start, end }: Stretch): boolean {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const next = text.indexOf('\n', end)
  const to = next < 0 ? text.length : next
  if (to - from > LONGEST_LINE || ENDS_SENTENCE.test(text.slice(end, to))) return false
  const line = `${text.slice(from, start)}\u0000${text.slice(end, to)}`
  return PARTS.test(line) && isShort(line) && (ITEM.test(line) || !goesOn(text, from))
}

const ITEM = /^\s*(?:[-*•>|#]|\d{1,3}[.)])\s/u

const ENDS_SENTENCE = /[.!?。！？]\s*$/u

/** Whether all parts of a line are short. */
function isShort(line: string): boolean {
  return line
    .split(PARTS)
    .every((part) => part.split(/\s+/u).filter((word) => WORD.test(word)).length <= MOST_WORDS)
}

/** Whether the line before may be the beginning of the same sentence. */
function goesOn(text: string, from: number): boolean {
  if (from === 0) return false
  const line = text.slice(text.lastIndexOf('\n', from - 2) + 1, from - 1)
  return line.length >= LONG_LINE && !ENDED.test(line) && !isShort(line)
}
