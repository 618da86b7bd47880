// The texts of a page in the order of the document, each with whether a person can read it.

import type { AwayCode } from './codes.ts'
import type { Place } from './reading.ts'

/** A text of a page. */
export interface Piece {
  readonly text: string
  /** The reason why a person cannot read it, or why that is not known; undefined if it is visible. */
  away: AwayCode | undefined
  /** The separator before it: nothing inside of a line, else a line break. */
  readonly gap: '' | '\n' | '\t'
  /** The text that a person sees, if it differs from `text`. */
  readonly shown?: string | undefined
  readonly place: () => Place
  /** The node of the page that it comes from. */
  readonly node?: object
}

/** A text that is not part of the content: an attribute, a comment, data. */
export interface Aside {
  readonly text: string
  readonly place: () => Place
}

/** Texts as one, with a way back. */
export interface Stream {
  readonly text: string
  at(start: number, end: number): Parts
}

/** The parts of a range of a stream. */
interface Parts {
  readonly places: readonly (() => Place)[]
  /** The part of its characters that a person cannot read, the part for which that is unknown, and the part that has no box. */
  readonly away: number
  readonly unsure: number
  readonly unrendered: number
}

interface Span {
  readonly start: number
  readonly end: number
  readonly piece: Piece
}

/** The text of the pieces that pass, in order. Pieces of one line stay together if nothing between them was left out. */
export function streamOf(pieces: readonly Piece[], passes: (piece: Piece) => boolean, seen = false): Stream {
  const spans: Span[] = []
  let text = ''
  let broken = true
  for (const piece of pieces) {
    if (piece.gap !== '') broken = true
    if (!passes(piece)) continue
    if (broken && text !== '') text += piece.gap === '\t' ? '\t' : '\n'
    broken = false
    const own = seen ? (piece.shown ?? piece.text) : piece.text
    spans.push({ start: text.length, end: text.length + own.length, piece })
    text += own
  }
  return { text, at: (start, end) => within(spans, start, end) }
}

/** The lines in which a part is out of sight, each with only those parts: what is between them may hide what they say together. */
export function awayLinesOf(pieces: readonly Piece[]): readonly Stream[] {
  const lines: Stream[] = []
  let from = 0
  for (let i = 1; i <= pieces.length; i++) {
    if (i < pieces.length && pieces[i]?.gap === '') continue
    let away = 0
    for (let at = from; at < i; at++) if (isAway(pieces[at])) away++
    if (away > 1 && away < i - from) lines.push(streamOf(pieces.slice(from, i), isAway))
    from = i
  }
  return lines
}

function isAway(piece: Piece | undefined): boolean {
  return piece?.away !== undefined
}

const MOST_PLACES = 8

function within(spans: readonly Span[], start: number, end: number): Parts {
  const places: (() => Place)[] = []
  let away = 0
  let unsure = 0
  let unrendered = 0
  let all = 0
  for (let i = firstAfter(spans, start); i < spans.length; i++) {
    const span = spans[i]
    if (!span || span.start >= end) break
    const length = Math.min(end, span.end) - Math.max(start, span.start)
    if (length <= 0) continue
    all += length
    if (span.piece.away !== undefined) away += length
    if (isUnsure(span.piece)) unsure += length
    if (span.piece.away === 'NOT_RENDERED') unrendered += length
    if (places.length < MOST_PLACES) places.push(span.piece.place)
  }
  const size = Math.max(1, all)
  return { places, away: away / size, unsure: unsure / size, unrendered: unrendered / size }
}

/** Whether it is not known if a person can read the text. */
function isUnsure({ away }: Piece): boolean {
  return away?.startsWith('UNRESOLVED') === true
}

/** The first span that ends after a position. */
function firstAfter(spans: readonly Span[], place: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.end ?? 0) > place) high = middle
    else low = middle + 1
  }
  return low
}
