// One order of the nodes of a document, in which scripts in different worlds and the DevTools protocol all count them.

import { dataOf, firstOf, nextOf, shadowOf, typeOf } from './native.ts'

/** A node with the number after that of the last node inside of it. */
interface Ordered {
  readonly node: Element | Text
  end: number
}

/** More nodes are not counted. */
const MOST = 200_000
const MOST_DEPTH = 1_000

/** Elements and texts that are not blank. Open shadow roots come before the children of their hosts; frames are left out. */
export function inOrder(document: Document): readonly Ordered[] {
  const all: Ordered[] = []
  const visit = (parent: Node, depth: number): void => {
    if (depth > MOST_DEPTH) return
    for (let child = firstOf(parent); child && all.length < MOST; child = nextOf(child)) {
      const type = typeOf(child)
      // Sound: the type says which class it is.
      if (type === 3 && /\S/.test(dataOf(child as Text))) {
        all.push({ node: child as Text, end: all.length + 1 })
      }
      if (type !== 1) continue
      const element = child as Element
      const entry = { node: element, end: 0 }
      all.push(entry)
      const shadow = shadowOf(element)
      if (shadow) visit(shadow, depth + 1)
      visit(element, depth + 1)
      entry.end = all.length
    }
  }
  visit(document, 0)
  return all
}

/** A number that differs if the nodes or the lengths of the texts do. */
export function checkOf(all: readonly Ordered[]): number {
  let check = all.length
  for (const { node } of all) {
    // Sound: the type says which class it is.
    const length = typeOf(node) === 3 ? dataOf(node as Text).length : 1
    check = (check * 31 + length) % 1_000_000_007
  }
  return check
}
