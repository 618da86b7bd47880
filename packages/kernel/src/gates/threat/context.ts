// Grades a phrase by its context: an order to the reader, a negation, a quotation or an example.

import { IDEOGRAPH, isAlphanumeric, isSpace, LETTER, READING } from './characters.ts'
import { at, codeAt, endOf, startOf, type View } from './view.ts'
import { clueOf, LEAD, NEGATION, STATEMENT, TALK, type Phrase } from './phrases.ts'
import { FRESH, SPACED, type ViewReading } from './reading.ts'
import { LOW, MEDIUM, NONE, type Grade } from './report.ts'

/** Returns the grade of a phrase by the words before it. Quotation is not considered here. */
export function gradeOf(
  phrase: Phrase,
  view: View,
  reading: ViewReading,
  first: number,
  last: number,
): Grade {
  if (phrase.headline && !isHeadline(view, at(reading.ends, last))) return NONE
  const grade = gradeByLead(phrase, reading, first)
  // Words without white space between them are a name in code or in an address.
  const joined = first !== last && (at(reading.flags, last) & SPACED) === 0
  return joined && grade > LOW ? LOW : grade
}

/** An order has the highest grade and a statement the lowest. A negated phrase has none. */
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

/** The maximum distance between a phrase and the words that announce an example. */
const TALK_REACH = 240

/** Returns whether words before the phrase say that the text discusses attacks. */
export function isTalk(reading: ViewReading, first: number, start: number): boolean {
  for (let word = first - 1; word >= Math.max(0, first - 40); word--) {
    if (start - at(reading.starts, word) > TALK_REACH) return false
    // A word inside a name or an address, such as `evil.example`, says nothing about the text.
    const apart = word === 0 || (at(reading.flags, word) & SPACED) !== 0
    if (apart && (clueOf(at(reading.ids, word)) & TALK) !== 0) return true
  }
  return false
}

const QUOTE_REACH = 160
const CLOSE_REACH = 200

/**
 * Returns whether a range is quoted in running text, or is part of a string or a template of program code. A JSON string is
 * not a quotation. A text that is quoted as a whole is not one either, because it has no words outside of the quotes.
 */
export function isQuoted(view: View, start: number, end: number): boolean {
  for (let i = start - 1; i >= Math.max(0, start - QUOTE_REACH); i--) {
    const code = codeAt(view, i)
    // An escaped line break does not end a line of the original text.
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

/** Returns whether a quotation mark opens a quotation. */
function opens(view: View, i: number): boolean {
  const before = i === 0 ? 32 : codeAt(view, i - 1)
  const code = codeAt(view, i)
  if (code === 0x22 || code === 0x27 || code === 0x60)
    return !isAlphanumeric(before) ? !isStop(before) : isMarked(view, i)
  return code !== 0x2019 && code !== 0x201d && code !== 0xbb && code !== 0x300d
}

/** A full stop before a quotation mark is inside of the quotation, so the mark closes it. */
function isStop(code: number): boolean {
  return code === 0x2e || code === 0x21 || code === 0x3f
}

/** Returns whether a prefix letter belongs to a string, as in `r"…"`. */
function isMarked(view: View, i: number): boolean {
  return (
    'rbfu'.includes(String.fromCharCode(codeAt(view, i - 1))) &&
    (i < 2 || !isAlphanumeric(codeAt(view, i - 2)))
  )
}

/** Returns the position of the closing mark at or after `end`; 0 if there is none. */
function closing(view: View, end: number, quote: number): number {
  for (let i = end; i < Math.min(view.length, end + CLOSE_REACH); i++) {
    const code = codeAt(view, i)
    if (code === quote || (isCurly(quote) && isCurly(code))) return i
    if ((quote === 0xab && code === 0xbb) || (quote === 0x300c && code === 0x300d)) return i
  }
  return 0
}

const MIN_OWN_WORDS = 3
const OWN_REACH = 160

/** Returns whether the line has words outside of its quotation. A label with a colon does not count. */
function hasOwnWords(view: View, open: number, close: number): boolean {
  let before = open - 1
  while (before >= 0 && isSpace(codeAt(view, before)) && codeAt(view, before) !== 10) before--
  const lead = before < 0 ? 0 : codeAt(view, before)
  if (lead === 0 || lead === 0x2c || lead === 0x7b || lead === 0x5b || lead === 0x3d) return false
  const [ahead, behind] = [wordsFrom(view, before, -1), wordsFrom(view, close + 1, 1)]
  // A value follows a label and a colon. A report has a full sentence before the colon and more words after the quotation.
  if (lead === 0x3a) return ahead >= 2 * MIN_OWN_WORDS && behind >= MIN_OWN_WORDS
  return ahead > 0 && ahead + behind >= MIN_OWN_WORDS
}

/** Counts the words of the line on one side of a position, up to the next quotation. */
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

/** Returns whether a quotation is a string of program code: after `= `, a bracket or a comma, outside of data and markup. */
function isLiteral(view: View, open: number, close: number): boolean {
  if (isData(view) || !endsLiteral(view, close)) return false
  let i = open - 1
  if (i >= 0 && isAlphanumeric(codeAt(view, i))) i--
  while (i >= 0 && isSpace(codeAt(view, i)) && i > open - LITERAL_REACH) i--
  const lead = i < 0 ? 0 : codeAt(view, i)
  const opened = lead === 0x28 || lead === 0x5b || lead === 0x2c || lead === 0x2b
  // A value of an object. JSON uses other quotation marks, and YAML has no comma.
  if (lead === 0x3a && codeAt(view, open) !== 0x22) return continuesAsCode(view, close)
  if (!opened && !(lead === 0x3d && isSpace(codeAt(view, i + 1)))) return lead === 0x22 || lead === 0x27
  // An element of a list of strings.
  if (lead === 0x2c && i > 0 && isQuote(codeAt(view, i - 1))) return true
  for (; i >= Math.max(0, open - LITERAL_REACH) && codeAt(view, i) !== 10; i--) {
    const code = codeAt(view, i)
    if (code === 0x3c || (code === 0x3a && codeAt(view, i - 1) === 0x22)) return false
    if (code === 0x28 || code === 0x3d || code === 0x5b) return true
  }
  return false
}

/** Returns whether the whole text is data. */
function isData(view: View): boolean {
  let i = 0
  while (i < view.length && isSpace(codeAt(view, i))) i++
  const code = codeAt(view, i)
  return code === 0x7b ? codeAt(view, i + 1) !== 0x25 : code === 0x5b || code === 0x22
}

/** Returns whether the code after a string ends or continues an expression. */
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

function continuesAsCode(view: View, close: number): boolean {
  const code = codeAt(view, close + 1)
  return code === 0x2c || code === 0x29 || code === 0x3b || (code === 32 && codeAt(view, close + 2) === 0x7d)
}

/** Returns whether the line has a `{% … %}` tag before the range and another one after it. */
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

/** Returns the lower grade of a finding that is quoted or only discussed. */
export function dampened(grade: Grade, quoted: boolean, talk: boolean): Grade {
  if (quoted) return Math.min(grade, LOW) as Grade // Sound: the smaller of two grades.
  return talk ? (Math.min(grade, MEDIUM) as Grade) : grade // Sound: the smaller of two grades.
}
