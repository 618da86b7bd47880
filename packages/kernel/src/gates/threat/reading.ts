// Reads a view once: its known words, its sentences and fields, and the positions that need further checks.

import { FOLD, IDEOGRAPH, JOINT, LETTER, PUNCTUATION, READING, SPACE } from './characters.ts'
import { disguisedWord, ideographsAt } from './disguise.ts'
import { clear, grow, ints, push, type Ints, type View } from './view.ts'
import { MAX_WORD, mayBeKnown, mix, SEED, wordAt } from './lexicon.ts'
import { newline, quote, sentenceEnd, tag } from './bounds.ts'
import { targetAt } from './target.ts'

/** The result of reading a view. It is reused, so it is only valid until the next view is read. */
export interface ViewReading {
  /** The known words: number, start, end, position in the word count, and flags. */
  readonly ids: Ints
  readonly starts: Ints
  readonly ends: Ints
  readonly ordinals: Ints
  readonly flags: Ints
  /** The boundaries of sentences, fields and separate lines, in order. */
  readonly bounds: Ints
  /** Punctuation that can begin an attack. */
  readonly marks: Ints
  /** Starts and ends of long words of mixed characters: keys, hashes, encoded text. */
  readonly long: Ints
  /** Starts and ends of words that mix ASCII letters with others. */
  readonly mixed: Ints
  /** The number of words so far. It jumps at the end of a sentence, so that no phrase spans two sentences. */
  ordinal: number
  /** The next word starts a sentence, a clause or a quotation. */
  fresh: boolean
  /** White space precedes the next word. */
  spaced: boolean
  lineStart: number
  /** The view has signs that can begin an escape. */
  escapes: boolean
  /** The view has several single letters in a row. */
  singles: boolean
}

/** The word starts a sentence, a clause or a quotation. */
export const FRESH = 1
/** White space precedes the word. */
export const SPACED = 2
/** The word is written with look-alike characters. */
export const DISGUISED = 4

const reading: ViewReading = {
  ids: ints(),
  starts: ints(),
  ends: ints(),
  ordinals: ints(),
  flags: ints(),
  bounds: ints(),
  marks: ints(),
  long: ints(),
  mixed: ints(),
  ordinal: 0,
  fresh: true,
  spaced: true,
  lineStart: 0,
  escapes: false,
  singles: false,
}

function reset(): ViewReading {
  const { ids, starts, ends, ordinals, flags, bounds, marks, long, mixed } = reading
  for (const list of [ids, starts, ends, ordinals, flags, bounds, marks, long, mixed]) clear(list)
  const start = { ordinal: 0, fresh: true, spaced: true, lineStart: 0, escapes: false, singles: false }
  return Object.assign(reading, start)
}

const DIGIT = 16
const SMALL = 32
const CAPITAL = 64
const OTHER = 128

// The kind of each unit and of each letter in one table.
const UNITS = new Uint8Array(65_536)
for (let code = 0; code < 65_536; code++) {
  const kind = READING[code] ?? 0
  UNITS[code] = kind === LETTER ? letterKind(code) : kind
}

function letterKind(code: number): number {
  if (code > 127) return OTHER
  if (code < 58) return DIGIT
  return code < 91 ? CAPITAL : SMALL
}

const JOINED = 8
const SPACED_LETTERS = 6

/** Reads a view. */
export function read(view: View): ViewReading {
  const result = reset()
  const { codes, length } = view
  let singles = 0
  for (let i = 0; i < length;) {
    const code = codes[i] ?? 0
    const unit = UNITS[code] ?? 0
    if (unit >= DIGIT) {
      const end = word(view, result, i)
      singles = end - i === 1 ? singles + 1 : 0
      if (singles === SPACED_LETTERS) result.singles = true
      i = end
      continue
    }
    if (unit === SPACE) result.spaced = true
    else if (unit === PUNCTUATION) punctuation(view, result, i, code)
    else if (unit === IDEOGRAPH) i = ideographs(view, result, i)
    i++
  }
  return result
}

/** Reads the word at a position; returns its end. */
function word(view: View, result: ViewReading, start: number): number {
  const { codes, length } = view
  let kinds = 0
  let end = start
  for (;;) {
    let unit = 0
    while (end < length && (unit = UNITS[codes[end] ?? 0] ?? 0) >= DIGIT) {
      kinds |= unit
      end++
    }
    if (unit !== JOINT || !isApostrophe(codes[end] ?? 0, view, end)) break
    kinds |= JOINED
    end++
  }
  endWord(view, result, start, end, kinds)
  return end
}

/** "don't" and "user's" are one word each; "l'agent" is two. */
function isApostrophe(code: number, view: View, i: number): boolean {
  if ((code !== 0x27 && code !== 0x2019) || i + 1 >= view.length) return false
  const next = (view.codes[i + 1] ?? 0) | 32
  const after = i + 2 < view.length ? (view.codes[i + 2] ?? 0) : 32
  const short = next === 0x73 || next === 0x74 || next === 0x64 || next === 0x6d
  if (short) return (UNITS[after] ?? 0) !== SMALL
  return (next === 0x72 || next === 0x76 || next === 0x6c) && (after | 32) >= 0x61 && (after | 32) <= 0x6c
}

function endWord(view: View, result: ViewReading, start: number, end: number, kinds: number): void {
  result.ordinal++
  const length = end - start
  // Most words are ruled out by their first letters, last letter and length.
  const plain = kinds < OTHER && mayBeKnown(view.codes, start, end)
  let id = plain || (kinds & (OTHER | JOINED)) !== 0 ? lookUp(view.codes, start, end) : 0
  let disguise = 0
  if (id === 0 && (kinds & (OTHER | DIGIT)) !== 0 && kinds >= SMALL && length <= MAX_WORD) {
    id = disguisedWord(view.codes, start, end)
    disguise = DISGUISED
  }
  if ((kinds & OTHER) !== 0 && (kinds & (SMALL | CAPITAL)) !== 0) {
    push(result.mixed, start)
    push(result.mixed, end)
  }
  if (id !== 0) known(result, id, start, end, disguise)
  else if (length >= 16 && (kinds & (DIGIT | CAPITAL)) !== 0) {
    push(result.long, start)
    push(result.long, end)
  }
  result.fresh = false
  result.spaced = false
}

/** Returns the number of a word, or 0. */
function lookUp(codes: Uint16Array, start: number, end: number): number {
  if (end - start > MAX_WORD) return 0
  let hash = SEED
  for (let i = start; i < end; i++) {
    const code = codes[i] ?? 0
    if (code !== 0x27 && code !== 0x2019) hash = mix(hash, FOLD[code] ?? 0)
  }
  return wordAt(codes, start, end, hash, FOLD)
}

/** Appends a known word. The lists always have the same length, so they grow together. */
function known(result: ViewReading, id: number, start: number, end: number, flags: number): void {
  const { ids, starts, ends, ordinals } = result
  const place = ids.length
  push(result.flags, flags | (result.fresh ? FRESH : 0) | (result.spaced ? SPACED : 0))
  if (place === ids.data.length) for (const list of [ids, starts, ends, ordinals]) grow(list)
  ids.data[place] = id
  starts.data[place] = start
  ends.data[place] = end
  ordinals.data[place] = result.ordinal
  ids.length = starts.length = ends.length = ordinals.length = place + 1
}

/** Reads the known word of ideographs at a position; returns the last position that was read. */
function ideographs(view: View, result: ViewReading, i: number): number {
  result.ordinal++
  const found = ideographsAt(view, i)
  result.spaced = true
  if (found.id !== 0) known(result, found.id, i, i + found.length, 0)
  result.fresh = false
  return found.id === 0 ? i : i + found.length - 1
}

function punctuation(view: View, result: ViewReading, i: number, code: number): void {
  result.fresh = true
  switch (code) {
    case 0x0a:
      result.spaced = true
      return newline(view, result, i)
    case 0x22:
      return quote(view, result, i)
    case 0x2e:
      sentenceEnd(view, result, i, code)
      return dot(view, result, i)
    case 0x21:
      push(result.marks, i)
      return sentenceEnd(view, result, i, code)
    case 0x3f:
    case 0x3002:
      return sentenceEnd(view, result, i, code)
    case 0x3c:
      push(result.marks, i)
      return tag(view, result, i)
    case 0x3e:
    case 0x7c:
      return push(result.bounds, i + 1)
    case 0x09:
      result.spaced = true
      return push(result.bounds, i)
    case 0x3a:
    case 0x40:
      return target(view, result, i)
    case 0x5c:
    case 0x25:
    case 0x26:
      result.escapes = true
      return
    case 0x00:
    case 0x1b:
    case 0x23:
    case 0x24:
    case 0x5b:
    case 0x60:
      return push(result.marks, i)
  }
}

function dot(view: View, result: ViewReading, i: number): void {
  if (i + 1 < view.length && view.codes[i + 1] === 0x2e) push(result.marks, i)
}

function target(view: View, result: ViewReading, i: number): void {
  const found = targetAt(view, i)
  if (found !== 0) known(result, found, i, i + 1, SPACED)
}
