// Judges whether a person can read a text: its size, its place, its colour, and what lies over it.

import type { AwayCode } from '../codes.ts'
import { common, sizeOf, type Area } from './area.ts'
import { colourOf, legibility, type Back, type Rgba } from './colour.ts'
import type { Drawn } from './drawn.ts'
import type { Piece } from '../pieces.ts'
import type { Sheets } from './layers.ts'
import { attributeOf, hostOrParent, isNamed, isRendered, isSvg, linesOf, typeOf } from './native.ts'
import { isInShapes, seenPart, type Paint } from './paint.ts'

/** A text with what its judgement needs. */
export interface Run {
  readonly piece: Piece
  readonly node: Text
  readonly text: string
  readonly paint: Paint
  readonly letters: Letters
  readonly lines: readonly Area[]
  /** Whether it is text of a drawing, whose words cannot be measured one by one. */
  readonly drawing: boolean
}

/** How letters are drawn. */
export interface Letters {
  readonly away: AwayCode | undefined
  readonly size: number
  readonly colour: Rgba | undefined
  readonly transform: string
  /** Whether the letters are drawn from right to left against their script. */
  readonly reversed: boolean
  /** The place of their element in the document. */
  readonly order: number
  readonly element: Element
}

/** Reads how the text directly inside of an element is drawn. */
export function lettersOf(drawn: Drawn, isDrawing: boolean): Letters {
  const { element, style, order } = drawn
  const { fontSize, textTransform, unicodeBidi } = style
  const text = isDrawing ? style.fill : style.webkitTextFillColor
  const colour = colourOf(text)
  return {
    away: isShown(drawn) && !isClosed(element) ? undefined : 'NOT_RENDERED',
    size: parseFloat(fontSize),
    colour: isDrawing
      ? colour && [colour[0], colour[1], colour[2], colour[3] * Number(style.fillOpacity)]
      : isStroked(style, fontSize)
        ? undefined
        : colour,
    transform: textTransform,
    reversed: unicodeBidi.endsWith('override') && style.direction === 'rtl',
    order,
    element,
  }
}

/** Whether the text of an element is rendered: no `display`, `visibility` or `content-visibility` removes it. */
function isShown({ element, style, display }: Drawn): boolean {
  // Content of an inline box cannot be skipped.
  if (display !== 'inline' && style.contentVisibility === 'hidden') return false
  if (style.visibility !== 'visible') return false
  if (display !== 'contents') return isRendered(element)
  // It has no box of its own.
  let up: Node | null = element
  while (up && (typeOf(up) !== 1 || getComputedStyle(up as Element).display === 'contents'))
    up = hostOrParent(up)
  // Sound: its type is that of an element.
  return up !== null && isRendered(up as Element)
}

/** Whether a text directly in this element is hidden with its details. No element could say so, and a range still measures it. */
function isClosed(element: Element): boolean {
  return isNamed(element, 'details') && attributeOf(element, 'open') === null
}

/** Whether a shadow or an outline may show letters whose colour does not. Few texts need their style a second time. */
function isOutlined({ element }: Letters): boolean {
  const style = getComputedStyle(element)
  if (isSvg(element)) return style.stroke !== 'none'
  return style.textShadow !== 'none' || style.webkitTextStrokeWidth !== '0px'
}

/** The part of a letter's size from which its outline hides it. */
const THICK = 0.15

function isStroked(style: CSSStyleDeclaration, fontSize: string): boolean {
  const width = style.webkitTextStrokeWidth
  return (
    width !== '0px' &&
    parseFloat(width) > parseFloat(fontSize) * THICK &&
    !style.paintOrder.startsWith('stroke')
  )
}

const LEAST_SIZE = 4
// The box of a line is at least as high as its letters.
const LEAST_LINE = 4.6

/** Whether the letters of a text are too small, or lie on each other. */
export function isTiny({ node, lines, text, letters }: Run, scaleOf: (node: Text) => number): boolean {
  if (lines.length === 0) return false
  let [height, width, heights] = [Infinity, 0, 0]
  for (const { left, top, right, bottom } of lines) {
    height = Math.min(height, bottom - top)
    heights += bottom - top
    width += right - left
  }
  if (height < LEAST_LINE || (width < LEAST_LINE && signsIn(text) > 2)) return true
  const usual = height >= letters.size * 0.8 && height <= letters.size * 2.5
  const size = usual && letters.size >= LEAST_SIZE ? letters.size : letters.size * scaleOf(node)
  if (size < LEAST_SIZE) return true
  // Vertical text has its length in its height.
  const length = Math.max(width, heights === height ? height : 0)
  const least = size * LEAST_STEP
  // Most texts are long enough even if their blanks count.
  const isDense = length < least * text.length && signsIn(text) > 3 && length < least * signsIn(text)
  return isDense || areOnOneSpot(lines)
}

/** The least width of a letter, as a part of its size. */
const LEAST_STEP = 0.12

function signsIn(text: string): number {
  return text.replace(/\s+/g, '').length
}

function areOnOneSpot(lines: readonly Area[]): boolean {
  if (lines.length < 2) return false
  return lines.some((line, i) => {
    const before = lines[i - 1]
    if (!before) return false
    const both = sizeOf(common(line, before))
    return both > 0.6 * Math.min(sizeOf(line), sizeOf(before))
  })
}

/** Judges a part of a text at its place: a line or a word. */
export function judgePlace(
  run: Run,
  area: Area,
  sheets: Sheets,
  reach: Area,
): AwayCode | undefined | 'mixed' {
  const seen = seenPart(run.paint, area)
  if (seen <= 0.02) return sizeOf(common(area, reach)) === 0 ? 'OFF_CANVAS' : 'CLIPPED_TEXT'
  if (seen < 0.98) return 'mixed'
  const { left, right, top, bottom } = area
  const [y, width] = [(top + bottom) / 2, right - left]
  const first = judgePoint(run, area, left + width / 2, y, sheets)
  // A short text has only its middle.
  for (const part of width > 48 ? ENDS : [])
    if (judgePoint(run, area, left + width * part, y, sheets) !== first) return 'mixed'
  return first
}

const ENDS = [0.06, 0.94]

/** A word counts as readable if most of it is. */
export function judgeWord(run: Run, area: Area, sheets: Sheets, reach: Area): AwayCode | undefined {
  if (sizeOf(common(area, reach)) === 0) return 'OFF_CANVAS'
  if (seenPart(run.paint, area) < 0.5) return 'CLIPPED_TEXT'
  return judgePoint(run, area, (area.left + area.right) / 2, (area.top + area.bottom) / 2, sheets)
}

function judgePoint(run: Run, area: Area, x: number, y: number, sheets: Sheets): AwayCode | undefined {
  if (!isInShapes(run.paint, x, y)) return 'CLIPPED_TEXT'
  const { paint, letters } = run
  const { covered, unsure, back } = sheets.at(x, y, area, paint, letters.order)
  if (covered) return 'COVERED_TEXT'
  if (unsure) return 'UNRESOLVED_PAINT'
  return byColour(letters.colour, paint.opacity, back, paint.through, () => isOutlined(letters))
}

const UNREADABLE = 0.2

/** Judges letters by their colour on a background. */
export function byColour(
  colour: Rgba | undefined,
  opacity: number,
  back: Back,
  through: Paint['through'],
  outlined: () => boolean,
): AwayCode | undefined {
  if (!colour) return 'UNRESOLVED_PAINT'
  if (colour[3] * opacity < UNREADABLE) {
    if (through === 'picture' || (opacity >= UNREADABLE && outlined())) return 'UNRESOLVED_PAINT'
    if (!through) return 'TRANSPARENT_TEXT'
    const clear = through.filter((each) => legibility(each, opacity, back) === 'clear').length
    return clear * 2 >= through.length ? undefined : clear === 0 ? 'CAMOUFLAGED_TEXT' : 'UNRESOLVED_PAINT'
  }
  const result = legibility(colour, opacity, back)
  if (result === 'clear') return undefined
  return result === 'unsure' || outlined() ? 'UNRESOLVED_PAINT' : 'CAMOUFLAGED_TEXT'
}

/** The rectangles of the lines of a range that have a size. */
export function areasOf(range: Range): Area[] {
  const lines = linesOf(range)
  const areas: Area[] = []
  const { length } = lines
  for (let i = 0; i < length; i++) {
    // Sound: it is less than the length.
    const { left, top, width, height } = lines[i] as DOMRect
    areas.push({ left, top, right: left + width, bottom: top + height })
  }
  return areas
}
