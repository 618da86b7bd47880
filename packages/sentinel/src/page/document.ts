// Reads one document: what a person can scroll to, and everything in it.

import type { Asides } from '../asides.ts'
import type { Note } from '../assess.ts'
import type { AwayCode } from '../codes.ts'
import type { Piece } from '../pieces.ts'
import { EMPTY, type Area } from './area.ts'
import { WHITE } from './colour.ts'
import type { Control } from './control.ts'
import { createSheets, type Sheets } from './layers.ts'
import type { Meter } from './limits.ts'
import {
  clientHeightOf,
  clientWidthOf,
  firstOf,
  isNamed,
  nextOf,
  rootOf,
  scrollHeightOf,
  scrollWidthOf,
  typeOf,
  viewOf,
} from './native.ts'
import type { Holder, Paint } from './paint.ts'
import type { Run } from './text.ts'
import { createWalk } from './walk.ts'

/** The texts, controls and layers of one document. */
export interface DocumentRead {
  readonly pieces: Piece[]
  /** Texts whose judgement waits until everything that may cover them is known. */
  readonly waiting: Run[]
  readonly controls: Control[]
  readonly notes: Note[]
  readonly sheets: Sheets
  readonly reach: Area
  readonly offset: { readonly x: number; readonly y: number }
  readonly frames: {
    readonly element: Element
    readonly document: Document
    readonly paint: Paint
    readonly order: number
    readonly at: number
  }[]
}

/** How the document around a frame shows it. */
export interface Around {
  /** Whether a person can scroll the frame. */
  readonly scrolls: boolean
  /** Whether something of the document around hides a point of the frame. */
  covers(x: number, y: number): { readonly covered: boolean; readonly unsure: boolean }
}

/** The limits and asides that all documents of a page share. */
export interface Reader {
  readonly meter: Meter
  readonly asides: Asides
  /** Gets each element that is drawn, with the part of the window where it is. */
  readonly drawn?: (element: Element, paint: Paint, box: Area) => void
}

/** Reads a document. `away` is the reason why a person cannot see the whole of it. */
export function readDocument(
  document: Document,
  reader: Reader,
  away: AwayCode | undefined,
  around: Around | undefined,
): DocumentRead {
  const root = rootOf(document)
  const view = viewOf(document)
  const window: Area = { left: 0, top: 0, right: view?.innerWidth ?? 0, bottom: view?.innerHeight ?? 0 }
  const offset = { x: view?.scrollX ?? 0, y: view?.scrollY ?? 0 }
  const reach = root ? reachOf(root, window, offset, around?.scrolls ?? true) : EMPTY
  const own = createSheets({ window, up: offset.y, down: Math.max(0, reach.bottom - window.bottom) })
  const read: DocumentRead = {
    pieces: [],
    waiting: [],
    controls: [],
    notes: [],
    sheets: around ? under(own, around) : own,
    reach,
    offset,
    frames: [],
  }
  const start: Paint = {
    away,
    opacity: 1,
    back: WHITE,
    through: undefined,
    clip: reach,
    port: reach,
    // Fixed elements are at home in the window, all others in the document.
    holder: homeOf(reach, false, homeOf(window, true, undefined)),
    shapes: [],
    moves: true,
    layer: [],
    context: [],
    sunk: false,
    transformed: false,
    arranges: false,
  }
  if (root) createWalk(document, reader, read, window).element(root, start, 0)
  return read
}

function homeOf(area: Area, all: boolean, above: Holder | undefined): Holder {
  return { above, clip: area, port: area, isPositioned: true, all, element: undefined }
}

/** The layers of a frame, under those of the document around it. */
function under(own: Sheets, around: Around): Sheets {
  return {
    add: (sheet) => own.add(sheet),
    at(x, y, ...given) {
      const point = own.at(x, y, ...given)
      if (point.covered) return point
      const { covered, unsure } = around.covers(x, y)
      return { back: point.back, covered, unsure: point.unsure || unsure }
    },
  }
}

/** Everything that a person can scroll to. The sides that do not scroll end with the window. */
function reachOf(
  root: Element,
  window: Area,
  offset: { readonly x: number; readonly y: number },
  scrolls: boolean,
): Area {
  const body = bodyOf(root)
  const style = getComputedStyle(root)
  const used = style.overflow === 'visible' && body ? getComputedStyle(body) : style
  const [x = 'visible', y = x] = used.overflow.split(' ')
  const width = scrollWidthOf(root)
  const back = style.direction === 'rtl' ? width - clientWidthOf(root) : 0
  const fixed = (axis: string): boolean => !scrolls || axis === 'hidden' || axis === 'clip'
  return {
    left: fixed(x) ? window.left : -offset.x - back,
    right: fixed(x) ? window.right : width - offset.x - back,
    top: fixed(y) ? window.top : -offset.y,
    bottom: fixed(y) ? window.bottom : Math.max(scrollHeightOf(root), clientHeightOf(root)) - offset.y,
  }
}

function bodyOf(root: Element): Element | undefined {
  for (let child = firstOf(root); child; child = nextOf(child)) {
    // Sound: its type is that of an element.
    if (typeOf(child) === 1 && isNamed(child as Element, 'body')) return child as Element
  }
  return undefined
}
