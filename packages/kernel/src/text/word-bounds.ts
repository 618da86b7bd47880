// Finds word boundaries in running text, and skips words that cannot be values.

import { classOf, DIGIT, isAlphanumeric, LOWER, MARK, UPPER } from './characters.ts'

const PLUS = 0x2b
const DASH = 0x2d
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const SIGN = 0x40
const BACKSLASH = 0x5c
const LOW_LINE = 0x5f

/** Returns the start of the first word that can be a value. Skips words of letters that only punctuation follows. */
export function nextCandidate(text: string, from: number): number {
  let start = from
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = classOf(code)
    if (kind === LOWER || kind === UPPER) continue
    if ((code === DASH || code === LOW_LINE) && at > start) continue
    if (kind === DIGIT || code === PLUS || code === SIGN || code >= 0x80) return start
    const next = text.charCodeAt(at + 1)
    if (code === DOT ? isAlphanumeric(next) || next >= 0x80 : code === COLON && isSlash(next)) return start
    start = at + 1
  }
  return text.length
}

function isSlash(code: number): boolean {
  return code === SLASH || code === BACKSLASH
}

/** Returns the end of a word without trailing marks, which belong to the sentence. */
export function withoutMarks(text: string, end: number): number {
  let last = end
  while (classOf(text.charCodeAt(last - 1)) === MARK) last--
  return last
}

/** Returns whether it is a character of base64. */
export function isPackedCode(code: number): boolean {
  return isAlphanumeric(code) || code === PLUS || code === SLASH || code === 0x3d
}

/** Matches `3.14159265`, `v1.2.3-beta` and `report-2026.md`. A dot at the end belongs to the sentence. */
export function isDottedName(word: string): boolean {
  const name = word.slice(0, withoutMarks(word, word.length))
  if (/^[vV]?[0-9]+\.[0-9]/.test(name)) return true
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return name.includes('.') && /^(?=[0-9]*[A-Za-z])(?:[a-z0-9]{1,5}|[A-Z0-9]{1,5})$/.test(ending)
}
