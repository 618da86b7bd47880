// Characters by what they can be part of. A table for ASCII: every character of every text goes through it.

/** No part of a word. */
export const NONE = 0
export const DIGIT = 1
export const LOWER = 2
export const UPPER = 3
/** A dot, a dash or a low line: inside of a word, never at its start. */
export const MARK = 4

const CLASSES = new Uint8Array(128)
for (let code = 0x30; code <= 0x39; code++) CLASSES[code] = DIGIT
for (let code = 0x61; code <= 0x7a; code++) CLASSES[code] = LOWER
for (let code = 0x41; code <= 0x5a; code++) CLASSES[code] = UPPER
for (const mark of '.-_') CLASSES[mark.charCodeAt(0)] = MARK

/** What a character is. Nothing beyond ASCII is part of a word: words of opaque values have none. */
export function classOf(code: number): number {
  return code < 128 ? (CLASSES[code] ?? NONE) : NONE
}

/** The letters and digits of ASCII and these signs, for `isOneOf`. */
export function lettersAnd(signs: string): Uint8Array {
  const set = CLASSES.map((what) => (what === NONE || what === MARK ? 0 : 1))
  for (const sign of signs) set[sign.charCodeAt(0)] = 1
  return set
}

/** Whether it is in the set. */
export function isOneOf(set: Uint8Array, code: number): boolean {
  return set[code] === 1
}

/** Whether it is a digit of ASCII. NaN, the code past the end of a text, is none. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Whether it is a letter of ASCII. */
export function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** Whether it is a letter or a digit of ASCII. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLetter(code)
}

/** Whether it is a space inside of a line, in any width. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0xa0 || code === 0x202f || (code >= 0x2000 && code <= 0x200a)
}

/** Whether it is a dash: the one of ASCII, or one that is printed in its place. */
export function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2013)
}

/** Whether it is beyond ASCII and could be a letter of a host: no space and no punctuation. */
export function isForeign(code: number): boolean {
  if (!(code >= 0xaa)) return false
  return !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x3004) && !isBracket(code)
}

/** The brackets and quotation marks of East Asian text, and those of Latin text. */
function isBracket(code: number): boolean {
  return (code >= 0x3008 && code <= 0x3020) || code === 0xab || code === 0xbb
}

/** Whether it is of a script that is written without spaces: a word may begin or end anywhere. */
export function isUnspaced(code: number): boolean {
  return code >= 0x2e80 || (code >= 0xe00 && code <= 0xeff)
}
