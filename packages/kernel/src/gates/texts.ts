// Reads the texts of a call or a result once: threat findings, recognisable values, and data classes by shape.

import type { Json } from '@tollgate/evidence'
import { labelsIn, MOST_IDS, nationalIdsIn, type NationalId } from '../text/personal.ts'
import { valuesIn, type Value } from '../text/values.ts'
import { codesOf, THREAT_CLASSES, type ThreatFinding } from './threat/finding.ts'
import { MAX_FINDINGS } from './threat/report.ts'
import { scanWhole } from './threat/scan.ts'
import { walk, type Pictures } from '../text/walk.ts'

/** A text with its path and everything found in it. */
export interface ReadText {
  /** Member names joined by dots, as in declared paths. List items have the path of their list. */
  readonly path: string
  readonly text: string
  readonly findings: readonly ThreatFinding[]
  /** Texts that appear after decoding. */
  readonly hidden: readonly string[]
  readonly values: readonly Value[]
  /** Labelled parts, recognised by shape. */
  readonly marks: readonly Mark[]
  /** Whether a list was cut, or the text is too long: it may contain more. */
  readonly cut: boolean
  /** Where the unscanned rest of a text begins, if the text is too long and nothing else was cut. */
  readonly rest?: number
}

/** A part of a text that carries a label. */
interface Mark {
  readonly label: string
  readonly start: number
  readonly end: number
}

// More than the arguments of a call can contain. Finding values is cheap; looking them up is not, see `flow.ts`.
const MAX_VALUES = 1 << 17

// A single word, such as a mode or a tag, contains nothing to find.
const ONE_WORD = /^[A-Za-z]{1,16}$/

/** Scans one text for findings, values and labels. */
export function readText(path: string, text: string): ReadText {
  if (ONE_WORD.test(text))
    return { path, text, findings: [], hidden: [], values: [], marks: NO_MARKS, cut: false }
  const { findings, hidden } = scanWhole(text)
  const values = valuesIn(text, MAX_VALUES)
  const ids = hasDigits(text) ? nationalIdsIn(text) : []
  const marks = marksIn(findings, values, ids)
  const full = values.length >= MAX_VALUES || ids.length >= MOST_IDS || isFull(findings)
  const rest = findings.find(({ code }) => code === 'TOO_LONG')?.start
  const cut = full || rest !== undefined
  return { path, text, findings, hidden, values, marks, cut, ...(!full && rest !== undefined && { rest }) }
}

const NO_MARKS: readonly Mark[] = []

/** Whether the findings of some class reached their maximum. */
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

// Every national id has at least this many digits. Characters beyond ASCII count, because other scripts have their own digits.
const MIN_DIGITS = 6
const DIGIT = /[0-9\u0080-\uffff]/

function hasDigits(text: string): boolean {
  if (!DIGIT.test(text)) return false
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code >= 0x30 && code <= 0x39) || code > 0x7f) digits++
    if (digits === MIN_DIGITS) return true
  }
  return false
}

/** Reads every text in a value, including member names and large numbers as written. */
export function readTexts(value: Json, pictures: Pictures = 'read'): readonly ReadText[] {
  const found: ReadText[] = []
  walk(value, '', pictures, (path, text) => found.push(readText(path, text)))
  return found
}

/** The codes of all findings, sorted and without duplicates. */
export function codesIn(texts: readonly ReadText[]): readonly string[] {
  return codesOf(texts.flatMap(({ findings }) => findings))
}
