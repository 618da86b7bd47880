// Reads a document in the order of its flat tree: shadow roots in place of their hosts' children, slots filled, frames opened.

import type { Attribute } from '../asides.ts'
import type { AwayCode } from '../codes.ts'
import type { Piece } from '../pieces.ts'
import { placeOf } from './path.ts'
import type { Area } from './area.ts'
import { generatedIn, type GeneratedPart } from './generated.ts'
import { DATA_BLOCK, EMBEDS, FALLBACK, INLINE, SILENT, UNDRAWN } from './kinds.ts'
import { isControl, isReplaced } from './control.ts'
import {
  assignedTo,
  attributeNamesOf,
  attributeOf,
  attributesOf,
  boxOf,
  dataOf,
  firstMatch,
  firstOf,
  frameOf,
  isNamed,
  isSvg,
  nameOf,
  nextOf,
  rangeIn,
  shadowOf,
  slotOf,
  templateOf,
  textSlotOf,
  typeOf,
} from './native.ts'
import { boxIn } from './drawn.ts'
import { paintOf, type Own, type Paint } from './paint.ts'
import type { DocumentRead, Reader } from './document.ts'
import { pseudoSheet } from './pseudo-sheet.ts'
import { readPseudos } from './pseudo.ts'
import { rimsOf } from './rims.ts'
import { sheetOf, topmost } from './sheet.ts'
import { areasOf, lettersOf, type Letters } from './text.ts'

const MOST_DEPTH = 600

/** The element whose texts are read. How its letters are drawn is read only if it has a text. */
interface Texts {
  readonly own: Own
  readonly paint: Paint
  readonly drawing: boolean
  letters: Letters | undefined
}

interface Walk {
  element(self: Element, before: Paint, depth: number): void
}

/** Reads the elements of a document, from the root. */
export function createWalk(
  document: Document,
  { meter, asides, drawn: draws }: Reader,
  read: DocumentRead,
  window: Area,
): Walk {
  const { pieces, waiting, controls, notes, sheets, offset, frames } = read
  const range = rangeIn(document)
  const { mayGenerate, signs } = readPseudos(document)
  asides.add(signs, () => placeOf(document, offset))
  let order = 0
  let gap: '' | '\n' | '\t' = '\n'
  let space = false
  // Whether the drawing that is being read contains text.
  let drawn = false
  let shadows = 0

  return { element }

  function lineBreak(kind: '\n' | '\t' = '\n'): void {
    if (gap !== '\n') gap = kind
    space = false
  }

  function place(node: Node, area?: Area) {
    return () => placeOf(node, offset, area)
  }

  function push(node: Node, text: string, away: AwayCode | undefined, shown?: string): Piece {
    const piece: Piece = { text: space ? ` ${text}` : text, away, gap, shown, place: place(node), node }
    pieces.push(piece)
    gap = ''
    space = false
    return piece
  }

  function element(self: Element, before: Paint, depth: number): void {
    if (!meter.node() || depth > MOST_DEPTH) return truncated(self)
    const name = nameOf(self)
    if (SILENT.has(name)) return silent(self, name)
    attributes(self)
    const style = getComputedStyle(self)
    const { display } = style
    const drawing = isSvg(self)
    if (display === 'none' || (drawing && UNDRAWN.has(name))) return unrendered(self, name, depth)
    const mine = order++
    const { position } = style
    const own = paintOf({ element: self, style, display, position, order: mine, area: undefined }, before)
    const paint = topmost(self, name, own, { sheets, window, order })
    const isBlock = blockLike(display)
    if (isBlock) lineBreak(display === 'table-cell' ? '\t' : '\n')
    if (name === 'br') lineBreak()
    if (drawing && name === 'svg') drawn = hasText(self)
    if (draws) draws(self, paint, boxIn(own))
    const sheet = sheetOf({ name, drawing, drawn }, own, paint)
    if (isControl(self, name))
      controls.push({ element: self, name, paint, order: mine, box: () => boxIn(own) })
    const texts: Texts = { own, paint, drawing, letters: undefined }
    const generates =
      !isReplaced(name) && (shadows > 0 || mayGenerate(self, name, attributeOf(self, 'class')))
    if (display === 'list-item') generated(self, '::marker', paint, own)
    if (generates) generated(self, '::before', paint, own)
    if (name === 'iframe') frame(self as HTMLIFrameElement, own, paint, mine)
    else if (EMBEDS.has(name)) notes.push({ code: 'FRAME_NOT_SCANNED', risk: 0, place: place(self) })
    if (FALLBACK.has(name)) fallback(self, depth)
    else content(self, name, texts, depth)
    if (generates) generated(self, '::after', paint, own)
    if (isBlock) lineBreak(display === 'table-cell' ? '\t' : '\n')
    if (sheet) {
      sheet.end = order
      sheets.add(sheet)
    }
    if (paint.layer !== before.layer && style.visibility === 'visible')
      for (const rim of rimsOf(own)) sheets.add(rim)
  }

  function attributes(self: Element): void {
    const names = attributeNamesOf(self)
    if (asides.mayTell(names)) asides.attributes(attributesIn(self, names), place(self))
  }

  function generated(self: Element, part: GeneratedPart, paint: Paint, own: Own): void {
    const style = getComputedStyle(self, part)
    if (style.content === 'none' && part !== '::marker') return
    const box = pseudoSheet({ element: self, style, own, paint, window, order: order - 0.5 })
    if (box) sheets.add(box)
    const made = generatedIn(style, part, paint, own)
    if (!made) return
    asides.add(made.alternative, place(self))
    if (!/[\p{L}\p{N}]/u.test(made.text)) return
    if (made.isBlock) lineBreak()
    push(self, made.text, made.away)
    if (made.isBlock) lineBreak()
  }

  function content(self: Element, name: string, texts: Texts, depth: number): void {
    const shadow = shadowOf(self)
    if (shadow) {
      // Its own style sheets apply inside, also to what its slots take.
      shadows++
      children(shadow, texts, depth)
      shadows--
      // A child without a slot is not rendered.
      for (let child = firstOf(self); child; child = nextOf(child))
        if (!hasSlot(child)) unrenderedNode(child, depth)
      return
    }
    if (name.includes('-')) maybeClosed(self)
    if (isNamed(self, 'slot')) {
      const assigned = assignedTo(self)
      if (assigned.length > 0) {
        for (const node of assigned) nodeOf(node, texts, depth)
        return
      }
    }
    children(self, texts, depth)
  }

  function children(parent: Node, texts: Texts, depth: number): void {
    for (let child = firstOf(parent); child; child = nextOf(child)) {
      if (meter.spent) return truncated(parent)
      nodeOf(child, texts, depth)
    }
  }

  function nodeOf(node: Node, texts: Texts, depth: number): void {
    const type = typeOf(node)
    // Sound: the type says which class it is.
    if (type === 1) element(node as Element, texts.paint, depth + 1)
    else if (type === 3 || type === 4) text(node as Text, texts)
    else if (type === 8 || type === 7) comment(node as CharacterData)
  }

  function text(node: Text, texts: Texts): void {
    if (!meter.node()) return
    const data = dataOf(node)
    const words = wordsIn(data)
    if (words === '') {
      if (data !== '' && gap === '') space = true
      return
    }
    if (!meter.units(words.length)) return truncated(node)
    if (gap === '' && /^\s/.test(data)) space = true
    const { paint } = texts
    const { own, drawing } = texts
    const letters = (texts.letters ??= lettersOf(own, drawing))
    const { away: hidden, transform, reversed } = letters
    const shown = reversed ? Array.from(words).reverse().join('') : cased(words, transform)
    const piece = push(node, words, hidden, shown === words ? undefined : shown)
    space = /\s$/.test(data)
    if (hidden !== undefined) return
    range.selectNodeContents(node)
    // A range does not show how a drawing stretches its text.
    const lines = drawing ? [boxIn(own)] : areasOf(range)
    if (lines.length === 0) piece.away = 'NOT_RENDERED'
    else if (paint.away) piece.away = paint.away
    else waiting.push({ piece, node, text: words, paint, letters, lines, drawing })
  }

  function comment(node: CharacterData): void {
    asides.add(dataOf(node), place(node))
  }

  function silent(self: Element, name: string): void {
    if (name === 'script' && DATA_BLOCK.test(attributeOf(self, 'type') ?? '')) {
      const first = firstOf(self)
      // Sound: the content of a script is text.
      if (first) asides.add(dataOf(first as Text), place(self))
    }
  }

  /** Everything inside of an element without a box. */
  function unrendered(self: Element, name: string, depth: number): void {
    lineBreak()
    inside(self, name, depth)
    lineBreak()
  }

  function inside(self: Element, name: string, depth: number): void {
    // The title is one of the asides.
    if (isNamed(self, 'title')) return
    if (isNamed(self, 'template')) return hiddenChildren(templateOf(self), depth)
    if (isNamed(self, 'input') || name === 'input') return
    hiddenChildren(self, depth)
    const shadow = shadowOf(self)
    if (shadow) hiddenChildren(shadow, depth)
  }

  function fallback(self: Element, depth: number): void {
    if (nameOf(self) === 'textarea') {
      const first = firstOf(self)
      if (first) asides.add(dataOf(first as Text), place(self))
      return
    }
    hiddenChildren(self, depth)
  }

  function hiddenChildren(parent: Node, depth: number): void {
    for (let child = firstOf(parent); child; child = nextOf(child)) unrenderedNode(child, depth + 1)
  }

  function unrenderedNode(node: Node, depth: number): void {
    if (!meter.node() || depth > MOST_DEPTH) return truncated(node)
    const type = typeOf(node)
    if (type === 3 || type === 4) {
      // Sound: its type is that of text.
      const words = dataOf(node as Text)
        .replace(/\s+/g, ' ')
        .trim()
      if (words === '' || !meter.units(words.length)) return
      push(node, words, 'NOT_RENDERED')
    } else if (type === 8 || type === 7) comment(node as CharacterData)
    else if (type === 1) {
      const self = node as Element
      const name = nameOf(self)
      if (SILENT.has(name)) return silent(self, name)
      attributes(self)
      const isInline = INLINE.has(name)
      if (!isInline) lineBreak()
      inside(self, name, depth)
      if (!isInline) lineBreak()
    }
  }

  function frame(self: HTMLIFrameElement, own: Own, paint: Paint, mine: number): void {
    let inner: Document | null = null
    try {
      inner = frameOf(self)
    } catch {
      // Of another origin.
    }
    if (inner)
      frames.push({
        element: self,
        document: inner,
        paint: {
          ...paint,
          away: paint.away ?? (own.style.visibility === 'visible' ? undefined : 'NOT_RENDERED'),
        },
        order: mine,
        at: pieces.length,
      })
    else {
      notes.push({ code: 'FRAME_NOT_SCANNED', risk: 0, place: place(self) })
      // The HTML of a frame without access can at least be searched.
      asides.add(attributeOf(self, 'srcdoc') ?? '', place(self))
    }
  }

  /** A custom element that is drawn but has no content: probably a closed shadow root. */
  function maybeClosed(self: Element): void {
    for (let child = firstOf(self); child; child = nextOf(child)) {
      const type = typeOf(child)
      // Sound: its type is that of text.
      if (type === 1 || (type === 3 && dataOf(child as Text).trim() !== '')) return
    }
    const { width, height } = boxOf(self)
    if (width > 4 && height > 4) notes.push({ code: 'CLOSED_SHADOW', risk: 0, place: place(self) })
  }

  function truncated(node: Node): void {
    if (!notes.some(({ code }) => code === 'TRUNCATED'))
      notes.push({ code: 'TRUNCATED', risk: 0, place: place(node) })
  }
}

function hasText(drawing: Element): boolean {
  return firstMatch(drawing, 'text, foreignObject') !== null
}

function blockLike(display: string): boolean {
  return !display.startsWith('inline') && display !== 'contents' && !display.startsWith('ruby')
}

function hasSlot(node: Node): boolean {
  const type = typeOf(node)
  // Sound: the type says which class it is.
  return type === 1 ? slotOf(node as Element) !== null : type === 3 && textSlotOf(node as Text) !== null
}

function cased(text: string, transform: string): string {
  if (transform === 'uppercase') return text.toUpperCase()
  if (transform === 'lowercase') return text.toLowerCase()
  return transform === 'capitalize'
    ? text.replace(/(?<![\p{L}\p{N}’'])\p{L}/gu, (letter) => letter.toUpperCase())
    : text
}

/** The attributes of an element, without nodes for them where that is possible: their names must be plain and differ. */
function attributesIn(self: Element, names: readonly string[]): ArrayLike<Attribute> {
  if (names.some((name, i) => /[^a-z-]/.test(name) || names.indexOf(name) !== i)) return attributesOf(self)
  return names.map((name) => ({ name, value: attributeOf(self, name) ?? '' }))
}

/** The words of a text as a person reads them, with single blanks. */
function wordsIn(data: string): string {
  if (!/[\t\n\r\f]| {2}/.test(data)) return data.trim()
  return data.replace(/[ \t\r\f]*\n\s*|[ \t\r\f]+/g, (blank) => (blank.includes('\n\n') ? '\n' : ' ')).trim()
}
