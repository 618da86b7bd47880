// Scans the page: reads every document that it may read, judges what it found, and hashes the page.

import { sha256Hex } from '@tollgate/evidence/core'
import { assess, type Note } from '../assess.ts'
import type { AwayCode } from '../codes.ts'
import type { Aside, Piece } from '../pieces.ts'
import type { PageHash, PageReading } from '../reading.ts'
import { hasPoint, sizeOf, type Area } from './area.ts'
import { createAsides } from '../asides.ts'
import { hiddenValues, judgeControls } from './control.ts'
import { domHash, layoutOf } from './hash.ts'
import { createMeter, LIMITS, type Limits } from './limits.ts'
import { attributeOf, boxOf, documentOf, isHtml, shownTextOf, titleOf, viewOf } from './native.ts'
import { seenPart } from './paint.ts'
import { reorderedIn, resolve } from './resolve.ts'
import { readDocument, type Around, type DocumentRead, type Reader } from './document.ts'

/** Scans the page. Changes nothing on it. */
export function scan(limits: Partial<Limits> = {}): PageReading {
  const meter = createMeter({ ...LIMITS, ...limits })
  const asides = createAsides((count) => meter.units(count))
  const place = (): { path: string } => ({ path: 'html' })
  asides.add(titleOf(document), place)
  asides.add(addressOf(location.href), place)
  const notes: Note[] = []
  const reordered: Aside[] = []
  const pieces = readAll(document, { meter, asides }, { away: undefined }, { notes, reordered }, 0)
  if (meter.spent && !notes.some(({ code }) => code === 'TRUNCATED'))
    notes.push({ code: 'TRUNCATED', risk: 0, place })
  const { risk, findings, projection } = assess({ pieces, asides: asides.asides, notes, reordered })
  return {
    mode: 'rendered',
    url: location.href,
    dom_hash: domHash(document),
    visual_text_hash: sha256Hex(projection.toWellFormed()),
    risk,
    findings,
    projection,
  }
}

/** The hashes of the page, for a cheap comparison before each action. */
export function hashOnly(): PageHash {
  return { url: location.href, dom_hash: domHash(document), layout: layoutOf(document) }
}

function addressOf(href: string): string {
  try {
    return decodeURIComponent(href.replaceAll('+', ' '))
  } catch {
    return href
  }
}

interface Found {
  readonly notes: Note[]
  readonly reordered: Aside[]
}

const MOST_FRAMES = 8

/** Reads the texts of the page as pieces, with the nodes that they come from. */
export function readPieces(drawn: NonNullable<Reader['drawn']>): readonly Piece[] {
  const meter = createMeter(LIMITS)
  const reader = { meter, asides: createAsides((count) => meter.units(count)), drawn }
  return readAll(document, reader, { away: undefined }, { notes: [], reordered: [] }, 0)
}

function readAll(
  self: Document,
  reader: Reader,
  { away, around }: { readonly away: AwayCode | undefined; readonly around?: Around },
  found: Found,
  depth: number,
): Piece[] {
  const read = readDocument(self, reader, away, around)
  const frames = read.frames.map((frame) => {
    if (depth >= MOST_FRAMES) {
      found.notes.push({ code: 'TRUNCATED', risk: 0, place: () => ({ path: 'iframe' }) })
      return { before: read.pieces[frame.at], pieces: [] }
    }
    return {
      before: read.pieces[frame.at],
      pieces: readAll(
        frame.document,
        reader,
        { away: awayOf(frame, read), around: aroundOf(frame, read) },
        found,
        depth + 1,
      ),
    }
  })
  const own = resolve(self, read)
  found.notes.push(...read.notes)
  found.reordered.push(...reorderedIn(read))
  if (!reader.meter.spent) found.notes.push(...controlsOf(self, read, reader))
  return frames.length === 0 ? own : woven(own, frames)
}

type Frame = DocumentRead['frames'][number]

/** A frame that is drawn smaller than this has no readable text. */
const LEAST_SCALE = 0.3

/** Why a person cannot see a frame. */
function awayOf(frame: Frame, { sheets }: DocumentRead): AwayCode | undefined {
  const { element, paint, order } = frame
  if (paint.away) return paint.away
  const box = boxOf(element)
  if (scaleOf(frame) < LEAST_SCALE) return 'TINY_TEXT'
  if (sizeOf(box) < 64 || seenPart(paint, box) < 0.05) return 'CLIPPED_TEXT'
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
  return sheets.at(x, y, box, paint, order).covered ? 'COVERED_TEXT' : undefined
}

/** How much a frame is drawn smaller than its document is laid out. */
function scaleOf({ element, document }: Frame): number {
  const { left, right } = boxOf(element)
  return (right - left) / Math.max(1, viewOf(document)?.innerWidth ?? 1)
}

/** The view of a frame from the document around it. A point that can be scrolled to counts at the edge that it would appear at. */
function aroundOf(frame: Frame, { sheets }: DocumentRead): Around {
  const { element, document, paint, order } = frame
  const box = boxOf(element)
  const scale = scaleOf(frame)
  const { innerWidth = 0, innerHeight = 0 } = viewOf(document) ?? {}
  const within = (at: number, length: number): number => Math.max(1, Math.min(at, length - 2)) * scale
  return {
    scrolls: !/^(?:no|off|noscroll)$/i.test(attributeOf(element, 'scrolling') ?? ''),
    covers(x, y) {
      const [left, top] = [box.left + within(x, innerWidth), box.top + within(y, innerHeight)]
      if (!hasPoint(paint.clip, left, top)) return { covered: true, unsure: false }
      return sheets.at(left, top, { left, top, right: left + 1, bottom: top + 1 }, paint, order)
    },
  }
}

/** Puts the texts of frames where the frames are. */
function woven(
  own: readonly Piece[],
  frames: readonly { readonly before: Piece | undefined; readonly pieces: readonly Piece[] }[],
): Piece[] {
  const at = new Map<Piece | undefined, Piece[]>()
  for (const { before, pieces } of frames) at.set(before, [...(at.get(before) ?? []), ...pieces])
  return [...own.flatMap((piece) => [...(at.get(piece) ?? []), piece]), ...(at.get(undefined) ?? [])]
}

function controlsOf(self: Document, read: DocumentRead, { asides }: Reader): readonly Note[] {
  const view = viewOf(self)
  const window: Area = { left: 0, top: 0, right: view?.innerWidth ?? 0, bottom: view?.innerHeight ?? 0 }
  const { controls, sheets, offset } = read
  if (controls.length === 0) return []
  const own = documentOf(controls[0]?.element ?? self) ?? self
  const around = { document: own, window, sheets, offset, texts: textsIn }
  for (const { text, place } of hiddenValues(controls, around)) asides.add(text, place)
  return judgeControls(controls, around)
}

/** The text that a person reads on a control. */
function textsIn(element: Element): string {
  return isHtml(element) ? shownTextOf(element).trim() : ''
}
