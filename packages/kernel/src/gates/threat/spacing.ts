// Joins letters that have spaces or dots between them.

import { FOLD, isSpace, LETTER, READING } from './characters.ts'
import { mayBeKnown, mix, SEED, wordAt } from './lexicon.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

const MIN_LETTERS = 6

/** Returns the words that single letters spell; undefined if there are none. */
export function joinLetters(view: View): View | undefined {
  const out = writer(64)
  for (let i = 0; i < view.length;) {
    if (!isSingle(view, i)) {
      i++
      continue
    }
    const letters = lettersFrom(view, i)
    if (letters.length >= MIN_LETTERS) spell(view, letters, out)
    i = Math.max(i + 1, (letters.at(-1) ?? i) + 1)
  }
  return out.length === 0 ? undefined : written(out, view.text, 'spaced')
}

function isLetter(view: View, i: number): boolean {
  return i >= 0 && i < view.length && READING[view.codes[i] ?? 0] === LETTER
}

function isSingle(view: View, i: number): boolean {
  return isLetter(view, i) && !isLetter(view, i - 1) && !isLetter(view, i + 1)
}

const MAX_GAP = 4
// No word of a phrase is longer.
const MAX_WORD_LENGTH = 14

/** Returns the positions of single letters from a start on, with narrow gaps. */
function lettersFrom(view: View, start: number): readonly number[] {
  const places = [start]
  for (let place = start; ;) {
    let next = place + 2
    while (next <= place + MAX_GAP && !isLetter(view, next)) next++
    if (next > place + MAX_GAP || !isSingle(view, next) || isBreak(view, place + 1, next)) return places
    places.push(next)
    place = next
  }
}

/** Returns whether a line or a sentence ends in a range. */
function isBreak(view: View, start: number, end: number): boolean {
  let stop = false
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code === 10 || (stop && code === 32)) return true
    stop = code === 0x2e || code === 0x21 || code === 0x3f
  }
  return false
}

/** Writes the letters as words. A wider gap ends a word. Without gaps, known words are separated. */
function spell(view: View, letters: readonly number[], out: Writer): void {
  const codes = Uint16Array.from(letters, (place) => codeAt(view, place))
  const put = (code: number, letter: number): void => {
    const place = letters[letter] ?? 0
    write(out, code, startOf(view, place), endOf(view, place))
  }
  let wordEnd = 0
  for (let i = 0; i < letters.length; i++) {
    if (i >= wordEnd) {
      const length = knownFrom(view, letters, codes, i)
      if (i > 0 && (length > 0 || i === wordEnd || isWide(letters, i))) put(32, i)
      wordEnd = length > 0 ? i + length : wordEnd
    }
    put(codes[i] ?? 0, i)
  }
  put(10, letters.length - 1)
  put(10, letters.length - 1)
}

function isWide(letters: readonly number[], i: number): boolean {
  return (letters[i] ?? 0) - (letters[i - 1] ?? 0) > 2
}

/** Returns the length of the longest known word at a letter without a wide gap inside; 0 if there is none. */
function knownFrom(view: View, letters: readonly number[], codes: Uint16Array, start: number): number {
  let hash = SEED
  let best = 0
  for (let i = start; i < Math.min(letters.length, start + MAX_WORD_LENGTH); i++) {
    if (i > start && isWide(letters, i) && isSpace(codeAt(view, (letters[i] ?? 0) - 1))) break
    hash = mix(hash, FOLD[codes[i] ?? 0] ?? 0)
    if (i > start && mayBeKnown(codes, start, i + 1) && wordAt(codes, start, i + 1, hash, FOLD) !== 0)
      best = i + 1 - start
  }
  return best
}
