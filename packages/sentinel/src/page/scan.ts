// Scans the page: reads every document that it may read, judges what it found, and hashes the page.

import { sha256Hex } from '@tollgate/evidence/core'
import { assess, type Note } from '../assess.ts'
import type { AwayCode } from '../codes.ts'
import type { Aside, Piece } from '../pieces.ts'
import type { PageHash, PageReading } from '../reading.ts'
import { sizeOf, type Area } from './area.ts'
import { createAsides } from '../asides.ts'
import { hiddenValues, judgeControls } from './control.ts'
import { domHash, layoutOf } from './hash.ts'
import { createMeter, LIMITS, type Limits } from './limits.ts'
import { boxOf, documentOf, isHtml, shownTextOf, titleOf, viewOf } from './native.ts'
import { seenPart } from './paint.ts'
import { reorderedIn, resolve } from './resolve.ts'
import { readDocument, type DocumentRead, type Reader } from './document.ts'

/** Scans the page. Changes nothing on it. */
export function scan(limits: Partial<Limits> = {}): PageReading {
  const meter = createMeter({ ...LIMITS, ...limits })
  const asides = createAsides((count) => meter.units(count))
  const place = (): { path: string } => ({ path: 'html' })
  asides.add(titleOf(document), place)
  asides.add(addressOf(location.href), place)
  const notes: Note[] = []
  const reordered: Aside[] = []
  const pieces = readAll(document, { meter, asides }, undefined, { notes, reordered }, 0)
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

function readAll(
  self: Document,
  reader: Reader,
  away: AwayCode | undefined,
  found: Found,
  depth: number,
): Piece[] {
  const read = readDocument(self, reader, away)
  const frames = read.frames.map((frame) => {
    if (depth >= MOST_FRAMES) {
      found.notes.push({ code: 'TRUNCATED', risk: 0, place: () => ({ path: 'iframe' }) })
      return { before: read.pieces[frame.at], pieces: [] }
    }
    return {
      before: read.pieces[frame.at],
      pieces: readAll(frame.document, reader, awayOf(frame, read), found, depth + 1),
    }
  })
  const own = resolve(self, read)
  found.notes.push(...read.notes)
  found.reordered.push(...reorderedIn(read))
  if (!reader.meter.spent) found.notes.push(...controlsOf(self, read, reader))
  return frames.length === 0 ? own : woven(own, frames)
}

/** Why a person cannot see a frame. */
function awayOf(
  { element, paint, order }: DocumentRead['frames'][number],
  { sheets }: DocumentRead,
): AwayCode | undefined {
  if (paint.away) return paint.away
  const box = boxOf(element)
  if (sizeOf(box) < 64 || seenPart(paint, box) < 0.05) return 'CLIPPED_TEXT'
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
  return sheets.at(x, y, box, paint, order).covered ? 'COVERED_TEXT' : undefined
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
