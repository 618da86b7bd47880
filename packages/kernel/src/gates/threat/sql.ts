// Finds text that ends an SQL value and continues as SQL.

import { isAlphanumeric } from './characters.ts'
import { at, codeAt, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, type Grade } from './report.ts'
import { unitBefore, matches, isOneLine, noteInContext, pastBlanks } from './scan-state.ts'
import type { Probe } from './secrets.ts'

function isQuote(code: number): boolean {
  return code === 0x27 || code === 0x22
}

/** Checks `' OR 1=1` and `" or "a"="a`, which are always true. */
const tautology: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const left = unitBefore(view, start)
  if (!isQuote(left) && left !== 0x29 && !(left >= 48 && left < 58)) return
  const end = equationEnd(view, pastBlanks(view, at(reading.ends, word)))
  if (end === 0) return
  const comment = hasComment(view, end, 4)
  const grade: Grade = comment && isQuote(left) ? HIGH : MEDIUM
  noteInContext(state, 'SQL_INJECTION', grade, { start: openingQuote(view, start), end, word })
}

function openingQuote(view: View, start: number): number {
  let place = start - 1
  while (place > 0 && codeAt(view, place) === 32 && place > start - 8) place--
  return place
}

const MAX_OPERAND_LENGTH = 12

/** Returns the end of `x=x` or `'x'='x`; 0 if there is none. */
function equationEnd(view: View, start: number): number {
  const left = isQuote(codeAt(view, start)) ? start + 1 : start
  let length = 0
  while (length < MAX_OPERAND_LENGTH && isAlphanumeric(codeAt(view, left + length))) length++
  if (length === 0) return 0
  let place = left + length
  if (isQuote(codeAt(view, place))) place++
  place = pastBlanks(view, place, 3)
  if (codeAt(view, place) !== 0x3d) return 0
  place = pastBlanks(view, place + 1, 3)
  if (isQuote(codeAt(view, place))) place++
  for (let i = 0; i < length; i++) if (codeAt(view, place + i) !== codeAt(view, left + i)) return 0
  return isAlphanumeric(codeAt(view, place + length)) ? 0 : place + length
}

function hasComment(view: View, start: number, reach: number): boolean {
  for (let i = start; i < start + reach; i++) {
    const code = codeAt(view, i)
    if (code === 10) return false
    if (code === 0x23 || matches(view, i, '--') || matches(view, i, '/*')) return true
  }
  return false
}

const REACH = 80

/** Checks `'; DROP TABLE users; --`. An SQL script drops a table on a separate line. */
const drop: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const what = pastBlanks(view, at(reading.ends, word))
  if (unitBefore(view, start) !== 0x3b || !(matches(view, what, 'table') || matches(view, what, 'database')))
    return
  const semicolon = lastSemicolon(view, start)
  const broken = isQuote(unitBefore(view, semicolon)) || matches(view, semicolon - 2, "')")
  const comment = hasComment(view, what, REACH)
  const grade = broken && comment ? HIGH : (broken || comment) && isOneLine(view) ? MEDIUM : LOW
  noteInContext(state, 'SQL_INJECTION', grade, { start: semicolon, end: what + 5, word })
}

function lastSemicolon(view: View, start: number): number {
  let place = start - 1
  while (place > 0 && codeAt(view, place) !== 0x3b) place--
  return place
}

/** Checks `' UNION SELECT …`. */
const union: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const next = pastBlanks(view, at(reading.ends, word))
  if (!matches(view, next, 'select') && !matches(view, next, 'all select')) return
  if (!isQuote(unitBefore(view, start))) return
  const grade = isOneLine(view) ? MEDIUM : LOW
  noteInContext(state, 'SQL_INJECTION', grade, { start: openingQuote(view, start), end: next + 6, word })
}

/** The words that continue an injected value, with their checks. */
export const SQL_PROBES: readonly (readonly [string, Probe])[] = [
  ['or', tautology],
  ['drop', drop],
  ['union', union],
]
