// A generated box as a layer: a style sheet can put an opaque one over text without any element.

import { common, type Area } from './area.ts'
import { backgroundOf } from './background.ts'
import { boxIn } from './drawn.ts'
import type { Sheet } from './layers.ts'
import { boxOf, clientLeftOf, clientTopOf, holderOfBox, isHtml } from './native.ts'
import { layerOf, outside, type Own, type Paint } from './paint.ts'

interface Made {
  readonly element: Element
  readonly style: CSSStyleDeclaration
  readonly own: Own
  /** The paint of the element's content. */
  readonly paint: Paint
  readonly window: Area
  /** Its place in the document, between those of elements. */
  readonly order: number
}

/** A generated box that is positioned and hides something; undefined for any other. */
export function pseudoSheet({ element, style, own, paint, window, order }: Made): Sheet | undefined {
  const { position } = style
  if (position !== 'absolute' && position !== 'fixed') return undefined
  const { content, backgroundColor, backgroundImage, visibility } = style
  if (visibility !== 'visible') return undefined
  const opacity = paint.opacity * Number(style.opacity)
  const { cover, colour } = backgroundOf(style, backgroundColor, backgroundImage, paint, opacity)
  if (cover === 0 && !content.includes('url(')) return undefined
  const move = moveOf(style.transform)
  const { port } = outside(position, paint.holder)
  const area = areaIn(position === 'fixed' ? window : blockOf(element, own), style, move ?? [0, 0])
  const isPlain = move !== undefined && !content.includes('url(')
  return {
    element,
    area: common(area, port),
    order,
    end: order,
    layer: layerOf(style, position, paint, order, false).layer,
    moves: paint.moves && position !== 'fixed',
    port,
    cover: isPlain && cover !== undefined ? cover * opacity : undefined,
    colour,
  }
}

/** The corner of the padding box of the element that contains it. */
function blockOf(element: Element, own: Own): Pick<Area, 'left' | 'top'> {
  const holder = own.position === 'static' && isHtml(element) ? holderOfBox(element) : element
  const outer: Area = holder && holder !== element ? boxOf(holder) : boxIn(own)
  const [x, y] = holder ? [clientLeftOf(holder), clientTopOf(holder)] : [0, 0]
  return { left: outer.left + x, top: outer.top + y }
}

/** The used places and sizes of a positioned box are pixels. */
function areaIn(
  block: Pick<Area, 'left' | 'top'>,
  style: CSSStyleDeclaration,
  [x, y]: readonly [number, number],
): Area {
  const pixels = (name: string): number => parseFloat(style.getPropertyValue(name)) || 0
  const rims = (sides: readonly string[]): number =>
    style.boxSizing === 'border-box'
      ? 0
      : sides.reduce((sum, side) => sum + pixels(`padding-${side}`) + pixels(`border-${side}-width`), 0)
  const left = block.left + pixels('left') + pixels('margin-left') + x
  const top = block.top + pixels('top') + pixels('margin-top') + y
  return {
    left,
    top,
    right: left + pixels('width') + rims(['left', 'right']),
    bottom: top + pixels('height') + rims(['top', 'bottom']),
  }
}

/** How far a transform moves a box; undefined if it does anything else. */
function moveOf(transform: string): readonly [number, number] | undefined {
  if (transform === 'none') return [0, 0]
  const { a, b, c, d, e, f } = new DOMMatrix(transform)
  return a === 1 && b === 0 && c === 0 && d === 1 ? [e, f] : undefined
}
