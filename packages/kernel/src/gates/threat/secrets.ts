// Finds secrets by their shape: PEM keys, tokens of providers, and values next to a name such as `password`.

import { isAlphanumeric } from './characters.ts'
import type { ThreatCode } from './finding.ts'
import { at, codeAt, distinctIn, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { matches, note, type ScanState } from './scan-state.ts'
import { assignedAfter } from './assignment.ts'

/** A check that runs on a known word. */
export type Probe = (state: ScanState, word: number) => void

const MAX_TOKEN_LENGTH = 256

interface SecretShape {
  readonly code: ThreatCode
  /** The text directly after the first word. */
  readonly prefix: string
  /** The minimum length of the rest. */
  readonly minLength: number
  /** The rest has exactly this length and only letters and digits. */
  readonly exact?: true
}

const SHAPES: Readonly<Record<string, readonly SecretShape[]>> = {
  ...Object.fromEntries(
    ['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((word) => [
      word,
      [{ code: 'GITHUB_TOKEN', prefix: '_', minLength: 36, exact: true }],
    ]),
  ),
  github: [{ code: 'GITHUB_TOKEN', prefix: '_pat_', minLength: 40 }],
  glpat: [{ code: 'GITHUB_TOKEN', prefix: '-', minLength: 20 }],
  ...Object.fromEntries(
    ['xoxb', 'xoxp', 'xoxa', 'xoxr', 'xoxs', 'xapp'].map((word) => [
      word,
      [{ code: 'SLACK_TOKEN', prefix: '-', minLength: 20 }],
    ]),
  ),
  sk: [
    { code: 'MODEL_KEY', prefix: '-', minLength: 20 },
    { code: 'STRIPE_KEY', prefix: '_live_', minLength: 16 },
  ],
  rk: [{ code: 'STRIPE_KEY', prefix: '_live_', minLength: 16 }],
  npm: [{ code: 'NPM_TOKEN', prefix: '_', minLength: 36, exact: true }],
}

function shaped(shapes: readonly SecretShape[]): Probe {
  return (state, word) => {
    const { view } = state
    const start = at(state.reading.starts, word)
    for (const { code, prefix, minLength, exact } of shapes) {
      const tail = at(state.reading.ends, word)
      if (!matches(view, tail, prefix)) continue
      const end = tokenEnd(view, tail)
      const size = end - tail - prefix.length
      if (exact ? size !== minLength || !isPlain(view, tail + prefix.length, end) : size < minLength) continue
      note(state, code, strength(view, tail, end, HIGH), start, end)
    }
  }
}

function tokenEnd(view: View, start: number): number {
  let end = start
  while (end < start + MAX_TOKEN_LENGTH && isTokenCode(codeAt(view, end))) end++
  return end
}

function isPlain(view: View, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!isAlphanumeric(codeAt(view, i))) return false
  return true
}

function isTokenCode(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code === 0x2d
}

/** Returns the grade for a random token, low for a placeholder of a manual, and none for a value that is not random. */
function strength(view: View, start: number, end: number, grade: Grade): Grade {
  let kinds = 0
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code >= 48 && code < 58) kinds |= 1
    else if ((code | 32) >= 97 && (code | 32) <= 122) kinds |= 2
    if ((code | 32) === 0x65 && matches(view, i, 'example')) return LOW
    if ((code | 32) === 0x78 && matches(view, i, 'xxxx')) return LOW
    if ((code | 32) === 0x74 && matches(view, i, 'token')) return LOW
    if (code === 0x30 && matches(view, i, '00000')) return LOW
  }
  return kinds === 3 && distinctIn(view, start, end) >= 10 ? grade : NONE
}

const PEM_END = '-----END'
const MAX_HEAD = 40
const MAX_KEY = 16_384
const MIN_BODY_LENGTH = 40

/** Finds `-----BEGIN … PRIVATE KEY-----` with the key that follows. */
const pem: Probe = (state, word) => {
  const { view, reading } = state
  const begin = at(reading.starts, word) - 5
  if (begin < 0 || !matches(view, begin, '-----')) return
  const head = at(reading.ends, word)
  let body = head
  while (body < head + MAX_HEAD && !matches(view, body, 'private key-----')) body++
  if (body === head + MAX_HEAD) return
  body += 16
  const end = pemEnd(state, word, body)
  if (end - body < MIN_BODY_LENGTH || isPlaceholder(view, body))
    note(state, 'PRIVATE_KEY', LOW, begin, Math.max(end, body))
  else note(state, 'PRIVATE_KEY', HIGH, begin, end)
}

/** Returns whether the key is a placeholder. */
function isPlaceholder(view: View, body: number): boolean {
  for (let i = body; i < body + MIN_BODY_LENGTH; i++)
    if (matches(view, i, 'xxxx') || matches(view, i, '...')) return true
  return false
}

const END = learn('end')

/** Returns the end of the key: after its last line, or at the first unit that is not base64. */
function pemEnd(state: ScanState, word: number, body: number): number {
  const { view, reading } = state
  let end = body
  while (end < body + MAX_KEY && isBodyCode(view, end)) end++
  // Looks for the `END` line. Few known words occur in a key by chance, so the search is short.
  for (let next = word + 1; next < Math.min(reading.ids.length, word + 64); next++) {
    const start = at(reading.starts, next)
    if (start > end + PEM_END.length) break
    if (at(reading.ids, next) === END && matches(view, start - 5, '-----end')) return pemTail(view, start)
  }
  return end
}

function pemTail(view: View, start: number): number {
  let end = start
  while (end < start + MAX_HEAD && !matches(view, end, '-----')) end++
  return end === start + MAX_HEAD ? start : end + 5
}

/** Base64, line breaks (also written as `\n`), and the header lines of old keys. */
function isBodyCode(view: View, i: number): boolean {
  const code = codeAt(view, i)
  return isAlphanumeric(code) || '+/=\r\n\\:,- '.includes(String.fromCharCode(code))
    ? i < view.length && !matches(view, i, '-----')
    : false
}

/** Finds keys that are one long word: of Amazon and Google, and web tokens. */
export function longSecrets(state: ScanState): void {
  const { view, reading } = state
  for (let i = 0; i + 1 < reading.long.length; i += 2) {
    const start = at(reading.long, i)
    const end = at(reading.long, i + 1)
    const first = codeAt(view, start)
    if (first === 0x41) providerKey(state, start, end)
    else if (first === 0x65 && matches(view, start, 'eyj')) webToken(state, start, end)
  }
}

function providerKey(state: ScanState, start: number, end: number): void {
  const { view } = state
  if (end - start === 20 && (matches(view, start, 'akia') || matches(view, start, 'asia'))) {
    for (let i = start; i < end; i++) if (codeAt(view, i) >= 97) return
    const grade = hasAwsSecret(view, end) ? HIGH : MEDIUM
    note(state, 'AWS_KEY', strength(view, start, end, grade), start, end)
  } else if (matches(view, start, 'aiza')) {
    const tail = tokenEnd(view, start)
    if (tail - start >= 39 && tail - start <= 41)
      note(state, 'GOOGLE_KEY', strength(view, start, tail, HIGH), start, tail)
  }
}

const NEAR = 200

/** Returns whether a run of exactly 40 base64 characters follows, which is the secret of the key. */
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
  if (codeAt(view, first) !== 0x2e || !matches(view, first + 1, 'eyj')) return
  const second = tokenEnd(view, first + 1)
  if (codeAt(view, second) !== 0x2e || second - first < 12) return
  const third = tokenEnd(view, second + 1)
  if (third - second > 16) note(state, 'JWT', strength(view, start, third, MEDIUM), start, third)
}

/** The words that begin or name secrets, with their checks. */
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
