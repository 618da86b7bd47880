// The state of the scan of one view, and the helpers that note findings.

import { CLEANING, INVISIBLE, isAlphanumeric, isSpace } from './characters.ts'
import { dampened, isQuoted, isTalk } from './context.ts'
import { classOf, type ThreatCode } from './finding.ts'
import { at, codeAt, endOf, startOf, type View } from './view.ts'
import { DISGUISED, type ViewReading } from './reading.ts'
import { add, LOW, MEDIUM, type Grade, type Report } from './report.ts'

/** The state of the scan of one view. */
export interface ScanState {
  readonly view: View
  readonly reading: ViewReading
  readonly report: Report
}

/** Notes a finding at a range of the view. Also notes the disguise if decoding or cleaning revealed the finding. */
export function note(state: ScanState, code: ThreatCode, grade: Grade, start: number, end: number): void {
  noteWithin(state, code, grade, [start, end], [start, end], false)
}

/** Like `note`, but the finding spans more than its clue: the sentence around a phrase. */
export function noteWithin(
  state: ScanState,
  code: ThreatCode,
  grade: Grade,
  clue: readonly [number, number],
  span: readonly [number, number],
  quoted: boolean,
): void {
  const { view, report } = state
  const from = startOf(view, span[0])
  const to = endOf(view, span[1] - 1)
  add(report, code, grade, from, to, quoted)
  const kind = classOf(code)
  if (grade < MEDIUM || kind === 'secret' || kind === 'obfuscation' || !isAltered(view, clue[0], clue[1]))
    return
  const disguise = view.origin === 'decoded' ? 'ENCODED_PAYLOAD' : 'DISGUISED_TEXT'
  add(report, disguise, grade, startOf(view, clue[0]), endOf(view, clue[1] - 1), true)
}

/** Like `note`, but lowers the grade if the text quotes the finding or discusses attacks. */
export function noteInContext(
  state: ScanState,
  code: ThreatCode,
  grade: Grade,
  place: { readonly start: number; readonly end: number; readonly word: number },
): void {
  // The context does not change a low grade.
  if (grade <= LOW) return note(state, code, grade, place.start, place.end)
  const quoted = isQuoted(state.view, place.start, place.end)
  const talk = isTalk(state.reading, place.word, place.start)
  const span = [place.start, place.end] as const
  noteWithin(state, code, dampened(grade, quoted, talk), span, span, quoted || talk)
}

/** Returns whether letters of a range are written differently in the original text. Accents do not count. */
function isAltered(view: View, start: number, end: number): boolean {
  if (view.from === undefined) return false
  if (view.origin === 'spaced') return true
  for (let i = start; i < end; i++) {
    const origin = view.text.charCodeAt(startOf(view, i))
    if (isAlphanumeric(codeAt(view, i)) && origin !== codeAt(view, i) && !(origin >= 0xc0 && origin < 0x250))
      return true
    if (i === start || startOf(view, i) === endOf(view, i - 1)) continue
    const removed = view.text.charCodeAt(endOf(view, i - 1))
    if (CLEANING[removed] === INVISIBLE && removed !== 0xad) return true
  }
  return false
}

/** Returns whether words of a phrase are disguised. */
export function isDisguised(reading: ViewReading, first: number, last: number): boolean {
  for (let word = first; word <= last; word++) {
    if ((at(reading.flags, word) & DISGUISED) !== 0) return true
  }
  return false
}

/** Returns whether the text at a position matches, ignoring case. `expected` is in lower case. */
export function matches(view: View, start: number, expected: string): boolean {
  if (start < 0) return false
  for (let i = 0; i < expected.length; i++) {
    const code = codeAt(view, start + i)
    const lower = code >= 65 && code <= 90 ? code | 32 : code
    if (lower !== expected.charCodeAt(i)) return false
  }
  return true
}

/** Returns the first position from `start` on, at most `limit` further, that is not blank. */
export function pastBlanks(view: View, start: number, limit: number = 8): number {
  let place = start
  while (place < start + limit && (codeAt(view, place) === 32 || codeAt(view, place) === 9)) place++
  return place
}

/** Returns the unit before a position, skipping blanks; 0 at the start. */
export function unitBefore(view: View, place: number): number {
  let i = place - 1
  while (i >= 0 && i > place - 8 && (codeAt(view, i) === 32 || codeAt(view, i) === 9)) i--
  return i < 0 ? 0 : codeAt(view, i)
}

/** Returns whether the whole text is one line: an argument, not a page or a script. */
export function isOneLine(view: View): boolean {
  return isShort(view) && !view.text.trimEnd().includes('\n')
}

/** Returns whether the whole text is one name, path or address. */
export function isOneWord(view: View): boolean {
  if (!isShort(view)) return false
  for (let i = 0; i < view.length; i++) if (isSpace(codeAt(view, i))) return false
  return true
}

// A longer text is never a single argument.
const SHORT_TEXT = 1024

function isShort(view: View): boolean {
  return view.text.length <= SHORT_TEXT
}
