// Attacks that begin with punctuation: substitution, paths that climb, null bytes, terminal escapes, images with data.

import { isAlphanumeric, isSpace } from './characters.ts'
import { isEscaped } from './commands.ts'
import { at, codeAt, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { goesOn, isOneLine, isOneWord, note, noteSaid, type ScanState } from './scan-state.ts'
import { bracket, heading, opening } from './spoofing.ts'

/** Looks closer at each mark. `word` is the first known word after it. */
export function scanMarks(state: ScanState): void {
  const { reading } = state
  let word = 0
  let done = 0
  for (let i = 0; i < reading.marks.length; i++) {
    const place = at(reading.marks, i)
    if (place < done) continue
    while (word < reading.ids.length && at(reading.starts, word) < place) word++
    done = scanMark(state, place, word)
  }
}

/** Looks closer at one mark; returns how far it was dealt with. */
function scanMark(state: ScanState, place: number, word: number): number {
  switch (codeAt(state.view, place)) {
    case 0x3c:
      return opening(state, place, word)
    case 0x5b:
      return bracket(state, place, word)
    case 0x23:
      return heading(state, place, word)
    case 0x21:
      return image(state, place)
    case 0x24:
    case 0x60:
      return substitution(state, place, word)
    case 0x2e:
      return climb(state, place, word)
    case 0x1b:
      return escape(state, place)
    default:
      return nul(state, place)
  }
}

const HARMFUL = new Set(
  'curl wget nc ncat rm bash sh zsh whoami python python3 perl ruby powershell'.split(' '),
)
const LONGEST = 200

/** `$(curl …)`, and a command in backticks that are glued to a word. */
function substitution(state: ScanState, place: number, word: number): number {
  const { view } = state
  const dollar = codeAt(view, place) === 0x24
  const start = place + (dollar ? 2 : 1)
  if (dollar && codeAt(view, place + 1) !== 0x28) return place + 1
  // A code span of Markdown stands apart.
  if (!dollar && (place === 0 || !isGlue(codeAt(view, place - 1)))) return place + 1
  const name = nameAt(view, start)
  const harmful = HARMFUL.has(name) || (name === 'cat' && isPathStart(codeAt(view, start + 4)))
  if (!harmful) return place + 1
  const end = closing(view, start, dollar ? 0x29 : 0x60)
  const assigned = place > 0 && codeAt(view, place - 1) === 0x3d
  const grade = isOneLine(view) && !assigned ? MEDIUM : LOW
  if (end > 0) noteSaid(state, 'SHELL_SUBSTITUTION', grade, { start: place, end, word })
  return place + 1
}

function isGlue(code: number): boolean {
  return (
    isAlphanumeric(code) || code === 0x3d || code === 0x3b || code === 0x2f || code === 0x22 || code === 0x2e
  )
}

function isPathStart(code: number): boolean {
  return code === 0x2f || code === 0x7e
}

function nameAt(view: View, start: number): string {
  let name = ''
  for (let i = start; i < start + 11 && isAlphanumeric(codeAt(view, i)); i++) {
    name += String.fromCharCode(codeAt(view, i))
  }
  return name
}

function closing(view: View, start: number, close: number): number {
  for (let i = start; i < start + LONGEST; i++) if (codeAt(view, i) === close) return i + 1
  return 0
}

const SECRET_PLACES = [
  'etc/',
  'etc\\',
  'windows',
  'proc/',
  'root/',
  'boot.ini',
  '.ssh',
  '.env',
  '.aws',
  'winnt',
]
const MOST_CLIMBS = 64

/** `../../`, also with back slashes, doubled, or escaped. Code that imports its neighbours climbs too. */
function climb(state: ScanState, place: number, word: number): number {
  const { view } = state
  let end = place
  let climbs = 0
  for (let size = climbAt(view, end); size > 0; size = climbAt(view, end)) {
    end += size
    climbs++
  }
  if (climbs < 2) return Math.max(end, place + 2)
  const escaped = climbs < MOST_CLIMBS ? isEscapedWithin(view, place, end) : true
  const secret = SECRET_PLACES.some((name) => goesOn(view, end, name))
  const deep = isOneWord(view) && (climbs > 2 || (place > 0 && codeAt(view, place - 1) === 0x2f))
  const grade: Grade = secret ? HIGH : escaped || deep ? MEDIUM : LOW
  noteSaid(state, 'PATH_TRAVERSAL', grade, { start: place, end: restOfPath(view, end), word })
  return end
}

/** How many units one step up takes: `../`, `..\`, `....//`. */
function climbAt(view: View, i: number): number {
  let dots = 0
  while (dots < 4 && codeAt(view, i + dots) === 0x2e) dots++
  let slashes = 0
  while (slashes < 2 && isSlash(codeAt(view, i + dots + slashes))) slashes++
  if (dots === 2 && slashes > 0) return 2 + slashes
  return dots === 4 && slashes === 2 ? 6 : 0
}

function isSlash(code: number): boolean {
  return code === 0x2f || code === 0x5c
}

function isEscapedWithin(view: View, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isEscaped(view, i)) return true
  return false
}

function restOfPath(view: View, start: number): number {
  let end = start
  for (; end < start + LONGEST; end++) {
    const code = codeAt(view, end)
    if (!isAlphanumeric(code) && !(code > 32 && '/\\._-%'.includes(String.fromCharCode(code)))) break
  }
  return end
}

/** Colours are harmless; hidden text, and writing to the clipboard, are not. */
function escape(state: ScanState, place: number): number {
  const { view } = state
  const hides = goesOn(view, place + 1, '[8m') || goesOn(view, place + 1, ']52;')
  note(
    state,
    'TERMINAL_ESCAPE',
    hides && !isEscaped(view, place) ? MEDIUM : LOW,
    place,
    place + (hides ? 4 : 1),
  )
  return place + 1
}

/** Behind a name a null byte cuts off what follows. */
function nul(state: ScanState, place: number): number {
  const { view } = state
  const cuts = place > 0 && codeAt(view, place + 1) === 0x2e && isAlphanumeric(codeAt(view, place - 1))
  note(state, 'NULL_BYTE', cuts ? MEDIUM : LOW, place, place + 1)
  return place + 1
}

const DATA_NAMES =
  'data secret secrets exfil leak stolen conversation history prompt chat cookie info summary'.split(' ')

/** `![…](https://…?data=…)`. A badge has a query too, but no data in it. */
function image(state: ScanState, place: number): number {
  const { view } = state
  if (codeAt(view, place + 1) !== 0x5b) return place + 1
  let start = place + 2
  const reach = Math.min(view.length, place + 120)
  while (start < reach && codeAt(view, start) !== 0x5d) start++
  if (!goesOn(view, start, '](http')) return place + 1
  let query = 0
  let end = start + 2
  for (; end < Math.min(view.length, start + 2000); end++) {
    const code = codeAt(view, end)
    if (code === 0x29 || isSpace(code) || end >= view.length) break
    if (code === 0x3f) query = end
  }
  const grade = query === 0 ? NONE : carriesData(view, query, end) ? MEDIUM : LOW
  note(state, 'IMAGE_DATA', grade, place, Math.min(view.length, end + 1))
  return end
}

const LONG_VALUE = 40

/** Whether a query has a placeholder, a name for data, or a very long value. */
function carriesData(view: View, start: number, end: number): boolean {
  let run = 0
  // A badge may bring its logo along.
  let picture = false
  for (let i = start + 1; i < end; i++) {
    const code = codeAt(view, i)
    if (code === 0x7b || code === 0x5b || code === 0x3c || goesOn(view, i, '%7b')) return true
    const opens = codeAt(view, i - 1) === 0x3f || codeAt(view, i - 1) === 0x26
    if (opens && DATA_NAMES.some((name) => goesOn(view, i, `${name}=`))) return true
    run = isAlphanumeric(code) ? run + 1 : 0
    if (run >= LONG_VALUE && !picture) return true
    if (code === 0x64 && goesOn(view, i, 'data:image')) picture = true
  }
  return false
}
