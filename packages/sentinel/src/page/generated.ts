// Text that style sheets add: before and after elements, and in front of list items.

import type { AwayCode } from '../codes.ts'
import { common, sizeOf } from './area.ts'
import { colourOf } from './colour.ts'
import { boxIn } from './drawn.ts'
import type { Own, Paint } from './paint.ts'
import { byColour } from './text.ts'

/** A generated text. */
interface Generated {
  readonly text: string
  /** The text that programs read in its place. */
  readonly alternative: string
  readonly away: AwayCode | undefined
  readonly isBlock: boolean
}

/** Where a style sheet adds something. */
export type GeneratedPart = '::before' | '::after' | '::marker'

const STRINGS = /"((?:[^"\\]|\\.)*)"/g
const UNREADABLE = 0.2
const LEAST_SIZE = 4

/** The text that a style sheet adds at one side of an element; undefined if it is no text. */
export function generatedIn(
  style: CSSStyleDeclaration,
  part: GeneratedPart,
  paint: Paint,
  own: Own,
): Generated | undefined {
  const { content } = style
  const { shown, alternative } = partsOf(content)
  const text =
    part === '::marker' && content === 'normal' ? stringsIn(own.style.listStyleType) : textOf(shown, style)
  if (!/[\p{L}\p{N}]/u.test(text + alternative) || style.display === 'none') return undefined
  return {
    text,
    alternative,
    away: judge(style, paint, own),
    isBlock: part === '::marker' || !style.display.startsWith('inline'),
  }
}

/** `content` may end with a slash and an alternative text. */
function partsOf(content: string): { readonly shown: string; readonly alternative: string } {
  const [shown = ''] = /^(?:"(?:[^"\\]|\\.)*"|[^"/])*/.exec(content) ?? []
  return { shown, alternative: stringsIn(content.slice(shown.length)) }
}

/** Quotation marks can be any text. */
function textOf(shown: string, { quotes }: CSSStyleDeclaration): string {
  return stringsIn(shown) + (/\b(?:open|close)-quote\b/.test(shown) ? stringsIn(quotes) : '')
}

function stringsIn(content: string): string {
  if (!content.includes('"')) return ''
  return [...content.matchAll(STRINGS)].map(([, inner = '']) => inner.replace(/\\(.)/g, '$1')).join('')
}

function judge(style: CSSStyleDeclaration, paint: Paint, own: Own): AwayCode | undefined {
  if (paint.away) return paint.away
  if (style.visibility !== 'visible') return 'NOT_RENDERED'
  if (parseFloat(style.fontSize) < LEAST_SIZE) return 'TINY_TEXT'
  const opacity = paint.opacity * Number(style.opacity)
  if (opacity < UNREADABLE) return 'TRANSPARENT_TEXT'
  const colour = colourOf(style.webkitTextFillColor)
  const outlined = (): boolean => style.textShadow !== 'none'
  const isClear = style.backgroundColor === 'rgba(0, 0, 0, 0)' && style.backgroundImage === 'none'
  const byOwn = isClear ? byColour(colour, opacity, paint.back, paint.through, outlined) : 'UNRESOLVED_PAINT'
  if (byOwn) return byOwn
  // There is no way to measure where it is drawn, so anything that could move it away makes it unknown.
  const { position, transform, textIndent, clipPath, filter, maskImage } = style
  const still =
    position === 'static' && [transform, clipPath, filter, maskImage].every((each) => each === 'none')
  if (!still || Math.abs(parseFloat(textIndent)) > 100) return 'UNRESOLVED_PLACE'
  if (own.display === 'contents') return undefined
  const box = boxIn(own)
  return sizeOf(box) > 0 && sizeOf(common(box, paint.clip)) === 0 ? 'CLIPPED_TEXT' : undefined
}
