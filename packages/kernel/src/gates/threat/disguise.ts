// Recognises words in look-alike letters or digits, and words of ideographs.

import { FOLD, IDEOGRAPH, READING } from './characters.ts'
import { isFirst, MAX_IDEOGRAPHS, mix, SEED, wordAt } from './lexicon.ts'
import { LOOKS_LIKE } from './lookalikes.ts'
import type { View } from './view.ts'

// Digits that replace letters: "1gn0r3", and in the second table "a11".
const LEET = leet('0o1i3e4a5s6g7t8b9g2z')
const LEET_L = leet('0o1l3e4a5s6g7t8b9g2z')

function leet(pairs: string): Uint16Array {
  const table = Uint16Array.from(LOOKS_LIKE)
  for (let i = 0; i < pairs.length; i += 2) table[pairs.charCodeAt(i)] = pairs.charCodeAt(i + 1)
  return table
}

// A shorter word matches too much by chance.
const MIN_WORD_LENGTH = 3

/** Returns the number of the known word that this one resembles, or 0. */
export function disguisedWord(codes: Uint16Array, start: number, end: number): number {
  if (end - start < MIN_WORD_LENGTH) return 0
  return (
    wordThrough(codes, start, end, LOOKS_LIKE) ||
    wordThrough(codes, start, end, LEET) ||
    wordThrough(codes, start, end, LEET_L)
  )
}

function wordThrough(codes: Uint16Array, start: number, end: number, table: Uint16Array): number {
  let hash = SEED
  for (let i = start; i < end; i++) {
    const code = codes[i] ?? 0
    if (code === 0x27 || code === 0x2019) continue
    const letter = table[code] ?? 0
    if (letter === 0) return 0
    hash = mix(hash, letter)
  }
  return wordAt(codes, start, end, hash, table)
}

const NOTHING = { id: 0, length: 1 }

/** Returns the longest known word of ideographs at a position. */
export function ideographsAt(view: View, i: number): { readonly id: number; readonly length: number } {
  if (!isFirst(view.codes[i] ?? 0)) return NOTHING
  let hash = SEED
  let best = NOTHING
  for (let end = i; end < Math.min(view.length, i + MAX_IDEOGRAPHS); end++) {
    const code = view.codes[end] ?? 0
    if (READING[code] !== IDEOGRAPH) break
    hash = mix(hash, FOLD[code] ?? 0)
    const id = wordAt(view.codes, i, end + 1, hash, FOLD)
    if (id !== 0) best = { id, length: end + 1 - i }
  }
  return best
}
