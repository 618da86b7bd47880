// Finds personal data by its form, with almost no false alarms.
//
// Not found: e-mail addresses and telephone numbers (every mail has one), names and birthdays (no fixed form), and national ids
// that resemble other numbers: with one check digit (the Dutch BSN, the Polish PESEL, the German tax id) or without (the British
// NINO, passports). The threat scanner finds `secret`.

import { isAlphanumeric } from './characters.ts'
import { foldInPlace } from './fold.ts'
import type { Value, ValueKind } from './values.ts'

const LABELS: Partial<Readonly<Record<ValueKind, readonly string[]>>> = {
  card: ['card', 'personal'],
  iban: ['personal'],
}

/** Returns the labels of these values by kind, sorted and without duplicates. */
export function labelsIn(values: readonly Pick<Value, 'kind'>[]): readonly string[] {
  const labels = new Set<string>()
  for (const { kind } of values) for (const label of LABELS[kind] ?? []) labels.add(label)
  return [...labels].sort()
}

/** The kind of a national id. */
type NationalScheme = 'us-ssn' | 'es-dni' | 'it-cf' | 'fr-nir' | 'fi-hetu' | 'br-cpf'

/** A national id in a text. It makes the text `personal`. */
export interface NationalId {
  readonly scheme: NationalScheme
  readonly start: number
  readonly end: number
}

/** The maximum number of national ids per text. */
export const MOST_IDS: number = 256

// Every pattern has a bounded length, so that a search is fast. Some require capital letters, because ids of programs look
// similar.
const SHAPES: readonly (readonly [NationalScheme, RegExp, (text: string) => boolean])[] = [
  ['us-ssn', /[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}/g, isSsn],
  ['es-dni', /(?:[0-9]{8}|[XYZ][0-9]{7})-?[A-Z]/g, isDni],
  ['it-cf', /[A-Za-z]{6}[0-9]{2}[A-Za-z][0-9]{2}[A-Za-z][0-9]{3}[A-Za-z]/g, isCodiceFiscale],
  ['fr-nir', /[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]) ?(?:[0-9]{2}|2[ABab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}/g, isNir],
  ['fi-hetu', /[0-3][0-9][01][0-9]{3}[-+A-FU-Y][0-9]{3}[0-9A-Y]/g, isHetu],
  ['br-cpf', /[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}/g, isCpf],
]

// One search rules out most texts.
const ANY_SHAPE = new RegExp(SHAPES.map(([, { source }]) => source).join('|'))
const NO_IDS: readonly NationalId[] = []

/**
 * Returns the national ids in a text, by scheme and then by position: US social security numbers with dashes, and ids that have a
 * strong checksum or a distinctive form.
 */
export function nationalIdsIn(text: string): readonly NationalId[] {
  if (!/[0-9\u0080-\uffff]/.test(text)) return []
  const folded = foldInPlace(text)
  if (!ANY_SHAPE.test(folded.text)) return NO_IDS
  const found: NationalId[] = []
  for (const [scheme, shape, isValid] of SHAPES) {
    for (const { 0: match, index } of folded.text.matchAll(shape)) {
      if (found.length === MOST_IDS) return found
      const end = index + match.length
      if (!isSeparate(folded.text, index, end) || !isValid(match.toUpperCase())) continue
      found.push({ scheme, start: folded.start(index), end: folded.end(end) })
    }
  }
  return found
}

/** Returns whether the match is not part of a longer number or word. `2026-123-45-6789` contains no id. */
function isSeparate(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1)
  const after = text.charCodeAt(end)
  if (isAlphanumeric(before) || isAlphanumeric(after)) return false
  const isJoined = (sign: number, beyond: number): boolean =>
    (sign === 0x2d || sign === 0x2e || sign === 0x5f || sign === 0x2f) && isAlphanumeric(beyond)
  return !isJoined(before, text.charCodeAt(start - 2)) && !isJoined(after, text.charCodeAt(end + 1))
}

/** Accepts valid numbers, except well-known examples. */
function isSsn(text: string): boolean {
  const [area = '', group = '', serial = ''] = text.split('-')
  if (area === '000' || area === '666' || group === '00' || serial === '0000') return false
  return text !== '078-05-1120' && text !== '219-09-9999' && text !== '123-45-6789'
}

function isDni(text: string): boolean {
  const digits = text.replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(digits.slice(0, 8)) % 23) === text.at(-1)
}

// The values of characters at odd positions, from 0 or A on.
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]

function isCodiceFiscale(text: string): boolean {
  if (!'ABCDEHLMPRST'.includes(text.charAt(8))) return false
  let sum = 0
  for (let i = 0; i < 15; i++) {
    const code = text.charCodeAt(i)
    const value = code < 0x41 ? code - 0x30 : code - 0x41
    sum += i % 2 === 0 ? (ODD[value] ?? 0) : value
  }
  return String.fromCharCode(0x41 + (sum % 26)) === text.at(-1)
}

/** Corsica counts as 19 and 18. The key is 97 minus the remainder. */
function isNir(text: string): boolean {
  const digits = text.replaceAll(' ', '').replace('2A', '19').replace('2B', '18')
  return 97 - (Number(digits.slice(0, 13)) % 97) === Number(digits.slice(13))
}

function isHetu(text: string): boolean {
  const number = Number(text.slice(0, 6) + text.slice(7, 10))
  const day = Number(text.slice(0, 2))
  const month = Number(text.slice(2, 4))
  const isDay = day >= 1 && day <= 31 && month >= 1 && month <= 12
  return isDay && '0123456789ABCDEFHJKLMNPRSTUVWXY'.charAt(number % 31) === text.at(-1)
}

function isCpf(text: string): boolean {
  const digits = Array.from(text.replace(/[.-]/g, ''), Number)
  if (digits.every((digit) => digit === digits[0])) return false
  return cpfDigit(digits, 9) === digits[9] && cpfDigit(digits, 10) === digits[10]
}

function cpfDigit(digits: readonly number[], count: number): number {
  const sum = digits.slice(0, count).reduce((total, digit, i) => total + digit * (count + 1 - i), 0)
  return ((sum * 10) % 11) % 10
}
