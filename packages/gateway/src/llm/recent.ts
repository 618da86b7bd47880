// A bounded map that drops its oldest entries.

export interface Recent<V> {
  get(name: string): V | undefined
  has(name: string): boolean
  set(name: string, value: V): void
  delete(name: string): void
}

/** Holds at most `most` entries. */
export function createRecent<V>(most: number): Recent<V> {
  const kept = new Map<string, V>()
  return {
    get: (name) => kept.get(name),
    has: (name) => kept.has(name),
    set(name, value) {
      kept.delete(name)
      kept.set(name, value)
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    },
    delete: (name) => void kept.delete(name),
  }
}
