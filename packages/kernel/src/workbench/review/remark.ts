// The remarks of a policy review, with their places in the text.

import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair } from 'yaml'
import { readYaml } from '../../policy/reader/read.ts'

/** The codes of remarks. */
export const REMARK_CODES = [
  'RULE_UNREACHABLE',
  'RULE_SHADOWED',
  'RULE_CROSSED',
  'CONDITION_NEVER_TRUE',
  'CONDITION_ALWAYS_TRUE',
  'WORD_UNKNOWN',
  'PREFIX_BARE',
  'WITHIN_TURNED',
  'ALLOWS_EVERYTHING',
  'ALLOWS_DANGER',
  'TOOL_UNKNOWN',
  'TOOL_UNUSED',
  'TOOL_COVERED',
  'PRINCIPAL_UNKNOWN',
  'PRINCIPAL_COVERED',
  'LABEL_UNKNOWN',
  'HOST_COVERED',
  'EGRESS_CLOSED',
  'REVIEW_CUT',
] as const
/** The code of a remark. */
export type RemarkCode = (typeof REMARK_CODES)[number]

/** Something in a policy that is valid but probably not intended. */
export interface Remark {
  readonly line: number
  readonly column: number
  readonly code: RemarkCode
  readonly message: string
  /** The suggested change. */
  readonly remedy: string
}

/** A path into a policy file: names in mappings, indexes in lists. */
export type RemarkPath = readonly (string | number)[]

/** A remark without its place in the text. */
export interface RemarkNote {
  readonly path: RemarkPath
  /** Whether it is about the last name of the path itself, and not about its value. */
  readonly named?: boolean
  readonly code: RemarkCode
  readonly message: string
  readonly remedy: string
}

const MAX_REMARKS = 1000

/** Returns the notes with their places, in the order of the text. */
export function placed(notes: readonly RemarkNote[], text: string): readonly Remark[] {
  // Most policies have no remarks, so the text is only parsed again if there are some.
  if (notes.length === 0) return []
  const locate = createLocator(text)
  const remarks = notes.map(({ path, named = false, code, message, remedy }) => {
    return { ...locate(path, named), code, message, remedy }
  })
  const sorted = remarks.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const next = sorted[MAX_REMARKS]
  if (next === undefined) return sorted
  const message = `there are ${sorted.length - MAX_REMARKS} more remarks after this line`
  const cut = { ...next, code: 'REVIEW_CUT' as const, message, remedy: 'resolve the remarks above first' }
  return [...sorted.slice(0, MAX_REMARKS), cut]
}

interface Spot {
  readonly line: number
  readonly column: number
}

function createLocator(text: string): (path: RemarkPath, named: boolean) => Spot {
  const { node } = readYaml(text).root
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  const members = new WeakMap<Node, ReadonlyMap<unknown, Pair>>()
  return (path, named) => {
    const { line, col } = lines.linePos(offsetOf(node, path, named, members))
    return { line, column: col }
  }
}

type Members = WeakMap<Node, ReadonlyMap<unknown, Pair>>

/** Returns the offset of a path. A missing value, such as an item of a list written as one text, has the offset of its parent. */
function offsetOf(root: Node | null, path: RemarkPath, named: boolean, members: Members): number {
  let node: unknown = root
  let offset = 0
  for (const [i, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') node = node.items[step]
    else if (isMap(node)) {
      const pair = membersOf(node, members).get(step)
      if (pair === undefined) return offset
      offset = startOf(pair.key) ?? offset
      if (named && i === path.length - 1) return offset
      node = pair.value
    } else return offset
    offset = startOf(node) ?? offset
  }
  return offset
}

function membersOf(
  map: Node & { readonly items: readonly Pair[] },
  members: Members,
): ReadonlyMap<unknown, Pair> {
  const known = members.get(map)
  if (known) return known
  const found = new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : undefined, pair]))
  members.set(map, found)
  return found
}

function startOf(node: unknown): number | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? node.range?.[0] : undefined
}

/** Returns a few names as a list for a sentence. */
export function listed(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).map((name) => `\`${name}\``)
  const more = names.length - shown.length
  if (more > 0) return `${shown.join(', ')} and ${more} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}
