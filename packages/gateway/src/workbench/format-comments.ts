// Moves comments to the key that they precede. The YAML parser attaches a run of comments to the preceding block if the first
// comment is as deep as that block. Here, comments that are no deeper than the next key belong to that key.

import { CST, isNode, isPair, isSeq, Parser, visit, type Document, type Node } from 'yaml'

interface TakenComments {
  /** The text without the comments. */
  readonly text: string
  readonly comments: readonly Taken[]
}

interface Taken {
  /** Offset of the next key in the text without comments; undefined at the end of the file. */
  readonly at: number | undefined
  /** The comment lines without `#`. */
  readonly lines: readonly string[]
  /** Whether an empty line precedes them. */
  readonly spaced: boolean
}

/** Removes the comments that belong to the next key but that the parser would attach to the preceding block. */
export function takeComments(text: string): TakenComments {
  const comments: Taken[] = []
  let [kept, from] = ['', 0]
  for (const { start, end } of strayRuns(text)) {
    kept += text.slice(from, start)
    from = end
    const lines = text.slice(start, end).split('\n')
    const spaced = lines[0]?.trim() === ''
    const at = end === text.length ? undefined : kept.length + indentAt(text, end)
    comments.push({ at, lines: bare(lines), spaced })
  }
  return { text: kept + text.slice(from), comments }
}

function bare(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  return lines.slice(first).map((line) => line.trim().replace(/^#/, ''))
}

interface Run {
  /** Includes the empty lines above. */
  readonly start: number
  readonly end: number
}

/** The runs of comments that end a block and are no deeper than what follows, in order. */
function strayRuns(text: string): readonly Run[] {
  const runs: Run[] = []
  for (const token of new Parser().parse(text)) {
    if (token.type !== 'document') continue
    CST.visit(token, ({ start, key, sep, value }) => {
      if (key || sep || value) return
      const run = strayIn(
        text,
        start.filter(({ type }) => type === 'comment').map(({ offset }) => offset),
      )
      if (run) runs.push(run)
    })
  }
  return runs.sort((a, b) => a.start - b.start)
}

function strayIn(text: string, comments: readonly number[]): Run | undefined {
  const last = comments.at(-1)
  if (last === undefined) return undefined
  const end = contentAfter(text, last)
  const next = end === text.length ? 0 : indentAt(text, end)
  const first = comments.find((offset) => {
    const line = lineStart(text, offset)
    return offset - line <= next && text.slice(line, offset).trim() === ''
  })
  return first === undefined ? undefined : { start: withSpaceAbove(text, lineStart(text, first)), end }
}

/** Includes the empty lines above if a comment precedes them: it would otherwise keep them. */
function withSpaceAbove(text: string, line: number): number {
  let start = line
  while (start > 0) {
    const above = lineStart(text, start - 1)
    const content = text.slice(above, start).trim()
    if (content !== '') return content.startsWith('#') ? start : line
    start = above
  }
  return line
}

/** The start of the next line after an offset that is not a comment. */
function contentAfter(text: string, offset: number): number {
  let at = offset
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end === -1) return text.length
    at = end + 1
    if (/^[ \t]*[^\s#]/.test(text.slice(at, lineEnd(text, at)))) return at
  }
  return text.length
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset)
  return end === -1 ? text.length : end
}

function indentAt(text: string, line: number): number {
  const content = text.slice(line, lineEnd(text, line))
  return content.length - content.trimStart().length
}

/** Inserts comments before their keys. */
export function putComments(document: Document, comments: readonly Taken[]): void {
  const nodes = comments.length === 0 ? [] : nodesIn(document)
  // Both lists are in the order of the text.
  let next = 0
  for (const { at = Infinity, lines, spaced } of comments) {
    const text = lines.join('\n').trimEnd()
    while (next < nodes.length && (nodes[next]?.range?.[0] ?? -1) < at) next++
    const node = nodes[next]
    if (!node) {
      document.comment = joined(text, document.comment)
      continue
    }
    node.commentBefore = joined(text, node.commentBefore)
    if (spaced) node.spaceBefore = true
  }
}

/** Keys and items, in the order of the text. */
function nodesIn(document: Document): readonly Node[] {
  const nodes: Node[] = []
  visit(document, (_, node, path) => {
    if (isPair(node) && isNode(node.key)) nodes.push(node.key)
    else if (isNode(node) && isSeq(path.at(-1))) nodes.push(node)
  })
  return nodes
}

/** Joins two comments. */
export function joined(first: string, second: string | null | undefined): string {
  return typeof second === 'string' ? `${first}\n${second}` : first
}
