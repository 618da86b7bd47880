// Finds secret values next to a name: `password=…`, `"api_key": "…"`.

import { isAlphanumeric } from './characters.ts'
import { at, codeAt, distinctIn, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { note, pastBlanks, type ScanState } from './scan-state.ts'

const KEY = learn('key')
const BEARER = learn('bearer')
// The word "key" also names entries of a map. After one of these words it names a secret.
const SECRET_KEY_PREFIXES = new Set(
  'api access secret private auth client signing encryption'.split(' ').map(learn),
)

const MAX_VALUE_LENGTH = 200

/** Notes the value after a name if it looks like a secret. */
export function assignedAfter(
  state: ScanState,
  word: number,
  code: 'PASSWORD_ASSIGNED' | 'KEY_ASSIGNED',
): void {
  const { view, reading } = state
  const id = at(reading.ids, word)
  if (id === KEY && !isSecretKey(state, word)) return
  const value = valueAfter(view, at(reading.ends, word), id === BEARER)
  if (value === undefined) return
  const [start, end] = value
  const grade = code === 'KEY_ASSIGNED' ? keyGrade(view, start, end) : passwordGrade(view, start, end)
  note(state, code, grade, start, end)
}

function isSecretKey({ reading }: ScanState, word: number): boolean {
  if (word === 0 || at(reading.starts, word) - at(reading.ends, word - 1) > 1) return false
  return SECRET_KEY_PREFIXES.has(at(reading.ids, word - 1))
}

/** Returns the range of the value that is assigned to the name before a position. */
function valueAfter(view: View, place: number, bare: boolean): readonly [number, number] | undefined {
  let start = isQuote(codeAt(view, place)) ? place + 1 : place
  start = pastBlanks(view, start, 4)
  const sign = codeAt(view, start)
  if (sign === 0x3d || sign === 0x3a) start++
  else if (!bare || start === place) return undefined
  if (codeAt(view, start) === 0x3e || codeAt(view, start) === 0x3d) start++
  start = pastBlanks(view, start, 4)
  if (isQuote(codeAt(view, start))) start++
  let end = start
  while (end < start + MAX_VALUE_LENGTH && !endsValue(view, end)) end++
  return end === start || end === start + MAX_VALUE_LENGTH ? undefined : [start, end]
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60
}

const ENDS = new Uint8Array(128)
for (const end of '\0 \t\n\v\f\r"\'`,;&\\') ENDS[end.charCodeAt(0)] = 1

function endsValue(view: View, i: number): boolean {
  return i >= view.length || ENDS[view.codes[i] ?? 0] === 1
}

// Signs of code and templates.
const CODE_SIGNS = '(){}[]<>$|'.split('')
const PLACEHOLDERS = [
  ...CODE_SIGNS,
  'example',
  'your',
  'xxxx',
  'placeholder',
  'changeme',
  '****',
  '...',
  'redacted',
  '00000',
  '123456789',
]

function isPlaceholder(view: View, start: number, end: number): boolean {
  const value = String.fromCharCode(...view.codes.subarray(start, end)).toLowerCase()
  return PLACEHOLDERS.some((word) => value.includes(word))
}

/** Returns the kinds of characters in a range. */
function kindsOf(
  view: View,
  start: number,
  end: number,
): { letter: boolean; digit: boolean; other: boolean } {
  const kinds = { letter: false, digit: false, other: false }
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code >= 48 && code < 58) kinds.digit = true
    else if (isAlphanumeric(code) || code > 127) kinds.letter = true
    else kinds.other = true
  }
  return kinds
}

function passwordGrade(view: View, start: number, end: number): Grade {
  if (end - start < 6 || isPlaceholder(view, start, end)) return NONE
  const { letter, digit, other } = kindsOf(view, start, end)
  if (letter && digit) return MEDIUM
  return other && letter && !isPath(view, start, end) ? LOW : NONE
}

/** Names such as `settings.password`, `user_password` or `a/b`. */
function isPath(view: View, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (!isAlphanumeric(code) && code !== 0x2e && code !== 0x5f && code !== 0x2f && code !== 0x2d)
      return false
  }
  return true
}

const MIN_KEY_LENGTH = 20
const MIN_DISTINCT = 10

function keyGrade(view: View, start: number, end: number): Grade {
  if (end - start < MIN_KEY_LENGTH || isPlaceholder(view, start, end)) return NONE
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (!isAlphanumeric(code) && !'_-+/=~'.includes(String.fromCharCode(code))) return NONE
  }
  const { letter, digit } = kindsOf(view, start, end)
  if (!letter || !digit || distinctIn(view, start, end) < MIN_DISTINCT) return NONE
  return isUuid(view, start, end) ? LOW : MEDIUM
}

function isUuid(view: View, start: number, end: number): boolean {
  return end - start === 36 && [8, 13, 18, 23].every((hyphen) => codeAt(view, start + hyphen) === 0x2d)
}
