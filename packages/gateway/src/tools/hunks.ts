// Finds the differences between two texts: the removed and added words, with a few words of context.

/** A difference between two texts; undefined for an empty side. */
interface Hunk {
  readonly was: string | undefined
  readonly is: string | undefined
}

/** The maximum number of word pairs to compare. Beyond it, everything between is shown as one change. */
const MAX_WORK = 1_000_000
/** Words of context before and after a change. */
const AROUND = 6

/** The differences between two texts, in order. */
export function hunksOf(before: string, after: string): readonly Hunk[] {
  const [a, b] = [piecesOf(before), piecesOf(after)]
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const middle = { a: a.slice(start, a.length - end), b: b.slice(start, b.length - end) }
  const changes = middle.a.length * middle.b.length > MAX_WORK ? [allOf(middle)] : changesIn(middle)
  return joined(changes).map(({ fromA, toA, fromB, toB }) => ({
    was: excerptOf(a, start + fromA, start + toA, b.length > 0 && toB > fromB),
    is: excerptOf(b, start + fromB, start + toB, a.length > 0 && toA > fromA),
  }))
}

/** Words with the whitespace after them. A text in a script without spaces is one word and is shown whole. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = 1; at <= text.length; at++) {
    const isEnd = at === text.length || (isBlank(text, at - 1) && !isBlank(text, at))
    if (!isEnd) continue
    pieces.push(text.slice(from, at))
    from = at
  }
  return pieces
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d
}

interface LineChange {
  readonly fromA: number
  readonly toA: number
  readonly fromB: number
  readonly toB: number
}

interface Sides {
  readonly a: readonly string[]
  readonly b: readonly string[]
}

function allOf({ a, b }: Sides): LineChange {
  return { fromA: 0, toA: a.length, fromB: 0, toB: b.length }
}

/** Finds the changes by the longest common subsequence of words. */
function changesIn({ a, b }: Sides): readonly LineChange[] {
  const width = b.length + 1
  const longest = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? (longest[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0)
    }
  }
  return walk({ a, b }, (i, j) => longest[i * width + j] ?? 0)
}

function walk({ a, b }: Sides, longest: (i: number, j: number) => number): readonly LineChange[] {
  const changes: LineChange[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [fromA, fromB] = [i, j]
    while ((i < a.length || j < b.length) && (i >= a.length || j >= b.length || a[i] !== b[j])) {
      if (j >= b.length || (i < a.length && longest(i + 1, j) >= longest(i, j + 1))) i++
      else j++
    }
    if (i > fromA || j > fromB) changes.push({ fromA, toA: i, fromB, toB: j })
    while (i < a.length && j < b.length && a[i] === b[j]) {
      i++
      j++
    }
  }
  return changes
}

/** Joins changes whose context would overlap. */
function joined(changes: readonly LineChange[]): readonly LineChange[] {
  const joint: LineChange[] = []
  for (const change of changes) {
    const last = joint.at(-1)
    if (last && change.fromA - last.toA <= AROUND && change.fromB - last.toB <= AROUND) {
      joint[joint.length - 1] = { ...last, toA: change.toA, toB: change.toB }
    } else joint.push(change)
  }
  return joint
}

/** A part of a text with context. Undefined if the part is empty and the other side shows the change. */
function excerptOf(pieces: readonly string[], from: number, to: number, isTold: boolean): string | undefined {
  if (from === to && isTold) return undefined
  const [start, end] = [Math.max(0, from - AROUND), Math.min(pieces.length, to + AROUND)]
  return `${start > 0 ? '… ' : ''}${pieces.slice(start, end).join('')}${end < pieces.length ? '…' : ''}`
}
