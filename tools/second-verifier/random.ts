// A small random source with a seed, so that every pack can be made again.

/** Returns numbers from 0 to 1. */
export type Random = () => number

/** A random source (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number below `limit`. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit)
}

/** One of the values. @throws Error if there are none */
export function oneOf<T>(random: Random, values: readonly T[]): T {
  if (values.length === 0) throw new Error('there is nothing to choose from')
  // Sound: the index is below the length.
  return values[below(random, values.length)] as T
}
