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
const NONE: readonly Sheet[] = []

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
      const stack: Stack = { paint, order, seen: 1, unsure: false, back: paint.back }
      const isInPort = hasPoint(paint.port, x, y)
      here(tall, x, y, isInPort, stack)
      here(bands.get(Math.floor(y / BAND)) ?? NONE, x, y, isInPort, stack)
      if (!isInPort) elsewhere(x, y, paint, stack)
      for (const sheet of still) {
        const isBeside = x < sheet.area.left || x >= sheet.area.right
        if (isFixedOver(sheet, paint) && !isBeside && !scrollsAway(sheet, area)) take(stack, sheet)
      }
      return { covered: stack.seen <= 1 - COVERED, unsure: stack.unsure, back: stack.back }
    },
  }

  function here(list: readonly Sheet[], x: number, y: number, isInPort: boolean, stack: Stack): void {
    for (const sheet of list) {
      if (!hasPoint(sheet.area, x, y) || isFixedOver(sheet, stack.paint)) continue
      // Content of another scrolling box is compared at the place to which it can be scrolled.
      if (isInPort || sheet.port === stack.paint.port) take(stack, sheet)
    }
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
      for (const sheet of list) if (sheet.port !== port && hasPoint(sheet.area, px, py)) take(stack, sheet)
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

/** The layers over and under a content of this paint, as far as they were taken. */
interface Stack {
  readonly paint: Paint
  readonly order: number
  /** The part of the content that can be seen. */
  seen: number
  unsure: boolean
  back: Back
}

function take(stack: Stack, sheet: Sheet): void {
  const { paint, order } = stack
  const isAncestor = sheet.order <= order && order < sheet.end
  if (isAncestor && !paint.sunk) return
  const above = isOver(paint.layer, sheet.layer)
  if (isAncestor) {
    if (above === true) stack.seen *= 1 - (sheet.cover ?? 1)
  } else if (above === false || (above === undefined && sheet.order < order)) {
    if (sheet.colour) stack.back = over(sheet.colour, 1, stack.back)
    else if (sheet.cover !== 0) stack.back = ANYTHING
  } else if (above === undefined || sheet.cover === undefined) {
    // In one layer, whether a later box covers earlier text depends on more than was read.
    stack.unsure ||= (sheet.cover ?? 1) > 0.5
  } else stack.seen *= 1 - sheet.cover
}

interface Point {
  readonly covered: boolean
  readonly unsure: boolean
  readonly back: Back
}
