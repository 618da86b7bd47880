// Numbers that look random and are the same on every machine: the generator may not depend on anything but its seeds.

import { createHash } from 'node:crypto'

/** A source of numbers that depends on its seed alone. */
export interface Random {
  /** A whole number below `limit`. */
  below(limit: number): number
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number
  pick<T>(items: readonly T[]): T
  /** True so many times in a hundred. */
  chance(percent: number): boolean
  shuffled<T>(items: readonly T[]): T[]
  /** So many characters of an alphabet. */
  text(length: number, alphabet?: string): string
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** The numbers of a seed: sfc32, started from its SHA-256. */
export function randomOf(seed: string): Random {
  const start = createHash('sha256').update(seed).digest()
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => start.readInt32LE(at)) as [number, number, number, number]
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 12; i++) next()
  const below = (limit: number): number => next() % limit
  const pick = <T>(items: readonly T[]): T => {
    // Sound: an index below the length is there; an empty list is a mistake of a template, and fails at once below.
    if (items.length === 0) throw new Error('nothing to pick from')
    return items[below(items.length)] as T
  }
  return {
    below,
    pick,
    between: (least, most) => least + below(most - least + 1),
    chance: (percent) => below(100) < percent,
    shuffled: (items) => shuffle([...items], below),
    text: (length, alphabet = LETTERS) =>
      Array.from({ length }, () => alphabet[below(alphabet.length)]).join(''),
  }
}

function shuffle<T>(items: T[], below: (limit: number) => number): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = below(i + 1)
    // Sound: both are indices of the list.
    ;[items[i], items[j]] = [items[j] as T, items[i] as T]
  }
  return items
}
