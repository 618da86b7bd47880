// Finds attacks that begin with punctuation: shell substitution, path traversal, null bytes, terminal escapes, images with
// data.

import { isAlphanumeric, isSpace } from './characters.ts'
import { isEscaped } from './commands.ts'
import { at, codeAt, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { matches, isOneLine, isOneWord, note, noteInContext, type ScanState } from './scan-state.ts'
import { bracket, heading, opening } from './spoofing.ts'

/** Checks each mark. `word` is the first known word after it. */
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

/** Checks one mark; returns the position after the checked part. */
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
      return traversal(state, place, word)
    case 0x1b:
      return escape(state, place)
    default:
      return nul(state, place)
  }
}

const HARMFUL = new Set(
  'curl wget nc ncat rm bash sh zsh whoami python python3 perl ruby powershell'.split(' '),
)
const MAX_LENGTH = 200

/** Checks `$(curl …)`, and a command in backticks directly after a word. */
function substitution(state: ScanState, place: number, word: number): number {
  const { view } = state
  const dollar = codeAt(view, place) === 0x24
  const start = place + (dollar ? 2 : 1)
  if (dollar && codeAt(view, place + 1) !== 0x28) return place + 1
  // A Markdown code span has a space before it.
  if (!dollar && (place === 0 || !isGlue(codeAt(view, place - 1)))) return place + 1
  const name = nameAt(view, start)
  const harmful = HARMFUL.has(name) || (name === 'cat' && isPathStart(codeAt(view, start + 4)))
  if (!harmful) return place + 1
  const end = closing(view, start, dollar ? 0x29 : 0x60)
  const assigned = place > 0 && codeAt(view, place - 1) === 0x3d
  const grade = isOneLine(view) && !assigned ? MEDIUM : LOW
  if (end > 0) noteInContext(state, 'SHELL_SUBSTITUTION', grade, { start: place, end, word })
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
  for (let i = start; i < start + MAX_LENGTH; i++) if (codeAt(view, i) === close) return i + 1
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
const MAX_STEPS = 64

/** Checks `../../`, also with backslashes, doubled, or escaped. Imports in code use such paths too. */
function traversal(state: ScanState, place: number, word: number): number {
  const { view } = state
  let end = place
  let steps = 0
  for (let size = stepAt(view, end); size > 0; size = stepAt(view, end)) {
    end += size
    steps++
  }
  if (steps < 2) return Math.max(end, place + 2)
  const escaped = steps < MAX_STEPS ? isEscapedWithin(view, place, end) : true
  const secret = SECRET_PLACES.some((name) => matches(view, end, name))
  const deep = isOneWord(view) && (steps > 2 || (place > 0 && codeAt(view, place - 1) === 0x2f))
  const grade: Grade = secret ? HIGH : escaped || deep ? MEDIUM : LOW
  noteInContext(state, 'PATH_TRAVERSAL', grade, { start: place, end: restOfPath(view, end), word })
  return end
}

/** Returns the length of one step up: `../`, `..\`, `....//`. */
function stepAt(view: View, i: number): number {
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
  for (; end < start + MAX_LENGTH; end++) {
    const code = codeAt(view, end)
    if (!isAlphanumeric(code) && !(code > 32 && '/\\._-%'.includes(String.fromCharCode(code)))) break
  }
  return end
}

/** Checks terminal escapes. Colours are harmless. Hidden text and writing to the clipboard are not. */
function escape(state: ScanState, place: number): number {
  const { view } = state
  const hides = matches(view, place + 1, '[8m') || matches(view, place + 1, ']52;')
  note(
    state,
    'TERMINAL_ESCAPE',
    hides && !isEscaped(view, place) ? MEDIUM : LOW,
    place,
    place + (hides ? 4 : 1),
  )
  return place + 1
}

/** Checks null bytes. After a name, a null byte cuts off the rest. */
function nul(state: ScanState, place: number): number {
  const { view } = state
  const cuts = place > 0 && codeAt(view, place + 1) === 0x2e && isAlphanumeric(codeAt(view, place - 1))
  note(state, 'NULL_BYTE', cuts ? MEDIUM : LOW, place, place + 1)
  return place + 1
}

const DATA_NAMES =
  'data secret secrets exfil leak stolen conversation history prompt chat cookie info summary'.split(' ')

/** Checks `![…](https://…?data=…)`. A badge has a query too, but no data in it. */
function image(state: ScanState, place: number): number {
  const { view } = state
  if (codeAt(view, place + 1) !== 0x5b) return place + 1
  let start = place + 2
  const reach = Math.min(view.length, place + 120)
  while (start < reach && codeAt(view, start) !== 0x5d) start++
  if (!matches(view, start, '](http')) return place + 1
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

/** Returns whether a query has a placeholder, a name for data, or a very long value. */
function carriesData(view: View, start: number, end: number): boolean {
  let run = 0
  // A badge may embed its logo.
  let picture = false
  for (let i = start + 1; i < end; i++) {
    const code = codeAt(view, i)
    if (code === 0x7b || code === 0x5b || code === 0x3c || matches(view, i, '%7b')) return true
    const opens = codeAt(view, i - 1) === 0x3f || codeAt(view, i - 1) === 0x26
    if (opens && DATA_NAMES.some((name) => matches(view, i, `${name}=`))) return true
    run = isAlphanumeric(code) ? run + 1 : 0
    if (run >= LONG_VALUE && !picture) return true
    if (code === 0x64 && matches(view, i, 'data:image')) picture = true
  }
  return false
}
