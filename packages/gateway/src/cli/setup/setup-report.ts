// Shows what `tollgate setup mcp` found and would change.

import process from 'node:process'
import { isAtLeast, type Finding } from '../../tools/finding.ts'
import { toolOf, type Offer } from '../../tools/offer.ts'
import { findingLines } from '../mcp/list.ts'
import { riskOf, riskTable } from '../mcp/risk.ts'
import { runnable } from '../program/runnable.ts'
import { shown, table } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import type { Met } from './clients/meet.ts'
import type { FoundServer, Plan, Unusable } from './clients/plan.ts'
import { unifiedDiff } from '../program/unified-diff.ts'
import type { DraftedPolicy } from './setup-policy.ts'

/** Everything that a person has to see before the question. */
export interface Proposal {
  readonly plan: Plan
  readonly met: readonly Met[]
  readonly offers: readonly Offer[]
  readonly findings: readonly Finding[]
  readonly policy: DraftedPolicy
}

const STATES: Readonly<Record<FoundServer['is'], string>> = {
  program: 'will be wrapped',
  wrapped: 'wrapped already',
  remote: 'remote, left alone',
  off: 'switched off, left alone',
  unclear: 'not readable, left alone',
}

/** Formats the servers that were found. */
export function serversText({ servers }: Plan, isChosen: (server: FoundServer) => boolean): string {
  const rows = servers.map((server) => [
    server.from.name,
    shown(server.label),
    server.is === 'program' && !isChosen(server) ? 'not chosen' : STATES[server.is],
    shown(server.from.file),
  ])
  return rows.length === 0 ? '' : table(['CLIENT', 'SERVER', 'STATE', 'FILE'], rows)
}

/** Formats the change of every file. Values that may be secrets are hidden. */
export function diffText({ files }: Plan, { paint }: Terminal): string {
  return files
    .map(({ from, text, edits, masks }) => unifiedDiff(from.file, text, edits, masks, paint))
    .join('\n')
}

// The gravest come first. More would push the table off the screen.
const MAX_FINDINGS = 10

/** Formats the tools by risk, and the findings in them. */
export function toolsText({ offers, findings }: Proposal, { paint }: Terminal): string {
  const tools = offers.map(({ name, definition }) => ({ tool: name, content: definition.content }))
  const worth = findings.filter((each) => isAtLeast(each, 'medium'))
  return [
    riskTable(tools, paint, process.stdout.columns),
    ...(worth.length === 0 ? [] : ['', 'findings:', ...findingLines(worth, paint).slice(0, MAX_FINDINGS)]),
    ...(worth.length > MAX_FINDINGS
      ? [`  and ${worth.length - MAX_FINDINGS} more; ${runnable('`tollgate mcp list`')} shows all`]
      : []),
  ].join('\n')
}

/** Says what to do by hand for a file that cannot be edited. */
export function warnUnusable(terminal: Terminal, { from, why }: Unusable, wrapper: readonly string[]): void {
  const [command = '', ...args] = wrapper
  const list = JSON.stringify([...args, 'COMMAND', 'ARGUMENTS…'])
  terminal.warn(
    `\`${shown(from.file)}\` (${from.name}) stays as it is: ${why}`,
    from.format === 'toml'
      ? `write by hand: command = ${JSON.stringify(command)}, args = ${list}`
      : `write by hand: "command": ${JSON.stringify(command)}, "args": ${list}`,
  )
}

/** Returns the proposal as data. */
export function reportOf({ plan, met, offers, findings, policy }: Proposal): object {
  return {
    servers: plan.servers.map(({ from, label, name, is }) => ({
      client: from.client,
      file: from.file,
      label,
      name: name ?? null,
      state: is,
      answered: met.some((each) => each.name === name && each.why === undefined),
    })),
    files: plan.files.map(({ from }) => from.file),
    unusable: plan.unusable.map(({ from, why }) => ({ file: from.file, why })),
    tools: offers
      .filter(({ name }) => toolOf(name) !== undefined)
      .map(({ name, definition }) => ({
        tool: name,
        risk: riskOf({ tool: name, content: definition.content }),
      })),
    findings,
    policy: { passed: policy.passed, failed: policy.failed },
  }
}
