// How an element is painted, and what that means for everything inside of it: opacity, background, clipping, layers.

import type { AwayCode } from '../codes.ts'
import { common, EMPTY, shapeOf, share, sizeOf, type Area, type Shape } from './area.ts'
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
  /** Where content can be seen: in flow, absolutely positioned, fixed. */
  readonly clip: Area
  readonly absolute: Area
  readonly fixed: Area
  readonly shapes: readonly Shape[]
  /** Whether scrolling the window moves it. */
  readonly moves: boolean
  readonly layer: Layer
  readonly context: Layer
  /** Whether it may lie behind an ancestor. */
  readonly sunk: boolean
  readonly transformed: boolean
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

/** The style of an element and what it hands down. `order` is its place in the document. */
export function paintOf(element: Element, style: CSSStyleDeclaration, before: Paint, order: number): Own {
  const { display, position, backgroundColor, backgroundImage } = style
  let cached: Area | undefined
  const box = (): Area => (cached ??= boxOf(element))
  const inline = display === 'inline' || display === 'contents'
  const opacity = opacityOf(style, before)
  const effects = effectsOf(style, box)
  const background = backgroundOf(style, backgroundColor, backgroundImage, before, opacity)
  const place = layerOf(style, position, before, order, opacity !== before.opacity || effects.any)
  const outer = outerOf(element, position, style, before)
  const clipped = inline ? outer : clippedBy(element, style, outer, box)
  const escapes = before.clip !== before.absolute || before.clip !== before.fixed || clipped !== outer
  const contains = effects.any || effects.transformed || (escapes && isContainer(style))
  const positioned = position !== 'static' || contains
  return {
    display,
    position,
    box,
    style,
    colour: background.colour,
    cover: background.cover === undefined ? undefined : background.cover * opacity,
    paint: {
      away: before.away ?? (opacity < UNREADABLE ? 'TRANSPARENT_TEXT' : undefined) ?? effects.away,
      opacity,
      back: background.back,
      through: background.through,
      clip: clipped,
      absolute: positioned ? clipped : before.absolute,
      fixed: contains ? clipped : before.fixed,
      shapes: effects.shape ? [...before.shapes, effects.shape] : before.shapes,
      moves: before.moves && position !== 'fixed' && position !== 'sticky',
      layer: place.layer,
      context: place.context,
      sunk: place.sunk,
      transformed: before.transformed || effects.transformed,
    },
  }
}

/** Rarer properties that make an element contain its fixed and absolute descendants. Read only where something is clipped. */
function isContainer(style: CSSStyleDeclaration): boolean {
  const { translate, rotate, scale, perspective, backdropFilter, offsetPath, willChange, containerType } =
    style
  const none = [translate, rotate, scale, perspective, backdropFilter, offsetPath].every(
    (each) => each === 'none',
  )
  return !none || willChange !== 'auto' || containerType !== 'normal' || style.contentVisibility !== 'visible'
}

function opacityOf({ opacity, filter }: CSSStyleDeclaration, before: Paint): number {
  let product = before.opacity
  if (opacity !== '1') product *= Number(opacity)
  if (filter !== 'none')
    for (const [, part = '1'] of filter.matchAll(/opacity\(([\d.e-]+)\)/g)) product *= Number(part)
  return product
}

interface Effects {
  readonly away: AwayCode | undefined
  readonly shape: Shape | undefined
  /** Whether there is an effect that makes a context of its own. */
  readonly any: boolean
  readonly transformed: boolean
}

const NO_EFFECTS: Effects = { away: undefined, shape: undefined, any: false, transformed: false }

function effectsOf(style: CSSStyleDeclaration, box: () => Area): Effects {
  const { filter, clipPath, maskImage, mixBlendMode, transform, contain } = style
  const plain = filter === 'none' && clipPath === 'none' && maskImage === 'none' && mixBlendMode === 'normal'
  const transformed = transform !== 'none' || contain !== 'none'
  if (plain) return transformed ? { ...NO_EFFECTS, transformed } : NO_EFFECTS
  const shape = clipPath === 'none' ? undefined : shapeOf(clipPath, box())
  const lost = clipPath !== 'none' && !shape
  const away =
    byFilter(filter) ??
    byMask(maskImage) ??
    (lost || mixBlendMode !== 'normal' ? 'UNRESOLVED_PAINT' : undefined)
  return { away, shape, any: true, transformed }
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
  const clear = colourText === 'rgba(0, 0, 0, 0)'
  if (clear && image === 'none') {
    return { back: before.back, through: before.through, cover: 0, colour: undefined }
  }
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
  const plain = position === 'static' && zIndex === 'auto' && !effect && style.transform === 'none'
  if (plain) return before
  const z = zIndex === 'auto' ? 0 : Number(zIndex)
  const layer = [...before.context, z, order]
  const own =
    zIndex !== 'auto' || effect || position === 'fixed' || position === 'sticky' || style.transform !== 'none'
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

/** Where an element itself can be seen. */
function outerOf(element: Element, position: string, style: CSSStyleDeclaration, before: Paint): Area {
  if (position !== 'absolute' && position !== 'fixed') return before.clip
  const area = position === 'absolute' ? before.absolute : before.fixed
  return style.clip === 'auto' ? area : common(area, legacyClip(element, style.clip))
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
function clippedBy(element: Element, style: CSSStyleDeclaration, outer: Area, box: () => Area): Area {
  const { overflow, contain } = style
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

/** Whether a person can see a rectangle, wholly or in part. */
export function seenPart({ clip, shapes }: Paint, area: Area): number {
  const part = share(area, clip)
  if (part === 0 || shapes.length === 0) return part
  const seen = common(area, clip)
  const [x, y] = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2]
  return sizeOf(seen) > 0 && shapes.every((shape) => shape(x, y)) ? part : 0
}
