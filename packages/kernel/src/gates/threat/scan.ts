// Scans a text for threats, in plain form and in every decoded form.

import { sentenceOf } from './bounds.ts'
import { cleanView } from './clean.ts'
import { COMMAND_PROBES } from './commands.ts'
import { dampened, gradeOf, isQuoted, isTalk } from './context.ts'
import { scoreCues } from './cues-score.ts'
import { decodeEscapes } from './escapes.ts'
import { classOf, type ThreatClass, type ThreatFinding } from './finding.ts'
import { at, plainView, startOf, endOf, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { scanMarks } from './marks.ts'
import { matchPhrases, type Phrase } from './phrases.ts'
import type { UnpackBudget } from './packed.ts'
import { quotedPrintableView } from './quoted-printable.ts'
import { read, type ViewReading } from './reading.ts'
import { signViews, clauseViews, unpackedView } from './readings.ts'
import { add, emptyReport, findingsOf, LOW, MEDIUM, NONE, type Report } from './report.ts'
import { isDisguised, noteWithin, type ScanState } from './scan-state.ts'
import { mixedScripts } from './scripts.ts'
import { longSecrets, SECRET_PROBES, type Probe } from './secrets.ts'
import { joinLetters } from './spacing.ts'
import { SPOOFING_PROBES } from './spoofing.ts'
import { SQL_PROBES } from './sql.ts'

/** The maximum length of a scanned text, in UTF-16 units. */
const MAX_LENGTH = 1 << 20
/** The maximum depth of nested encodings. */
const MAX_DEPTH = 3
/** The number of bytes that may be decompressed for a text: a base amount, plus some per unit. */
const BASE_UNPACK_BUDGET = 1 << 17
const UNPACK_BUDGET_PER_UNIT = 8

const probes: (Probe | undefined)[] = []
for (const [word, probe] of [...SECRET_PROBES, ...COMMAND_PROBES, ...SQL_PROBES, ...SPOOFING_PROBES]) {
  probes[learn(word)] = probe
}

/**
 * Returns the threats in a text, in text order; at most 64 per class, the most severe ones. Positions refer to the original text,
 * also for decoded content. Never throws. The time is linear in the length. The rest of a text after a million units is one
 * finding.
 */
export function scanText(text: string): readonly ThreatFinding[] {
  return scanWhole(text).findings
}

/** The findings of a text, and the texts that it hides: encoded, reversed or spaced out. */
interface Scan {
  readonly findings: readonly ThreatFinding[]
  readonly hidden: readonly string[]
}

/** Scans a text like `scanText`, and also returns its hidden texts. */
export function scanWhole(text: string): Scan {
  const report = emptyReport()
  const hidden: string[] = []
  const length = wholeLength(text)
  if (length < text.length) add(report, 'TOO_LONG', MEDIUM, length, text.length)
  const { view, ascii } = plainView(text, length)
  const budget = { left: BASE_UNPACK_BUDGET + UNPACK_BUDGET_PER_UNIT * length }
  scanView(ascii ? view : cleanView(view, report), { report, budget, hidden }, 0)
  return { findings: findingsOf(report), hidden }
}

/** The shared state while all views of a text are scanned. */
interface ScanContext {
  readonly report: Report
  readonly budget: UnpackBudget
  readonly hidden: string[]
}

const MAX_HIDDEN_TEXTS = 16
const MAX_HIDDEN_LENGTH = 4096

/** Keeps the text of a view. */
function keep(hidden: string[], { codes, length }: View): void {
  if (hidden.length >= MAX_HIDDEN_TEXTS) return
  hidden.push(String.fromCharCode(...codes.subarray(0, Math.min(length, MAX_HIDDEN_LENGTH))).toWellFormed())
}

/** Returns the length to scan, without splitting a character. */
function wholeLength(text: string): number {
  if (text.length <= MAX_LENGTH) return text.length
  const last = text.charCodeAt(MAX_LENGTH - 1)
  return last >= 0xd800 && last <= 0xdbff ? MAX_LENGTH - 1 : MAX_LENGTH
}

/** Scans a view, then its decoded escapes, runs and spaced letters, then its other views. */
function scanView(view: View, context: ScanContext, depth: number): void {
  const { report, budget, hidden } = context
  let reading = inspect(view, report)
  const { escapes, singles } = reading
  let otherViews = clauseViews(view, reading)
  let last = view
  const decoded = escapes ? decodeEscapes(view) : undefined
  if (decoded) {
    last = cleaned(decoded)
    reading = inspect(last, report)
    otherViews = [...otherViews, ...clauseViews(last, reading)]
  }
  const packed = depth < MAX_DEPTH ? unpackedView(last, view, reading.long, budget) : undefined
  if (packed) {
    keep(hidden, packed)
    scanView(cleaned(packed), context, depth + 1)
  }
  const spelled = singles ? joinLetters(view) : undefined
  if (spelled) {
    keep(hidden, spelled)
    inspect(spelled, report)
  }
  for (const other of [...otherViews, ...signViews(view)]) {
    keep(hidden, other)
    tryView(report, (trial) => inspect(other, trial))
  }
  const mail = depth < MAX_DEPTH ? quotedPrintableView(view) : undefined
  if (mail) tryView(report, (trial) => scanView(cleaned(mail), { report: trial, budget, hidden }, depth + 1))
}

/** Scans a view that rarely makes sense. Its findings only count if one of them addresses the reader. */
function tryView(report: Report, scan: (trial: Report) => unknown): void {
  const trial = emptyReport()
  scan(trial)
  if (!trial.found.some(({ code, grade }) => grade >= MEDIUM && ADDRESSING.has(classOf(code)))) return
  for (const { code, grade, start, end, quoted } of trial.found) {
    if (classOf(code) !== 'secret') add(report, code, grade, start, end, quoted)
  }
}

const ADDRESSING: ReadonlySet<ThreatClass> = new Set(['instruction', 'spoofing', 'exfiltration'])

/** Returns a decoded view without disguise. An escape is visible, so it is not reported. */
function cleaned(view: View): View {
  let i = 0
  while (i < view.length && (view.codes[i] ?? 0) < 128) i++
  return i === view.length ? view : cleanView(view, emptyReport())
}

/** Reads a view and runs every check on it. */
function inspect(view: View, report: Report): ViewReading {
  const reading = read(view)
  const state: ScanState = { view, reading, report }
  if (reading.ids.length > 0) {
    findPhrases(state)
    for (let word = 0; word < reading.ids.length; word++) probes[at(reading.ids, word)]?.(state, word)
  }
  if (reading.marks.length > 0) scanMarks(state)
  if (reading.long.length > 0) longSecrets(state)
  if (reading.mixed.length > 0) mixedScripts(state)
  if (reading.ids.length > 0) scoreCues(state)
  return reading
}

function findPhrases(state: ScanState): void {
  // A repeated sentence is one finding.
  const seen = new Map<string, number>()
  matchPhrases(state.reading, (phrase, first, last) => found(state, phrase, first, last, seen))
}

function found(
  state: ScanState,
  phrase: Phrase,
  first: number,
  last: number,
  seen: Map<string, number>,
): void {
  const { view, reading } = state
  const stated = gradeOf(phrase, view, reading, first, last)
  if (stated === NONE) return
  const start = at(reading.starts, first)
  const end = at(reading.ends, last)
  const key = `${phrase.code} ${stated}`
  if ((seen.get(key) ?? 0) >= end) return
  const quoted = stated > LOW && isQuoted(view, start, end)
  const talk = stated > LOW && isTalk(reading, first, start)
  const grade = dampened(stated, quoted, talk)
  const whole = classOf(phrase.code) !== 'spoofing'
  const span = whole ? sentenceOf(view, reading.bounds, start, end) : ([start, end] as const)
  seen.set(key, span[1])
  noteWithin(state, phrase.code, grade, [start, end], span, quoted || talk)
  if (grade >= MEDIUM && isDisguised(reading, first, last)) {
    add(state.report, 'DISGUISED_TEXT', grade, startOf(view, start), endOf(view, end - 1), true)
  }
}
