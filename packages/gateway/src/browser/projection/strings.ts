// Decides about each text of a snapshot: the readable part of a page's text, a harmless label, or nothing.

import { scanText } from '@tollgate/kernel/detection'
import { readablePart } from './align.ts'
import type { PageOutline } from './outline.ts'

/** A node of a snapshot, by its range in the outline. */
export interface Range {
  readonly from: number
  readonly to: number
}

const MOST_LABEL = 60
const MOST_ALTERNATIVE = 150
const MOST_NAME = 40

/** The part of a text of a node that a server may see. `role` is that of the node if the text is its name. */
export function permittedText(outline: PageOutline, range: Range, text: string, role = ''): string {
  if (!/\S/.test(text)) return text
  const readable = readablePart(text, outline.piecesIn(range.from, range.to))
  if (readable !== undefined && readable !== '') return readable
  if (!outline.isSeen(range.from)) return ''
  // The name of a picture or an icon: often a text for screen readers, which is as good or bad as an `aria-label`.
  if (readable === '') return NAMED.has(role) ? harmlessLabel(text, MOST_NAME) : ''
  // Not made of text in it: a label such as `aria-label`, or a hidden text of another place.
  const most = PICTURES.has(role) ? MOST_ALTERNATIVE : MOST_LABEL
  return outline.hides(text) ? '' : harmlessLabel(text, most)
}

const PICTURES = new Set(['img', 'image'])
const NAMED = new Set(
  'button link checkbox radio switch tab menuitem option combobox textbox searchbox slider spinbutton img image'.split(
    ' ',
  ),
)

/** A label, unless it is long or directs the reader. */
export function harmlessLabel(text: string, most: number = MOST_LABEL): string {
  return text.length <= most && scanText(text).length === 0 ? text : ''
}
