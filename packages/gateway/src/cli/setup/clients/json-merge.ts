// Adds members and list items to a JSON text, and takes them out again. Everything else keeps its bytes: comments, order, unknown members.

import { edited, type Edit } from '../../program/unified-diff.ts'
import { readJsonTree } from './json-tree.ts'
import type { Member, Node, Table } from './tree.ts'

/** A value to add. A list is added to the list that is there, an object to the object; a scalar is only added where nothing is. */
export type Addition = string | number | boolean | readonly Addition[] | AddedMembers

/** Members to add to an object. */
export interface AddedMembers {
  readonly [name: string]: Addition
}

/** The text has another form at this place than its program reads. Its message never contains values. */
export class OddForm extends Error {}

/** Returns the edits that add a value. @throws OddForm, UnreadableFile. */
export function additionEdits(text: string, added: AddedMembers): readonly Edit[] {
  const root = readJsonTree(text)
  if (root.kind !== 'table') throw new OddForm('it is not a JSON object')
  return edits({ text, unit: unitOf(text, root) }, root, added, '')
}

interface Text {
  readonly text: string
  /** One level of indentation. */
  readonly unit: string
}

function edits(of: Text, table: Table, added: AddedMembers, place: string): readonly Edit[] {
  const missing: [string, Addition][] = []
  const found: Edit[] = []
  for (const [name, value] of Object.entries(added)) {
    const members = table.members.filter(({ key }) => key === name)
    if (members.length > 1) throw new OddForm(`\`${place}${name}\` is there twice`)
    const node = members[0]?.value
    if (!node) missing.push([name, value])
    else found.push(...editsAt(of, node, value, `${place}${name}`))
  }
  const own = missing.map(([name, value]) => (gap: string) => {
    return `${JSON.stringify(name)}: ${written(value, of.unit, gap)}`
  })
  return [...found, ...insertion(of, table, table.members.at(-1)?.value, own)]
}

function editsAt(of: Text, node: Node, value: Addition, place: string): readonly Edit[] {
  if (isList(value)) {
    if (node.kind !== 'list') throw new OddForm(`\`${place}\` is not a list`)
    const own = value.map((item) => (gap: string) => written(item, of.unit, gap))
    return insertion(of, node, node.items.at(-1), own)
  }
  if (typeof value !== 'object') return []
  if (node.kind !== 'table') throw new OddForm(`\`${place}\` is not an object`)
  return edits(of, node, value, `${place}.`)
}

/** Puts texts after the last child of an object or a list. Each gets the line break and indentation before it. */
function insertion(
  { text, unit }: Text,
  holder: Node,
  last: Node | undefined,
  own: readonly ((gap: string) => string)[],
): readonly Edit[] {
  if (own.length === 0) return []
  if (!last) {
    const indent = indentOf(text, holder.start)
    const gap = `${lineEnd(text)}${indent}${unit}`
    const all = own.map((each) => gap + each(gap)).join(',')
    const rest = text.slice(holder.start + 1, holder.end - 1)
    // A comment in it stays, before what is added.
    const isBlank = rest.trim() === ''
    const start = isBlank ? holder.start + 1 : holder.end - 1
    return [{ start, end: holder.end - 1, text: `${all}${lineEnd(text)}${indent}` }]
  }
  const first = firstOf(holder)
  const gap = gapBefore(text, holder, first)
  return [{ start: last.end, end: last.end, text: own.map((each) => `,${gap}${each(gap)}`).join('') }]
}

/** Where the first child starts, with its key. */
function firstOf(holder: Node): number {
  if (holder.kind === 'table') return holder.members[0]?.at ?? holder.end
  return holder.kind === 'list' ? (holder.items[0]?.start ?? holder.end) : holder.end
}

/** The line break and indentation before the first child, or one blank if it is on the line of its holder. */
function gapBefore(text: string, holder: Node, first: number): string {
  return /\r?\n[ \t]*$/.exec(text.slice(holder.start, first))?.[0] ?? ' '
}

function written(value: Addition, unit: string, gap: string): string {
  if (gap === ' ') return oneLine(value)
  return JSON.stringify(value, null, unit).replaceAll('\n', gap)
}

function oneLine(value: Addition): string {
  if (isList(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${oneLine(each)}`)
  return `{ ${members.join(', ')} }`
}

function isList(value: Addition): value is readonly Addition[] {
  return Array.isArray(value)
}

function unitOf(text: string, root: Table): string {
  const first = root.members[0]?.at
  const indent = first === undefined ? undefined : /\n([ \t]+)$/.exec(text.slice(0, first))?.[1]
  return indent === undefined || indent.length > 8 ? '  ' : indent
}

function indentOf(text: string, at: number): string {
  return /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, at))?.[1] ?? ''
}

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** Returns the text without the list items below `member` that contain a text with `mark`. Lists and objects that become empty go, too. */
export function without(text: string, member: string, mark: string): string {
  const root = readJsonTree(text)
  if (root.kind !== 'table') return text
  const holder = root.members.find(({ key }) => key === member)
  if (holder?.value.kind !== 'table') return text
  const removed: Edit[] = []
  const left: Member[] = []
  for (const each of holder.value.members) {
    const { value } = each
    const ours = value.kind === 'list' ? value.items.filter((item) => contains(item, mark)) : []
    // A list that was empty before is not ours.
    if (value.kind !== 'list' || ours.length === 0 || ours.length < value.items.length) left.push(each)
    if (value.kind !== 'list' || ours.length === 0) continue
    if (ours.length < value.items.length) {
      const spans = value.items.map((item) => ({ ...item, isOurs: ours.includes(item) }))
      removed.push(...cut(spans))
    }
  }
  const members = holder.value.members.map((each) => ({
    start: each.at,
    end: each.value.end,
    isOurs: !left.includes(each),
  }))
  if (left.length > 0 || members.length === 0) return edited(text, [...removed, ...cut(members)])
  const outer = root.members.map((each) => ({
    start: each.at,
    end: each.value.end,
    isOurs: each === holder,
  }))
  if (outer.length > 1) return edited(text, cut(outer))
  return edited(text, [{ start: root.start + 1, end: root.end - 1, text: '' }])
}

interface EditSpan {
  readonly start: number
  readonly end: number
  readonly isOurs: boolean
}

/** The edits that remove spans of a comma-separated row, with one comma each. Not all of them may be ours. */
function cut(row: readonly EditSpan[]): readonly Edit[] {
  const firstKept = row.findIndex(({ isOurs }) => !isOurs)
  const edits = row.flatMap((span, i) => {
    if (!span.isOurs || i < firstKept) return []
    return [{ start: row[i - 1]?.end ?? span.start, end: span.end, text: '' }]
  })
  const [first, kept] = [row[0], row[firstKept]]
  return firstKept > 0 && first && kept
    ? [{ start: first.start, end: kept.start, text: '' }, ...edits]
    : edits
}

/** Whether a value contains a text with these characters. */
export function contains(node: Node, mark: string): boolean {
  if (node.kind === 'text') return node.value.includes(mark)
  if (node.kind === 'list') return node.items.some((each) => contains(each, mark))
  return node.kind === 'table' && node.members.some(({ value }) => contains(value, mark))
}
