// Finds the elements that may be the one that an agent saw: by their place, or by a text that may be their name.

import {
  allMatches,
  areaValueOf,
  attributeOf,
  boxOf,
  dataOf,
  hostOrParent,
  isNamed,
  nameOf,
  parentOf,
  rectsOf,
  shadowOf,
  textOf,
  typeOf,
  valueOf,
  viewOf,
  walkerIn,
  documentOf,
  elementsAt,
} from '../page/native.ts'
import type { Box } from '../reading.ts'

/** An element as an agent saw it. */
export interface Named {
  readonly name: string
  /** From the top left corner of its document. */
  readonly box?: Box
  /** It is a text, and not an element. */
  readonly text: boolean
}

/** Where an element is drawn. */
interface Placed {
  /** From the top left corner of its document. */
  readonly box: Box
  /** A point of the window where a click should hit it; missing if that is out of the window. */
  readonly point?: readonly [x: number, y: number]
}

const MOST = 24
/** In pixels. Sizes are rounded in snapshots. */
const NEAR = 2
const MOST_NODES = 100_000

/** Elements that are exactly at the place, then those that may have the name, in the order of the document. */
export function find(document: Document, seen: Named): readonly Element[] {
  const quick = findAtPlace(document, seen)
  return quick.length > 0 ? quick : findAnywhere(document, seen)
}

/** Finds an element that is still at its place, without a look at the rest of the page. */
function findAtPlace(document: Document, { name, box, text }: Named): readonly Element[] {
  const view = viewOf(document)
  if (!box || text || !view) return []
  const [x, y] = [box.x + box.width / 2 - view.scrollX, box.y + box.height / 2 - view.scrollY]
  const wanted = plain(name)
  return elementsAt(document, x, y).filter(
    (element) => isNear(boxIn(element), box) && (wanted === '' || mayBeNamed(element, wanted)),
  )
}

function findAnywhere(document: Document, { name, box, text }: Named): readonly Element[] {
  const [at, named]: [Element[], Element[]] = [[], []]
  const wanted = plain(name)
  let left = MOST_NODES
  const look = (root: Document | ShadowRoot): void => {
    const walker = walkerIn(document, root, text ? 4 : 1)
    for (let node = walker.nextNode(); node && left > 0 && named.length < MOST; node = walker.nextNode()) {
      left--
      if (text) {
        const parent = parentOf(node)
        // Sound: the walker shows only text.
        if (parent && typeOf(parent) === 1 && plain(dataOf(node as Text)) === wanted) {
          named.push(parent as Element)
        }
        continue
      }
      // Sound: the walker shows only elements.
      const element = node as Element
      if (box && at.length < MOST && isNear(boxIn(element), box)) at.push(element)
      else if (wanted !== '' && mayBeNamed(element, wanted)) named.push(element)
      const shadow = shadowOf(element)
      if (shadow) look(shadow)
    }
  }
  look(document)
  return [...at, ...named]
}

/** Where an element is drawn; undefined if it is not. */
export function placeOf(element: Element): Placed | undefined {
  const box = boxIn(element)
  if (box.width <= 0 || box.height <= 0) return undefined
  const view = viewOf(documentOf(element) ?? document)
  const [wide, high] = [view?.innerWidth ?? 0, view?.innerHeight ?? 0]
  for (const { left, top, right, bottom } of rectsOf(element)) {
    const [x0, y0] = [Math.max(0, left), Math.max(0, top)]
    const [x1, y1] = [Math.min(wide, right), Math.min(high, bottom)]
    if (x1 - x0 >= 1 && y1 - y0 >= 1) return { box, point: [(x0 + x1) / 2, (y0 + y1) / 2] }
  }
  return { box }
}

function boxIn(element: Element): Box {
  const { left, top, width, height } = boxOf(element)
  const view = viewOf(documentOf(element) ?? document)
  return { x: left + (view?.scrollX ?? 0), y: top + (view?.scrollY ?? 0), width, height }
}

function isNear(a: Box, b: Box): boolean {
  return (
    Math.abs(a.x - b.x) <= NEAR &&
    Math.abs(a.y - b.y) <= NEAR &&
    Math.abs(a.width - b.width) <= NEAR &&
    Math.abs(a.height - b.height) <= NEAR
  )
}

const NAMING = ['aria-label', 'alt', 'title', 'placeholder']

/** Whether one of the texts from which a name is made is the name. The gateway then asks the browser for the real one. */
function mayBeNamed(element: Element, wanted: string): boolean {
  if (NAMING.some((name) => plain(attributeOf(element, name) ?? '') === wanted)) return true
  if (isNamed(element, 'input') || isNamed(element, 'select') || isNamed(element, 'textarea')) {
    if (isNamed(element, 'input') && plain(valueOf(element)) === wanted) return true
    if (isNamed(element, 'textarea') && plain(areaValueOf(element)) === wanted) return true
    return labelsOf(element).some((label) => plain(textOf(label) ?? '').includes(wanted))
  }
  const labelled = attributeOf(element, 'aria-labelledby')
  if (labelled !== null && plain(referred(element, labelled)) === wanted) return true
  if (!MAY_HOLD_NAME.has(nameOf(element)) && attributeOf(element, 'role') === null) return false
  const text = textOf(element) ?? ''
  // Blanks between the parts do not matter here.
  return text.length <= wanted.length * 4 + 200 && bare(text) === bare(wanted)
}

const MAY_HOLD_NAME = new Set(
  'a button summary option h1 h2 h3 h4 h5 h6 td th tr li label legend caption figcaption dt dd p span div img area svg'.split(
    ' ',
  ),
)

function labelsOf(element: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement): readonly Element[] {
  const labels: Element[] = []
  for (let up: Node | null = parentOf(element); up; up = hostOrParent(up)) {
    // Sound: its type is that of an element.
    if (typeOf(up) === 1 && isNamed(up as Element, 'label')) labels.push(up as Element)
  }
  const id = attributeOf(element, 'id')
  const self = documentOf(element)
  if (id !== null && self) labels.push(...allMatches(self, `label[for="${CSS.escape(id)}"]`))
  return labels
}

function referred(element: Element, ids: string): string {
  const self = documentOf(element)
  if (!self) return ''
  const parts = ids
    .split(/\s+/)
    .slice(0, 8)
    .flatMap((id) => [...allMatches(self, `[id="${CSS.escape(id)}"]`)].slice(0, 1))
  return parts.map((part) => textOf(part) ?? '').join(' ')
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function bare(text: string): string {
  return text.replace(/\s+/g, '')
}
