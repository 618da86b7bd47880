// Hit tests: whether a click at a point, or a key, reaches the element that it is meant for.

import {
  boxOf,
  clientLeftOf,
  clientTopOf,
  controlOf,
  documentOf,
  elementAt,
  elementInShadow,
  focusOf,
  hitAt,
  hostOf,
  hostOrParent,
  isNamed,
  shadowFocusOf,
  shadowOf,
  treeOf,
  typeOf,
} from '../page/native.ts'

/** Whether a click at a point of the window reaches an element: itself, something inside of it, or its label. */
export function hits(element: Element, x: number, y: number): boolean {
  const hit = hitAt(documentOf(element) ?? document, x, y)
  return hit !== null && (reaches(hit, element) || hitsInPrivate(element, x, y))
}

/** Whether a point reaches a frame, and the place of the window of its document. */
export function hitsFrame(
  frame: Element,
  x: number,
  y: number,
): { readonly hit: boolean; readonly left: number; readonly top: number } {
  const { left, top } = boxOf(frame)
  return { hit: hits(frame, x, y), left: left + clientLeftOf(frame), top: top + clientTopOf(frame) }
}

/** Whether keys reach one of the elements. */
export function hasFocus(...elements: readonly Element[]): boolean {
  let focus = focusOf(document)
  for (let depth = 0; focus && depth < 32; depth++) {
    const root = shadowOf(focus)
    const inner: Element | null = root && shadowFocusOf(root)
    if (!inner) break
    focus = inner
  }
  const reached = focus
  return reached !== null && elements.some((each) => reaches(reached, each))
}

/** Whether an event at a node is one at an element: the node is in it, or the two are a label and its control. */
export function reaches(node: Node, element: Element): boolean {
  for (let up: Node | null = node; up; up = hostOrParent(up)) {
    if (up === element || isLabelOf(up, element) || isLabelOf(element, up)) return true
  }
  return false
}

function isLabelOf(label: Node, control: Node): boolean {
  // Sound: its type is that of an element.
  return (
    typeOf(label) === 1 &&
    isNamed(label as Element, 'label') &&
    controlOf(label as HTMLLabelElement) === control
  )
}

/** A closed shadow root answers only those who have a node of it: each host on the way must be hit. */
function hitsInPrivate(element: Element, x: number, y: number): boolean {
  const roots: ShadowRoot[] = []
  for (let root = treeOf(element); hostOf(root);) {
    // Sound: only shadow roots have a host.
    roots.unshift(root as ShadowRoot)
    root = treeOf(hostOf(root) ?? root)
  }
  let hit = elementAt(documentOf(element) ?? document, x, y)
  for (const root of roots) {
    if (hit !== hostOf(root)) return false
    hit = elementInShadow(root, x, y)
  }
  return roots.length > 0 && hit !== null && reaches(hit, element)
}

/** Whether an element is in a closed shadow root of a node. Outside of it, its events are those of the node. */
export function hidesIn(node: Node, element: Element): boolean {
  for (let root = treeOf(element); ; root = treeOf(root)) {
    const host = hostOf(root)
    if (!host) return false
    // Sound: only elements have shadow roots.
    if (host === node) return shadowOf(host as Element) === null
    root = host
  }
}
