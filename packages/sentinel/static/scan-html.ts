// Scans HTML without a browser: what is certainly hidden is removed, and what a style or a script could hide is unknown.

import { sha256Hex } from '@tollgate/evidence/core'
import { parse, type DefaultTreeAdapterMap } from 'parse5'
import { createAsides, type Asides } from '../src/asides.ts'
import { assess, type Note } from '../src/assess.ts'
import type { AwayCode } from '../src/codes.ts'
import type { Piece } from '../src/pieces.ts'
import type { PageReading } from '../src/reading.ts'
import { declarationsIn, effectOf, matching, rulesIn, type Rule } from './styles.ts'

type Node = DefaultTreeAdapterMap['node']
type Element = DefaultTreeAdapterMap['element']

/** Longer HTML is cut, and the rest is unknown. */
const MAX_UNITS = 8_000_000
const MAX_NODES = 400_000
const MAX_DEPTH = 600

/** Scans HTML. `url` is its address. Never throws because of the HTML, never loads anything and never runs a script. */
export function scanHtml(html: string, url: string): PageReading {
  const pieces: Piece[] = []
  const notes: Note[] = []
  const asides = createAsides(() => true)
  asides.add(wordsOf(url), () => ({ path: 'html' }))
  const root = parse(html.slice(0, MAX_UNITS))
  const styles = stylesOf(root)
  const walk = createWalk({ pieces, notes, asides, rules: styles.rules })
  walk(root, styles.isOpen ? 'UNRESOLVED_STYLE' : undefined, 'document', 0)
  if (html.length > MAX_UNITS) truncate(notes)
  const { risk, findings, projection } = assess({ pieces, asides: asides.asides, notes, reordered: [] })
  return {
    mode: 'static',
    url,
    dom_hash: sha256Hex(html.toWellFormed()),
    visual_text_hash: sha256Hex(projection.toWellFormed()),
    risk,
    findings,
    projection,
  }
}

function wordsOf(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

function truncate(notes: Note[]): void {
  if (notes.every(({ code }) => code !== 'TRUNCATED'))
    notes.push({ code: 'TRUNCATED', risk: 0, place: () => ({ path: 'html' }) })
}

/** All rules of a document, and whether anything else may style it: other files, imports, scripts. */
function stylesOf(root: Node): { readonly rules: readonly Rule[]; readonly isOpen: boolean } {
  const rules: Rule[] = []
  let isOpen = false
  const stack: Node[] = [root]
  for (let node = stack.pop(); node; node = stack.pop()) {
    if (isElement(node)) {
      const type = attribute(node, 'type')
      if (node.tagName === 'style') {
        const css = textOf(node)
        rules.push(...rulesIn(css))
        if (/@import|@layer|@container|@scope|:has\(|&/.test(css)) isOpen = true
      } else if (node.tagName === 'script') isOpen ||= !/json|text\/(?:plain|html|template)/i.test(type)
      else if (node.tagName === 'link') isOpen ||= /stylesheet/i.test(attribute(node, 'rel'))
      else isOpen ||= node.attrs.some(({ name }) => name.startsWith('on'))
    }
    if ('childNodes' in node) for (const child of node.childNodes) stack.push(child)
  }
  return { rules, isOpen }
}

interface Walking {
  readonly pieces: Piece[]
  readonly notes: Note[]
  readonly asides: Asides
  readonly rules: readonly Rule[]
}

const UNRENDERED = new Set(
  'head title template noscript datalist audio video canvas object iframe option optgroup desc metadata defs symbol annotation'.split(
    ' ',
  ),
)
const INLINE = new Set(
  'a abbr b bdi bdo cite code em font i kbd label mark q s samp small span strong sub sup time u var'.split(
    ' ',
  ),
)

function createWalk({ pieces, notes, asides, rules }: Walking) {
  let nodes = MAX_NODES
  let gap: '' | '\n' = '\n'
  return visit

  function visit(node: Node, away: AwayCode | undefined, path: string, depth: number): void {
    if (--nodes < 0 || depth > MAX_DEPTH) return truncate(notes)
    if (node.nodeName === '#text' && 'value' in node) text(node.value, away, path)
    else if (node.nodeName === '#comment' && 'data' in node) asides.add(node.data, () => ({ path }))
    else if (isElement(node)) element(node, away, path, depth)
    else if ('childNodes' in node) for (const child of node.childNodes) visit(child, away, path, depth + 1)
  }

  function text(value: string, away: AwayCode | undefined, path: string): void {
    const words = value.replace(/\s+/g, ' ')
    if (words.trim() === '') return
    pieces.push({ text: words, away, gap, place: () => ({ path }) })
    gap = ''
  }

  function element(self: Element, before: AwayCode | undefined, parent: string, depth: number): void {
    const path = `${parent}>${self.tagName.replace(/[^a-z0-9-]/g, '').slice(0, 32)}`
    const place = (): { path: string } => ({ path })
    asides.attributes(self.attrs, place)
    if (self.tagName === 'script' || self.tagName === 'style') {
      if (/json|text\/plain/i.test(attribute(self, 'type'))) asides.add(textOf(self), place)
      return
    }
    if (self.tagName === 'title' && parent.endsWith('head')) asides.add(textOf(self), place)
    if (self.tagName === 'iframe') notes.push({ code: 'FRAME_NOT_SCANNED', risk: 0, place })
    const away = before === undefined || before === 'UNRESOLVED_STYLE' ? (awayOf(self) ?? before) : before
    const inline = INLINE.has(self.tagName)
    if (!inline) gap = '\n'
    for (const child of childrenOf(self)) visit(child, away, path, depth + 1)
    if (!inline) gap = '\n'
  }

  /** Why a person cannot read the text of an element, as far as its own markup and styles tell. */
  function awayOf(self: Element): AwayCode | undefined {
    const { tagName } = self
    const has = (name: string): boolean => self.attrs.some((each) => each.name === name)
    if (UNRENDERED.has(tagName) || has('hidden') || has('popover') || (tagName === 'dialog' && !has('open')))
      return 'NOT_RENDERED'
    // Only the summary of closed details is shown, and it may be opened.
    if (tagName === 'details' && !has('open')) return 'UNRESOLVED_STYLE'
    const style = effectOf(declarationsIn(attribute(self, 'style')))
    if (style !== undefined && style !== 'unknown') return style
    let unknown =
      style === 'unknown' || COLOURED.test(attribute(self, 'style')) || has('color') || has('bgcolor')
    const subject = {
      name: tagName,
      id: attribute(self, 'id'),
      classes: attribute(self, 'class').split(/\s+/),
    }
    for (const { selector, declarations, certain } of rules) {
      const match = matching(selector, subject)
      if (match === 'no') continue
      const effect = effectOf(declarations)
      const coloured = declarations.has('color') && !isDark(declarations.get('color') ?? '')
      if (effect !== undefined && effect !== 'unknown' && match === 'yes' && certain) return effect
      if (effect !== undefined || coloured || isGenerated(selector, declarations)) unknown = true
    }
    return unknown ? 'UNRESOLVED_STYLE' : undefined
  }
}

/** Colours need their background, which needs a browser. */
const COLOURED = /(?:^|;)\s*(?:color|background(?:-color)?|-webkit-text-fill-color)\s*:/i

function isDark(colour: string): boolean {
  return /^(?:black|#000(?:000)?|#[0-4][\da-f]{2}|(?:#[0-4][\da-f]){1}(?:[0-4][\da-f]){2})$/.test(colour)
}

function isGenerated(selector: string, declarations: ReadonlyMap<string, string>): boolean {
  return /::?(?:before|after)/.test(selector) && /["']/.test(declarations.get('content') ?? '')
}

function childrenOf(self: Element): readonly Node[] {
  return 'content' in self && self.tagName === 'template' ? contentOf(self) : self.childNodes
}

function contentOf(self: Element): readonly Node[] {
  // Sound: parse5 gives templates this member.
  return (self as DefaultTreeAdapterMap['template']).content.childNodes
}

function isElement(node: Node): node is Element {
  return 'tagName' in node
}

function attribute(self: Element, name: string): string {
  return self.attrs.find((each) => each.name === name)?.value ?? ''
}

function textOf(self: Element): string {
  return self.childNodes.map((child) => ('value' in child ? child.value : '')).join('')
}
