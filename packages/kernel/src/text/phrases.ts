// Extracts words and word pairs to remember. They allow to find a short text again that was part of a passage, and a tool that a
// passage names. Free text does not match reliably, so a match leads at most to an approval request.

import type { Spoken } from '../gates/taint/remembered.ts'

const WORD = /[\p{L}\p{N}_]+(?:[-'’.@][\p{L}\p{N}_]+)*/gu
/** The maximum number of characters that are read. */
const MAX_READ = 4096
/** The number of letters that words of one root share: "reserve", "reservation". */
const ROOT = 5

/** Returns the words of a text, in lower case and normalised. */
export function wordsIn(text: string): readonly string[] {
  return text.slice(0, MAX_READ).normalize('NFKC').toLowerCase().match(WORD) ?? []
}

// Enough for a hundred words.
const MAX_PHRASES = 300

/** Returns the words of a text, the pairs of neighbours, and the roots. */
export function phrasesIn(text: string, limit: number = MAX_PHRASES): readonly Spoken[] {
  const words = wordsIn(text)
  const found = new Set<string>()
  for (const [i, word] of words.entries()) {
    if (found.size >= limit) break
    found.add(word).add(rootOf(word))
    const next = words[i + 1]
    if (next !== undefined) found.add(`${word} ${next}`)
  }
  return [...found].map((each) => ({ kind: 'phrase', text: each }))
}

/** Returns the words and their pairs. If the text was part of a passage, all of them are remembered. */
export function piecesOf(words: readonly string[]): readonly Spoken[] {
  const pairs = words.slice(1).map((word, i) => `${words[i] ?? ''} ${word}`)
  return [...words, ...pairs].map((each) => ({ kind: 'phrase', text: each }))
}

/** Returns the roots of words. */
export function rootsOf(words: readonly string[]): readonly Spoken[] {
  return words.map((word) => ({ kind: 'phrase', text: rootOf(word) }))
}

function rootOf(word: string): string {
  return `${word.slice(0, ROOT)}~`
}
