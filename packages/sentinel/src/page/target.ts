// Finds the element that a call acts on, and describes it without text of the page: its role, the hash of its name, its box, and
// where it leads. A driver of the browser knows the element by its box and some attributes; a click there must hit it.

import { sha256Hex } from '@tollgate/evidence/core'
import type { ElementSign, PageTarget } from '../reading.ts'
import { areaBox, type Area } from './area.ts'
import {
  attributeOf,
  baseOf,
  boxOf,
  formAddressOf,
  hitAt,
  hostOrParent,
  nameOf,
  slotOf,
  typeOf,
  viewOf,
} from './native.ts'
import { nameIn, roleOf } from './role-and-name.ts'

/** The element with these signs that a click at its place hits; undefined if there is none, or something else is hit. */
export function targetAt(sign: ElementSign): PageTarget | undefined {
  const found = pointsOf(sign.box).flatMap(([x, y]) => elementHit(x, y, sign) ?? [])[0]
  if (!found) return undefined
  const view = viewOf(document)
  const destination = destinationOf(found)
  return {
    role: roleOf(found),
    name_hash: sha256Hex(nameIn(found).toWellFormed()),
    box: areaBox(boxOf(found), { x: view?.scrollX ?? 0, y: view?.scrollY ?? 0 }),
    ...(destination !== undefined && { destination }),
  }
}

/** The middle, and for a link that is broken over lines the ends of its first and last line. */
function pointsOf({ x, y, width, height }: ElementSign['box']): readonly (readonly [x: number, y: number])[] {
  return [
    [x + width / 2, y + height / 2],
    [x + width - 2, y + 2],
    [x + 2, y + height - 2],
  ]
}

function elementHit(x: number, y: number, sign: ElementSign): Element | undefined {
  for (let node: Node | null = hitAt(document, x, y); node; node = flatParentOf(node)) {
    // Sound: its type is that of an element.
    if (typeOf(node) === 1 && hasSign(node as Element, sign)) return node as Element
  }
  return undefined
}

function flatParentOf(node: Node): Node | null {
  // Sound: its type is that of an element.
  return (typeOf(node) === 1 ? slotOf(node as Element) : null) ?? hostOrParent(node)
}

/** Boxes come from two sources, which round differently. */
const SAME = 1

function hasSign(element: Element, { box, attributes }: ElementSign): boolean {
  const own: Area = boxOf(element)
  const sides = [
    own.left - box.x,
    own.top - box.y,
    own.right - box.x - box.width,
    own.bottom - box.y - box.height,
  ]
  if (sides.some((off) => !(Math.abs(off) <= SAME))) return false
  return Object.entries(attributes).every(([name, value]) => attributeOf(element, name) === value)
}

/** Where a click on an element, or its form, leads; undefined for the page itself, and for a script of the page. */
function destinationOf(element: Element): string | undefined {
  for (let node: Node | null = element; node; node = flatParentOf(node)) {
    if (typeOf(node) !== 1) continue
    // Sound: its type is that of an element.
    const self = node as Element
    const isLink = nameOf(self) === 'a' || nameOf(self) === 'area'
    const address = isLink
      ? (attributeOf(self, 'href') ?? attributeOf(self, 'xlink:href'))
      : (attributeOf(self, 'formaction') ?? formAddressOf(self))
    if (address) return resolved(address, baseOf(self))
  }
  return undefined
}

function resolved(address: string, base: string): string | undefined {
  const { href, protocol } = URL.canParse(address, base)
    ? new URL(address, base)
    : { href: address, protocol: '' }
  return protocol === 'javascript:' ? undefined : href
}
