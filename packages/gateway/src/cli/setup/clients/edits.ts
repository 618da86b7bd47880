// The edits that wrap and unwrap a server.

import type { Place } from '../changes/journal.ts'
import { edited, type Edit } from '../../program/unified-diff.ts'
import type { ClientFile } from './clients.ts'
import { entryIn, readTree, type ProgramNodes } from './entries.ts'

/** Returns the edits that put words before a server's own command. */
export function wrapEdits(
  text: string,
  format: ClientFile['format'],
  { table, command, commandKey, args }: ProgramNodes,
  [program = '', ...words]: readonly string[],
): readonly Edit[] {
  const start = { start: command.start, end: command.end, text: quoted(program) }
  const own = [...words, command.value].map(quoted)
  const [first] = args?.items ?? []
  if (args && first) {
    const gap = gapBefore(text, first.start)
    return [
      start,
      { start: first.start, end: first.start, text: own.map((word) => `${word},${gap}`).join('') },
    ]
  }
  if (args) return [start, { start: args.start + 1, end: args.start + 1, text: own.join(', ') }]
  const list = `[${own.join(', ')}]`
  const after = (added: string): Edit => ({ ...start, text: start.text + added })
  if (format === 'json') return [after(`,${gapBefore(text, commandKey)}"args": ${list}`)]
  const key = text
    .slice(commandKey, text.lastIndexOf('=', command.start))
    .replace(/command(["']?)[ \t]*$/, 'args$1')
  // The table of a header has no end of its own.
  const isInline = table.end > table.start
  return [
    after(isInline ? `, ${key} = ${list}` : `${lineEnd(text)}${indentAt(text, commandKey)}${key} = ${list}`),
  ]
}

/** Returns the edits that remove what `wrapEdits` added. */
function unwrapEdits({ command, args }: ProgramNodes, inner: string, count: number): readonly Edit[] {
  const start = { start: command.start, end: command.end, text: quoted(inner) }
  const [first, kept] = [args?.items[0], args?.items[count]]
  if (!args || !first) return [start]
  if (kept) return [start, { start: first.start, end: kept.start, text: '' }]
  // A comma after the last item must go, too.
  return [start, { start: args.start + 1, end: args.end - 1, text: '' }]
}

/** Takes the wrapper off the servers at these places. Undefined if the text cannot be read. */
export function unwrapped(
  text: string,
  format: ClientFile['format'],
  places: readonly Place[],
): string | undefined {
  try {
    const root = readTree(text, format)
    const edits = places.flatMap((place) => {
      const state = entryIn(root, place)?.state
      if (state?.is !== 'wrapped') return []
      const { nodes, inner } = state
      return unwrapEdits(nodes, inner.command, (nodes.args?.items.length ?? 0) - inner.args.length)
    })
    const result = edited(text, edits)
    readTree(result, format)
    return result
  } catch {
    // The caller says what to do by hand.
    return undefined
  }
}

/** A string that JSON and TOML read the same. */
function quoted(word: string): string {
  return JSON.stringify(word).replaceAll('\u007f', '\\u007f')
}

/** The line end and indentation before a position, or one blank if something else is before it. */
function gapBefore(text: string, at: number): string {
  return /\r?\n[ \t]*$/.exec(text.slice(Math.max(0, at - 1000), at))?.[0] ?? ' '
}

function lineEnd(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

function indentAt(text: string, at: number): string {
  return /(?:^|\n)([ \t]*)$/.exec(text.slice(Math.max(0, at - 1000), at))?.[1] ?? ''
}
