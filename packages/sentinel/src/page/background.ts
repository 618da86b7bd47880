// The background of an element: its colour, gradients, pictures.

import { ANYTHING, anyOver, colourOf, gradientColours, over, type Back, type Rgba } from './colour.ts'
import type { Paint } from './paint.ts'

interface Background {
  readonly back: Back
  readonly through: Paint['through']
  readonly cover: number | undefined
  readonly colour: Rgba | undefined
}

/** The background that an element adds to what is behind it. `cover` is the part of it that it hides. */
export function backgroundOf(
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
