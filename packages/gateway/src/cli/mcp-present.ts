// What is about to be approved, for the person who is asked.

import type { Finding } from '../tools/finding.ts'
import { excerpt } from '../tools/hidden.ts'
import type { ShownTool } from '../tools/listing.ts'
import { isObject, saidIn, textOf } from '../tools/offer.ts'
import { findingLines } from './mcp-list.ts'
import { diffLines, toolText } from './mcp-show.ts'
import { shown } from './table.ts'
import type { Colors, Terminal } from './terminal.ts'

/** Shows tools: one alone to its end, several in a few lines each, with what was found in them. */
export function present(terminal: Terminal, tools: readonly ShownTool[], findings: readonly Finding[]): void {
  const { paint } = terminal
  const [only, ...more] = tools
  if (only && more.length === 0) {
    terminal.line(toolText(only, paint))
    return
  }
  // All faculties of a server have the same definition: what the server says of itself.
  const seen = new Map(tools.map((tool) => [tool.kind === 'tool' ? tool.tool : (tool.offered ?? ''), tool]))
  for (const tool of seen.values()) terminal.line(brief(tool, namesOf(tool, tools), paint))
  if (findings.length > 0) terminal.line(['findings:', ...findingLines(findings, paint)].join('\n'))
  terminal.say('`tollgate mcp show TOOL` shows each to its end')
}

function namesOf({ tool, kind, offered }: ShownTool, tools: readonly ShownTool[]): string {
  if (kind === 'tool') return tool
  return tools
    .filter((each) => each.kind === 'faculty' && each.offered === offered)
    .map((each) => each.tool)
    .join(', ')
}

/** From here on a text is a finding by its length alone. */
const MOST_SHOWN = 2000

/** A tool in a few lines: what it says it is, what it takes, and what changed. */
function brief(tool: ShownTool, names: string, paint: Colors): string {
  const { state, origin, offered, offered_definition, diff } = tool
  const said = saidIn({ content: offered_definition ?? {} })
  const { inputSchema, annotations } = said
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  const args = isObject(properties) ? Object.keys(properties).map((name) => excerpt(name, 40)) : []
  const text = textOf(said, 'description') || textOf(said, 'instructions')
  return [
    `${paint.bold(shown(names))}  ${state}  ${paint.dim((offered ?? '').slice(0, 16))}`,
    ...(origin === null ? [] : [`  from: ${shown(origin)}`]),
    ...(text === '' ? [] : [`  “${excerpt(text, MOST_SHOWN)}”`]),
    ...(args.length === 0
      ? []
      : [`  takes: ${args.slice(0, 30).join(', ')}${args.length > 30 ? ', …' : ''}`]),
    ...(isObject(annotations) ? [`  its server says: ${excerpt(JSON.stringify(annotations), 200)}`] : []),
    ...(diff.length > 0
      ? ['  changed since it was approved:', ...diffLines(diff, paint).map((line) => `  ${line}`)]
      : []),
  ].join('\n')
}
