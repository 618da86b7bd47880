// How an element is painted, and what that means for everything inside of it: opacity, background, clipping, layers.

import type { AwayCode } from '../codes.ts'
import { common, shapeOf, share, type Area, type Shape } from './area.ts'
import { gradientColours, type Back, type Rgba } from './colour.ts'
import { backgroundOf } from './background.ts'
import { clippedBy, legacyClip } from './clip.ts'
import { boxIn, type Drawn } from './drawn.ts'

/** Where something is in the painting order: pairs of z-index and order, from the outermost context. */
export type Layer = readonly number[]

/** The effects of an element and its ancestors on its content. Replaced, never changed. */
export interface Paint {
  /** Why nothing inside can be read, whatever its own style is. */
  readonly away: AwayCode | undefined
  readonly opacity: number
  /** The background of the content. */
  readonly back: Back
  /** The paint of the letters, if the background shows only through them. */
  readonly through: readonly Rgba[] | 'picture' | undefined
  /** Where content in the flow can be seen. */
  readonly clip: Area
  /** The part of the window in which content in the flow is now, until a person scrolls. */
  readonly port: Area
  /** The elements above, for content that is positioned outside of the flow. */
  readonly holder: Holder
  readonly shapes: readonly Shape[]
  /** Whether scrolling the window moves it. */
  readonly moves: boolean
  readonly layer: Layer
  readonly context: Layer
  /** Whether it may lie behind an ancestor. */
  readonly sunk: boolean
  readonly transformed: boolean
  /** Whether children take a z-index although they are not positioned. */
  readonly arranges: boolean
}

/** An element that may contain absolute and fixed descendants. Whether it does is read only when there is one. */
export interface Holder {
  readonly above: Holder | undefined
  readonly clip: Area
  readonly port: Area
  readonly isPositioned: boolean
  /** Whether it contains fixed descendants, too; undefined while that is not known. */
  all: boolean | undefined
  readonly element: Element | undefined
}

/** The box, style and background of an element itself. */
export interface Own extends Drawn {
  readonly paint: Paint
  /** The part of the window in which the element itself can be now. */
  readonly port: Area
  /** The part that hides what is under it, from 0 to 1; undefined if that is not known. */
  readonly cover: number | undefined
  readonly colour: Rgba | undefined
}

/** Opacity below this cannot be read (the limit of EIA, arXiv:2409.11295). */
const UNREADABLE = 0.2
const OPAQUE_MASK = 0.5

const CLEAR = 'rgba(0, 0, 0, 0)'

/** The paint of an element and what it hands down. */
export function paintOf(drawn: Drawn, before: Paint): Own {
  const { element, style, display, position, order } = drawn
  const { backgroundColor, backgroundImage, opacity: given, filter } = style
  const inline = display === 'inline' || display === 'contents'
  // Neither applies to an inline box.
  const transform = inline ? 'none' : style.transform
  const contain = inline ? 'none' : style.contain
  const opacity = opacityOf(given, filter, before)
  const effects = effectsOf(drawn, filter)
  const isClear = backgroundColor === CLEAR && backgroundImage === 'none'
  const moved = transform !== 'none'
  const isContext = effects.any || moved || given !== '1'
  const stacks = isContext || position !== 'static' || before.arranges
  const struck = isStruck(style)
  // Most elements inside of lines change nothing.
  if (inline && isClear && !stacks && !struck) return ownOf(drawn, before, before.port, 0, undefined)
  const background = isClear
    ? undefined
    : backgroundOf(style, backgroundColor, backgroundImage, before, opacity)
  const place = stacks ? layerOf(style, position, before, order, isContext) : before
  const out = position === 'absolute' || position === 'fixed' ? outside(position, before.holder) : before
  const outer = out === before ? before.clip : common(out.clip, legacyClip(drawn))
  const { clip, port } = inline ? { clip: outer, port: out.port } : clippedBy(drawn, contain, outer, out.port)
  const holdsAll = effects.any || moved || contain !== 'none'
  const paint: Paint = {
    away:
      before.away ??
      (opacity < UNREADABLE ? 'TRANSPARENT_TEXT' : undefined) ??
      effects.away ??
      (struck ? 'UNRESOLVED_PAINT' : undefined),
    opacity,
    back: background ? background.back : before.back,
    through: background ? background.through : before.through,
    clip,
    port,
    holder: {
      above: before.holder,
      clip,
      port,
      isPositioned: position !== 'static',
      all: holdsAll || undefined,
      element,
    },
    shapes: effects.shape ? [...before.shapes, effects.shape] : before.shapes,
    moves: before.moves && position !== 'fixed' && position !== 'sticky',
    layer: place.layer,
    context: place.context,
    sunk: place.sunk,
    transformed: before.transformed || moved,
    arranges: !inline && (display.includes('flex') || display.includes('grid')),
  }
  const cover = coverOf(background, opacity, stacks && isBlurring(style))
  return ownOf(drawn, paint, out.port, cover, background?.colour)
}

function ownOf(
  { element, style, display, position, order, area }: Drawn,
  paint: Paint,
  port: Area,
  cover: number | undefined,
  colour: Rgba | undefined,
): Own {
  return { element, style, display, position, order, area, paint, port, cover, colour }
}

/** A line through text hides it from this part of its size on. */
const THICK = 0.4

function isStruck(style: CSSStyleDeclaration): boolean {
  if (!style.textDecorationLine.includes('line-through')) return false
  return parseFloat(style.textDecorationThickness) > parseFloat(style.fontSize) * THICK
}

/** The part of what is under it that an element hides. */
function coverOf(
  background: { readonly cover: number | undefined } | undefined,
  opacity: number,
  blurs: boolean,
): number | undefined {
  const cover = background ? background.cover : 0
  return cover === undefined || (blurs && cover < 1) ? undefined : cover * opacity
}

/** A backdrop filter makes a stacking context. It is not known how readable the text under it is. */
function isBlurring({ backdropFilter }: CSSStyleDeclaration): boolean {
  return /blur|opacity|brightness|contrast|url/.test(backdropFilter)
}

/** Rarer properties that make an element contain its fixed and absolute descendants. */
function isContainer(style: CSSStyleDeclaration): boolean {
  const { translate, rotate, scale, perspective, backdropFilter, offsetPath, willChange, containerType } =
    style
  const none = [translate, rotate, scale, perspective, backdropFilter, offsetPath].every(
    (each) => each === 'none',
  )
  return !none || willChange !== 'auto' || containerType !== 'normal' || style.contentVisibility !== 'visible'
}

function opacityOf(given: string, filter: string, before: Paint): number {
  let product = before.opacity
  if (given !== '1') product *= Number(given)
  if (filter !== 'none')
    for (const [, part = '1'] of filter.matchAll(/opacity\(([\d.e-]+)\)/g)) product *= Number(part)
  return product
}

interface Effects {
  readonly away: AwayCode | undefined
  readonly shape: Shape | undefined
  /** Whether there is an effect that makes a context of its own. */
  readonly any: boolean
}

const NO_EFFECTS: Effects = { away: undefined, shape: undefined, any: false }

function effectsOf(drawn: Drawn, filter: string): Effects {
  const { clipPath, maskImage, mixBlendMode } = drawn.style
  if (filter === 'none' && clipPath === 'none' && maskImage === 'none' && mixBlendMode === 'normal')
    return NO_EFFECTS
  const shape = clipPath === 'none' ? undefined : shapeOf(clipPath, boxIn(drawn))
  const lost = clipPath !== 'none' && !shape
  const away =
    byFilter(filter) ??
    byMask(maskImage) ??
    (lost || mixBlendMode !== 'normal' ? 'UNRESOLVED_PAINT' : undefined)
  return { away, shape, any: true }
}

const BLURRED = 3

/** Filters that leave text as readable as it was are ignored. */
function byFilter(filter: string): AwayCode | undefined {
  if (filter === 'none') return undefined
  for (const [, name = '', value = ''] of filter.matchAll(/([a-z-]+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)/g)) {
    const amount = parseFloat(value)
    if (name === 'blur' && amount >= BLURRED) return 'TRANSPARENT_TEXT'
    if (name === 'url') return 'UNRESOLVED_PAINT'
    if ((name === 'brightness' || name === 'contrast') && (amount < 0.5 || amount > 2))
      return 'UNRESOLVED_PAINT'
    if (name === 'invert' && amount > 0.1) return 'UNRESOLVED_PAINT'
  }
  return filter.includes('url(') ? 'UNRESOLVED_PAINT' : undefined
}

function byMask(mask: string): AwayCode | undefined {
  if (mask === 'none') return undefined
  const alphas = gradientColours(mask)?.map(([, , , alpha]) => alpha)
  if (!alphas) return 'UNRESOLVED_PAINT'
  if (Math.max(...alphas) < UNREADABLE) return 'TRANSPARENT_TEXT'
  return Math.min(...alphas) >= OPAQUE_MASK ? undefined : 'UNRESOLVED_PAINT'
}

/** The layer of an element, and what that means for its content. */
export function layerOf(
  style: CSSStyleDeclaration,
  position: string,
  before: Paint,
  order: number,
  effect: boolean,
): Pick<Paint, 'layer' | 'context' | 'sunk'> {
  const { zIndex } = style
  if (position === 'static' && zIndex === 'auto' && !effect) return before
  const z = zIndex === 'auto' ? 0 : Number(zIndex)
  const layer = [...before.context, z, order]
  const own = zIndex !== 'auto' || effect || position === 'fixed' || position === 'sticky'
  return { layer, context: own ? layer : before.context, sunk: before.sunk || z < 0 }
}

/** Whether the second layer is painted over the first. `undefined` if both are in the same one. */
export function isOver(under: Layer, upper: Layer): boolean | undefined {
  const length = Math.min(under.length, upper.length)
  for (let i = 0; i < length; i++) {
    const [a = 0, b = 0] = [under[i], upper[i]]
    if (a !== b) return b > a
  }
  if (under.length === upper.length) return undefined
  // The rest of the longer one begins with its z-index within the context of the shorter one.
  return upper.length > under.length ? (upper[length] ?? 0) >= 0 : (under[length] ?? 0) < 0
}

/** The element that contains one outside of the flow. */
export function outside(position: 'absolute' | 'fixed', holder: Holder): Holder {
  let found = holder
  while (found.above && !holds(found, position)) found = found.above
  return found
}

function holds(holder: Holder, position: 'absolute' | 'fixed'): boolean {
  if (position === 'absolute' && holder.isPositioned) return true
  return (holder.all ??= holder.element !== undefined && isContainer(getComputedStyle(holder.element)))
}

/** The part of a rectangle that a person can bring into view, without regard to shapes. */
export function seenPart({ clip }: Paint, area: Area): number {
  return share(area, clip)
}

/** Whether no shape cuts off a point. */
export function isInShapes({ shapes }: Paint, x: number, y: number): boolean {
  return shapes.every((shape) => shape(x, y))
}
