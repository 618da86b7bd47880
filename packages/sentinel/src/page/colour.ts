// Colours as a browser computes them: parsed, laid over each other, compared.

/** Red, green and blue from 0 to 255, and alpha from 0 to 1. */
export type Rgba = readonly [number, number, number, number]

/** A background whose colour is known only within limits, for each channel. Over a picture it can be anything. */
export interface Back {
  readonly low: Rgba
  readonly high: Rgba
}

export const WHITE: Back = { low: [255, 255, 255, 1], high: [255, 255, 255, 1] }
export const ANYTHING: Back = { low: [0, 0, 0, 1], high: [255, 255, 255, 1] }

const known = new Map<string, Rgba>()
const MOST_KNOWN = 4096

/** Reads a computed colour; undefined if it cannot be read. */
export function colourOf(text: string): Rgba | undefined {
  const before = known.get(text)
  if (before) return before
  const parsed = parseRgb(text) ?? paint(text)
  if (parsed && known.size < MOST_KNOWN) known.set(text, parsed)
  return parsed
}

const RGB = /^rgba?\(\s*([\d.]+)[,\s]+([\d.]+)[,\s]+([\d.]+)(?:[,/\s]+([\d.]+)(%?))?\s*\)$/

function parseRgb(text: string): Rgba | undefined {
  if (text === 'transparent') return [0, 0, 0, 0]
  const [, r, g, b, a, percent] = RGB.exec(text) ?? []
  if (r === undefined) return undefined
  const alpha = a === undefined ? 1 : Number(a) / (percent === '%' ? 100 : 1)
  return [Number(r), Number(g), Number(b), alpha]
}

let pen: OffscreenCanvasRenderingContext2D | null | undefined

/** Other colour spaces: the browser converts them. */
function paint(text: string): Rgba | undefined {
  pen ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  if (!pen) return undefined
  pen.fillStyle = '#010203'
  pen.fillStyle = text
  if (pen.fillStyle === '#010203') return undefined
  pen.clearRect(0, 0, 1, 1)
  pen.fillRect(0, 0, 1, 1)
  const [r = 0, g = 0, b = 0, a = 0] = pen.getImageData(0, 0, 1, 1).data
  return [r, g, b, a / 255]
}

/** A colour laid over a background. */
export function over([r, g, b, a]: Rgba, opacity: number, { low, high }: Back): Back {
  const alpha = a * opacity
  const mix = (colour: number, back: number): number => colour * alpha + back * (1 - alpha)
  const under = (back: Rgba): Rgba => [mix(r, back[0]), mix(g, back[1]), mix(b, back[2]), 1]
  return { low: under(low), high: under(high) }
}

/** Any of some colours laid over a background. */
export function anyOver(colours: readonly Rgba[], opacity: number, back: Back): Back {
  const all = colours.map((colour) => over(colour, opacity, back))
  const limit = (pick: (a: number, b: number) => number, side: 'low' | 'high', i: 0 | 1 | 2): number =>
    all.map((each) => each[side][i]).reduce(pick)
  const most = (side: 'low' | 'high', pick: (a: number, b: number) => number): Rgba => [
    limit(pick, side, 0),
    limit(pick, side, 1),
    limit(pick, side, 2),
    1,
  ]
  return all.length === 0 ? back : { low: most('low', Math.min), high: most('high', Math.max) }
}

const CURVE = Float64Array.from({ length: 256 }, (_, i) =>
  i <= 10 ? i / 3294.6 : ((i / 255 + 0.055) / 1.055) ** 2.4,
)

function light([r, g, b]: Rgba): number {
  const at = (channel: number): number => CURVE[Math.round(channel)] ?? 1
  return 0.2126 * at(r) + 0.7152 * at(g) + 0.0722 * at(b)
}

function ratio(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

/** Whether the letters of a text differ enough from its background. */
type Legibility = 'clear' | 'none' | 'unsure'

// WCAG contrast. Text of another hue can be read although it is as light as its background.
const UNREADABLE = 1.2
const READABLE = 1.5
const SAME_HUE = 48

/** Compares a text with its background. */
export function legibility(colour: Rgba, opacity: number, back: Back): Legibility {
  const text = over(colour, opacity, back)
  if (back.low.every((channel, i) => channel === back.high[i])) {
    const same = contrast(text.low, back.low) < UNREADABLE && distance(text.low, back.low) < SAME_HUE
    return same ? 'none' : 'clear'
  }
  // Two colours of the background, and the text on each of them.
  const ends = [contrast(text.low, back.low), contrast(text.high, back.high)]
  if (Math.max(...ends) < UNREADABLE && distance(back.low, back.high) < SAME_HUE) return 'none'
  const darker = light(text.low) < light(back.low) && light(text.high) < light(back.high)
  const lighter = light(text.low) > light(back.low) && light(text.high) > light(back.high)
  return (darker || lighter) && Math.min(...ends) >= READABLE ? 'clear' : 'unsure'
}

function contrast(a: Rgba, b: Rgba): number {
  return ratio(light(a), light(b))
}

function distance(a: Rgba, b: Rgba): number {
  return Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]), Math.abs(a[2] - b[2]))
}

const COLOUR_IN_GRADIENT = /(?:rgba?|hsla?|oklch|oklab|lab|lch|color)\([^()]*\)|transparent/g

/** The colours of a gradient; undefined if the text contains anything that is not a gradient. */
export function gradientColours(image: string): readonly Rgba[] | undefined {
  if (/url\(|image-set|paint\(|cross-fade|element\(/.test(image)) return undefined
  const colours = (image.match(COLOUR_IN_GRADIENT) ?? []).map(colourOf)
  return colours.length > 0 && colours.every((each) => each !== undefined) ? colours : undefined
}
