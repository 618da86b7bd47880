// How an element is painted, and what that means for everything inside of it: opacity, background, clipping, layers.

import type { AwayCode } from '../codes.ts'
import { common, EMPTY, shapeOf, share, type Area, type Shape } from './area.ts'
import { ANYTHING, anyOver, colourOf, gradientColours, over, type Back, type Rgba } from './colour.ts'
import {
  boxOf,
  clientHeightOf,
  clientLeftOf,
  clientTopOf,
  clientWidthOf,
  scrollHeightOf,
  scrollLeftOf,
  scrollTopOf,
  scrollWidthOf,
} from './native.ts'

/** Where something is in the painting order: pairs of z-index and order, from the outermost context. */
export type Layer = readonly number[]

/** What an element hands down to its content. Replaced, never changed. */
export interface Paint {
  /** Why nothing inside can be read, whatever its own style is. */
  readonly away: AwayCode | undefined
  readonly opacity: number
  /** What is painted behind the content. */
  readonly back: Back
  /** The paint of the letters, if the background shows only through them. */
  readonly through: readonly Rgba[] | 'picture' | undefined
  /** Where content in the flow can be seen. */
  readonly clip: Area
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
interface Holder {
  readonly above: Holder | undefined
  readonly clip: Area
  holds(position: 'absolute' | 'fixed'): boolean
}

/** What an element paints itself. */
export interface Own {
  readonly paint: Paint
  readonly display: string
  readonly position: string
  /** The part that hides what is under it, from 0 to 1; undefined if that is not known. */
  readonly cover: number | undefined
  readonly colour: Rgba | undefined
  readonly box: () => Area
  readonly style: CSSStyleDeclaration
}

/** Opacity below this cannot be read (the limit of EIA, arXiv:2409.11295). */
const UNREADABLE = 0.2
const OPAQUE_MASK = 0.5

const CLEAR = 'rgba(0, 0, 0, 0)'

/** The style of an element and what it hands down. `order` is its place in the document. */
export function paintOf(element: Element, style: CSSStyleDeclaration, before: Paint, order: number): Own {
  const { display, position, backgroundColor, backgroundImage, opacity: given, filter } = style
  let cached: Area | undefined
  const box = (): Area => (cached ??= boxOf(element))
  const inline = display === 'inline' || display === 'contents'
  // Neither applies to an inline box.
  const transform = inline ? 'none' : style.transform
  const contain = inline ? 'none' : style.contain
  const opacity = opacityOf(given, filter, before)
  const effects = effectsOf(style, filter, box)
  const isClear = backgroundColor === CLEAR && backgroundImage === 'none'
  const background = isClear
    ? undefined
    : backgroundOf(style, backgroundColor, backgroundImage, before, opacity)
  const moved = transform !== 'none'
  const isContext = effects.any || moved || given !== '1'
  const stacks = isContext || position !== 'static' || before.arranges
  const place = stacks ? layerOf(style, position, before, order, isContext) : before
  const outer =
    position === 'absolute' || position === 'fixed' ? outerOf(element, position, style, before) : before.clip
  const clip = inline ? outer : clippedBy(element, style, contain, outer, box)
  return {
    display,
    position,
    box,
    style,
    colour: background?.colour,
    cover: background ? (background.cover === undefined ? undefined : background.cover * opacity) : 0,
    paint: {
      away: before.away ?? (opacity < UNREADABLE ? 'TRANSPARENT_TEXT' : undefined) ?? effects.away,
      opacity,
      back: background ? background.back : before.back,
      through: background ? background.through : before.through,
      clip,
      holder: holderOf(style, position, clip, before.holder, effects.any || moved || contain !== 'none'),
      shapes: effects.shape ? [...before.shapes, effects.shape] : before.shapes,
      moves: before.moves && position !== 'fixed' && position !== 'sticky',
      layer: place.layer,
      context: place.context,
      sunk: place.sunk,
      transformed: before.transformed || moved,
      arranges: !inline && (display.includes('flex') || display.includes('grid')),
    },
  }
}

function holderOf(
  style: CSSStyleDeclaration,
  position: string,
  clip: Area,
  above: Holder,
  holdsAll: boolean,
): Holder {
  let all: boolean | undefined = holdsAll || undefined
  return {
    above,
    clip,
    holds: (of) => (of === 'absolute' && position !== 'static') || (all ??= isContainer(style)),
  }
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

function effectsOf(style: CSSStyleDeclaration, filter: string, box: () => Area): Effects {
  const { clipPath, maskImage, mixBlendMode } = style
  if (filter === 'none' && clipPath === 'none' && maskImage === 'none' && mixBlendMode === 'normal')
    return NO_EFFECTS
  const shape = clipPath === 'none' ? undefined : shapeOf(clipPath, box())
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

interface Background {
  readonly back: Back
  readonly through: Paint['through']
  readonly cover: number | undefined
  readonly colour: Rgba | undefined
}

function backgroundOf(
  style: CSSStyleDeclaration,
  colourText: string,
  image: string,
  before: Paint,
  opacity: number,
): Background {
  const colour = colourOf(colourText)
  if (style.backgroundClip.includes('text')) {
    const stops = image === 'none' ? colour && [colour] : gradientColours(image)
    return { back: before.back, through: stops ?? 'picture', cover: 0, colour: undefined }
  }
  const plain = colour ? over(colour, opacity, before.back) : ANYTHING
  if (image === 'none' || isIcon(style)) {
    return { back: plain, through: undefined, cover: colour?.[3], colour }
  }
  const stops = gradientColours(image)
  if (!stops)
    return { back: ANYTHING, through: undefined, cover: colour?.[3] === 1 ? 1 : undefined, colour: undefined }
  const least = Math.max(colour?.[3] ?? 0, Math.min(...stops.map(([, , , alpha]) => alpha)))
  return { back: anyOver(stops, opacity, plain), through: undefined, cover: least, colour: undefined }
}

const ICON = 48

/** Whether a background picture is only a small sign beside the text. */
function isIcon({ backgroundRepeat, backgroundSize }: CSSStyleDeclaration): boolean {
  if (backgroundRepeat !== 'no-repeat') return false
  const [, width = '', height = width] = /^([\d.]+)px(?: ([\d.]+)px)?$/.exec(backgroundSize) ?? []
  return width !== '' && Number(width) <= ICON && Number(height) <= ICON
}

function layerOf(
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

/** Where an element outside of the flow can be seen: where the content of its container can. */
function outerOf(
  element: Element,
  position: 'absolute' | 'fixed',
  style: CSSStyleDeclaration,
  before: Paint,
): Area {
  let { holder } = before
  const clip = style.getPropertyValue('clip')
  while (holder.above && !holder.holds(position)) holder = holder.above
  return clip === 'auto' ? holder.clip : common(holder.clip, legacyClip(element, clip))
}

function legacyClip(element: Element, clip: string): Area {
  const [top = 0, right = 0, bottom = 0, left = 0] = (clip.match(/auto|-?[\d.]+/g) ?? []).map(parseFloat)
  const box = boxOf(element)
  const edge = (offset: number, auto: number): number => (Number.isNaN(offset) ? auto : offset)
  return {
    left: box.left + edge(left, -1e6),
    top: box.top + edge(top, -1e6),
    right: box.left + edge(right, 1e6),
    bottom: box.top + edge(bottom, 1e6),
  }
}

const LEAST_PORT = 4

/** Where the content of an element can be seen. What a person can scroll to counts as seen. */
function clippedBy(
  element: Element,
  style: CSSStyleDeclaration,
  contain: string,
  outer: Area,
  box: () => Area,
): Area {
  const { overflow } = style
  const contained = contain !== 'none' && /paint|strict|content/.test(contain)
  if (overflow === 'visible' && !contained) return outer
  const own = box()
  const [x = 'visible', y = x] = overflow.split(' ')
  const port = common(outer, own)
  const hides = (axis: string): boolean => contained || axis !== 'visible'
  if (x !== 'auto' && x !== 'scroll' && y !== 'auto' && y !== 'scroll') {
    return common(outer, {
      left: hides(x) ? own.left : -1e7,
      right: hides(x) ? own.right : 1e7,
      top: hides(y) ? own.top : -1e7,
      bottom: hides(y) ? own.bottom : 1e7,
    })
  }
  // Content is seen if the window onto it is, at least a little of it.
  if (port.right - port.left < LEAST_PORT || port.bottom - port.top < LEAST_PORT) return EMPTY
  return scrolled(element, style, own, [x, y])
}

function scrolled(
  element: Element,
  style: CSSStyleDeclaration,
  own: Area,
  [x, y]: readonly [string, string],
): Area {
  const width = scrollWidthOf(element)
  const height = scrollHeightOf(element)
  const back = style.direction === 'rtl' ? width - clientWidthOf(element) : 0
  const left = own.left + clientLeftOf(element) - scrollLeftOf(element) - back
  const top = own.top + clientTopOf(element) - scrollTopOf(element)
  const [wide, high] = [x === 'auto' || x === 'scroll', y === 'auto' || y === 'scroll']
  return {
    left: wide ? left : own.left,
    right: wide ? left + width : own.right,
    top: high ? top : own.top,
    bottom: high ? top + Math.max(height, clientHeightOf(element)) : own.bottom,
  }
}

/** The part of a rectangle that a person can bring into view, without regard to shapes. */
export function seenPart({ clip }: Paint, area: Area): number {
  return share(area, clip)
}

/** Whether no shape cuts off a point. */
export function isInShapes({ shapes }: Paint, x: number, y: number): boolean {
  return shapes.every((shape) => shape(x, y))
}
