// What one word of letters, digits, dashes and low lines is, if it is opaque: a wallet, a key, an id.

import { DIGIT, LOWER, MARK, UPPER, classOf } from './characters.ts'

/** An opaque word. */
interface Token {
  readonly kind: 'wallet' | 'key' | 'id'
  /** Its normal form. */
  readonly text: string
}

/** Shorter words are never opaque. */
export const SHORTEST_TOKEN = 8
const SHORTEST_HEX = 16
const SHORTEST_KEY = 20

/** How a word is put together. */
interface Shape {
  readonly digits: number
  readonly lower: number
  readonly upper: number
  readonly marks: number
  /** How often a digit, a small and a capital letter follow one another. */
  readonly changes: number
}

function shapeOf(word: string): Shape {
  const counts = [0, 0, 0, 0, 0]
  let [before, changes] = [0, 0]
  for (let i = 0; i < word.length; i++) {
    const now = classOf(word.charCodeAt(i))
    counts[now] = (counts[now] ?? 0) + 1
    if (now === MARK) continue
    if (before !== 0 && now !== before) changes++
    before = now
  }
  const of = (what: number): number => counts[what] ?? 0
  return { digits: of(DIGIT), lower: of(LOWER), upper: of(UPPER), marks: of(MARK), changes }
}

/**
 * Reads a word without dots, or answers undefined for one that is none: dates, times, words with a year, hex colours.
 *
 * Ids ignore case and are in lower case; a UUID and a number in groups are without their dashes. Wallets and keys keep
 * theirs, but for those in hexadecimal and bech32.
 *
 * @param isTagged a `#` stands before it
 */
export function readToken(word: string, isTagged: boolean): Token | undefined {
  if (word.length < SHORTEST_TOKEN) return undefined
  const shape = shapeOf(word)
  if (shape.digits === 0) return undefined
  if (shape.lower + shape.upper === 0) return digitId(word)
  if (isTimestamp(word) || isShortHex(word)) return undefined
  return hexToken(word, shape, isTagged) ?? randomToken(word, shape) ?? mixedId(word, shape, isTagged)
}

const YEAR = /^(?:19|20)[0-9]{2}$/
const DAY = /^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$/

/** Digits, maybe in groups: the number without its dashes. */
function digitId(word: string): Token | undefined {
  const groups = word.split(/[-_]+/)
  const digits = groups.join('')
  if (digits.length < SHORTEST_TOKEN || isDate(groups)) return undefined
  return { kind: 'id', text: digits }
}

/** `2026-11-15`, `15-11-2026`, `20261115`, `2026-11-15-093000`, `2019-2026`. */
function isDate(groups: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = groups
  if (DAY.test(first)) return groups.length === 1 || (groups.length === 2 && second.length <= 6)
  if (groups.length === 2) return YEAR.test(first) && YEAR.test(second)
  return (
    DAY.test(first + second + third) || DAY.test(third + second + first) || DAY.test(third + first + second)
  )
}

/** `2026-11-15T09` (a colon ends the word) and `20261115T093000Z`. */
function isTimestamp(word: string): boolean {
  return /^(?:19|20)[0-9]{2}(?:-[0-9]{2}-[0-9]{2}|[0-9]{4})[Tt][0-9]{2,9}[A-Za-z]{0,3}(?:-[0-9]{2,4})?$/.test(
    word,
  )
}

const HEX = /^[0-9a-f]+$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const COLOUR = /^[0-9a-f]{8}$/

function hexToken(word: string, { marks }: Shape, isTagged: boolean): Token | undefined {
  const lower = word.toLowerCase()
  if (lower.startsWith('0x') && HEX.test(lower.slice(2))) {
    // Forty digits are an account.
    return { kind: lower.length === 42 ? 'wallet' : 'id', text: lower }
  }
  if (marks === 4 && UUID.test(lower)) return { kind: 'id', text: lower.replaceAll('-', '') }
  if (marks > 0 || lower.length < SHORTEST_HEX || isTagged) return undefined
  return HEX.test(lower) ? { kind: 'id', text: lower } : undefined
}

/** `0x7ffee3b0` is a number of a program. */
function isShortHex(word: string): boolean {
  return word.length < 2 + SHORTEST_HEX && /^0[xX][0-9A-Fa-f]+$/.test(word)
}

const BECH32 = /^(?:bc1|tb1|ltc1)[02-9ac-hj-np-z]{25,71}$/
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{26,35}$/
const KEY_START =
  /^(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeoprs]|npm|pypi|hf|shpat|whsec)[-_]|^(?:AKIA|ASIA|AIza|eyJ)/

function randomToken(word: string, shape: Shape): Token | undefined {
  const lower = word.toLowerCase()
  if ((shape.lower === 0 || shape.upper === 0) && BECH32.test(lower)) return { kind: 'wallet', text: lower }
  if (word.length < SHORTEST_KEY) return undefined
  if (isRandom(shape) && BASE58.test(word)) return { kind: 'wallet', text: word }
  return KEY_START.test(word) || isRandom(shape) ? { kind: 'key', text: word } : undefined
}

/** Three classes of characters that change often: names of programs change at the beginnings of words only. */
function isRandom({ digits, lower, upper, changes }: Shape): boolean {
  return digits > 0 && lower > 0 && upper > 0 && changes * 3 >= digits + lower + upper
}

function mixedId(word: string, { digits, lower, upper, marks }: Shape, isTagged: boolean): Token | undefined {
  const letters = lower + upper
  if (digits < 2 || letters < 2 || digits + letters < SHORTEST_TOKEN) return undefined
  const text = word.toLowerCase()
  if (isTagged && COLOUR.test(text)) return undefined
  const isOpaque = marks === 0 ? !isWordWithYear(text) : text.split(/[-_]+/).some(isOpaquePart)
  return isOpaque ? { kind: 'id', text } : undefined
}

function isWordWithYear(word: string): boolean {
  return /^[a-z]+(?:19|20)[0-9]{2}$/.test(word)
}

/** `1nf8` of `acct_1nf8`, `20391` of `inv-20391`; not `utf8`, not a year, not `covid` nor `19`. */
function isOpaquePart(part: string): boolean {
  if (/^[0-9]+$/.test(part)) return part.length >= 4 && !YEAR.test(part) && !DAY.test(part)
  if (!/[0-9]/.test(part)) return false
  if (part.length >= SHORTEST_TOKEN) return /[0-9].*[0-9]/.test(part) && !isWordWithYear(part)
  // Not `21st`, `50mb` or `k8s`, nor `i18n`.
  if (part.length < 4 || /^[a-z][0-9]{2}[a-z]$/.test(part)) return false
  return /[0-9][a-z]+[0-9]|[a-z][0-9]+[a-z]/.test(part)
}

/** Whether a stretch of text is random as base64 is, and not made of words. */
export function isRandomText(text: string): boolean {
  return isRandom(shapeOf(text))
}
