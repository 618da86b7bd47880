// Recognises numbers that are written in groups: IBANs, payment cards, telephone numbers.

import { isAlphanumeric, isDash, isDigit, isLetter, isSpace } from './characters.ts'

/** A number in normal form, and its end. */
export interface NumberReading {
  readonly text: string
  readonly end: number
}

// The length of the IBANs of each country (ISO 13616).
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
)

/**
 * Returns the IBAN at a position, in upper case without spaces. It has the length of its country and valid check digits. Single
 * spaces or dashes are allowed between its characters. A line break is not, so a wrapped IBAN is not found.
 */
export function readIban(text: string, start: number): NumberReading | undefined {
  if (!isLetter(text.charCodeAt(start)) || !isLetter(text.charCodeAt(start + 1))) return undefined
  if (!isDigit(text.charCodeAt(start + 2)) || !isDigit(text.charCodeAt(start + 3))) return undefined
  const length = IBAN_LENGTHS.get(text.slice(start, start + 2).toUpperCase())
  if (length === undefined) return undefined
  let [at, iban] = [start, '']
  while (iban.length < length) {
    if (iban !== '' && isGap(text.charCodeAt(at))) at++
    if (!isAlphanumeric(text.charCodeAt(at))) return undefined
    iban += text.charAt(at++)
  }
  const normal = iban.toUpperCase()
  return isAlphanumeric(text.charCodeAt(at)) || !isMod97(normal) ? undefined : { text: normal, end: at }
}

function isGap(code: number): boolean {
  return isSpace(code) || isDash(code)
}

/** ISO 7064: with the first four characters at the end and letters as 10 to 35, the remainder is 1. */
function isMod97(iban: string): boolean {
  let rest = 0
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const MAX_CARD = 19

/**
 * Returns the payment card at a position, as digits. It has a valid Luhn digit, a known range and a length of that range. Its
 * groups are fours, 4-6-5 or 4-6-4, with the same separator throughout.
 */
export function readCard(text: string, start: number): NumberReading | undefined {
  // Rules out most numbers: ranges begin with these digits, and the first group has four.
  const first = text.charCodeAt(start)
  if (!(first >= 0x32 && first <= 0x36) || !isDigit(text.charCodeAt(start + 3))) return undefined
  const groups: string[] = []
  let found: NumberReading | undefined
  for (let at = start, length = 0; ;) {
    const group = digitsAt(text, at, MAX_CARD + 1 - length)
    groups.push(group)
    length += group.length
    at += group.length
    if (group === '' || length > MAX_CARD) return found
    if (!isAlphanumeric(text.charCodeAt(at)) && isCardShape(groups) && isCard(groups.join(''))) {
      found = { text: groups.join(''), end: at }
    }
    if (!isGap(text.charCodeAt(at)) || text.charAt(at) !== text.charAt(start + 4)) return found
    at++
  }
}

function digitsAt(text: string, start: number, limit: number): string {
  let end = start
  while (end < start + limit && isDigit(text.charCodeAt(end))) end++
  return text.slice(start, end)
}

function isCardShape(groups: readonly string[]): boolean {
  const lengths = groups.map(({ length }) => length)
  if (lengths.length === 1) return true
  const isFours = lengths.slice(0, -1).every((length) => length === 4) && (lengths.at(-1) ?? 0) <= 4
  return isFours || /^4,6,[45]$/.test(lengths.join(','))
}

// First and last value of each range of leading digits, and its lengths. The oldest cards had 13 digits. They are no longer in
// use and look like barcodes, so they are left out.
const RANGES: readonly (readonly [first: number, last: number, shortest: number, longest: number])[] = [
  [400000, 499999, 16, 19],
  [510000, 559999, 16, 16],
  [222100, 272099, 16, 16],
  [220000, 220499, 16, 19],
  [340000, 349999, 15, 15],
  [370000, 379999, 15, 15],
  [300000, 305999, 14, 19],
  [309500, 309599, 14, 19],
  [360000, 369999, 14, 19],
  [380000, 399999, 14, 19],
  [352800, 358999, 16, 19],
  [601100, 601199, 16, 19],
  [644000, 659999, 16, 19],
  [620000, 629999, 16, 19],
  [501800, 501899, 16, 19],
  [502000, 502099, 16, 19],
  [503800, 503899, 16, 19],
  [589300, 589399, 16, 19],
  [630400, 630499, 16, 19],
  [675900, 676399, 16, 19],
]

function isCard(digits: string): boolean {
  const head = Number(digits.slice(0, 6))
  const { length } = digits
  const isKnown = RANGES.some(
    ([first, last, shortest, longest]) =>
      head >= first && head <= last && length >= shortest && length <= longest,
  )
  return isKnown && isLuhn(digits)
}

function isLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 0x30
    const weighed = i % 2 === 0 ? digit : digit * 2
    sum += weighed > 9 ? weighed - 9 : weighed
  }
  return sum % 10 === 0
}

const MIN_PHONE_DIGITS = 8
const MAX_PHONE_DIGITS = 15

/**
 * Returns the telephone number at this `+`, as 8 to 15 digits (E.164). Spaces, dashes, dots, slashes and parentheses are allowed
 * between them. It ends before a group that would exceed the limit; for `+1` the limit is 11 digits.
 */
export function readPhone(text: string, plus: number): NumberReading | undefined {
  let [end, digits] = [plus + 1, '']
  const limit = text.charAt(end) === '1' ? 11 : MAX_PHONE_DIGITS
  for (let at = end; ;) {
    const group = digitsAt(text, at, MAX_PHONE_DIGITS + 1)
    if (group === '' || digits.length + group.length > limit) break
    digits += group
    end = at + group.length
    at = afterSeparators(text, end)
    if (at === end) break
  }
  const isBounded = !isAlphanumeric(text.charCodeAt(end))
  return digits.length >= MIN_PHONE_DIGITS && isBounded ? { text: digits, end } : undefined
}

/** Skips up to three signs, as in `+44 (0)20`. Two spaces are a gap in a table. */
function afterSeparators(text: string, start: number): number {
  let at = start
  while (at < start + 3 && isPhoneSign(text.charCodeAt(at))) {
    if (isSpace(text.charCodeAt(at)) && isSpace(text.charCodeAt(at + 1))) return start
    at++
  }
  return at
}

function isPhoneSign(code: number): boolean {
  return isGap(code) || code === 0x28 || code === 0x29 || code === 0x2e || code === 0x2f
}
