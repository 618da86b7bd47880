// Finds out from which texts of a page a server made one text, and leaves only the readable ones.

import type { TextPiece } from './outline.ts'

const MOST_STEPS = 200_000

/**
 * The readable part of a text that was made of some of these pieces, in their order; blanks do not matter. Undefined if it was not.
 * Where visible and hidden pieces say the same, it counts as visible.
 */
export function readablePart(text: string, pieces: readonly TextPiece[]): string | undefined {
  const letters = [...text.matchAll(/\S/g)].map(({ index }) => index)
  const bare = withoutBlanks(text)
  const parts = pieces
    .map(([all, shown]) => ({ all: withoutBlanks(all), shown }))
    .filter(({ all }) => all !== '')
  const used = cover(bare, parts)
  if (!used) return undefined
  if (used.every(isWhole)) return text
  let [readable, at] = ['', 0]
  for (const part of used) {
    const from = at === 0 ? 0 : letters[at]
    const next = letters[at + part.all.length] ?? text.length
    const own = text.slice(from, next)
    // Blanks between words stay.
    readable += isWhole(part) ? own : part.shown === '' ? (/\s$/.test(readable) ? '' : ' ') : `${part.shown} `
    at += part.all.length
  }
  return readable.trim()
}

interface PieceOfText {
  readonly all: string
  readonly shown: string
}

function isWhole({ all, shown }: PieceOfText): boolean {
  return withoutBlanks(shown) === all
}

/** The parts that make up a text, in order; undefined if there are none. */
function cover(text: string, parts: readonly PieceOfText[]): readonly PieceOfText[] | undefined {
  const failed = new Set<number>()
  const used: PieceOfText[] = []
  let steps = 0
  const width = text.length + 1
  // Each entry is a state whose next choice is to be tried: 0 first, 1 second, 2 none.
  const stack: { at: number; next: number; tried: number; took: boolean }[] = [
    { at: 0, next: 0, tried: 0, took: false },
  ]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (top.at === text.length) return used
    if (++steps > MOST_STEPS) return undefined
    const part = parts[top.next]
    const key = top.next * width + top.at
    if (!part || top.tried > 1 || failed.has(key)) {
      failed.add(key)
      stack.pop()
      if (top.took) used.pop()
      continue
    }
    // Visible parts are taken first and hidden ones skipped first.
    const take = (part.shown !== '') === (top.tried === 0)
    top.tried++
    if (!take) stack.push({ at: top.at, next: top.next + 1, tried: 0, took: false })
    else if (text.startsWith(part.all, top.at)) {
      used.push(part)
      stack.push({ at: top.at + part.all.length, next: top.next + 1, tried: 0, took: true })
    }
  }
  return undefined
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, '')
}
