// Random choices for worlds.

/** Random numbers that are the same for the same seed (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below `n`. */
  int(n: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }

  chance(percent: number): boolean {
    return this.int(100) < percent
  }

  pick<T>(list: readonly T[]): T {
    // Sound: the index is within the list, and no list here is empty.
    return list[this.int(list.length)] as T
  }

  /** A list with the value, or an empty list. */
  maybe<T>(percent: number, value: () => T): readonly T[] {
    return this.chance(percent) ? [value()] : []
  }

  /** The items, each picked with this chance. */
  some<T>(percent: number, list: readonly T[]): readonly T[] {
    return list.filter(() => this.chance(percent))
  }

  /** A value, or undefined. */
  perhaps<T>(percent: number, value: () => T): T | undefined {
    return this.chance(percent) ? value() : undefined
  }

  list<T>(most: number, value: () => T): readonly T[] {
    return Array.from({ length: this.int(most + 1) }, value)
  }
}
