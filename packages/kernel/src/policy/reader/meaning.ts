// Compares parts of a policy independent of their spelling.

/**
 * Returns a text that is equal for values of equal meaning: lists and maps are sorted. Functions are skipped, because they follow
 * from the other members.
 */
export function meaningOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === undefined ? '' : JSON.stringify(value)
  if (value instanceof Map) return `<${sorted([...value].map(([name, each]) => pair(name, each)))}>`
  if (Array.isArray(value)) return `[${sorted(value.map(meaningOf))}]`
  const members = Object.entries(value).filter(([, each]) => typeof each !== 'function')
  return `{${sorted(members.map(([name, each]) => pair(name, each)))}}`
}

function pair(name: unknown, value: unknown): string {
  return `${meaningOf(name)}:${meaningOf(value)}`
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted().join(',')
}

/** Returns whether each of `some` is in `all`. */
export function isWithin(some: readonly unknown[], all: readonly unknown[]): boolean {
  const known = new Set(all.map(meaningOf))
  return some.every((each) => known.has(meaningOf(each)))
}
