// The tools of a server by risk: one line for each kind of action, so that a person sees at once what an approval would allow.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { recogniseAdapter } from '../../browser/servers/adapters.ts'
import { guessForBrowser } from '../../tools/browser-tools.ts'
import { guess } from '../../tools/effect.ts'
import { originIn, serverPart, serverOf, toolOf } from '../../tools/offer.ts'
import { fitted } from '../program/fit.ts'
import { shown } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

/** A tool with its definition. */
interface DefinedTool {
  readonly tool: string
  readonly content: JsonObject
}

/** The kinds of action, mildest first. `unclear` tools count as the strictest class. */
const RISKS = ['reads', 'writes', 'deletes', 'sends', 'pays', 'runs', 'unclear'] as const
type Risk = (typeof RISKS)[number]

const RISK_OF: Readonly<Record<EffectClass, Risk>> = {
  read: 'reads',
  write: 'writes',
  delete: 'deletes',
  send: 'sends',
  pay: 'pays',
  execute: 'runs',
  admin: 'unclear',
}

/** Returns the kind of action that a tool seems to do, by its own words. */
export function riskOf({ tool, content }: DefinedTool): Risk {
  const [own, listed] = [toolOf(tool) ?? tool, serverPart({ content })]
  const browser = recogniseAdapter((originIn({ content }) ?? '').split(' '))
  const known = guessForBrowser(browser, own, listed) ?? guess(own, listed, serverOf(tool))
  return RISK_OF[known.effect]
}

/** Formats the tools, one section for each server. Faculties are left out. */
export function riskTable(tools: readonly DefinedTool[], paint: Colors, columns: number | undefined): string {
  const own = tools.filter(({ tool }) => toolOf(tool) !== undefined)
  const servers = [...new Set(own.map(({ tool }) => serverOf(tool)))]
  return servers
    .map((server) =>
      section(
        server,
        own.filter(({ tool }) => serverOf(tool) === server),
        paint,
        columns,
      ),
    )
    .join('\n\n')
}

function section(
  server: string,
  tools: readonly DefinedTool[],
  paint: Colors,
  columns: number | undefined,
): string {
  const [first] = tools
  const origin = first && originIn(first)
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  const head = `${paint.bold(shown(server))}  ${count}${origin === undefined ? '' : paint.dim(`  ${shown(origin)}`)}`
  // A terminal that does not know its width says 0.
  const width = columns === undefined || columns === 0 ? WIDTH : columns
  const rows = RISKS.flatMap((risk) => {
    const names = tools.filter((each) => riskOf(each) === risk).map(({ tool }) => shown(toolOf(tool) ?? ''))
    return names.length === 0 ? [] : [row(risk, names, paint, width)]
  })
  return [fitted(head, INDENT, columns), ...rows].join('\n')
}

const INDENT = 17
// Of lists of names that go to no terminal.
const WIDTH = 100

/** One line, or more if the names do not fit: what is approved is never hidden. */
function row(risk: Risk, names: readonly string[], paint: Colors, width: number): string {
  const colour = risk === 'reads' ? paint.green : risk === 'writes' ? paint.yellow : paint.red
  const start = `  ${colour(risk.padEnd(8))} ${String(names.length).padStart(4)}  `
  return fitted(start + names.join(', '), INDENT, width)
}
