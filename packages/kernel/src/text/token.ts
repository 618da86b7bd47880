// Recognises opaque words of letters, digits, dashes and underscores: wallets, keys and ids.

import { DIGIT, LOWER, MARK, UPPER, classOf } from './characters.ts'

/** An opaque word. */
interface Token {
  readonly kind: 'wallet' | 'key' | 'id'
  /** The normal form. */
  readonly text: string
}

/** Shorter words are never opaque. */
export const MIN_TOKEN_LENGTH = 8
const MIN_HEX_LENGTH = 16
const MIN_KEY_LENGTH = 20

/** The character counts of a word. */
interface Shape {
  readonly digits: number
  readonly lower: number
  readonly upper: number
  readonly marks: number
  /** The number of changes between digits, lower case and upper case. */
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
  const of = (kind: number): number => counts[kind] ?? 0
  return { digits: of(DIGIT), lower: of(LOWER), upper: of(UPPER), marks: of(MARK), changes }
}

/**
 * Reads a word without dots. Returns undefined for dates, times, words with a year and hex colours. Ids become lower case. UUIDs
 * and grouped numbers lose their dashes. Wallets and keys keep their spelling, except in hexadecimal and bech32. @param isTagged
 * whether a `#` precedes the word
 */
export function readToken(word: string, isTagged: boolean): Token | undefined {
  if (word.length < MIN_TOKEN_LENGTH) return undefined
  const shape = shapeOf(word)
  if (shape.digits === 0) return undefined
  if (shape.lower + shape.upper === 0) return digitId(word)
  if (isTimestamp(word) || isShortHex(word)) return undefined
  return hexToken(word, shape, isTagged) ?? randomToken(word, shape) ?? mixedId(word, shape, isTagged)
}

const YEAR = /^(?:19|20)[0-9]{2}$/
const DAY = /^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$/

/** Reads digits, possibly in groups, as a number without dashes. */
function digitId(word: string): Token | undefined {
  const groups = word.split(/[-_]+/)
  const digits = groups.join('')
  if (digits.length < MIN_TOKEN_LENGTH || isDate(groups)) return undefined
  return { kind: 'id', text: digits }
}

/** Matches `2026-11-15`, `15-11-2026`, `20261115`, `2026-11-15-093000` and `2019-2026`. */
function isDate(groups: readonly string[]): boolean {
  const [first = '', second = '', third = ''] = groups
  if (DAY.test(first)) return groups.length === 1 || (groups.length === 2 && second.length <= 6)
  if (groups.length === 2) return YEAR.test(first) && YEAR.test(second)
  return (
    DAY.test(first + second + third) || DAY.test(third + second + first) || DAY.test(third + first + second)
  )
}

/** Matches `2026-11-15T09` (a colon ends the word) and `20261115T093000Z`. */
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
    // Forty hex digits are an account.
    return { kind: lower.length === 42 ? 'wallet' : 'id', text: lower }
  }
  if (marks === 4 && UUID.test(lower)) return { kind: 'id', text: lower.replaceAll('-', '') }
  if (marks > 0 || lower.length < MIN_HEX_LENGTH || isTagged) return undefined
  return HEX.test(lower) ? { kind: 'id', text: lower } : undefined
}

/** `0x7ffee3b0` is a number in a program. */
function isShortHex(word: string): boolean {
  return word.length < 2 + MIN_HEX_LENGTH && /^0[xX][0-9A-Fa-f]+$/.test(word)
}

const BECH32 = /^(?:bc1|tb1|ltc1)[02-9ac-hj-np-z]{25,71}$/
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{26,35}$/
const KEY_START =
  /^(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeoprs]|npm|pypi|hf|shpat|whsec)[-_]|^(?:AKIA|ASIA|AIza|eyJ)/

function randomToken(word: string, shape: Shape): Token | undefined {
  const lower = word.toLowerCase()
  if ((shape.lower === 0 || shape.upper === 0) && BECH32.test(lower)) return { kind: 'wallet', text: lower }
  if (word.length < MIN_KEY_LENGTH) return undefined
  if (isRandom(shape) && BASE58.test(word)) return { kind: 'wallet', text: word }
  return KEY_START.test(word) || isRandom(shape) ? { kind: 'key', text: word } : undefined
}

/** Returns whether three character classes alternate often. Identifiers in code change class only at word starts. */
function isRandom({ digits, lower, upper, changes }: Shape): boolean {
  return digits > 0 && lower > 0 && upper > 0 && changes * 3 >= digits + lower + upper
}

function mixedId(word: string, { digits, lower, upper, marks }: Shape, isTagged: boolean): Token | undefined {
  const letters = lower + upper
  if (digits < 2 || letters < 2 || digits + letters < MIN_TOKEN_LENGTH) return undefined
  const text = word.toLowerCase()
  if (isTagged && COLOUR.test(text)) return undefined
  const isOpaque = marks === 0 ? !isWordWithYear(text) : text.split(/[-_]+/).some(isOpaquePart)
  return isOpaque ? { kind: 'id', text } : undefined
}

function isWordWithYear(word: string): boolean {
  return /^[a-z]+(?:19|20)[0-9]{2}$/.test(word)
}

/** Accepts `1nf8` of `acct_1nf8` and `20391` of `inv-20391`, but not `utf8`, years, `covid` or `19`. */
function isOpaquePart(part: string): boolean {
  if (/^[0-9]+$/.test(part)) return part.length >= 4 && !YEAR.test(part) && !DAY.test(part)
  if (!/[0-9]/.test(part)) return false
  if (part.length >= MIN_TOKEN_LENGTH) return /[0-9].*[0-9]/.test(part) && !isWordWithYear(part)
  // Excludes `21st`, `50mb`, `k8s` and `i18n`.
  if (part.length < 4 || /^[a-z][0-9]{2}[a-z]$/.test(part)) return false
  return /[0-9][a-z]+[0-9]|[a-z][0-9]+[a-z]/.test(part)
}

/** Returns whether a text is random like base64 and not made of words. */
export function isRandomText(text: string): boolean {
  return isRandom(shapeOf(text))
}
