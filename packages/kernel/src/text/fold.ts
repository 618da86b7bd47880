// A text as it is matched: look-alikes as the characters they stand for, without what cannot be seen.

import { fold, isBeyondAscii } from '../destinations/host.ts'

/** A folded text, and where its characters stood before. */
export interface Folded {
  readonly text: string
  /** Where the character at this index began. */
  start(index: number): number
  /** Where the last character before this index ended. */
  end(index: number): number
}

/**
 * Folds a text: full-width, circled and mathematical forms as plain characters, zero-width characters and soft hyphens
 * dropped. Escapes are not undone, nor is `evil[.]com`: who writes so does not want it to be followed.
 */
export function foldInPlace(text: string): Folded {
  if (!isBeyondAscii(text)) return unchanged(text)
  const folded = fold(text)
  return folded === text ? unchanged(text) : { text: folded, ...placesOf(text) }
}

function unchanged(text: string): Folded {
  return { text, start: (index) => index, end: (index) => index }
}

/** Character by character, as `fold` does it: each is mapped alone, so the pieces add up to the whole. */
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

/** Each character is folded once: a text has few different ones. */
function foldedLength(point: number, known: Map<number, number>): number {
  const seen = known.get(point)
  if (seen !== undefined) return seen
  const { length } = fold(String.fromCodePoint(point))
  known.set(point, length)
  return length
}
