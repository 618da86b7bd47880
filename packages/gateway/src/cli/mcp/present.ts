// What is about to be approved, for the person who is asked.

import type { Finding } from '../../tools/finding.ts'
import { excerpt } from '../../tools/hidden.ts'
import type { ShownTool } from '../../tools/listing.ts'
import { saidIn, textOf } from '../../tools/offer.ts'
import { findingLines } from './list.ts'
import { diffLines, toolText } from './show.ts'
import { shown } from '../program/table.ts'
import type { Colors, Terminal } from '../program/terminal.ts'

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

/** A tool in a few lines: all that is about to be approved, long texts cut. */
function brief(tool: ShownTool, names: string, paint: Colors): string {
  const { state, origin, offered, offered_definition, diff } = tool
  const said = saidIn({ content: offered_definition ?? {} })
  const text = textOf(said, 'description') || textOf(said, 'instructions')
  // Orders to a model may stand in any of them; the description of a parameter is the usual place.
  const rest = Object.entries(said).filter(([name, value]) => value !== null && !TOLD.includes(name))
  return [
    `${paint.bold(shown(names))}  ${state}  ${paint.dim((offered ?? '').slice(0, 16))}`,
    ...(origin === null ? [] : [`  from: ${shown(origin)}`]),
    ...(text === '' ? [] : [`  “${excerpt(text, MOST_SHOWN)}”`]),
    ...rest.map(([name, value]) => `  ${excerpt(name, 40)}: ${excerpt(JSON.stringify(value), MOST_SHOWN)}`),
    ...(diff.length > 0
      ? ['  changed since it was approved:', ...diffLines(diff, paint).map((line) => `  ${line}`)]
      : []),
  ].join('\n')
}

// The name stands above, and the others in quotes below it.
const TOLD = ['name', 'description', 'instructions']
