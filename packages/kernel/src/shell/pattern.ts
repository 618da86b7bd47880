// Whether two patterns of a file name can match the same name.

const MAX_LENGTH = 256

/**
 * Returns whether a name from a command, which may contain `*`, `?` and `[…]`, can be a name that a list entry with `*`
 * matches. A list entry with a leading dot is only found by a pattern with a leading dot, as in a shell.
 */
export function mayMatch(name: string, entry: string): boolean {
  if (name.length > MAX_LENGTH) return true
  const isPattern = /[*?[]/.test(name)
  if (!isPattern) return matches(name, entry)
  // A shell matches a leading dot only with a dot.
  if (entry.startsWith('.') && !name.startsWith('.')) return false
  return isTelling(name, entry) && overlap(name, entry)
}

/** Returns whether a pattern says anything about an entry. `*` and `*.json` mean other files. */
function isTelling(name: string, entry: string): boolean {
  return entry.startsWith('*') ? !/[*?\]]$/.test(name) : !/^[*?[]/.test(name)
}

function matches(name: string, entry: string): boolean {
  const at = entry.indexOf('*')
  if (at < 0) return name === entry
  const [head = '', ...rest] = entry.split('*')
  if (!name.startsWith(head)) return false
  let from = head.length
  for (const [i, part] of rest.entries()) {
    if (i === rest.length - 1) return name.length - part.length >= from && name.endsWith(part)
    const found = name.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return true
}

/** Returns whether some name fits both patterns, by a table over their positions. A set `[…]` counts as any character. */
function overlap(a: string, b: string): boolean {
  const left = a.replace(/\[[^\]]*\]/g, '?')
  let row: boolean[] = [true, ...Array.from(b, (_, i) => /^\**$/.test(b.slice(0, i + 1)))]
  for (const char of left) {
    const next: boolean[] = [char === '*' && (row[0] ?? false)]
    for (const [i, other] of Array.from(b).entries()) {
      const [above = false, diagonal = false, before = false] = [row[i + 1], row[i], next[i]]
      if (char === '*') next.push(above || before || diagonal)
      else if (other === '*') next.push(above || before || diagonal)
      else next.push(diagonal && (char === '?' || char === other))
    }
    row = next
  }
  return row.at(-1) ?? false
}
