// Secrets by their shape: keys in PEM form, tokens of providers, and values next to a name such as `password`.

import { isAlphanumeric } from './characters.ts'
import type { ThreatCode } from './finding.ts'
import { at, codeAt, distinctIn, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { goesOn, note, type ScanState } from './scan-state.ts'
import { assignedAfter } from './assignment.ts'

/** Looks closer at a known word. */
export type Probe = (state: ScanState, word: number) => void

const LONGEST = 256

interface SecretShape {
  readonly code: ThreatCode
  /** What comes right after the first word. */
  readonly then: string
  /** How many characters the rest has at least. */
  readonly least: number
  /** It has exactly so many, and letters and digits only. */
  readonly exact?: true
}

const SHAPES: Readonly<Record<string, readonly SecretShape[]>> = {
  ...Object.fromEntries(
    ['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((word) => [
      word,
      [{ code: 'GITHUB_TOKEN', then: '_', least: 36, exact: true }],
    ]),
  ),
  github: [{ code: 'GITHUB_TOKEN', then: '_pat_', least: 40 }],
  glpat: [{ code: 'GITHUB_TOKEN', then: '-', least: 20 }],
  ...Object.fromEntries(
    ['xoxb', 'xoxp', 'xoxa', 'xoxr', 'xoxs', 'xapp'].map((word) => [
      word,
      [{ code: 'SLACK_TOKEN', then: '-', least: 20 }],
    ]),
  ),
  sk: [
    { code: 'MODEL_KEY', then: '-', least: 20 },
    { code: 'STRIPE_KEY', then: '_live_', least: 16 },
  ],
  rk: [{ code: 'STRIPE_KEY', then: '_live_', least: 16 }],
  npm: [{ code: 'NPM_TOKEN', then: '_', least: 36, exact: true }],
}

function shaped(shapes: readonly SecretShape[]): Probe {
  return (state, word) => {
    const { view } = state
    const start = at(state.reading.starts, word)
    for (const { code, then, least, exact } of shapes) {
      const tail = at(state.reading.ends, word)
      if (!goesOn(view, tail, then)) continue
      const end = tokenEnd(view, tail)
      const size = end - tail - then.length
      if (exact ? size !== least || !isPlain(view, tail + then.length, end) : size < least) continue
      note(state, code, strength(view, tail, end, HIGH), start, end)
    }
  }
}

function tokenEnd(view: View, start: number): number {
  let end = start
  while (end < start + LONGEST && isTokenCode(codeAt(view, end))) end++
  return end
}

function isPlain(view: View, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!isAlphanumeric(codeAt(view, i))) return false
  return true
}

function isTokenCode(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code === 0x2d
}

/** A token of random characters as it is; one that is made up for a manual is a hint at most. */
function strength(view: View, start: number, end: number, grade: Grade): Grade {
  let kinds = 0
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code >= 48 && code < 58) kinds |= 1
    else if ((code | 32) >= 97 && (code | 32) <= 122) kinds |= 2
    if ((code | 32) === 0x65 && goesOn(view, i, 'example')) return LOW
    if ((code | 32) === 0x78 && goesOn(view, i, 'xxxx')) return LOW
    if ((code | 32) === 0x74 && goesOn(view, i, 'token')) return LOW
    if (code === 0x30 && goesOn(view, i, '00000')) return LOW
  }
  return kinds === 3 && distinctIn(view, start, end) >= 10 ? grade : NONE
}

// The place of the next end of a key, so that a text of beginnings is not searched again for each.
const PEM_END = '-----END'
const MAX_HEAD = 40
const MAX_KEY = 16_384
const SHORTEST_BODY = 40

/** `-----BEGIN … PRIVATE KEY-----`, with the key that follows. */
const pem: Probe = (state, word) => {
  const { view, reading } = state
  const begin = at(reading.starts, word) - 5
  if (begin < 0 || !goesOn(view, begin, '-----')) return
  const head = at(reading.ends, word)
  let body = head
  while (body < head + MAX_HEAD && !goesOn(view, body, 'private key-----')) body++
  if (body === head + MAX_HEAD) return
  body += 16
  const end = pemEnd(state, word, body)
  if (end - body < SHORTEST_BODY || isFilledIn(view, body))
    note(state, 'PRIVATE_KEY', LOW, begin, Math.max(end, body))
  else note(state, 'PRIVATE_KEY', HIGH, begin, end)
}

/** Whether a manual left the key out. */
function isFilledIn(view: View, body: number): boolean {
  for (let i = body; i < body + SHORTEST_BODY; i++)
    if (goesOn(view, i, 'xxxx') || goesOn(view, i, '...')) return true
  return false
}

const END = learn('end')

/** Where the key ends: after its last line, or where what follows is no base64 any more. */
function pemEnd(state: ScanState, word: number, body: number): number {
  const { view, reading } = state
  let end = body
  while (end < body + MAX_KEY && isBodyCode(view, end)) end++
  // The words of the last line; "end" is known, and few known words are by chance in a key.
  for (let next = word + 1; next < Math.min(reading.ids.length, word + 64); next++) {
    const start = at(reading.starts, next)
    if (start > end + PEM_END.length) break
    if (at(reading.ids, next) === END && goesOn(view, start - 5, '-----end')) return pemTail(view, start)
  }
  return end
}

function pemTail(view: View, start: number): number {
  let end = start
  while (end < start + MAX_HEAD && !goesOn(view, end, '-----')) end++
  return end === start + MAX_HEAD ? start : end + 5
}

/** Base64, line breaks, also written as `\n`, and the header lines of old keys. */
function isBodyCode(view: View, i: number): boolean {
  const code = codeAt(view, i)
  return isAlphanumeric(code) || '+/=\r\n\\:,- '.includes(String.fromCharCode(code))
    ? i < view.length && !goesOn(view, i, '-----')
    : false
}

/** Keys that are one long word: of Amazon, of Google, and web tokens. */
export function longSecrets(state: ScanState): void {
  const { view, reading } = state
  for (let i = 0; i + 1 < reading.long.length; i += 2) {
    const start = at(reading.long, i)
    const end = at(reading.long, i + 1)
    const first = codeAt(view, start)
    if (first === 0x41) capital(state, start, end)
    else if (first === 0x65 && goesOn(view, start, 'eyj')) webToken(state, start, end)
  }
}

function capital(state: ScanState, start: number, end: number): void {
  const { view } = state
  if (end - start === 20 && (goesOn(view, start, 'akia') || goesOn(view, start, 'asia'))) {
    for (let i = start; i < end; i++) if (codeAt(view, i) >= 97) return
    const grade = hasAwsSecret(view, end) ? HIGH : MEDIUM
    note(state, 'AWS_KEY', strength(view, start, end, grade), start, end)
  } else if (goesOn(view, start, 'aiza')) {
    const tail = tokenEnd(view, start)
    if (tail - start >= 39 && tail - start <= 41)
      note(state, 'GOOGLE_KEY', strength(view, start, tail, HIGH), start, tail)
  }
}

const NEAR = 200

/** Forty characters of base64 shortly after a key's name are its secret. */
function hasAwsSecret(view: View, start: number): boolean {
  let run = 0
  for (let i = start; i <= start + NEAR; i++) {
    const code = codeAt(view, i)
    const inside = isAlphanumeric(code) || code === 0x2f || code === 0x2b
    if (!inside && run === 40) return true
    run = inside ? run + 1 : 0
  }
  return false
}

function webToken(state: ScanState, start: number, head: number): void {
  const { view } = state
  const first = tokenEnd(view, head)
  if (codeAt(view, first) !== 0x2e || !goesOn(view, first + 1, 'eyj')) return
  const second = tokenEnd(view, first + 1)
  if (codeAt(view, second) !== 0x2e || second - first < 12) return
  const third = tokenEnd(view, second + 1)
  if (third - second > 16) note(state, 'JWT', strength(view, start, third, MEDIUM), start, third)
}

/** The words that secrets begin with, or are named by. */
export const SECRET_PROBES: readonly (readonly [string, Probe])[] = [
  ...Object.entries(SHAPES).map(([word, shapes]) => [word, shaped(shapes)] as const),
  ['begin', pem],
  ...['password', 'passwd', 'pwd', 'passphrase', 'passwort', 'contraseña', 'senha'].map(
    (word) =>
      [word, (state: ScanState, at: number) => assignedAfter(state, at, 'PASSWORD_ASSIGNED')] as const,
  ),
  ...(
    'token secret apikey key accesskey secretkey privatekey secretaccesskey accesstoken clientsecret authtoken ' +
    'apisecret apitoken bearer'
  )
    .split(' ')
    .map(
      (word) => [word, (state: ScanState, at: number) => assignedAfter(state, at, 'KEY_ASSIGNED')] as const,
    ),
]
