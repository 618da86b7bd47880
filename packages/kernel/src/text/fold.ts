// Folds a text for matching: replaces look-alike characters and removes invisible ones.

import { fold, isBeyondAscii } from '../destinations/host.ts'

/** A folded text, with the original positions of its characters. */
export interface Folded {
  readonly text: string
  /** Returns the original start of the character at this index. */
  start(index: number): number
  /** Returns the original end of the character before this index. */
  end(index: number): number
}

/**
 * Folds a text: full-width, circled and mathematical forms become plain characters. Zero-width characters and soft hyphens are
 * removed. Escapes and `evil[.]com` stay, because such text is not meant to be followed.
 */
export function foldInPlace(text: string): Folded {
  if (!isBeyondAscii(text)) return unchanged(text)
  const folded = fold(text)
  return folded === text ? unchanged(text) : { text: folded, ...placesOf(text) }
}

function unchanged(text: string): Folded {
  return { text, start: (index) => index, end: (index) => index }
}

/** Maps each character separately, as `fold` does, so that the results add up. */
function placesOf(text: string): Omit<Folded, 'text'> {
  const lengths = new Map<number, number>()
  const starts: number[] = []
  const ends: number[] = []
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at) ?? 0
    const next = at + (point > 0xffff ? 2 : 1)
    for (let left = point < 0x80 ? 1 : foldedLength(point, lengths); left > 0; left--) {
      starts.push(at)
      ends.push(next)
    }
    at = next
  }
  return { start: (index) => starts[index] ?? text.length, end: (index) => ends[index - 1] ?? 0 }
}

/** Caches the result, because a text has few different characters. */
function foldedLength(point: number, known: Map<number, number>): number {
  const seen = known.get(point)
  if (seen !== undefined) return seen
  const { length } = fold(String.fromCodePoint(point))
  known.set(point, length)
  return length
}
