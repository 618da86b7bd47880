// Words in a row, as they are remembered: so that a short text can be found again that stood, word for word, in a passage, and a
// tool whose name a passage spells out. Free text is not sound to match; what is matched here asks a person at most.

import type { Spoken } from '../gates/taint/remembered.ts'

const WORD = /[\p{L}\p{N}_]+(?:[-'’.@][\p{L}\p{N}_]+)*/gu
/** Most characters that are read of a text. */
const MOST_READ = 4096
/** Letters that words of one root have in common: "reserve", "reservation". */
const ROOT = 5

/** The words of a text, in one spelling. */
export function wordsIn(text: string): readonly string[] {
  return text.slice(0, MOST_READ).normalize('NFKC').toLowerCase().match(WORD) ?? []
}

// As many as a hundred words have.
const MOST_PHRASES = 300

/** What is remembered of the words of a text: each, each with the next one, and the roots. */
export function phrasesIn(text: string, most: number = MOST_PHRASES): readonly Spoken[] {
  const words = wordsIn(text)
  const found = new Set<string>()
  for (const [i, word] of words.entries()) {
    if (found.size >= most) break
    found.add(word).add(rootOf(word))
    const next = words[i + 1]
    if (next !== undefined) found.add(`${word} ${next}`)
  }
  return [...found].map((each) => ({ kind: 'phrase', text: each }))
}

/** The words of a text and their pairs: what must all be remembered if the text stood somewhere as a whole. */
export function piecesOf(words: readonly string[]): readonly Spoken[] {
  const pairs = words.slice(1).map((word, i) => `${words[i] ?? ''} ${word}`)
  return [...words, ...pairs].map((each) => ({ kind: 'phrase', text: each }))
}

/** The roots of words. */
export function rootsOf(words: readonly string[]): readonly Spoken[] {
  return words.map((word) => ({ kind: 'phrase', text: rootOf(word) }))
}

function rootOf(word: string): string {
  return `${word.slice(0, ROOT)}~`
}
