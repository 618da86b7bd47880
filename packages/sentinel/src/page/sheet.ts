// Describes an element as a layer over and under others.

import type { Area } from './area.ts'
import { common } from './area.ts'
import { colourOf, type Rgba } from './colour.ts'
import { isReplaced } from './control.ts'
import { boxIn } from './drawn.ts'
import type { Sheet, Sheets } from './layers.ts'
import { attributeOf, isMatch } from './native.ts'
import type { Own, Paint } from './paint.ts'

interface Painter {
  readonly name: string
  /** Whether it is part of a drawing, and whether that contains text. */
  readonly drawing: boolean
  readonly drawn: boolean
}

/** An element as a layer; undefined if it paints nothing. */
export function sheetOf({ name, drawing, drawn }: Painter, own: Own, paint: Paint): Sheet | undefined {
  if (drawing && name !== 'svg') return drawn ? shapeOf(name, own, paint) : undefined
  const replaced = isReplaced(name)
  if (own.cover === 0 && !replaced) return undefined
  if (paint.away === 'TRANSPARENT_TEXT' || own.style.visibility !== 'visible') return undefined
  const solid = own.cover === 1 || name === 'iframe' || name === 'video'
  const cover = replaced ? (solid ? paint.opacity : undefined) : own.cover
  return made(own, paint, cover, own.colour)
}

function made(own: Own, { layer, moves }: Paint, cover: number | undefined, colour: Rgba | undefined): Sheet {
  const { element, order } = own
  return {
    element,
    area: common(boxIn(own), own.port),
    order,
    end: order,
    layer,
    moves,
    port: own.port,
    cover,
    colour,
  }
}

const SHAPES = new Set('rect circle ellipse path polygon polyline image use'.split(' '))

/** A filled shape is the background of the text that a drawing has later. */
function shapeOf(name: string, own: Own, paint: Paint): Sheet | undefined {
  const { fill, fillOpacity } = own.style
  if (!SHAPES.has(name) || (fill === 'none' && name !== 'image' && name !== 'use')) return undefined
  const colour = colourOf(fill)
  const cover = colour && colour[3] * Number(fillOpacity) * paint.opacity
  return made(
    own,
    paint,
    cover,
    colour && name === 'rect' ? [colour[0], colour[1], colour[2], cover ?? 1] : undefined,
  )
}

interface Top {
  readonly sheets: Sheets
  readonly window: Area
  readonly order: number
}

/** An open dialog or popover is painted over everything else, and a backdrop may lie under it. */
export function topmost(
  element: Element,
  name: string,
  { paint }: Own,
  { sheets, window, order }: Top,
): Paint {
  if (name !== 'dialog' && attributeOf(element, 'popover') === null) return paint
  if (!isMatch(element, ':modal, :popover-open')) return paint
  const cover = colourOf(getComputedStyle(element, '::backdrop').backgroundColor)?.[3]
  const below = [Number.MAX_SAFE_INTEGER, order - 1]
  sheets.add({
    element,
    area: window,
    order,
    end: order,
    layer: below,
    moves: false,
    port: window,
    cover,
    colour: undefined,
  })
  const layer = [Number.MAX_SAFE_INTEGER, order]
  return { ...paint, layer, context: layer, moves: false }
}
