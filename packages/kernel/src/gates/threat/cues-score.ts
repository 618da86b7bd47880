// Scores each demand by the cues near it in the same field.

import { sentenceOf } from './bounds.ts'
import { dampened, isQuoted, isTalk } from './context.ts'
import { isAlphanumeric } from './characters.ts'
import { COUNTED, cuesIn, DECODE, REACH, WEIGHTS, type Cues } from './cues.ts'
import { namesAddress } from './cues-target.ts'
import { fieldsOf, type Span } from '../../text/fields.ts'
import { at, codeAt, startOf, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { matches, noteWithin, type ScanState } from './scan-state.ts'

/** Minimum scores for a medium and for a high finding. */
const MEDIUM_SCORE = 3
const HIGH_SCORE = 6

/** Notes the demands that have enough cues. */
export function scoreCues(state: ScanState): void {
  const { view, reading } = state
  const cues = cuesIn(view, reading)
  if (cues.demands.length > 0) scoreDemands(state, cues)
  if (reading.long.length > 0) scoreDecoding(state, cues)
}

/** A sliding range of the view, with counts of its cues by kind and weight. */
interface CueWindow {
  readonly counts: Int32Array
  first: number
  last: number
}

function scoreDemands(state: ScanState, cues: Cues): void {
  const { view, reading } = state
  const fieldAt = fieldsIn(view)
  const isObfuscated = view.from !== undefined || view.text.includes('<!--')
  const window: CueWindow = { counts: new Int32Array(COUNTED.length * WEIGHTS), first: 0, last: 0 }
  for (let i = 0; i < cues.demands.length; i++) {
    const word = at(cues.demands, i)
    const start = at(reading.starts, word)
    const field = fieldAt(start)
    slide(window, cues, Math.max(field.start, start - REACH), Math.min(field.end, start + REACH))
    const score = weigh(window)
    if (score >= MEDIUM_SCORE - 1 || isObfuscated) demand(state, word, score, addressesReader(window))
  }
}

/** Returns the fields of a plain text. Decoded text is one field. */
function fieldsIn(view: View): (place: number) => Span {
  const whole = { start: 0, end: view.length }
  if (view.origin !== 'plain' || view.from !== undefined) return () => whole
  return fieldsOf(view.text.length === view.length ? view.text : view.text.slice(0, view.length))
}

/** Moves the window forward. Its ends never move back. */
function slide(window: CueWindow, cues: Cues, from: number, to: number): void {
  const { counts } = window
  for (; window.last < cues.kinds.length && at(cues.places, window.last) <= to; window.last++) {
    const kind = at(cues.kinds, window.last)
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  for (; window.first < window.last && at(cues.places, window.first) < from; window.first++) {
    const kind = at(cues.kinds, window.first)
    counts[kind] = (counts[kind] ?? 0) - 1
  }
}

/** Adds the heaviest cue of each kind, plus one for a kind with two cues that are not of weight one. */
function weigh({ counts }: CueWindow): number {
  let score = 0
  let heavy = false
  for (let cue = 0; cue < COUNTED.length; cue++) {
    const strong = counts[cue * WEIGHTS + 3] ?? 0
    const middle = counts[cue * WEIGHTS + 2] ?? 0
    if (strong + middle > 0) {
      heavy = true
      score += (strong > 0 ? 3 : 2) + (strong + middle > 1 ? 1 : 0)
    } else if ((counts[cue * WEIGHTS + 1] ?? 0) > 0) score++
  }
  // Ordinary text has cues of weight one.
  return heavy ? score : Math.min(score, MEDIUM_SCORE - 2)
}

// Errors, notices and no-reply messages also contain addresses, so other cues do not qualify.
const READER_CUES = (['reader', 'tie', 'void'] as const).map((cue) => COUNTED.indexOf(cue) * WEIGHTS)

/** Returns whether a cue above weight one refers to the reader or to its task. */
function addressesReader({ counts }: CueWindow): boolean {
  return READER_CUES.some((first) => (counts[first + 2] ?? 0) + (counts[first + 3] ?? 0) > 0)
}

function demand(state: ScanState, word: number, counted: number, addressed: boolean): void {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  const score =
    counted +
    (counted < MEDIUM_SCORE ? obfuscationScore(view, start, end) : 0) +
    (addressed ? addressScore(view, end, counted) : 0)
  if (score < MEDIUM_SCORE || isCode(view, start)) return
  const quoted = isQuoted(view, start, end)
  const talk = isTalk(reading, word, start)
  const scored: Grade = score >= HIGH_SCORE ? HIGH : MEDIUM
  const grade = quoted || talk ? LOW : dampened(scored, quoted, talk)
  const span = sentenceOf(view, reading.bounds, start, end)
  noteWithin(state, 'DEMAND_IN_TEXT', grade, [start, end], span, quoted || talk)
}

/** An address adds one if the other cues are one short. */
function addressScore(view: View, end: number, counted: number): number {
  return counted === MEDIUM_SCORE - 1 && namesAddress(view, end) ? 1 : 0
}

const CODE_REACH = 120
const CODE_SIGNS = 7

/** Returns whether the text around a position has many signs of program code. */
function isCode(view: View, place: number): boolean {
  let signs = 0
  for (let i = Math.max(0, place - CODE_REACH); i < Math.min(view.length, place + CODE_REACH); i++) {
    const code = codeAt(view, i)
    if (code === 0x7b || code === 0x7d || code === 0x28 || code === 0x29 || code === 0x3b || code === 0x3d)
      signs++
  }
  return signs >= CODE_SIGNS
}

const HIDDEN = 3
const COMMENT_REACH = 200

/** Returns the extra score of a demand that is encoded, disguised or inside an HTML comment. */
function obfuscationScore(view: View, start: number, end: number): number {
  if (isAltered(view, start, end)) return view.origin === 'plain' ? HIDDEN - 1 : HIDDEN
  for (let i = start; i >= Math.max(0, start - COMMENT_REACH); i--) {
    const code = codeAt(view, i)
    if (code === 0x3e && matches(view, i - 2, '-->')) return 0
    if (code === 0x3c && matches(view, i, '<!--')) return 2
  }
  return 0
}

/** Returns whether plain letters are written differently in the original text. Accents do not count. */
function isAltered(view: View, start: number, end: number): boolean {
  if (view.from === undefined) return false
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    const source = view.text.charCodeAt(startOf(view, i))
    if (isAlphanumeric(code) && (source | 32) !== (code | 32) && !(source >= 0xc0 && source < 0x250))
      return true
  }
  return false
}

/** Notes requests to decode something and to act on it, if encoded text is near. */
function scoreDecoding(state: ScanState, cues: Cues): void {
  const { view, reading } = state
  let run = 0
  for (let i = 0; i < cues.kinds.length; i++) {
    if (at(cues.kinds, i) >> 2 !== DECODE) continue
    const place = at(cues.places, i)
    while (run + 1 < reading.long.length && at(reading.long, run + 1) < place - REACH) run += 2
    if (run + 1 >= reading.long.length || at(reading.long, run) > place + REACH) continue
    const span = sentenceOf(view, reading.bounds, place - 1, place)
    const grade: Grade = isQuoted(view, place - 1, place) ? LOW : MEDIUM
    if (grade > NONE) noteWithin(state, 'DECODE_AND_FOLLOW', grade, [place - 1, place], span, false)
  }
}
