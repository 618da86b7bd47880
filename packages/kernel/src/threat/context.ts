// How a phrase is said: as an order to the reader, turned around, quoted, or as an example.

import { isSpace } from './characters.ts'
import { at } from './ints.ts'
import { clueOf, LEAD, NEGATION, STATEMENT, TALK, type Phrase } from './phrases.ts'
import { FRESH, SPACED, type ViewReading } from './reading.ts'
import { LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { codeAt, type View } from './view.ts'

/** How much a phrase weighs by how it is said, before quoting. */
export function gradeOf(
  phrase: Phrase,
  view: View,
  reading: ViewReading,
  first: number,
  last: number,
): Grade {
  if (phrase.headline && !isHeadline(view, at(reading.ends, last))) return NONE
  const grade = gradeByLead(phrase, reading, first)
  // Words without white space between them are a name, in code or in an address.
  const joined = first !== last && (at(reading.flags, last) & SPACED) === 0
  return joined && grade > LOW ? LOW : grade
}

/** An order weighs most, a statement least; turned around it is none. */
function gradeByLead(phrase: Phrase, reading: ViewReading, first: number): Grade {
  if ((at(reading.flags, first) & FRESH) !== 0) return phrase.asOrder
  if (first === 0 || at(reading.ordinals, first) - at(reading.ordinals, first - 1) !== 1)
    return phrase.otherwise
  const clue = clueOf(at(reading.ids, first - 1))
  if ((clue & NEGATION) !== 0) return NONE
  if ((clue & STATEMENT) !== 0 && phrase.otherwise > LOW) return LOW
  return (clue & LEAD) !== 0 ? phrase.asOrder : phrase.otherwise
}

function isHeadline(view: View, end: number): boolean {
  let place = end
  while (place < end + 3 && (codeAt(view, place) === 32 || codeAt(view, place) === 0x2a)) place++
  const code = codeAt(view, place)
  return (
    code === 0x3a ||
    code === 0x0a ||
    code === 0x21 ||
    code === 0xff1a ||
    code === 0x2014 ||
    (code === 0x2d && place > end)
  )
}

/** How far back a text may say that it gives an example. */
const TALK_REACH = 240

/** Whether words before the phrase say that an attack is talked about. */
export function isTalk(reading: ViewReading, first: number, start: number): boolean {
  for (let word = first - 1; word >= Math.max(0, first - 40); word--) {
    if (start - at(reading.starts, word) > TALK_REACH) return false
    // A word in a name or an address, such as `evil.example`, says nothing about the text.
    const apart = word === 0 || (at(reading.flags, word) & SPACED) !== 0
    if (apart && (clueOf(at(reading.ids, word)) & TALK) !== 0) return true
  }
  return false
}

const QUOTE_REACH = 48
const CLOSE_REACH = 200

/** Whether a stretch stands in quotation marks within running text. A string of JSON is no quotation. */
export function isQuoted(view: View, start: number, end: number): boolean {
  for (let i = start - 1; i >= Math.max(0, start - QUOTE_REACH); i--) {
    const code = codeAt(view, i)
    if (code === 10) return false
    if (isQuote(code) && opens(view, i)) return closes(view, end, code)
  }
  return false
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60 || code === 0xab || code === 0x300c || isCurly(code)
}

function isCurly(code: number): boolean {
  return code >= 0x2018 && code <= 0x201f
}

function opens(view: View, i: number): boolean {
  let before = i - 1
  if (before >= 0 && !isSpace(codeAt(view, before)) && codeAt(view, before) !== 0x28) {
    return codeAt(view, i) !== 0x22 && codeAt(view, i) !== 0x27
  }
  while (before >= 0 && before > i - 4 && isSpace(codeAt(view, before))) before--
  const code = before < 0 ? 0 : codeAt(view, before)
  return code !== 0 && code !== 0x3a && code !== 0x2c && code !== 0x7b && code !== 0x5b && code !== 0x3d
}

function closes(view: View, end: number, quote: number): boolean {
  for (let i = end; i < Math.min(view.length, end + CLOSE_REACH); i++) {
    const code = codeAt(view, i)
    if (code === quote || (isCurly(quote) && isCurly(code))) return true
    if ((quote === 0xab && code === 0xbb) || (quote === 0x300c && code === 0x300d)) return true
  }
  return false
}

/** What is left of a finding that is quoted, talked about, or both. */
export function dampened(grade: Grade, quoted: boolean, talk: boolean): Grade {
  if (quoted && talk) return Math.min(grade, LOW) as Grade // Sound: the smaller of two grades.
  return quoted || talk ? (Math.min(grade, MEDIUM) as Grade) : grade // Sound: the smaller of two grades.
}
