// What is painted over or under a point of the page, apart from the ancestors of a text.

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
  return {
    add(sheet: Sheet): void {
      if (sizeOf(sheet.area) < 4) return
      const first = Math.floor(sheet.area.top / BAND)
      const last = Math.floor(sheet.area.bottom / BAND)
      if (last - first > MOST_BANDS) tall.push(sheet)
      else for (let band = first; band <= last; band++) bandOf(band).push(sheet)
    },
    at,
  }

  function bandOf(band: number): Sheet[] {
    const known = bands.get(band)
    if (known) return known
    const made: Sheet[] = []
    bands.set(band, made)
    return made
  }

  function at(x: number, y: number, area: Area, paint: Paint, order: number): Point {
    let hidden = 1
    let unsure = false
    let { back } = paint
    for (const list of [tall, bands.get(Math.floor(y / BAND)) ?? []]) {
      for (const sheet of list) {
        if (!hasPoint(sheet.area, x, y)) continue
        const isAncestor = sheet.order <= order && order < sheet.end
        if (isAncestor && !paint.sunk) continue
        const above = isOver(paint.layer, sheet.layer)
        if (isAncestor) {
          if (above === true) hidden *= 1 - (sheet.cover ?? 1)
          continue
        }
        if (above === false || (above === undefined && sheet.order < order)) {
          back = sheet.colour ? over(sheet.colour, 1, back) : sheet.cover === 0 ? back : ANYTHING
          continue
        }
        if (scrollsAway(sheet, area, paint)) continue
        // In one layer, whether a later box covers earlier text depends on more than was read.
        if (above === undefined || sheet.cover === undefined) unsure ||= (sheet.cover ?? 1) > 0.5
        else hidden *= 1 - sheet.cover
      }
    }
    return { covered: hidden <= 1 - COVERED, unsure, back }
  }

  /** Whether a person can scroll the content out from under something that does not move. */
  function scrollsAway(sheet: Sheet, area: Area, paint: Paint): boolean {
    if (sheet.moves || !paint.moves) return false
    const { window, up, down } = scrolling
    const height = area.bottom - area.top
    const [highest, lowest] = [area.top - down, area.top + up]
    const fits = (from: number, to: number): boolean => from <= to && highest <= to && lowest >= from
    return fits(window.top, sheet.area.top - height) || fits(sheet.area.bottom, window.bottom - height)
  }
}

interface Point {
  readonly covered: boolean
  readonly unsure: boolean
  readonly back: Back
}
