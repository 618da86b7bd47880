// What the texts of a call or of an answer hold: signs of an attack, values that can be recognised again, and classes of
// data by their shape. Every text is looked at once.

import type { Json } from '@tollgate/evidence'
import { labelsIn, MOST_IDS, nationalIdsIn, type NationalId } from '../text/personal.ts'
import { valuesIn, type Value } from '../text/values.ts'
import { codesOf, THREAT_CLASSES, type ThreatFinding } from './threat/finding.ts'
import { MAX_FINDINGS } from './threat/report.ts'
import { scanWhole } from './threat/scan.ts'
import { walk, type Pictures } from '../text/walk.ts'

/** A text at its place, and what it holds. */
export interface ReadText {
  /** Names joined by dots, as declared paths are written; items of lists have the path of their list. */
  readonly path: string
  readonly text: string
  readonly findings: readonly ThreatFinding[]
  /** What it says to who decodes it. */
  readonly hidden: readonly string[]
  readonly values: readonly Value[]
  /** Where data of a class stands, by its shape. */
  readonly marks: readonly Mark[]
  /** It may hold more than is listed. */
  readonly cut: boolean
}

/** A part of a text that carries a label. */
interface Mark {
  readonly label: string
  readonly start: number
  readonly end: number
}

// More than the arguments of a call can hold. Finding them costs little; looking each up does not, see `flow.ts`.
const MOST_VALUES = 1 << 17

// One word: a mode, a tag, a first name. There is nothing to find in it.
const ONE_WORD = /^[A-Za-z]{1,16}$/

/** Reads a text. */
export function readText(path: string, text: string): ReadText {
  if (ONE_WORD.test(text))
    return { path, text, findings: [], hidden: [], values: [], marks: NO_MARKS, cut: false }
  const { findings, hidden } = scanWhole(text)
  const values = valuesIn(text, MOST_VALUES)
  const ids = hasDigits(text) ? nationalIdsIn(text) : []
  const marks = marksIn(findings, values, ids)
  const cut =
    values.length >= MOST_VALUES || ids.length >= MOST_IDS || isFull(findings) || isTooLong(findings)
  return { path, text, findings, hidden, values, marks, cut }
}

const NO_MARKS: readonly Mark[] = []

function isTooLong(findings: readonly ThreatFinding[]): boolean {
  return findings.some(({ code }) => code === 'TOO_LONG')
}

/** Whether of some class as many were found as are listed at most. */
function isFull(findings: readonly ThreatFinding[]): boolean {
  if (findings.length < MAX_FINDINGS) return false
  return THREAT_CLASSES.some(
    (each) => findings.filter(({ class: kind }) => kind === each).length >= MAX_FINDINGS,
  )
}

function marksIn(
  findings: readonly ThreatFinding[],
  values: readonly Value[],
  ids: readonly NationalId[],
): readonly Mark[] {
  const marks: Mark[] = []
  for (const { class: kind, start, end } of findings) {
    if (kind === 'secret') marks.push({ label: 'secret', start, end })
  }
  for (const value of values) {
    for (const label of labelsIn([value])) marks.push({ label, start: value.start, end: value.end })
  }
  for (const { start, end } of ids) marks.push({ label: 'personal', start, end })
  return marks.length === 0 ? NO_MARKS : marks
}

// No national id has fewer; other scripts have digits of their own.
const FEWEST_DIGITS = 6
const DIGIT = /[0-9\u0080-\uffff]/

function hasDigits(text: string): boolean {
  if (!DIGIT.test(text)) return false
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code >= 0x30 && code <= 0x39) || code > 0x7f) digits++
    if (digits === FEWEST_DIGITS) return true
  }
  return false
}

/** Reads every text in a value, names of members too, and large numbers as they are written. */
export function readTexts(value: Json, pictures: Pictures = 'read'): readonly ReadText[] {
  const found: ReadText[] = []
  walk(value, '', pictures, (path, text) => found.push(readText(path, text)))
  return found
}

/** The codes of what was found in texts, each once, in order. */
export function codesIn(texts: readonly ReadText[]): readonly string[] {
  return codesOf(texts.flatMap(({ findings }) => findings))
}
