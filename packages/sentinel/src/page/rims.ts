// Paint around the box of an element: shadows, outlines, borders. It can lie over text as a background can.

import { common, type Area } from './area.ts'
import { colourOf, type Rgba } from './colour.ts'
import { boxIn } from './drawn.ts'
import type { Sheet } from './layers.ts'
import type { Own } from './paint.ts'

/** Thinner rims hide no line of text. */
const LEAST = 8

/** The rims of an element that has a layer of its own; of others, they lie under all text. */
export function rimsOf(own: Own): readonly Sheet[] {
  const { element, order, paint, port } = own
  const sheet = (area: Area, colour: Rgba, isSharp: boolean): Sheet => ({
    element,
    area: common(area, port),
    order,
    end: order,
    layer: paint.layer,
    moves: paint.moves,
    port,
    cover: isSharp ? colour[3] * paint.opacity : undefined,
    colour: undefined,
  })
  return [...shadowsOf(own), ...outlineOf(own), ...bordersOf(own)].flatMap(
    ({ outer, inner, colour, isSharp }) => around(outer, inner).map((area) => sheet(area, colour, isSharp)),
  )
}

interface Rim {
  readonly outer: Area
  /** The part in the middle that is left free. */
  readonly inner: Area
  readonly colour: Rgba
  readonly isSharp: boolean
}

/** A computed shadow: its colour, two offsets, blur and spread. */
const SHADOW =
  /((?:rgba?|color|lab|lch|oklab|oklch)\([^()]*\)) (-?[\d.]+)px (-?[\d.]+)px ([\d.]+)px (-?[\d.]+)px( inset)?/g

function shadowsOf(own: Own): readonly Rim[] {
  const { boxShadow } = own.style
  if (boxShadow === 'none') return []
  const box = boxIn(own)
  return [...boxShadow.matchAll(SHADOW)].flatMap(([, text = '', ...rest]) => {
    const [x = 0, y = 0, blur = 0, spread = 0] = rest.slice(0, 4).map(Number)
    const colour = colourOf(text)
    if (rest[4] !== undefined || !colour || colour[3] < 0.2) return []
    if (Math.max(Math.abs(x), Math.abs(y)) + spread < LEAST) return []
    return [{ outer: grown(moved(box, x, y), spread), inner: box, colour, isSharp: blur <= spread / 2 }]
  })
}

function outlineOf(own: Own): readonly Rim[] {
  const { style } = own
  const width = style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth)
  if (!(width >= LEAST)) return []
  const inner = grown(boxIn(own), parseFloat(style.outlineOffset) || 0)
  const colour = colourOf(style.outlineColor)
  return colour
    ? [{ outer: grown(inner, width), inner, colour, isSharp: style.outlineStyle === 'solid' }]
    : []
}

function bordersOf(own: Own): readonly Rim[] {
  // The background reaches under the border.
  if (own.cover === 1) return []
  const { style } = own
  const { borderTopWidth, borderRightWidth, borderBottomWidth, borderLeftWidth } = style
  const widths = [borderTopWidth, borderRightWidth, borderBottomWidth, borderLeftWidth]
  if (widths.every((width) => width === '0px')) return []
  const [top = 0, right = 0, bottom = 0, left = 0] = widths.map(parseFloat)
  const outer = boxIn(own)
  const rim = (isWide: boolean, inner: Partial<Area>, text: string): readonly Rim[] => {
    const colour = isWide ? colourOf(text) : undefined
    return colour ? [{ outer, inner: { ...outer, ...inner }, colour, isSharp: true }] : []
  }
  return [
    ...rim(top >= LEAST, { top: outer.top + top }, style.borderTopColor),
    ...rim(bottom >= LEAST, { bottom: outer.bottom - bottom }, style.borderBottomColor),
    ...rim(left >= LEAST, { left: outer.left + left }, style.borderLeftColor),
    ...rim(right >= LEAST, { right: outer.right - right }, style.borderRightColor),
  ]
}

function moved({ left, top, right, bottom }: Area, x: number, y: number): Area {
  return { left: left + x, top: top + y, right: right + x, bottom: bottom + y }
}

function grown({ left, top, right, bottom }: Area, by: number): Area {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by }
}

/** The up to four parts of a rectangle around another one. */
function around(outer: Area, inner: Area): readonly Area[] {
  const middle = common(outer, inner)
  if (middle.right === middle.left) return [outer]
  return [
    { ...outer, bottom: middle.top },
    { ...outer, top: middle.bottom },
    { ...outer, top: middle.top, bottom: middle.bottom, right: middle.left },
    { ...outer, top: middle.top, bottom: middle.bottom, left: middle.right },
  ]
}
