// The nodes of a document in order, each with the part of its text that a person can read.

import { sizeOf } from './area.ts'
import {
  areaValueOf,
  attributeOf,
  boxOf,
  dataOf,
  hostOrParent,
  isNamed,
  isRendered,
  nameOf,
  parentOf,
  typeOf,
  valueOf,
} from './native.ts'
import { checkOf, inOrder } from './order.ts'
import { seenPart } from './paint.ts'
import { readPieces } from './scan.ts'

/** A text: all of it, and the part that a person can read. */
type TextEntry = readonly [text: string, shown: string]
/** An element: whether a person can see it, the number after its last node, and texts that it draws itself. */
type ElementEntry = readonly [seen: 0 | 1, end: number, own: readonly TextEntry[]]

/** A document as a list of its nodes. */
interface Outline {
  readonly check: number
  readonly entries: readonly (TextEntry | ElementEntry)[]
}

const MOST_TEXT = 10_000
const LEAST_SEEN = 0.02

/** Reads the document of this world. Unlike a scan it keeps the texts apart. */
export function outline(): Outline {
  const seen = new Set<Element>()
  const pieces = readPieces((element, paint, box) => {
    if (paint.away === undefined && (sizeOf(box) === 0 || seenPart(paint, box) > LEAST_SEEN))
      seen.add(element)
  })
  const texts = new Map<object, TextEntry[]>()
  for (const { node, text, away, shown } of pieces) {
    if (!node) continue
    const list = texts.get(node) ?? []
    texts.set(node, list)
    list.push([text, away === undefined ? (shown ?? text) : ''])
  }
  const all = inOrder(document)
  const entries = all.map(({ node, end }): TextEntry | ElementEntry => {
    const own = texts.get(node) ?? []
    // Sound: the type says which class it is.
    if (typeOf(node) === 1) return elementEntry(node as Element, end, seen, own)
    return textEntry(node as Text, seen, own)
  })
  return { check: checkOf(all), entries }
}

function textEntry(node: Text, seen: ReadonlySet<Element>, own: readonly TextEntry[]): TextEntry {
  const text = dataOf(node).slice(0, MOST_TEXT)
  // A person reads the options of a list when opening it.
  if (isOptionOf(node, seen)) return [text, text]
  return [text, own.map(([, shown]) => shown).join('')]
}

function isOptionOf(node: Node, seen: ReadonlySet<Element>): boolean {
  let isOption = false
  for (let up: Node | null = parentOf(node); up; up = hostOrParent(up)) {
    // Sound: the type says which class it is.
    if (typeOf(up) !== 1) return false
    const name = nameOf(up as Element)
    if (name === 'select') return isOption && seen.has(up as Element)
    if (name !== 'option' && name !== 'optgroup') return false
    isOption = true
  }
  return false
}

function elementEntry(
  element: Element,
  end: number,
  seen: ReadonlySet<Element>,
  own: readonly TextEntry[],
): ElementEntry {
  const isSeen = seen.has(element)
  const drawn = isSeen ? valueIn(element) : ''
  return [isSeen ? 1 : 0, end, drawn === '' ? own : [...own, [drawn, drawn]]]
}

/** The value that a field shows. */
function valueIn(element: Element): string {
  if (isNamed(element, 'input')) {
    const type = (attributeOf(element, 'type') ?? '').toLowerCase()
    if (type === 'password' || type === 'hidden') return ''
    return valueOf(element).slice(0, MOST_TEXT)
  }
  if (!isNamed(element, 'textarea')) return ''
  return areaValueOf(element).slice(0, MOST_TEXT)
}

const LEAST_AREA = 64
const SHOWN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }

/** Whether the element of a frame is drawn at all. */
export function isShown(element: Element): boolean {
  const { width, height, right, bottom } = boxOf(element)
  return (
    isRendered(element, SHOWN) && width * height >= LEAST_AREA && right + scrollX > 0 && bottom + scrollY > 0
  )
}
