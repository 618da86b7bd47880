// The way from the root of a document to an element. It contains no text of the page.

import type { Place } from '../reading.ts'
import { areaBox, type Area } from './area.ts'
import { boxOf, hostOrParent, nameOf, parentOf, previousOf, typeOf } from './native.ts'

const MOST_STEPS = 24
const MOST_SIBLINGS = 9_999

/** The place of a node. `offset` moves boxes of the window to the document. */
export function placeOf(node: Node, offset: { readonly x: number; readonly y: number }, area?: Area): Place {
  const steps: string[] = []
  let element: Node | null = node
  for (let depth = 0; element && depth < MOST_STEPS; depth++) {
    if (typeOf(element) === 1) steps.unshift(stepOf(element as Element))
    element = hostOrParent(element)
  }
  const drawn = area ?? drawnBox(node)
  const path = steps.join('>')
  return drawn ? { path, box: areaBox(drawn, offset) } : { path }
}

function stepOf(element: Element): string {
  const name = nameOf(element)
    .replace(/[^a-z0-9-]/gi, '')
    .slice(0, 32)
  let place = 1
  for (let before = previousOf(element); before && place < MOST_SIBLINGS; before = previousOf(before)) place++
  return place === 1 ? name : `${name}:${place}`
}

function drawnBox(node: Node): Area | undefined {
  const element = typeOf(node) === 1 ? node : parentOf(node)
  if (!element || typeOf(element) !== 1) return undefined
  // Sound: its type is that of an element.
  const { left, top, right, bottom } = boxOf(element as Element)
  return right > left && bottom > top ? { left, top, right, bottom } : undefined
}
