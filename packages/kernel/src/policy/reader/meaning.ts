// The meaning of a part of a policy, apart from how it is written.

/**
 * A value as text that is equal for equal meaning: lists and maps are in the order of their texts. Functions, which come
 * from the rest, say nothing.
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

/** Whether each of some values is among all of them. */
export function isWithin(some: readonly unknown[], all: readonly unknown[]): boolean {
  const known = new Set(all.map(meaningOf))
  return some.every((each) => known.has(meaningOf(each)))
}
