// Splits texts and names into words, and finds the things that they are about.

import { THINGS } from './prompt-words.ts'

/** The maximum number of characters that are read. */
export const MOST_READ = 20_000

/** File names and paths. */
export const FILE: RegExp = /[^\s"'`<>|*?«»“”「」]{1,200}\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9])/gu

/** A lexicon of words and word stems. */
export class Lexicon<T> {
  readonly #words = new Map<string, T[]>()
  readonly #beginnings = new Map<string, T[]>()
  readonly #unspaced: (readonly [string, T])[] = []

  add(words: string, meaning: T): void {
    for (const word of words.split(' ')) {
      if (word.endsWith('-')) put(this.#beginnings, word.slice(0, -1), meaning)
      else if (isUnspaced(word)) this.#unspaced.push([word, meaning])
      else put(this.#words, word, meaning)
    }
  }

  /** Returns the meanings of a word. */
  of(word: string): readonly T[] {
    const known = this.#words.get(word)
    if (known) return known
    for (let end = Math.min(word.length, MAX_BEGINNING); end >= 3; end--) {
      const begun = this.#beginnings.get(word.slice(0, end))
      if (begun) return begun
    }
    return NOTHING
  }

  /** Returns the meanings of all words in a text without spaces. */
  within(text: string): readonly T[] {
    return this.#unspaced.flatMap(([word, meaning]) => (text.includes(word) ? [meaning] : []))
  }
}

const NOTHING: readonly never[] = []
const MAX_BEGINNING = 16

function put<T>(map: Map<string, T[]>, word: string, meaning: T): void {
  const known = map.get(word)
  if (known) known.push(meaning)
  else map.set(word, [meaning])
}

const UNSPACED = /[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u

/** Returns whether a text is in a script without word separation, or with affixes joined to words. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text)
}

const things = new Lexicon<string>()
for (const [thing, words] of Object.entries(THINGS)) things.add(words, thing)

/** Returns the things that words are about. */
export function thingsIn(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.flatMap((word) => things.of(word)))
}

/** Returns the things that a text without spaces is about. */
export function thingsWithin(text: string): readonly string[] {
  return things.within(text)
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:[-'’][\p{L}\p{M}]+)*/gu

/** Returns the words of a text in lower case. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? []
}

const CASES = /(\p{Ll})(\p{Lu})/gu

/** Returns the words of a name. `sendMoney`, `send_money` and `send-money` have the same two words. */
export function wordsOfName(name: string): readonly string[] {
  const spread = name.slice(0, MOST_READ).replace(CASES, '$1 $2').toLowerCase()
  return spread.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '')
}
