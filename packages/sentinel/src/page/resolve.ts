// Judges the texts of a document once everything that may cover them is known, and splits those of which only a part can be read.

import type { AwayCode } from '../codes.ts'
import type { Aside, Piece } from '../pieces.ts'
import type { Area } from './area.ts'
import { dataOf, hostOrParent, parentOf, rangeIn, typeOf } from './native.ts'
import { placeOf } from './path.ts'
import { areasOf, isTiny, judgePlace, judgeWord, type Run } from './text.ts'
import type { DocumentRead } from './document.ts'

const MOST_WORDS = 5_000

/** The pieces of a document, each judged. */
export function resolve(document: Document, read: DocumentRead): Piece[] {
  const range = rangeIn(document)
  const split = new Map<Piece, readonly Piece[]>()
  let words = MOST_WORDS
  for (const run of read.waiting) {
    const { piece } = run
    const away = judge(run, read)
    if (away !== 'mixed') piece.away = away
    else if (run.drawing) piece.away = 'UNRESOLVED_PAINT'
    else if (words <= 0) piece.away = 'CLIPPED_TEXT'
    else {
      const parts = wordsOf(run, range, read)
      words -= parts.length
      split.set(piece, parts)
    }
  }
  if (split.size === 0) return read.pieces
  return read.pieces.flatMap((piece) => split.get(piece) ?? [piece])
}

function judge(run: Run, { sheets, reach }: DocumentRead): AwayCode | undefined | 'mixed' {
  if (isTiny(run, scaleOf)) return 'TINY_TEXT'
  let first: AwayCode | undefined | 'mixed'
  for (const [i, line] of run.lines.entries()) {
    const answer = judgePlace(run, line, sheets, reach)
    if (answer === 'mixed' || (i > 0 && answer !== first)) return 'mixed'
    first = answer
  }
  return first
}

/** The smallest factor by which transforms and zoom shrink the content of a node. */
function scaleOf(node: Node): number {
  let matrix = new DOMMatrix()
  let zoom = 1
  for (let up: Node | null = parentOf(node); up; up = hostOrParent(up)) {
    if (typeOf(up) !== 1) continue
    // Sound: its type is that of an element.
    const style = getComputedStyle(up as Element)
    const { transform, scale, rotate } = style
    if (transform !== 'none') matrix = new DOMMatrix(transform).multiply(matrix)
    if (scale !== 'none') {
      const [x = 1, y = x] = scale.split(' ').map(Number)
      matrix = new DOMMatrix().scale(x, y).multiply(matrix)
    }
    if (rotate !== 'none' && /[xy]|\d \d/.test(rotate)) matrix = turned(rotate).multiply(matrix)
    zoom *= Number(style.zoom) || 1
  }
  return leastStretch(matrix) * zoom
}

function turned(rotate: string): DOMMatrix {
  const axis = rotate.startsWith('x') ? 'rotateX' : rotate.startsWith('y') ? 'rotateY' : undefined
  const angle = /-?[\d.]+(?:deg|rad|turn|grad)/.exec(rotate)?.[0] ?? '0deg'
  // A turn about any other axis may be edge-on.
  return axis ? new DOMMatrix(`${axis}(${angle})`) : new DOMMatrix().scale(0)
}

/** The smaller singular value of the part of a matrix that acts in the plane. */
function leastStretch({ a, b, c, d }: DOMMatrix): number {
  const sum = a * a + b * b + c * c + d * d
  const area = a * d - b * c
  return Math.sqrt(Math.max(0, (sum - Math.sqrt(Math.max(0, sum * sum - 4 * area * area))) / 2))
}

/** The words of a text, joined where neighbours have the same answer. */
function wordsOf(run: Run, range: Range, { sheets, reach, offset }: DocumentRead): Piece[] {
  const { node, piece } = run
  const data = dataOf(node)
  const parts: { text: string; away: AwayCode | undefined; area: Area }[] = []
  for (const { 0: word, index } of data.matchAll(/[^\s]{1,64}/g)) {
    range.setStart(node, index)
    range.setEnd(node, index + word.length)
    const [area] = areasOf(range)
    if (!area) continue
    const away = judgeWord(run, area, sheets, reach)
    const last = parts.at(-1)
    if (last && last.away === away) last.text += ` ${word}`
    else parts.push({ text: parts.length > 0 || piece.text.startsWith(' ') ? ` ${word}` : word, away, area })
  }
  return parts.map(({ text, away, area }, i) => ({
    text,
    away,
    gap: i === 0 ? piece.gap : '',
    place: () => placeOf(node, offset, area),
    node,
  }))
}

const LEAST_RUN = 5
const MAX_PART_LENGTH = 20

/** Texts of many small parts whose order on the screen is not that of the document. */
export function reorderedIn({ waiting, offset }: DocumentRead): Aside[] {
  const asides: Aside[] = []
  let group: Run[] = []
  const finish = (): void => {
    const text = group.length >= LEAST_RUN ? seenOrder(group) : undefined
    const [first] = group
    if (text !== undefined && first) asides.push({ text, place: () => placeOf(first.node, offset) })
    group = []
  }
  for (const each of waiting) {
    const last = group.at(-1)
    const isShort = each.text.length <= MAX_PART_LENGTH && each.piece.away === undefined
    if (!isShort || (last && !areNear(last, each))) finish()
    if (isShort) group.push(each)
  }
  finish()
  return asides
}

function areNear(a: Run, b: Run): boolean {
  const up = (run: Run): Node | null => parentOf(parentOf(run.node) ?? run.node)
  return up(a) === up(b) || parentOf(a.node) === parentOf(b.node)
}

function middle({ lines: [line] }: Run): readonly [x: number, y: number] {
  return line ? [line.left, (line.top + line.bottom) / 2] : [0, 0]
}

/** The text in rows from left to right; undefined if that is the order of the document. */
function seenOrder(group: readonly Run[]): string | undefined {
  const parts = group.map((run) => ({ run, x: middle(run)[0], y: middle(run)[1] }))
  const sorted = [...parts].sort((a, b) => (Math.abs(a.y - b.y) > 6 ? a.y - b.y : a.x - b.x))
  if (sorted.every((part, i) => part === parts[i])) return undefined
  let text = ''
  for (const [i, part] of sorted.entries()) {
    const before = sorted[i - 1]
    const end = before?.run.lines[0]?.right ?? 0
    const apart =
      before !== undefined && (Math.abs(before.y - part.y) > 6 || part.x - end > part.run.letters.size * 0.2)
    text += (apart ? ' ' : '') + part.run.text
  }
  return text
}
