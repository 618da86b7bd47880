// Compares name patterns, and finds the relevant ones among thousands.

import type { Glob } from '../../policy/glob.ts'

/** Returns whether every name that matches `inner` matches `outer`. Only a `*` of `outer` can match the `*` of `inner`. */
export function covers(outer: Glob, inner: Glob): boolean {
  return outer.matches(inner.source)
}

/** Returns whether a name matches both. Two patterns with a `*` can only differ in their start and end. */
export function overlaps(a: Glob, b: Glob): boolean {
  if (a.exact) return b.matches(a.source)
  if (b.exact) return a.matches(b.source)
  const [startA, startB] = [beginningOf(a), beginningOf(b)]
  const [endA, endB] = [endingOf(a), endingOf(b)]
  return (
    (startA.startsWith(startB) || startB.startsWith(startA)) && (endA.endsWith(endB) || endB.endsWith(endA))
  )
}

function beginningOf({ source }: Glob): string {
  return source.slice(0, source.indexOf('*'))
}

function endingOf({ source }: Glob): string {
  return source.slice(source.lastIndexOf('*') + 1)
}

/** The budget was used up, because there are too many patterns. */
export class Spent extends Error {}

/** The comparisons that a part of the review may make. Some sets of patterns would take quadratic time. */
export class Budget {
  #remaining: number

  constructor(most: number) {
    this.#remaining = most
  }

  /** @throws Spent if the budget is used up. */
  spend(): void {
    if (--this.#remaining < 0) throw new Spent()
  }
}

/** Items by the start and end of their patterns. */
export class PatternIndex<T> {
  readonly #exact = new Map<string, T[]>()
  readonly #byBeginning = new Map<string, [Glob, T][]>()
  readonly #byEnding = new Map<string, [Glob, T][]>()
  readonly #budget: Budget

  constructor(budget: Budget) {
    this.#budget = budget
  }

  add(pattern: Glob, item: T): void {
    const beginning = beginningOf(pattern)
    if (pattern.exact) push(this.#exact, pattern.source, item)
    // A pattern that starts with `*` is found by its end.
    else if (beginning === '') push(this.#byEnding, endingOf(pattern), [pattern, item])
    else push(this.#byBeginning, beginning, [pattern, item])
  }

  /** Returns the items of patterns that cover this one. */
  *covering({ source }: Glob): Generator<T> {
    for (const item of this.#exact.get(source) ?? []) {
      this.#budget.spend()
      yield item
    }
    for (let length = 1; length <= source.length && this.#byBeginning.size > 0; length++) {
      yield* this.#matching(this.#byBeginning.get(source.slice(0, length)), source)
    }
    for (let start = source.length; start >= 0 && this.#byEnding.size > 0; start--) {
      yield* this.#matching(this.#byEnding.get(source.slice(start)), source)
    }
  }

  *#matching(entries: readonly [Glob, T][] | undefined, source: string): Generator<T> {
    for (const [pattern, item] of entries ?? []) {
      this.#budget.spend()
      if (pattern.matches(source)) yield item
    }
  }
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const list = map.get(key)
  if (list) list.push(item)
  else map.set(key, [item])
}

/** A searchable set of names and patterns. */
export class Directory<T> {
  readonly #names: readonly (readonly [Glob, T])[]
  readonly #globs: readonly (readonly [Glob, T])[]
  readonly #index: PatternIndex<T>
  readonly #budget: Budget

  constructor(entries: readonly (readonly [Glob, T])[], budget: Budget) {
    this.#budget = budget
    this.#index = new PatternIndex(budget)
    for (const [pattern, item] of entries) this.#index.add(pattern, item)
    this.#names = entries
      .filter(([{ exact }]) => exact)
      .toSorted(([a], [b]) => (a.source < b.source ? -1 : 1))
    this.#globs = entries.filter(([{ exact }]) => !exact)
  }

  /** Returns the items that share a name with the pattern. */
  *touching(pattern: Glob): Generator<T> {
    if (pattern.exact) {
      yield* this.#index.covering(pattern)
      return
    }
    const beginning = beginningOf(pattern)
    for (let i = this.#firstFrom(beginning); i < this.#names.length; i++) {
      const [name, item] = this.#names[i] ?? []
      if (name === undefined || item === undefined || !name.source.startsWith(beginning)) break
      this.#budget.spend()
      if (pattern.matches(name.source)) yield item
    }
    for (const [glob, item] of this.#globs) {
      this.#budget.spend()
      if (overlaps(glob, pattern)) yield item
    }
  }

  /** Returns whether an item shares a name with the pattern. */
  has(pattern: Glob): boolean {
    return this.touching(pattern).next().done !== true
  }

  /** Returns whether one pattern in the set covers this one. */
  covers(pattern: Glob): boolean {
    return this.#index.covering(pattern).next().done !== true
  }

  /** Returns the index of the first name that is not before a text. */
  #firstFrom(text: string): number {
    let [low, high] = [0, this.#names.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#names[middle]?.[0].source ?? '') < text) low = middle + 1
      else high = middle
    }
    return low
  }
}
