// Finds the places in a policy file where a rule or an item of a list can be inserted, without changing any other byte.

import { isMap, isScalar, isSeq, parseDocument, type Node, type YAMLSeq } from 'yaml'

/** A text to insert at an offset. */
export interface Insertion {
  readonly at: number
  readonly text: string
}

/** Returns the text with all insertions. */
export function inserted(text: string, insertions: readonly Insertion[]): string {
  return insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce((sum, { at, text: more }) => sum.slice(0, at) + more + sum.slice(at), text)
}

/**
 * Inserts a rule before another one, and before the comments of that one. `rule` is indented as an item of a list at the start of
 * the line. Returns undefined if the list is not written with one item per line.
 */
export function insertRule(text: string, before: string, rule: string): Insertion | undefined {
  const rules = nodeAt(text, ['rules'])
  if (!isSeq(rules) || rules.flow === true) return undefined
  const node = rules.items.find((item) => isMap(item) && item.get('id') === before)
  const start = isMap(node) ? node.range?.[0] : undefined
  if (start === undefined) return undefined
  const line = lineStart(text, start)
  const indent = /^( *)- +$/.exec(text.slice(line, start))?.[1]
  if (indent === undefined) return undefined
  return { at: aboveComments(text, line, indent), text: `${indented(rule, indent)}\n` }
}

/** Adds a text to a list. Returns undefined if there is no such list, or it is empty and has no brackets. */
export function addToList(text: string, path: readonly string[], item: string): Insertion | undefined {
  const list = nodeAt(text, path)
  if (!isSeq(list)) return undefined
  const last = list.items.at(-1)
  const quoted = JSON.stringify(item)
  const end = isScalar(last) ? last.range?.[1] : undefined
  if (end === undefined) return list.flow === true ? intoEmpty(list, quoted) : undefined
  if (list.flow === true) return { at: end, text: `, ${quoted}` }
  const start = isScalar(last) ? (last.range?.[0] ?? 0) : 0
  const dash = /^ *- +$/.exec(text.slice(lineStart(text, start), start))?.[0]
  return dash === undefined ? undefined : { at: lineEnd(text, end), text: `\n${dash}${quoted}` }
}

function intoEmpty({ range }: YAMLSeq, quoted: string): Insertion | undefined {
  return range ? { at: range[1] - 1, text: quoted } : undefined
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  const found = parseDocument(text).getIn(path, true)
  // An alias is refused by the policy parser, so every collection here is written in place.
  return isSeq(found) || isMap(found) || isScalar(found) ? found : undefined
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Comments directly above an item belong to it. Those with more indent belong to the item before. */
function aboveComments(text: string, line: number, indent: string): number {
  const comment = new RegExp(`^ {0,${indent.length}}#`)
  let at = line
  while (at > 0) {
    const before = lineStart(text, at - 1)
    if (!comment.test(text.slice(before, at))) return at
    at = before
  }
  return at
}

function indented(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : indent + line))
    .join('\n')
}
