// Hashes a page: its document, open shadow roots, readable frames, and what its fields contain.

import { sha256Hex } from '@tollgate/evidence/core'
import {
  areaValueOf,
  attributeOf,
  checkedOf,
  choiceOf,
  frameOf,
  htmlOf,
  isNamed,
  nameOf,
  rootOf,
  scrollHeightOf,
  scrollWidthOf,
  shadowHtmlOf,
  shadowOf,
  sheetsOf,
  valueOf,
  viewOf,
  walkerIn,
} from './native.ts'

const MOST_DEPTH = 8

let last = { text: '', hash: sha256Hex('') }

/** SHA-256 of a document and everything that belongs to it. Of an unchanged one, the hash is known. */
export function domHash(document: Document): string {
  const parts: string[] = []
  collect(document, parts, 0)
  const text = parts.join('\0')
  if (text !== last.text) last = { text, hash: sha256Hex(text.toWellFormed()) }
  return last.hash
}

function collect(document: Document, parts: string[], depth: number): void {
  const root = rootOf(document)
  if (!root) return
  parts.push(htmlOf(root))
  inside(document, root, parts, depth)
}

/** Adds the parts that `outerHTML` leaves out. */
function inside(document: Document, root: Node, parts: string[], depth: number): void {
  if (depth > MOST_DEPTH) return
  const walker = walkerIn(document, root, NodeFilter.SHOW_ELEMENT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    // Sound: the walker shows only elements.
    const element = node as Element
    const shadow = shadowOf(element)
    if (shadow) {
      parts.push(shadowHtmlOf(shadow))
      inside(document, shadow, parts, depth + 1)
    }
    if (!MORE.has(nameOf(element))) continue
    const state = stateOf(element)
    if (state !== undefined) parts.push(state)
    if (isNamed(element, 'iframe')) {
      const inner = documentIn(element)
      if (inner) collect(inner, parts, depth + 1)
    }
  }
}

/** Elements of which `outerHTML` shows only a part. */
const MORE = new Set(['input', 'textarea', 'select', 'iframe'])

function documentIn(frame: HTMLIFrameElement): Document | null {
  try {
    return frameOf(frame)
  } catch {
    // Of another origin.
    return null
  }
}

/** The content of a field. A password counts only as filled or empty, because hashes of short texts can be guessed. */
function stateOf(element: Element): string | undefined {
  if (isNamed(element, 'input')) {
    const value = valueOf(element)
    const isSecret = (attributeOf(element, 'type') ?? '').toLowerCase() === 'password'
    return `${isSecret ? (value === '' ? '' : '*') : value}${checkedOf(element) ? ' checked' : ''}`
  }
  if (isNamed(element, 'textarea')) return areaValueOf(element)
  return isNamed(element, 'select') ? String(choiceOf(element)) : undefined
}

/** A short text that changes with what style sheets and the window do to the page. */
export function layoutOf(document: Document): string {
  const view = viewOf(document)
  const root = rootOf(document)
  const sizes = [
    view?.innerWidth,
    view?.innerHeight,
    root && scrollWidthOf(root),
    root && scrollHeightOf(root),
  ]
  return [...sizes, ...[...sheetsOf(document)].map(rulesIn)].join(' ')
}

function rulesIn(sheet: CSSStyleSheet): string {
  try {
    return `${sheet.disabled ? '-' : ''}${sheet.cssRules.length}`
  } catch {
    return '?'
  }
}
