// Policy files in one layout: comments kept, meaning kept. What would lose either is refused.

import { canonicalize, type Json } from '@tollgate/evidence'
import { parsePolicy, type Mistake, type Policy } from '@tollgate/kernel/policy'
import {
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type Scalar,
  type Tags,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { joined, putComments, takeComments } from './format-comments.ts'
import {
  hasQuotedKeys,
  isForeign,
  isQuoted,
  itemLayout,
  memberLayout,
  orderOf,
  POLICY_LAYOUT,
  type Layout,
} from './layout.ts'

/** What came of laying out a policy file. */
type Formatted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** Longest line in which a list or mapping may stand in braces. */
const WIDTH = 110
/** A collection that is too wide is opened, then those in it, to the deepest nesting that a policy may have. */
const MAX_ROUNDS = 70

/**
 * The text of a policy in the one layout; the mistakes of a text that is no policy. The layout of a layout is itself.
 *
 * @throws Error if the layout would mean something else, or lose a comment. Then nothing is to be written.
 */
export function formatPolicy(text: string): Formatted {
  const before = parsePolicy(text)
  if (!before.ok) return before
  // How wide something is shows only when all else is as it will be.
  let now = laidOut(text, Infinity)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = laidOut(now, WIDTH)
    if (next === now) {
      demandSame(text, before.policy, now)
      return { ok: true, text: now }
    }
    now = next
  }
  throw new Error('the layout does not settle; please report the file')
}

/** One step towards the layout. What it leaves unchanged is laid out. */
function laidOut(text: string, width: number): string {
  const lines = new LineCounter()
  const taken = takeComments(text)
  const document = read(taken.text, lines)
  putComments(document, taken.comments)
  const { contents } = document
  if (isMap(contents)) {
    openWide(document, lines, width)
    const header = takeHeader(contents)
    arrange(contents, POLICY_LAYOUT)
    putHeader(contents, header)
  }
  return tightened(document.toString({ lineWidth: 0, singleQuote: true, indentSeq: true }))
}

/** What stands at the top of a file is about the file, whichever key comes next. */
function takeHeader(contents: YAMLMap): string | undefined {
  const key = contents.items[0]?.key
  if (!isNode(key) || typeof key.commentBefore !== 'string') return undefined
  const header = key.commentBefore
  key.commentBefore = null
  return header
}

function putHeader(contents: YAMLMap, header: string | undefined): void {
  const key = contents.items[0]?.key
  if (header === undefined || !isNode(key)) return
  key.commentBefore = joined(header, key.commentBefore)
}

/** The library writes `[ a ]` where it writes `{ a: b }`; here lists have no room inside. */
function tightened(text: string): string {
  const gaps: number[] = []
  visit(read(text), {
    Seq(_, { flow, items, range }) {
      if (flow !== true || items.length === 0 || !range) return
      const [start, end] = range
      if (text.startsWith('[ ', start)) gaps.push(start + 1)
      if (text.startsWith(' ]', end - 2)) gaps.push(end - 2)
    },
  })
  let [tight, from] = ['', 0]
  for (const gap of gaps.toSorted((a, b) => a - b)) {
    tight += text.slice(from, gap)
    from = gap + 1
  }
  return tight + text.slice(from)
}

function read(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, {
    version: '1.2',
    uniqueKeys: false,
    resolveKnownTags: false,
    lineCounter,
    customTags: (tags) => tags.map(asWritten),
  })
}

/** Numbers stay as they are written: `1e3` is no `1e+3`. */
function asWritten(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || tag.collection !== undefined || !NUMBERS.has(tag.tag)) return tag
  const { stringify } = tag
  return {
    ...tag,
    stringify: (item, ...more) => item.source ?? stringify?.(item, ...more) ?? String(item.value),
  }
}

const NUMBERS = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float'])

/** Writes collections line by line that are too wide in braces, or have comments in them. */
function openWide(document: Document, lines: LineCounter, width: number): void {
  visit(document, {
    Collection(_, node) {
      if (!isMap(node) && !isSeq(node)) return
      if (node.flow !== true || node.items.length === 0) return
      const isCommented = hasComment(node)
      if (endColumn(node, lines) <= width && !isCommented) {
        closeUp(node)
        return
      }
      node.flow = false
      // What is in it has more room now, and is measured in the next round.
      return isCommented ? undefined : visit.SKIP
    },
  })
}

function endColumn({ range }: Node, lines: LineCounter): number {
  return lines.linePos(range?.[1] ?? 0).col - 1
}

/** Takes out empty lines: in braces they would keep a mapping from being one line. */
function closeUp(node: YAMLMap | YAMLSeq): void {
  visit(node, (_, inner) => {
    if (isNode(inner) && inner !== node && inner.spaceBefore === true) inner.spaceBefore = false
  })
}

function hasComment(node: YAMLMap | YAMLSeq): boolean {
  let found = false
  visit(node, (_, inner) => {
    const isInside = inner !== node && isNode(inner)
    if (isInside && (inner.comment ?? inner.commentBefore ?? undefined) !== undefined) found = true
    return found ? visit.BREAK : undefined
  })
  return found
}

/** Puts a part in order, and all that is in it. */
function arrange(node: unknown, layout: Layout, isItem = false): void {
  if (isForeign(layout)) return
  if (isScalar(node)) quote(node, isQuoted(layout))
  else if (isSeq(node)) for (const item of node.items) arrange(item, itemLayout(layout), true)
  else if (isMap(node)) arrangeMap(node, layout, isItem)
}

function arrangeMap(map: YAMLMap, layout: Layout, isItem: boolean): void {
  const order = orderOf(layout)
  if (order) sortKeys(map, order, isItem)
  for (const { key, value } of map.items) {
    if (isScalar(key)) quote(key, hasQuotedKeys(layout))
    const name = isScalar(key) && typeof key.value === 'string' ? key.value : ''
    arrange(value, memberLayout(layout, name))
  }
}

/** A text in single quotes, or in none where none are needed. Texts of several lines stay as they are. */
function quote(scalar: Scalar, quoted: boolean): void {
  if (typeof scalar.value !== 'string') return
  if (scalar.type === 'BLOCK_FOLDED' || scalar.type === 'BLOCK_LITERAL') return
  scalar.type = quoted ? 'QUOTE_SINGLE' : 'PLAIN'
}

function sortKeys(map: YAMLMap, order: readonly string[], isItem: boolean): void {
  const rank = ({ key }: Pair): number => {
    const place = isScalar(key) && typeof key.value === 'string' ? order.indexOf(key.value) : -1
    return place < 0 ? order.length : place
  }
  const sorted = map.items.toSorted((a, b) => rank(a) - rank(b))
  const key = map.items[0]?.key
  // What stands above a mapping is about its first key, and goes with it; above an item of a list it is about the item.
  if (!isItem && map.items[0] !== sorted[0] && isNode(key) && typeof map.commentBefore === 'string') {
    key.commentBefore = joined(map.commentBefore, key.commentBefore)
    map.commentBefore = null
  }
  map.items = sorted
}

/** @throws Error unless both texts say the same, with the same comments. */
function demandSame(before: string, policy: Policy, after: string): void {
  const parsed = parsePolicy(after)
  const isSame =
    parsed.ok &&
    meaningOf(parsed.policy) === meaningOf(policy) &&
    dataIn(after) === dataIn(before) &&
    commentsIn(after) === commentsIn(before)
  if (!isSame) throw new Error('the layout would not say the same; please report the file')
}

/** What a policy means, apart from how it is written: also the order of what has one. */
function meaningOf(policy: Policy): string {
  return JSON.stringify({ ...policy, text: '', hash: '' }, (name, value: unknown) => {
    if (name === 'line') return undefined
    return value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value
  })
}

/** All data of a file, whatever the order of names; schemas of tools are only here. */
function dataIn(text: string): string {
  // Sound: a policy is plain data, which its parser has seen to.
  return canonicalize(read(text).toJS() as Json, { maxLength: Infinity })
}

function commentsIn(text: string): string {
  const document = read(text)
  const comments: (string | null | undefined)[] = [document.commentBefore, document.comment]
  visit(document, (_, node) => {
    const nodes = isPair(node) || !isNode(node) ? [] : [node]
    for (const { commentBefore, comment } of nodes) comments.push(commentBefore, comment)
  })
  const lines = comments.flatMap((comment) => (comment ?? '').split('\n').map((line) => line.trim()))
  return lines
    .filter((line) => line !== '')
    .sort()
    .join('\n')
}
