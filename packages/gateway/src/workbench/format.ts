// Formats policy files. Comments and meaning are kept; otherwise it throws.

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

type Formatted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** The maximum line length for a collection in one line. */
const WIDTH = 110
/** Each round expands collections that are too wide, one nesting level at a time. */
const MAX_ROUNDS = 70

/**
 * The formatted text of a policy, or its mistakes. Formatting a formatted text changes nothing.
 *
 * @throws Error if formatting would change the meaning or lose a comment. The file must then not be written.
 */
export function formatPolicy(text: string): Formatted {
  const before = parsePolicy(text)
  if (!before.ok) return before
  // The width is known only after the rest is formatted, so this repeats until nothing changes.
  let now = laidOut(text, Infinity)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = laidOut(now, WIDTH)
    if (next === now) {
      demandSame(text, before.policy, now)
      return { ok: true, text: now }
    }
    now = next
  }
  throw new Error('formatting does not converge; please report the file')
}

/** One round of formatting. */
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

/** A comment at the top belongs to the file, not to its first key. */
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

/** The library writes `[ a ]`; this removes the spaces inside of brackets. */
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

/** Numbers stay as written: `1e3` does not become `1e+3`. */
function asWritten(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || tag.collection !== undefined || !NUMBERS.has(tag.tag)) return tag
  const { stringify } = tag
  return {
    ...tag,
    stringify: (item, ...more) => item.source ?? stringify?.(item, ...more) ?? String(item.value),
  }
}

const NUMBERS = new Set(['tag:yaml.org,2002:int', 'tag:yaml.org,2002:float'])

/** Expands collections that are too wide for one line or contain comments. */
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
      // Its contents have more space now and are measured in the next round.
      return isCommented ? undefined : visit.SKIP
    },
  })
}

function endColumn({ range }: Node, lines: LineCounter): number {
  return lines.linePos(range?.[1] ?? 0).col - 1
}

/** Removes empty lines: they would prevent a one-line mapping. */
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

/** Orders a node and everything in it. */
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

/** Uses single quotes, or none where they are not needed. Block texts stay as they are. */
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
  // A comment above a mapping belongs to its first key and moves with it; above a list item it belongs to the item.
  if (!isItem && map.items[0] !== sorted[0] && isNode(key) && typeof map.commentBefore === 'string') {
    key.commentBefore = joined(map.commentBefore, key.commentBefore)
    map.commentBefore = null
  }
  map.items = sorted
}

/** @throws Error unless both texts have the same meaning and comments. */
function demandSame(before: string, policy: Policy, after: string): void {
  const parsed = parsePolicy(after)
  const isSame =
    parsed.ok &&
    meaningOf(parsed.policy) === meaningOf(policy) &&
    dataIn(after) === dataIn(before) &&
    commentsIn(after) === commentsIn(before)
  if (!isSame) throw new Error('formatting would change the meaning; please report the file')
}

/** The meaning of a policy without its formatting, including significant order. */
function meaningOf(policy: Policy): string {
  return JSON.stringify({ ...policy, text: '', hash: '' }, (name, value: unknown) => {
    if (name === 'line') return undefined
    return value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value
  })
}

/** All data of a file, independent of key order. Tool schemas are compared only here. */
function dataIn(text: string): string {
  // Sound: the policy parser has checked that it is plain data.
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
