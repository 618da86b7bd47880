// The known words of the scanner, each with a number. A hash table finds the word of a text.

import { CLEANING, FOLD, MARK } from './characters.ts'

const SLOTS = 1 << 13
const IDS = new Uint16Array(SLOTS)
const HASHES = new Int32Array(SLOTS)
const WORDS: Uint16Array[] = [new Uint16Array(0)]
// The first letters of known words.
const FIRSTS = new Uint8Array(65_536)

// A bitmap of the first two letters, last letter and length of known words. It rules out most words quickly.
const OUTLINES = new Uint8Array(1 << 16)

/** Returns whether a word of plain letters can be known. May return true for an unknown word. */
export function mayBeKnown(codes: Uint16Array, start: number, end: number): boolean {
  return end - start <= MAX_WORD && OUTLINES[outline(codes, start, end)] === 1
}

function outline(codes: Uint16Array, start: number, end: number): number {
  const second = start + 1 < end ? (codes[start + 1] ?? 0) & 31 : 0
  const ends = (((codes[start] ?? 0) & 31) << 5) | ((codes[end - 1] ?? 0) & 31)
  return ((ends << 6) ^ (second * 0x0a45) ^ (end - start)) & 0xffff
}

/** The hash of an empty word. */
export const SEED: number = 0x1b873593

/** Returns the hash with one more letter. */
export function mix(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

/** The maximum length of a word, in letters. */
export const MAX_WORD: number = 24
/** The maximum length of a word of ideographs. */
export const MAX_IDEOGRAPHS: number = 5

/** Adds a word to the lexicon and returns its number. Case and accents are removed, as in cleaned text. */
export function learn(word: string): number {
  const codes = plain(word)
  const hash = hashOf(codes)
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
    const id = IDS[slot] ?? 0
    if (id !== 0 && !(HASHES[slot] === hash && isSame(WORDS[id], codes))) continue
    if (id !== 0) return id
    IDS[slot] = WORDS.push(codes) - 1
    HASHES[slot] = hash
    FIRSTS[codes[0] ?? 0] = 1
    OUTLINES[outline(codes, 0, codes.length)] = 1
    return WORDS.length - 1
  }
}

const ASCII = /^[\x20-\x7e]*$/

function plain(word: string): Uint16Array {
  const codes: number[] = []
  const isAscii = ASCII.test(word)
  const letters = isAscii ? word : word.normalize('NFKD')
  for (let i = 0; i < letters.length; i++) {
    const code = letters.charCodeAt(i)
    if (CLEANING[code] !== MARK) codes.push(FOLD[code] ?? 0)
  }
  if (codes.length > MAX_WORD) throw new RangeError(`the word \`${word}\` is too long for the lexicon`)
  // A shortcut for most of the thousands of words.
  if (isAscii) return Uint16Array.from(codes)
  // Texts keep Korean syllables composed, so they are composed here too.
  const whole = String.fromCharCode(...codes).normalize('NFC')
  return Uint16Array.from(whole.split(''), (unit) => unit.charCodeAt(0))
}

function hashOf(codes: Uint16Array): number {
  let hash = SEED
  for (const code of codes) hash = mix(hash, code)
  return hash
}

function slotOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1)
}

function isSame(word: Uint16Array | undefined, codes: Uint16Array): boolean {
  return word?.length === codes.length && word.every((code, i) => code === codes[i])
}

/** Returns the number of words. Every word number is smaller. */
export function lexiconSize(): number {
  return WORDS.length
}

/** Returns the number of the word in a range, or 0. `hash` is the hash of its letters mapped by `table`, without apostrophes. */
export function wordAt(
  codes: Uint16Array,
  start: number,
  end: number,
  hash: number,
  table: Uint16Array,
): number {
  for (let slot = slotOf(hash); ; slot = (slot + 1) & (SLOTS - 1)) {
    const id = IDS[slot] ?? 0
    if (id === 0) return 0
    if (HASHES[slot] === hash && spells(codes, start, end, table, WORDS[id])) return id
  }
}

function spells(
  codes: Uint16Array,
  start: number,
  end: number,
  table: Uint16Array,
  word: Uint16Array | undefined,
): boolean {
  if (word === undefined) return false
  let letter = 0
  for (let i = start; i < end; i++) {
    const code = codes[i] ?? 0
    if (code === 0x27 || code === 0x2019) continue
    if (table[code] !== word[letter++]) return false
  }
  return letter === word.length
}

/** Returns whether a known word starts with this letter. */
export function isFirst(code: number): boolean {
  return FIRSTS[code] === 1
}
