// Which part of an element's content a person can see, after scrolling and now.

import { common, EMPTY, sizeOf, type Area } from './area.ts'
import { boxIn, type Drawn } from './drawn.ts'
import {
  clientHeightOf,
  clientLeftOf,
  clientTopOf,
  clientWidthOf,
  scrollHeightOf,
  scrollLeftOf,
  scrollTopOf,
  scrollWidthOf,
} from './native.ts'

const EVERYWHERE: Area = { left: -1e7, top: -1e7, right: 1e7, bottom: 1e7 }

/** The old property `clip`, which only elements outside of the flow obey. */
export function legacyClip(drawn: Drawn): Area {
  const clip = drawn.style.getPropertyValue('clip')
  if (clip === 'auto') return EVERYWHERE
  const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/auto|-?[\d.]+/g) ?? []).map(parseFloat)
  const box = boxIn(drawn)
  const edge = (offset: number, from: number, auto: number): number =>
    Number.isNaN(offset) ? auto : from + offset
  return {
    left: edge(left, box.left, EVERYWHERE.left),
    top: edge(top, box.top, EVERYWHERE.top),
    right: edge(right, box.left, EVERYWHERE.right),
    bottom: edge(bottom, box.top, EVERYWHERE.bottom),
  }
}

/** Letters in a lower or narrower window onto a box cannot be read, however it is scrolled. */
const LEAST_PORT = 10

/** Where the content of an element can be seen: after scrolling (`clip`), and now (`port`). */
export function clippedBy(
  drawn: Drawn,
  contain: string,
  outer: Area,
  outerPort: Area,
): { readonly clip: Area; readonly port: Area } {
  const { overflow } = drawn.style
  const contained = contain !== 'none' && /paint|strict|content/.test(contain)
  if (overflow === 'visible' && !contained) return { clip: outer, port: outerPort }
  const own = boxIn(drawn)
  const [x = 'visible', y = x] = overflow.split(' ')
  const hides = (axis: string): boolean => contained || axis !== 'visible'
  const edges = {
    left: hides(x) ? own.left : EVERYWHERE.left,
    right: hides(x) ? own.right : EVERYWHERE.right,
    top: hides(y) ? own.top : EVERYWHERE.top,
    bottom: hides(y) ? own.bottom : EVERYWHERE.bottom,
  }
  const seen = common(outer, edges)
  const port = common(outerPort, edges)
  if (x !== 'auto' && x !== 'scroll' && y !== 'auto' && y !== 'scroll')
    return { clip: seen, port: sizeOf(port) > 0 ? port : seen }
  // Content is seen if the window onto it is, at least a little of it.
  if (seen.right - seen.left < LEAST_PORT || seen.bottom - seen.top < LEAST_PORT)
    return { clip: EMPTY, port: EMPTY }
  return { clip: scrolled(drawn, own, [x, y]), port: sizeOf(port) > 0 ? port : seen }
}

function scrolled({ element, style }: Drawn, own: Area, [x, y]: readonly [string, string]): Area {
  const width = scrollWidthOf(element)
  const height = scrollHeightOf(element)
  const back = style.direction === 'rtl' ? width - clientWidthOf(element) : 0
  const left = own.left + clientLeftOf(element) - scrollLeftOf(element) - back
  const top = own.top + clientTopOf(element) - scrollTopOf(element)
  const [wide, high] = [x === 'auto' || x === 'scroll', y === 'auto' || y === 'scroll']
  return {
    left: wide ? left : own.left,
    right: wide ? left + width : own.right,
    top: high ? top : own.top,
    bottom: high ? top + Math.max(height, clientHeightOf(element)) : own.bottom,
  }
}
