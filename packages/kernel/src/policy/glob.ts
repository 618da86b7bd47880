// Name patterns in a policy: exact, or with `*` for any characters.

/** A pattern for names. */
export interface Glob {
  readonly source: string
  /** Whether the pattern has no `*`. */
  readonly exact: boolean
  /** Returns whether the whole name matches, case-sensitively. */
  matches(name: string): boolean
}

/** Returns the pattern for `source`. `*` matches any characters, also none, and also `/`. */
export function glob(source: string): Glob {
  const [first = '', ...rest] = source.split('*')
  const last = rest.pop()
  if (last === undefined) return { source, exact: true, matches: (name) => name === source }
  const between = rest.filter((part) => part !== '')
  return { source, exact: false, matches: (name) => fits(name, first, between, last) }
}

/** The earliest match of each part is sufficient, so there is no backtracking. */
function fits(name: string, first: string, between: readonly string[], last: string): boolean {
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  const end = name.length - last.length
  let from = first.length
  for (const part of between) {
    const at = name.indexOf(part, from)
    if (at === -1 || at + part.length > end) return false
    from = at + part.length
  }
  return name.endsWith(last)
}
