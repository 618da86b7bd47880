// Reads as much of the styles of a document as is certain without a browser.

import type { AwayCode } from '../src/codes.ts'

/** The declarations of a style, by property. */
export type Declarations = ReadonlyMap<string, string>

/** An element, as far as a simple selector can see it. */
export interface Subject {
  readonly name: string
  readonly id: string
  readonly classes: readonly string[]
}

/** A rule of a style sheet. */
export interface Rule {
  readonly selector: string
  readonly declarations: Declarations
  /** Whether it always applies: it is not inside of an at-rule. */
  readonly certain: boolean
}

/** Reads the rules of a style sheet. Comments and at-rules are taken apart; what is inside of an at-rule is uncertain. */
export function rulesIn(css: string): readonly Rule[] {
  const rules: Rule[] = []
  const text = css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
  let depth = 0
  let start = 0
  let selector = ''
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]
    if (sign === '{') {
      const head = text.slice(start, i).trim()
      if (!head.startsWith('@')) selector = head
      depth++
      start = i + 1
    } else if (sign === '}') {
      if (selector !== '')
        rules.push({ selector, declarations: declarationsIn(text.slice(start, i)), certain: depth === 1 })
      selector = ''
      depth = Math.max(0, depth - 1)
      start = i + 1
    } else if (sign === ';' && depth === 0) start = i + 1
  }
  return rules
}

/** Reads the declarations of a style attribute or a rule. */
export function declarationsIn(text: string): Declarations {
  const found = new Map<string, string>()
  for (const part of text.split(';')) {
    const colon = part.indexOf(':')
    if (colon < 0) continue
    const value = part.slice(colon + 1).replace(/!\s*important/i, '')
    found.set(part.slice(0, colon).trim().toLowerCase(), value.trim().toLowerCase())
  }
  return found
}

/** Whether a selector matches an element: surely, perhaps, or not. */
export function matching(selector: string, subject: Subject): 'yes' | 'maybe' | 'no' {
  let best: 'maybe' | 'no' = 'no'
  for (const one of selector.split(',')) {
    const parts = one.trim().split(/[\s>+~]+/)
    const last = parts.at(-1) ?? ''
    const answer = compound(last, subject)
    if (answer === 'yes' && parts.length === 1) return 'yes'
    if (answer !== 'no') best = 'maybe'
  }
  return best
}

const PART = /^(?:([a-z][a-z0-9-]*|\*)|\.([\w-]+)|#([\w-]+))/i

function compound(text: string, { name, id, classes }: Subject): 'yes' | 'maybe' | 'no' {
  let rest = text
  while (rest !== '') {
    const [whole, tag, ofClass, ofId] = PART.exec(rest) ?? []
    // Attributes, states and functions may match or not.
    if (whole === undefined) return 'maybe'
    if (tag !== undefined && tag !== '*' && tag.toLowerCase() !== name) return 'no'
    if (ofClass !== undefined && !classes.includes(ofClass)) return 'no'
    if (ofId !== undefined && ofId !== id) return 'no'
    rest = rest.slice(whole.length)
  }
  return 'yes'
}

/** Properties that can hide text in a way that needs a browser to judge. */
const DOUBTFUL = new Set(
  'transform translate scale rotate zoom clip clip-path mask mask-image filter mix-blend-mode background-image background overflow overflow-x overflow-y max-height z-index letter-spacing line-height animation animation-name transition text-indent margin-left margin-top inset font-family content-visibility contain -webkit-text-fill-color font'.split(
    ' ',
  ),
)
/** Usual values of those that hide nothing. */
const HARMLESS =
  /^(?:none|auto|visible|normal|0|inherit|initial|unset|1|1\.\d+|2|[\d.]+r?em|\d{1,2}px|(?:[a-z-]+,?\s*)+)$/

/** What declarations do to the text of their element; `unknown` if that needs a browser. */
export function effectOf(style: Declarations): AwayCode | 'unknown' | undefined {
  const certain = certainEffect(style)
  if (certain) return certain
  for (const [property, value] of style) {
    if (value.includes('var(') || value.includes('calc(')) return 'unknown'
    if (DOUBTFUL.has(property) && !HARMLESS.test(value)) return 'unknown'
  }
  return isFar(style) ? 'unknown' : undefined
}

function certainEffect(style: Declarations): AwayCode | undefined {
  const is = (property: string, ...values: readonly string[]): boolean =>
    values.includes(style.get(property) ?? '\0')
  if (is('display', 'none') || is('visibility', 'hidden', 'collapse')) return 'NOT_RENDERED'
  if (is('content-visibility', 'hidden')) return 'NOT_RENDERED'
  const opacity = style.get('opacity')
  if (opacity !== undefined && parseFloat(opacity) / (opacity.endsWith('%') ? 100 : 1) < 0.2)
    return 'TRANSPARENT_TEXT'
  if (is('color', 'transparent')) return 'TRANSPARENT_TEXT'
  const size = pixels(style.get('font-size'))
  if (size !== undefined && size < 4) return 'TINY_TEXT'
  const flat = ['width', 'height', 'max-height'].some((side) => (pixels(style.get(side)) ?? 9) <= 1)
  if (flat && is('overflow', 'hidden', 'clip')) return 'CLIPPED_TEXT'
  if (/^rect\(\s*(?:[01](?:px)?[\s,]*){4}\)$/.test(style.get('clip') ?? '')) return 'CLIPPED_TEXT'
  return undefined
}

const FAR = 400

/** Whether an element is moved so far that it may be off the page. */
function isFar(style: Declarations): boolean {
  return ['left', 'top', 'right', 'bottom'].some((side) => {
    const value = style.get(side)
    return (
      value !== undefined &&
      (Math.abs(pixels(value) ?? FAR) >= FAR || /%|v[wh]/.test(value)) &&
      value !== 'auto'
    )
  })
}

function pixels(value: string | undefined): number | undefined {
  const [, number] = /^(-?[\d.]+)(?:px)?$/.exec(value ?? '') ?? []
  return number === undefined ? undefined : Number(number)
}
