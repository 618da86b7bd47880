// Finds the elements that are painted over or under a point of the page.

import { hasPoint, sizeOf, type Area } from './area.ts'
import { ANYTHING, over, type Back, type Rgba } from './colour.ts'
import { isOver, type Layer, type Paint } from './paint.ts'

/** An element that paints something. */
export interface Sheet {
  readonly element: Element
  readonly area: Area
  /** Its place in the document, and that of the first element after it. */
  readonly order: number
  end: number
  readonly layer: Layer
  readonly moves: boolean
  /** The part of the window that it scrolls in. */
  readonly port: Area
  /** The part of what is under it that it hides, from 0 to 1; undefined if unknown. */
  readonly cover: number | undefined
  readonly colour: Rgba | undefined
}

/** How far a person can scroll the window. */
interface Scrolling {
  readonly window: Area
  /** Pixels to the start and to the end of the page. */
  readonly up: number
  readonly down: number
}

const BAND = 128
const MOST_BANDS = 24
const COVERED = 0.8

/** The elements of a document that paint something. */
export interface Sheets {
  add(sheet: Sheet): void
  /** Whether something at a point hides content of this paint, and what is behind the content there. */
  at(x: number, y: number, area: Area, paint: Paint, order: number): Point
}

/** Keeps the elements of a document that paint something, by place. */
export function createSheets(scrolling: Scrolling): Sheets {
  const bands = new Map<number, Sheet[]>()
  const tall: Sheet[] = []
  const still: Sheet[] = []
  return {
    add(sheet) {
      if (sizeOf(sheet.area) < 4) return
      if (!sheet.moves) still.push(sheet)
      const first = Math.floor(sheet.area.top / BAND)
      const last = Math.floor(sheet.area.bottom / BAND)
      if (last - first > MOST_BANDS) tall.push(sheet)
      else for (let band = first; band <= last; band++) bandOf(band).push(sheet)
    },
    at(x, y, area, paint, order) {
      const stack = createStack(paint, order)
      for (const list of [tall, bands.get(Math.floor(y / BAND)) ?? []]) {
        for (const sheet of list) {
          // Content of another scrolling box is compared at the place to which it can be scrolled.
          if (isFixedOver(sheet, paint) || (sheet.port !== paint.port && !hasPoint(paint.port, x, y)))
            continue
          if (hasPoint(sheet.area, x, y)) stack.take(sheet)
        }
      }
      if (!hasPoint(paint.port, x, y)) elsewhere(x, y, paint, stack)
      for (const sheet of still) {
        const isBeside = x < sheet.area.left || x >= sheet.area.right
        if (isFixedOver(sheet, paint) && !isBeside && !scrollsAway(sheet, area)) stack.take(sheet)
      }
      return stack.point()
    },
  }

  function bandOf(band: number): Sheet[] {
    const known = bands.get(band)
    if (known) return known
    const made: Sheet[] = []
    bands.set(band, made)
    return made
  }

  /** Takes what lies over the part of the window into which a person would scroll the point. */
  function elsewhere(x: number, y: number, { port }: Paint, stack: Stack): void {
    const px = Math.min(Math.max(x, port.left), port.right - 1)
    const py = Math.min(Math.max(y, port.top), port.bottom - 1)
    for (const list of [tall, bands.get(Math.floor(py / BAND)) ?? []]) {
      for (const sheet of list) if (sheet.port !== port && hasPoint(sheet.area, px, py)) stack.take(sheet)
    }
  }

  /** Whether a person can scroll content out from under something that does not move. */
  function scrollsAway(sheet: Sheet, area: Area): boolean {
    const { window, up, down } = scrolling
    const height = area.bottom - area.top
    const [highest, lowest] = [area.top - down, area.top + up]
    const fits = (from: number, to: number): boolean => from <= to && highest <= to && lowest >= from
    return fits(window.top, sheet.area.top - height) || fits(sheet.area.bottom, window.bottom - height)
  }
}

/** Whether a sheet stays where it is while the content scrolls. */
function isFixedOver(sheet: Sheet, paint: Paint): boolean {
  return !sheet.moves && paint.moves
}

interface Stack {
  take(sheet: Sheet): void
  point(): Point
}

/** Collects the layers over and under a content of this paint. */
function createStack(paint: Paint, order: number): Stack {
  let hidden = 1
  let unsure = false
  let { back } = paint
  return {
    take(sheet) {
      const isAncestor = sheet.order <= order && order < sheet.end
      if (isAncestor && !paint.sunk) return
      const above = isOver(paint.layer, sheet.layer)
      if (isAncestor) {
        if (above === true) hidden *= 1 - (sheet.cover ?? 1)
      } else if (above === false || (above === undefined && sheet.order < order)) {
        back = sheet.colour ? over(sheet.colour, 1, back) : sheet.cover === 0 ? back : ANYTHING
      } else if (above === undefined || sheet.cover === undefined) {
        // In one layer, whether a later box covers earlier text depends on more than was read.
        unsure ||= (sheet.cover ?? 1) > 0.5
      } else hidden *= 1 - sheet.cover
    },
    point: () => ({ covered: hidden <= 1 - COVERED, unsure, back }),
  }
}

interface Point {
  readonly covered: boolean
  readonly unsure: boolean
  readonly back: Back
}
