// Reads parsed JSON whose form is not known.

export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of names and positions; undefined if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const name of path) {
    if (Array.isArray(found) && typeof name === 'number') found = (found as readonly unknown[])[name]
    else if (isFields(found) && typeof name === 'string') found = found[name]
    else return undefined
  }
  return found
}

/** @throws Error if there is no text at the path. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  if (typeof found === 'string') return found
  throw new Error(`there is no text at \`${path.join('.')}\``)
}

/** The list at the path; empty if there is none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? (found as readonly unknown[]) : []
}

/** Canonical JSON (RFC 8785) of values without fractions and without exponents. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isFields(value)) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(',')}}`
}
