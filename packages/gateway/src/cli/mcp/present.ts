// Shows the definitions that a person is about to approve.

import process from 'node:process'
import type { Finding } from '../../tools/finding.ts'
import { excerpt } from '../../tools/hidden.ts'
import type { ShownTool } from '../../tools/listing.ts'
import { serverPart, textOf, toolOf } from '../../tools/offer.ts'
import { findingLines } from './list.ts'
import { riskTable } from './risk.ts'
import { fittedText } from '../program/fit.ts'
import { diffLines, toolText } from './show.ts'
import { shown } from '../program/table.ts'
import type { Colors, Terminal } from '../program/terminal.ts'

/**
 * Shows one tool completely. Several are shown by risk, in one line for each kind of action; changed tools are also shown with
 * their changes, and a server with its instructions, because a model reads them. With `schemas`, every definition follows.
 */
export function present(
  terminal: Terminal,
  tools: readonly ShownTool[],
  findings: readonly Finding[],
  schemas: boolean,
): void {
  const { paint } = terminal
  const [only, ...more] = tools
  if (only && more.length === 0) {
    terminal.line(toolText(only, paint))
    return
  }
  const defined = tools.map(({ tool, offered_definition }) => ({ tool, content: offered_definition ?? {} }))
  const byRisk = riskTable(defined, paint, process.stderr.columns)
  if (byRisk !== '') terminal.line(byRisk)
  // All faculties of a server share one definition: the server's description of itself.
  const seen = new Map(tools.map((tool) => [tool.kind === 'tool' ? tool.tool : (tool.offered ?? ''), tool]))
  for (const tool of seen.values()) {
    if (schemas || tool.state === 'changed' || instructionsOf(tool) !== '')
      terminal.line(brief(tool, namesOf(tool, tools), paint))
  }
  if (findings.length > 0) terminal.line(['findings:', ...findingLines(findings, paint)].join('\n'))
  if (!schemas && defined.some(({ tool }) => toolOf(tool) !== undefined))
    terminal.say('add `--schemas` to read every definition; `tollgate mcp show TOOL` shows one')
}

function instructionsOf({ offered_definition }: ShownTool): string {
  return textOf(serverPart({ content: offered_definition ?? {} }), 'instructions')
}

function namesOf({ tool, kind, offered }: ShownTool, tools: readonly ShownTool[]): string {
  if (kind === 'tool') return tool
  return tools
    .filter((each) => each.kind === 'faculty' && each.offered === offered)
    .map((each) => each.tool)
    .join(', ')
}

/** A longer text is a finding because of its length. */
const MAX_SHOWN = 2000

function brief(tool: ShownTool, names: string, paint: Colors): string {
  const { state, origin, offered, offered_definition, diff } = tool
  const fields = serverPart({ content: offered_definition ?? {} })
  const text = textOf(fields, 'description') || textOf(fields, 'instructions')
  // Prompt injection can be in any field, most often in the description of a parameter.
  const rest = Object.entries(fields).filter(([name, value]) => value !== null && !SHOWN_ABOVE.includes(name))
  const lines = [
    `${paint.bold(shown(names))}  ${state}  ${paint.dim((offered ?? '').slice(0, 16))}`,
    ...(origin === null ? [] : [`  from: ${shown(origin)}`]),
    ...(text === '' ? [] : [`  “${excerpt(text, MAX_SHOWN)}”`]),
    ...rest.map(([name, value]) => `  ${excerpt(name, 40)}: ${excerpt(JSON.stringify(value), MAX_SHOWN)}`),
  ]
  const changes = diffLines(diff, paint).map((line) => `  ${line}`)
  return [
    ...lines.map((line) => fittedText(line, 4, process.stdout.columns)),
    ...(changes.length > 0 ? ['  changed since it was approved:', ...changes] : []),
  ].join('\n')
}

// These fields have their own lines.
const SHOWN_ABOVE = ['name', 'description', 'instructions']
