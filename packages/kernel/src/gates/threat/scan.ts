// Reads a text as an attacker hopes that it is read, and says what stands in it: where, and how sure.

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
import { signReadings, turnedReadings, unpack } from './readings.ts'
import { add, emptyReport, findingsOf, LOW, MEDIUM, NONE, type Report } from './report.ts'
import { isDisguised, noteWithin, type ScanState } from './scan-state.ts'
import { mixedScripts } from './scripts.ts'
import { longSecrets, SECRET_PROBES, type Probe } from './secrets.ts'
import { joinLetters } from './spacing.ts'
import { SPOOFING_PROBES } from './spoofing.ts'
import { SQL_PROBES } from './sql.ts'

/** Longest text that is read, in UTF-16 units. */
const MAX_LENGTH = 1 << 20
/** How deep encoded text may hold encoded text. */
const MAX_DEPTH = 3
/** How much may be unpacked for a text, in bytes: so much, and more for each unit. */
const LEAST_ROOM = 1 << 17
const ROOM_EACH = 8

const probes: (Probe | undefined)[] = []
for (const [word, probe] of [...SECRET_PROBES, ...COMMAND_PROBES, ...SQL_PROBES, ...SPOOFING_PROBES]) {
  probes[learn(word)] = probe
}

/**
 * What threatens in a text, in its order; at most 64 findings, the most severe ones. Places are those of the text as it
 * is given, also for what only shows once it is decoded. Never throws; the time is linear in the length. Beyond a
 * million units, the rest is one finding.
 */
export function scanText(text: string): readonly ThreatFinding[] {
  return scanWhole(text).findings
}

/** What threatens in a text, and what it says to who decodes it: texts that stand in it encoded, turned or spaced out. */
interface Scan {
  readonly findings: readonly ThreatFinding[]
  readonly hidden: readonly string[]
}

/** Scans a text as `scanText` does, and keeps what was hidden in it. */
export function scanWhole(text: string): Scan {
  const report = emptyReport()
  const hidden: string[] = []
  const length = wholeLength(text)
  if (length < text.length) add(report, 'TOO_LONG', MEDIUM, length, text.length)
  const { view, ascii } = plainView(text, length)
  const budget = { left: LEAST_ROOM + ROOM_EACH * length }
  scanView(ascii ? view : cleanView(view, report), { report, budget, hidden }, 0)
  return { findings: findingsOf(report), hidden }
}

/** What is gathered while a text is read in all its ways. */
interface Gathering {
  readonly report: Report
  readonly budget: UnpackBudget
  readonly hidden: string[]
}

const MOST_HIDDEN = 16
const MAX_HIDDEN = 4096

/** Keeps what a reading says. */
function keep(hidden: string[], { codes, length }: View): void {
  if (hidden.length >= MOST_HIDDEN) return
  hidden.push(String.fromCharCode(...codes.subarray(0, Math.min(length, MAX_HIDDEN))).toWellFormed())
}

/** How much is read: never half of a character. */
function wholeLength(text: string): number {
  if (text.length <= MAX_LENGTH) return text.length
  const last = text.charCodeAt(MAX_LENGTH - 1)
  return last >= 0xd800 && last <= 0xdbff ? MAX_LENGTH - 1 : MAX_LENGTH
}

/** Scans a view, then what it says once its escapes, its runs and its spaced letters are read, and in other ways. */
function scanView(view: View, gathering: Gathering, depth: number): void {
  const { report, budget, hidden } = gathering
  let reading = inspect(view, report)
  const { escapes, singles } = reading
  let others = turnedReadings(view, reading)
  let last = view
  const decoded = escapes ? decodeEscapes(view) : undefined
  if (decoded) {
    last = cleaned(decoded)
    reading = inspect(last, report)
    others = [...others, ...turnedReadings(last, reading)]
  }
  const packed = depth < MAX_DEPTH ? unpack(last, view, reading.long, budget) : undefined
  if (packed) {
    keep(hidden, packed)
    scanView(cleaned(packed), gathering, depth + 1)
  }
  const spelled = singles ? joinLetters(view) : undefined
  if (spelled) {
    keep(hidden, spelled)
    inspect(spelled, report)
  }
  for (const other of [...others, ...signReadings(view)]) {
    keep(hidden, other)
    tryReading(report, (trial) => inspect(other, trial))
  }
  const mail = depth < MAX_DEPTH ? quotedPrintableView(view) : undefined
  if (mail)
    tryReading(report, (trial) => scanView(cleaned(mail), { report: trial, budget, hidden }, depth + 1))
}

/** Reads a text in a way in which most texts mean nothing: what is found counts if it speaks to the reader. */
function tryReading(report: Report, scan: (trial: Report) => unknown): void {
  const trial = emptyReport()
  scan(trial)
  if (!trial.found.some(({ code, grade }) => grade >= MEDIUM && SPEAKING.has(classOf(code)))) return
  for (const { code, grade, start, end, quoted } of trial.found) {
    if (classOf(code) !== 'secret') add(report, code, grade, start, end, quoted)
  }
}

const SPEAKING: ReadonlySet<ThreatClass> = new Set(['instruction', 'spoofing', 'exfiltration'])

/** A decoded view without disguise. Who reads an escape sees that it is one: by itself it hides nothing. */
function cleaned(view: View): View {
  let i = 0
  while (i < view.length && (view.codes[i] ?? 0) < 128) i++
  return i === view.length ? view : cleanView(view, emptyReport())
}

/** Reads a view and looks at everything in it once. */
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
  // A sentence that repeats itself is one finding.
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
  const said = gradeOf(phrase, view, reading, first, last)
  if (said === NONE) return
  const start = at(reading.starts, first)
  const end = at(reading.ends, last)
  const key = `${phrase.code} ${said}`
  if ((seen.get(key) ?? 0) >= end) return
  const quoted = said > LOW && isQuoted(view, start, end)
  const talk = said > LOW && isTalk(reading, first, start)
  const grade = dampened(said, quoted, talk)
  const whole = classOf(phrase.code) !== 'spoofing'
  const span = whole ? sentenceOf(view, reading.bounds, start, end) : ([start, end] as const)
  seen.set(key, span[1])
  noteWithin(state, phrase.code, grade, [start, end], span, quoted || talk)
  if (grade >= MEDIUM && isDisguised(reading, first, last)) {
    add(state.report, 'DISGUISED_TEXT', grade, startOf(view, start), endOf(view, end - 1), true)
  }
}
