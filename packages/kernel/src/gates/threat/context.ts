// How a phrase is said: as an order to the reader, turned around, quoted, or as an example.

import { IDEOGRAPH, isAlphanumeric, isSpace, LETTER, READING } from './characters.ts'
import { at, codeAt, endOf, startOf, type View } from './view.ts'
import { clueOf, LEAD, NEGATION, STATEMENT, TALK, type Phrase } from './phrases.ts'
import { FRESH, SPACED, type ViewReading } from './reading.ts'
import { LOW, MEDIUM, NONE, type Grade } from './report.ts'

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

const QUOTE_REACH = 160
const CLOSE_REACH = 200

/**
 * Whether a stretch stands in quotation marks within running text, in a string of a program, or in a template of one. A string of
 * JSON is no quotation, and neither is a text that is quoted as a whole: it has no words of its own around it.
 */
export function isQuoted(view: View, start: number, end: number): boolean {
  for (let i = start - 1; i >= Math.max(0, start - QUOTE_REACH); i--) {
    const code = codeAt(view, i)
    // A break that is only an escape in the text does not end a line there.
    if (code === 10 && endOf(view, i) - startOf(view, i) === 1) break
    if (!isQuote(code) || !opens(view, i)) continue
    const close = closing(view, end, code)
    if (close > 0 && (isLiteral(view, i, close) || hasOwnWords(view, i, close))) return true
    break
  }
  return isInTemplate(view, start, end)
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60 || code === 0xab || code === 0x300c || isCurly(code)
}

function isCurly(code: number): boolean {
  return code >= 0x2018 && code <= 0x201f
}

/** Whether a quotation mark opens: it stands at the start, or no letter comes before it. */
function opens(view: View, i: number): boolean {
  const before = i === 0 ? 32 : codeAt(view, i - 1)
  const code = codeAt(view, i)
  if (code === 0x22 || code === 0x27 || code === 0x60)
    return !isAlphanumeric(before) ? !isStop(before) : isMarked(view, i)
  return code !== 0x2019 && code !== 0x201d && code !== 0xbb && code !== 0x300d
}

/** A stop right before a quotation mark is inside of it: the mark closes. */
function isStop(code: number): boolean {
  return code === 0x2e || code === 0x21 || code === 0x3f
}

/** Whether a string has a letter that says how it is read, as in `r"…"`. */
function isMarked(view: View, i: number): boolean {
  return (
    'rbfu'.includes(String.fromCharCode(codeAt(view, i - 1))) &&
    (i < 2 || !isAlphanumeric(codeAt(view, i - 2)))
  )
}

/** Where the quotation that opens with this mark ends behind a place; 0 if it does not. */
function closing(view: View, end: number, quote: number): number {
  for (let i = end; i < Math.min(view.length, end + CLOSE_REACH); i++) {
    const code = codeAt(view, i)
    if (code === quote || (isCurly(quote) && isCurly(code))) return i
    if ((quote === 0xab && code === 0xbb) || (quote === 0x300c && code === 0x300d)) return i
  }
  return 0
}

const FEWEST_OWN = 3
const OWN_REACH = 160

/** Whether the line says something besides its quotation: before it without a colon, as a label has one. */
function hasOwnWords(view: View, open: number, close: number): boolean {
  let before = open - 1
  while (before >= 0 && isSpace(codeAt(view, before)) && codeAt(view, before) !== 10) before--
  const lead = before < 0 ? 0 : codeAt(view, before)
  if (lead === 0 || lead === 0x2c || lead === 0x7b || lead === 0x5b || lead === 0x3d) return false
  const [ahead, behind] = [wordsFrom(view, before, -1), wordsFrom(view, close + 1, 1)]
  // After a colon stands what is said; a report has a sentence before it and goes on after it.
  if (lead === 0x3a) return ahead >= 2 * FEWEST_OWN && behind >= FEWEST_OWN
  return ahead > 0 && ahead + behind >= FEWEST_OWN
}

/** How many words the line has on one side of a place, up to the next quotation. */
function wordsFrom(view: View, place: number, step: 1 | -1): number {
  let words = 0
  let inside = false
  for (let i = place, left = OWN_REACH; left > 0 && i >= 0 && i < view.length; i += step, left--) {
    const code = codeAt(view, i)
    if (code === 10 || code === 0x22) break
    const letter = READING[code] === LETTER || READING[code] === IDEOGRAPH
    if (letter && !inside) words++
    inside = letter
  }
  return words
}

const LITERAL_REACH = 120

/** Whether a quotation is a string of a program: behind `= `, a bracket or a comma, and not in data or in markup. */
function isLiteral(view: View, open: number, close: number): boolean {
  if (isData(view) || !endsLiteral(view, close)) return false
  let i = open - 1
  if (i >= 0 && isAlphanumeric(codeAt(view, i))) i--
  while (i >= 0 && isSpace(codeAt(view, i)) && i > open - LITERAL_REACH) i--
  const lead = i < 0 ? 0 : codeAt(view, i)
  const opened = lead === 0x28 || lead === 0x5b || lead === 0x2c || lead === 0x2b
  // A value of an object. JSON has other quotation marks, and YAML no comma.
  if (lead === 0x3a && codeAt(view, open) !== 0x22) return goesOnAsCode(view, close)
  if (!opened && !(lead === 0x3d && isSpace(codeAt(view, i + 1)))) return lead === 0x22 || lead === 0x27
  // One of a list of strings.
  if (lead === 0x2c && i > 0 && isQuote(codeAt(view, i - 1))) return true
  for (; i >= Math.max(0, open - LITERAL_REACH) && codeAt(view, i) !== 10; i--) {
    const code = codeAt(view, i)
    if (code === 0x3c || (code === 0x3a && codeAt(view, i - 1) === 0x22)) return false
    if (code === 0x28 || code === 0x3d || code === 0x5b) return true
  }
  return false
}

/** Whether the text as a whole is data. */
function isData(view: View): boolean {
  let i = 0
  while (i < view.length && isSpace(codeAt(view, i))) i++
  const code = codeAt(view, i)
  return code === 0x7b ? codeAt(view, i + 1) !== 0x25 : code === 0x5b || code === 0x22
}

/** Whether a program goes on behind a string. */
function endsLiteral(view: View, close: number): boolean {
  let i = close + 1
  while (codeAt(view, i) === 32) i++
  const code = codeAt(view, i)
  return (
    code === 0 ||
    code === 10 ||
    code === 0x29 ||
    code === 0x2c ||
    code === 0x5d ||
    code === 0x3b ||
    code === 0x2b
  )
}

function goesOnAsCode(view: View, close: number): boolean {
  const code = codeAt(view, close + 1)
  return code === 0x2c || code === 0x29 || code === 0x3b || (code === 32 && codeAt(view, close + 2) === 0x7d)
}

/** Whether a place stands between the tags of a template: `{% … %}` before it and after it on its line. */
function isInTemplate(view: View, start: number, end: number): boolean {
  return hasTag(view, Math.max(0, start - OWN_REACH), start) && hasTag(view, end, end + OWN_REACH)
}

function hasTag(view: View, from: number, to: number): boolean {
  for (let i = from; i < Math.min(view.length, to); i++) {
    const code = codeAt(view, i)
    if ((code === 0x7b && codeAt(view, i + 1) === 0x25) || (code === 0x25 && codeAt(view, i + 1) === 0x7d))
      return true
  }
  return false
}

/** What is left of a finding that is quoted or talked about. */
export function dampened(grade: Grade, quoted: boolean, talk: boolean): Grade {
  if (quoted) return Math.min(grade, LOW) as Grade // Sound: the smaller of two grades.
  return talk ? (Math.min(grade, MEDIUM) as Grade) : grade // Sound: the smaller of two grades.
}
