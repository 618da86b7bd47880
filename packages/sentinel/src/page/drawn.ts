// An element as it is drawn. Its box is measured once, and only if something needs it.

import { areaOf, type Area } from './area.ts'

/** An element with its style. */
export interface Drawn {
  readonly element: Element
  readonly style: CSSStyleDeclaration
  readonly display: string
  readonly position: string
  /** Its place in the document. */
  readonly order: number
  /** Its box, if it is known. */
  area: Area | undefined
}

/** The box of an element. */
export function boxIn(drawn: Drawn): Area {
  return (drawn.area ??= areaOf(drawn.element))
}
