// Rectangles, and the parts of the page that a person can bring into view.

import type { Box } from '../reading.ts'
import { boxOf } from './native.ts'

/** A rectangle by its sides, in pixels of the window. */
export interface Area {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

export const EMPTY: Area = { left: 0, top: 0, right: 0, bottom: 0 }

/** The rectangle of an element, as a plain copy: each look at a member of the browser's own one is a call. */
export function areaOf(element: Element): Area {
  const { left, top, right, bottom } = boxOf(element)
  return { left, top, right, bottom }
}

/** The common part of two rectangles. */
export function common(a: Area, b: Area): Area {
  const left = Math.max(a.left, b.left)
  const top = Math.max(a.top, b.top)
  const right = Math.min(a.right, b.right)
  const bottom = Math.min(a.bottom, b.bottom)
  return right > left && bottom > top ? { left, top, right, bottom } : EMPTY
}

export function hasPoint({ left, top, right, bottom }: Area, x: number, y: number): boolean {
  return x >= left && x < right && y >= top && y < bottom
}

export function sizeOf({ left, top, right, bottom }: Area): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top)
}

/** A rectangle of the window as one of the document, in whole pixels. */
export function areaBox(
  { left, top, right, bottom }: Area,
  offset: { readonly x: number; readonly y: number },
): Box {
  const [x, y] = [Math.round(left + offset.x), Math.round(top + offset.y)]
  return { x, y, width: Math.round(right - left), height: Math.round(bottom - top) }
}

/** The part of a rectangle that lies in another, from 0 to 1. Counts what is left of a line in height only if most of it is. */
export function share(inner: Area, outer: Area): number {
  if (isWithin(inner, outer)) return 1
  const size = sizeOf(inner)
  return size === 0 ? 0 : sizeOf(common(inner, outer)) / size
}

/** Whether a rectangle has a size and lies in another. */
function isWithin(inner: Area, outer: Area): boolean {
  return (
    inner.right > inner.left &&
    inner.bottom > inner.top &&
    inner.left >= outer.left &&
    inner.right <= outer.right &&
    inner.top >= outer.top &&
    inner.bottom <= outer.bottom
  )
}

/** A shape that cuts off what is outside: whether a point is inside. */
export type Shape = (x: number, y: number) => boolean

const NUMBERS = /-?[\d.]+(?:e-?\d+)?(?:px|%)?/g

/**
 * Reads a computed `clip-path`. Returns the shape, or undefined if it cannot be read.
 */
export function shapeOf(text: string, box: Area): Shape | undefined {
  const [, name, inner = ''] =
    /^(inset|circle|ellipse|polygon)\((.*)\)(?:\s*(?:border-box|margin-box))?$/.exec(text) ?? []
  const width = box.right - box.left
  const height = box.bottom - box.top
  const length = (given: string | undefined, whole: number): number =>
    given === undefined ? NaN : given.endsWith('%') ? (parseFloat(given) / 100) * whole : parseFloat(given)
  switch (name) {
    case 'inset': {
      const [top = '0', right = top, bottom = top, left = right] =
        inner.split(' round ')[0]?.match(NUMBERS) ?? []
      const area = {
        left: box.left + length(left, width),
        top: box.top + length(top, height),
        right: box.right - length(right, width),
        bottom: box.bottom - length(bottom, height),
      }
      return (x, y) => hasPoint(area, x, y)
    }
    case 'circle':
    case 'ellipse': {
      const [radii = '', place = '50% 50%'] = inner.split(/\s*at\s+/)
      const [first, second = first] = radii.match(NUMBERS) ?? []
      const [x0, y0] = place.match(NUMBERS) ?? []
      if (/side|corner/.test(radii) || first === undefined || y0 === undefined) return undefined
      const base = name === 'circle' ? Math.hypot(width, height) / Math.SQRT2 : undefined
      const rx = length(first, base ?? width)
      const ry = length(second, base ?? height)
      const [cx, cy] = [box.left + length(x0, width), box.top + length(y0, height)]
      return (x, y) => rx > 0 && ry > 0 && ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1
    }
    case 'polygon': {
      if (inner.includes('calc')) return undefined
      const points = inner
        .replace(/^(?:evenodd|nonzero),\s*/, '')
        .split(',')
        .map((pair) => {
          const [x, y] = pair.match(NUMBERS) ?? []
          return [box.left + length(x, width), box.top + length(y, height)] as const
        })
      return points.some(([x, y]) => Number.isNaN(x + y)) ? undefined : (x, y) => isInPolygon(points, x, y)
    }
    case undefined:
    default:
      return undefined
  }
}

/** Whether a point is in a polygon: a ray to the right crosses its sides an odd number of times. */
function isInPolygon(points: readonly (readonly [number, number])[], x: number, y: number): boolean {
  let inside = false
  for (const [i, [xi, yi]] of points.entries()) {
    const [xj, yj] = points.at(i - 1) ?? [xi, yi]
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside
  }
  return inside
}
