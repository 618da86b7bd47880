// `tollgate mcp scan`: checks the servers in the configuration of an MCP client. Starts them to list their tools, as the client would,
// and calls none.

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { silent } from '../../log.ts'
import type { Connect } from '../../mcp/server/upstream.ts'
import { isAtLeast, type Finding, type Severity } from '../../tools/finding.ts'
import { inspect } from '../../tools/inspect.ts'
import { finding, readClientConfig, type ConfigFinding, type Configured } from './config.ts'
import { findingLines } from './list.ts'
import { rosterOf, type Roster } from './roster.ts'
import { shown, table } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'

interface ToolScanOptions {
  readonly failOn: Severity
}

/** Scans the servers of a configuration. Returns 1 for a finding of at least the severity of `--fail-on`. */
export async function runScan(terminal: Terminal, { failOn }: ToolScanOptions, file = ''): Promise<number> {
  const servers = readClientConfig(readFileSync(file, 'utf8'), process.env)
  const { createConnect } = await import('../../mcp/server/connect.ts')
  const asked = servers.filter(({ address }) => address).length
  terminal.say(`contacting ${counted(asked, 'server')} to list tools; no tool is called`)
  const scanned = await scan(createConnect({ log: silent }), servers)
  terminal.data(reportOf(scanned), () => format(scanned, terminal))
  const failing = scanned.findings.filter((each) => isAtLeast(each, failOn))
  const noun = failing.length === 1 ? 'finding' : 'findings'
  const what = failOn === 'high' ? `high-severity ${noun}` : `${noun} of severity ${failOn} or higher`
  terminal.say(`${failing.length === 0 ? 'No' : failing.length} ${what}.`)
  return failing.length === 0 ? 0 : 1
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

interface Scanned {
  readonly servers: readonly { readonly server: Configured; readonly roster: Roster | undefined }[]
  /** Findings about the configuration and about all servers together. */
  readonly findings: readonly (Finding | ConfigFinding)[]
}

const CONCURRENCY = 4

/** Lists the tools of the servers, a few at a time, and inspects them together. */
export async function scan(connect: Connect, servers: readonly Configured[]): Promise<Scanned> {
  const rosters = new Map<Configured, Roster>()
  const waiting = [...servers]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { name, address } = next
      if (address) rosters.set(next, await rosterOf(connect, { name, address }))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const asked = servers.map((server) => ({ server, roster: rosters.get(server) }))
  const offers = asked.flatMap(({ roster }) => (roster?.ok === true ? roster.offers : []))
  return { servers: asked, findings: [...asked.flatMap(ofConfiguration), ...inspect(offers)] }
}

function ofConfiguration({ server, roster }: Scanned['servers'][number]): readonly ConfigFinding[] {
  if (roster?.ok !== false) return server.findings
  return [...server.findings, finding(server.name, 'SERVER_SILENT', 'medium', roster.why)]
}

function reportOf({ servers, findings }: Scanned): object {
  return {
    servers: servers.map(({ server: { name, label, isOff }, roster }) => ({
      server: name,
      label,
      asked: roster?.ok === true,
      off: isOff,
      tools:
        roster?.ok === true
          ? roster.offers.filter((each) => each.name.startsWith(`${name}/`)).map((each) => each.name)
          : [],
    })),
    findings,
  }
}

function format({ servers, findings }: Scanned, { paint }: Terminal): string {
  const rows = servers.map(({ server: { name, label, isOff }, roster }) => [
    name === label ? name : `${name} (${shown(label)})`,
    roster?.ok === true ? String(roster.tools) : '-',
    isOff ? 'switched off' : roster === undefined ? 'not contacted' : roster.ok ? 'answered' : 'no answer',
  ])
  const section = findings.length === 0 ? [] : ['', 'findings:', ...findingLines(findings, paint)]
  return [table(['SERVER', 'TOOLS', 'STATE'], rows), ...section].join('\n')
}
