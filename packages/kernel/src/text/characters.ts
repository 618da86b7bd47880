// Classifies characters. ASCII uses a table, because every character of every text is classified.

/** Not part of a word. */
export const NONE = 0
export const DIGIT = 1
export const LOWER = 2
export const UPPER = 3
/** A dot, a dash or an underscore: inside a word, never at its start. */
export const MARK = 4

const CLASSES = new Uint8Array(128)
for (let code = 0x30; code <= 0x39; code++) CLASSES[code] = DIGIT
for (let code = 0x61; code <= 0x7a; code++) CLASSES[code] = LOWER
for (let code = 0x41; code <= 0x5a; code++) CLASSES[code] = UPPER
for (const mark of '.-_') CLASSES[mark.charCodeAt(0)] = MARK

/** Returns the class of a character. Opaque values are ASCII, so other characters are never part of a word. */
export function classOf(code: number): number {
  return code < 128 ? (CLASSES[code] ?? NONE) : NONE
}

/** Returns the set of ASCII letters, digits and these signs, for `isOneOf`. */
export function lettersAnd(signs: string): Uint8Array {
  const set = CLASSES.map((what) => (what === NONE || what === MARK ? 0 : 1))
  for (const sign of signs) set[sign.charCodeAt(0)] = 1
  return set
}

export function isOneOf(set: Uint8Array, code: number): boolean {
  return set[code] === 1
}

/** Returns whether it is an ASCII digit. False for NaN, the code after the end of a text. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Returns whether it is an ASCII letter. */
export function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** Returns whether it is an ASCII letter or digit. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLetter(code)
}

/** Returns whether it is a space of any width, but not a line break. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0xa0 || code === 0x202f || (code >= 0x2000 && code <= 0x200a)
}

/** Returns whether it is an ASCII dash or a typographic one. */
export function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2013)
}

/** Returns whether it is non-ASCII and can be a letter of a hostname, so no space and no punctuation. */
export function isForeign(code: number): boolean {
  if (!(code >= 0xaa)) return false
  return !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x3004) && !isBracket(code)
}

/** Brackets and quotation marks of East Asian and Latin text. */
function isBracket(code: number): boolean {
  return (code >= 0x3008 && code <= 0x3020) || code === 0xab || code === 0xbb
}

/** Returns whether its script has no spaces between words. A word can begin or end anywhere there. */
export function isUnspaced(code: number): boolean {
  return code >= 0x2e80 || (code >= 0xe00 && code <= 0xeff)
}
