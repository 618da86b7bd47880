// Names in a policy: exact, or with `*` for any run of characters.

/** A pattern for names. */
export interface Glob {
  readonly source: string
  /** The name itself where the pattern has no `*`. */
  readonly exact: boolean
  /** Whether the whole name fits. Case counts. */
  matches(name: string): boolean
}

/** The pattern that `source` writes. `*` stands for any characters, also for none and also for `/`. */
export function glob(source: string): Glob {
  const [first = '', ...rest] = source.split('*')
  const last = rest.pop()
  if (last === undefined) return { source, exact: true, matches: (name) => name === source }
  const between = rest.filter((part) => part !== '')
  return { source, exact: false, matches: (name) => fits(name, first, between, last) }
}

/** The earliest place for each part is always good enough, so nothing is ever tried twice. */
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
