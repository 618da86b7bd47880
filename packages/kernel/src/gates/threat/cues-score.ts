// Adds up the cues around each demand, in one field and not too far apart.

import { sentenceOf } from './bounds.ts'
import { dampened, isQuoted, isTalk } from './context.ts'
import { isAlphanumeric } from './characters.ts'
import { COUNTED, cuesIn, DECODE, REACH, WEIGHTS, type Cues } from './cues.ts'
import { namesAddress } from './cues-target.ts'
import { fieldsOf, type Stretch } from '../../text/fields.ts'
import { at, codeAt, startOf, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { goesOn, noteWithin, type ScanState } from './scan-state.ts'

/** What the cues have to weigh together. */
const ENOUGH = 3
const PLENTY = 6

/** Notes the demands that come with enough cues. */
export function scoreCues(state: ScanState): void {
  const { view, reading } = state
  const cues = cuesIn(view, reading)
  if (cues.demands.length > 0) scoreDemands(state, cues)
  if (reading.long.length > 0) scoreDecoding(state, cues)
}

/** A stretch of the view that slides along; the cues in it are counted by kind and weight. */
interface CueWindow {
  readonly counts: Int32Array
  first: number
  last: number
}

function scoreDemands(state: ScanState, cues: Cues): void {
  const { view, reading } = state
  const fieldAt = fieldsIn(view)
  const veiled = view.from !== undefined || view.text.includes('<!--')
  const window: CueWindow = { counts: new Int32Array(COUNTED.length * WEIGHTS), first: 0, last: 0 }
  for (let i = 0; i < cues.demands.length; i++) {
    const word = at(cues.demands, i)
    const start = at(reading.starts, word)
    const field = fieldAt(start)
    slide(window, cues, Math.max(field.start, start - REACH), Math.min(field.end, start + REACH))
    const score = weigh(window)
    if (score >= ENOUGH - 1 || veiled) demand(state, word, score, turnsToReader(window))
  }
}

/** The fields of a text as it stands. What was decoded is one. */
function fieldsIn(view: View): (place: number) => Stretch {
  const whole = { start: 0, end: view.length }
  if (view.origin !== 'plain' || view.from !== undefined) return () => whole
  return fieldsOf(view.text.length === view.length ? view.text : view.text.slice(0, view.length))
}

/** Moves the window on. Both of its ends only ever grow. */
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

/** The heaviest cue of each kind, added up; one more where a kind has two that are not small. */
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
  // Small cues alone are how anybody writes.
  return heavy ? score : Math.min(score, ENOUGH - 2)
}

// Errors and notices name addresses too, and so do those who want no answer.
const TURNING = (['reader', 'tie', 'void'] as const).map((cue) => COUNTED.indexOf(cue) * WEIGHTS)

/** Whether a cue that is not small speaks to the reader or of its work. */
function turnsToReader({ counts }: CueWindow): boolean {
  return TURNING.some((first) => (counts[first + 2] ?? 0) + (counts[first + 3] ?? 0) > 0)
}

function demand(state: ScanState, word: number, counted: number, turned: boolean): void {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  const score =
    counted +
    (counted < ENOUGH ? obfuscationScore(view, start, end) : 0) +
    (turned ? reach(view, end, counted) : 0)
  if (score < ENOUGH || isCode(view, start)) return
  const quoted = isQuoted(view, start, end)
  const talk = isTalk(reading, word, start)
  const said: Grade = score >= PLENTY ? HIGH : MEDIUM
  const grade = quoted || talk ? LOW : dampened(said, quoted, talk)
  const span = sentenceOf(view, reading.bounds, start, end)
  noteWithin(state, 'DEMAND_IN_TEXT', grade, [start, end], span, quoted || talk)
}

/** An address weighs a little, where there is something else that is not small. */
function reach(view: View, end: number, counted: number): number {
  return counted === ENOUGH - 1 && namesAddress(view, end) ? 1 : 0
}

const CODE_REACH = 120
const CODE_SIGNS = 7

/** Whether the signs of a program stand close together around a place. */
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

/** What it adds that a demand is not shown as it stands: encoded, in letters that only look so, in a comment. */
function obfuscationScore(view: View, start: number, end: number): number {
  if (isAltered(view, start, end)) return view.origin === 'plain' ? HIDDEN - 1 : HIDDEN
  for (let i = start; i >= Math.max(0, start - COMMENT_REACH); i--) {
    const code = codeAt(view, i)
    if (code === 0x3e && goesOn(view, i - 2, '-->')) return 0
    if (code === 0x3c && goesOn(view, i, '<!--')) return 2
  }
  return 0
}

/** Whether plain letters are written as something else in the text. An accent is nothing else. */
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

/** Asks to decode something and to act on it, with something encoded close by. */
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
