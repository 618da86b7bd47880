// Suggests the name that was probably meant instead of an unknown one.

const MAX_NAMES = 500

/** The most similar name, if one is similar enough. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const given = name.slice(0, 300).toLowerCase()
  const most = given.length > 5 ? 2 : 1
  const measured = names
    .slice(0, MAX_NAMES)
    .map((each) => ({ each, apart: distance(given, each.slice(0, 300).toLowerCase(), most) }))
  const best = measured.toSorted((a, b) => a.apart - b.apart)[0]
  return best !== undefined && best.apart <= most ? best.each : undefined
}

/** The number of inserted, removed, changed or swapped letters; Infinity if the lengths differ by more than `most`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    ;[before, row] = [row, next]
  }
  return row[b.length] ?? Infinity
}
