// `tollgate mcp list`: lists servers and tools with their state.

import process from 'node:process'
import { gravestFirst, SEVERITIES, type Finding } from '../../tools/finding.ts'
import type { FailedStart, ListedServer, ListedTool, Listing, State } from '../../tools/listing.ts'
import type { GatewayOptions } from '../commands.ts'
import { withConnection } from '../program/connect.ts'
import { fittedText } from '../program/fit.ts'
import { listingOf, noteNoGateway } from './names.ts'
import { counted, moment, shown, table } from '../program/table.ts'
import type { Colors, Terminal } from '../program/terminal.ts'

/** Lists servers and tools. */
export async function runList(terminal: Terminal, options: GatewayOptions): Promise<number> {
  return withConnection(options, 'memory', async (connection) => {
    const listing = await listingOf(connection)
    terminal.data(listing, () => format(listing, terminal.paint))
    if (!terminal.json) noteNoGateway(terminal, connection)
    advise(terminal, listing)
    return 0
  })
}

function advise(terminal: Terminal, { servers, more, failed_starts: failed = [] }: Listing): void {
  const tools = servers.flatMap((each) => each.tools)
  const count = (state: State, kind?: ListedTool['kind']): number =>
    tools.filter((each) => each.state === state && (kind ?? each.kind) === each.kind).length
  if (tools.length === 0 && failed.length === 0) {
    terminal.say('no tools yet; servers are asked when a client first connects')
  }
  if (count('new', 'tool') > 0) {
    terminal.say(
      `${counted(count('new', 'tool'), 'new tool')}: blocked until you run \`tollgate mcp approve SERVER\``,
    )
  } else if (count('new') > 0) {
    terminal.say('other abilities that are new stay blocked; `tollgate mcp approve SERVER` explains them')
  }
  if (count('changed') > 0) {
    terminal.warn(
      `${count('changed')} changed since they were approved: every call is denied`,
      '`tollgate mcp show TOOL` shows what changed',
    )
  }
  if (failed.length > 0) {
    terminal.warn(
      `${counted(failed.length, 'server')} did not start`,
      'remove the cause; the next client that connects starts the server again',
    )
  }
  if (more > 0) {
    terminal.warn(
      `${more} more are not listed: the list is too long`,
      '`tollgate mcp show SERVER` lists more of one server; check why it offers so many',
    )
  }
}

function format({ servers, failed_starts: failed = [] }: Listing, paint: Colors): string {
  return [tools(servers, paint), ...failed.map((each) => failure(each, paint))].filter(Boolean).join('\n\n')
}

/** A server that did not start, and what it wrote. */
function failure({ server, at, because, stderr }: FailedStart, paint: Colors): string {
  const head = `${paint.red('did not start')}: ${shown(server)}, ${moment(at)}: ${shown(because)}`
  return [head, ...stderr.map((line) => fittedText(`  ${shown(line)}`, 4, process.stdout.columns))].join('\n')
}

function tools(servers: readonly ListedServer[], paint: Colors): string {
  const rows = servers.flatMap(({ server, findings, tools }) => [
    ...(findings.length > 0 ? [[shown(server), '(server)', tally(findings)]] : []),
    ...tools.map((each) => [shown(each.tool), painted(each, paint), tally(each.findings)]),
  ])
  if (rows.length === 0) return ''
  const findings = servers.flatMap((each) => [
    ...each.findings,
    ...each.tools.flatMap((tool) => tool.findings),
  ])
  const section = findings.length === 0 ? [] : ['', 'findings:', ...findingLines(findings, paint)]
  return [table(['TOOL', 'STATE', 'FINDINGS'], rows), ...section].join('\n')
}

/** Colours a state. */
export function painted({ state }: ListedTool, paint: Colors): string {
  if (state === 'pinned') return paint.green(state)
  return state === 'changed' ? paint.red(state) : state === 'new' ? paint.yellow(state) : paint.dim(state)
}

function tally(findings: readonly { readonly severity: string }[]): string {
  const counts = SEVERITIES.toReversed().flatMap((severity) => {
    const count = findings.filter((each) => each.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}`]
  })
  return counts.join(', ')
}

/** Formats findings, one per line, highest severity first. */
export function findingLines(
  findings: readonly (Omit<Finding, 'code'> & { readonly code: string })[],
  paint: Colors,
): readonly string[] {
  return gravestFirst(findings).map(({ severity, tool, code, message }) => {
    const word = severity.padEnd(6)
    const painted = severity === 'high' ? paint.red(word) : severity === 'medium' ? paint.yellow(word) : word
    return fittedText(`  ${painted}  ${shown(tool)}: ${shown(message)} (${code})`, 10, process.stdout.columns)
  })
}
