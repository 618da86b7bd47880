// Decides whether a value is in a row of data: a line of short parts between other such lines, as in lists, signatures and
// tables. A sentence has a long part or a neighbour that has one.

import type { Span } from './fields.ts'

const MAX_LINE = 240
const MAX_WORDS = 4
const PARTS = /[,;|:()<>[\]{}"\t•·]|\s[-–—]{1,2}\s|\s{2,}/u
const WORD = /\p{L}/u
/** Returns whether the line around a value is a row. */
export function isInRow(text: string, { start, end }: Span): boolean {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const next = text.indexOf('\n', end)
  const to = next < 0 ? text.length : next
  if (to - from > MAX_LINE || ENDS_SENTENCE.test(text.slice(end, to))) return false
  const line = `${text.slice(from, start)}\u0000${text.slice(end, to)}`
  return PARTS.test(line) && isShort(line) && isShort(lineBefore(text, from)) && isShort(lineAfter(text, to))
}

const ENDS_SENTENCE = /[.!?。！？]\s*$/u

/** Returns whether all parts of a line are short. */
function isShort(line: string): boolean {
  return line
    .split(PARTS)
    .every((part) => part.split(/\s+/u).filter((word) => WORD.test(word)).length <= MAX_WORDS)
}

/** Returns the line before the one that begins here; empty if there is none. */
function lineBefore(text: string, from: number): string {
  return from === 0 ? '' : text.slice(text.lastIndexOf('\n', from - 2) + 1, from - 1).slice(-MAX_LINE)
}

/** Returns the line after the one that ends here. */
function lineAfter(text: string, to: number): string {
  const next = text.indexOf('\n', to + 1)
  return text.slice(to + 1, next < 0 ? undefined : next).slice(0, MAX_LINE)
}
