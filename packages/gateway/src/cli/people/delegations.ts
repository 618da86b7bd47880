// `tollgate delegations list`, `show` and `revoke`.

import type { LineageLink } from '../../api/lineage.ts'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { moment, pairs, shown, table, until } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface ShownDelegation {
  readonly id: string
  readonly delegator: string
  readonly delegate: string
  readonly tools: readonly string[]
  readonly effects: readonly string[] | null
  readonly session: string | null
  readonly until: string
  readonly depth: number
  readonly parent: string | null
  readonly standing: string
  readonly receipt: string
}

/** Lists the delegations. */
export async function runList(terminal: Terminal, options: GatewayOptions): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const { delegations } = await listOn(connection)
    terminal.data({ delegations }, () => format(delegations))
    if (delegations.length === 0)
      terminal.say('no delegations; `tollgate delegations grant --help` explains how to create one')
    return 0
  })
}

function listOn(connection: Connection): Promise<{ readonly delegations: readonly ShownDelegation[] }> {
  return ask(connection, '/v1/delegations')
}

function format(delegations: readonly ShownDelegation[]): string {
  const now = new Date().getTime()
  const rows = delegations.map(({ id, delegator, delegate, tools, until: end, parent, standing }) => [
    id.slice(0, 16),
    shown(delegator),
    shown(delegate),
    tools.map(shown).join(', '),
    parent?.slice(0, 8) ?? '',
    standing,
    standing === 'in force' ? until(end, now) : '',
  ])
  return rows.length === 0 ? '' : table(['ID', 'FROM', 'TO', 'TOOLS', 'PARENT', 'STATUS', 'LEFT'], rows)
}

/** Shows a delegation and its parents. */
export async function runShow(terminal: Terminal, options: GatewayOptions, which = ''): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const id = await delegationOf(connection, which)
    const found = await ask<ShownDelegation & { readonly lineage: readonly LineageLink[] }>(
      connection,
      `/v1/delegations/${id}`,
    )
    terminal.data(found, () => describe(found, found.lineage))
    return 0
  })
}

function describe(each: ShownDelegation, lineage: readonly LineageLink[]): string {
  return pairs([
    ['delegation', each.id],
    ['from', shown(each.delegator)],
    ['to', shown(each.delegate)],
    ['tools', each.tools.map(shown).join(', ')],
    ['effects', each.effects?.join(', ') ?? 'any'],
    ['session', each.session === null ? 'any' : shown(each.session)],
    ['until', moment(each.until)],
    ['depth', `${each.depth} further levels allowed`],
    ['status', each.standing],
    ['receipt', each.receipt],
    ...lineageRows(lineage),
  ])
}

/** Formats a chain of delegations: the principals, then each delegation. */
export function lineageRows(lineage: readonly LineageLink[]): readonly (readonly [string, string])[] {
  const root = lineage.at(-1)
  if (!root) return []
  const names = [...lineage.map(({ delegate }) => delegate), root.delegator].map(shown)
  return [
    ['acts for', names.join(' ← ')],
    ...lineage.map(
      ({ delegation, delegator, delegate, until: end, revoked }, i) =>
        [
          i === 0 ? 'by' : '',
          `${delegation.slice(0, 8)}  ${shown(delegator)} to ${shown(delegate)} until ${moment(end)}${revoked ? ', revoked' : ''}`,
        ] as const,
    ),
  ]
}

/** Revokes a delegation. */
export async function runRevoke(terminal: Terminal, options: GatewayOptions, which = ''): Promise<number> {
  return withConnection(options, 'write', async (connection) => {
    const id = await delegationOf(connection, which)
    const { receipt } = await ask<{ readonly receipt: string }>(
      connection,
      `/v1/delegations/${id}/revoke`,
      undefined,
      'POST',
    )
    terminal.data({ delegation: id, receipt }, receipt)
    terminal.say(`revoked delegation ${id.slice(0, 8)} and everything delegated from it`)
    return 0
  })
}

/** Returns the id of the delegation that is given by id or by the start of it. */
export async function delegationOf(connection: Connection, which: string): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which
  if (!/^[0-9a-f]{8,63}$/.test(which)) {
    throw new UsageError(
      `\`${which.slice(0, 80)}\` is not the id of a delegation`,
      'give at least 8 characters of an id from `tollgate delegations list`',
    )
  }
  const { delegations } = await listOn(connection)
  const [found, another] = delegations.filter(({ id }) => id.startsWith(which))
  if (found && !another) return found.id
  throw new CommandError(
    found
      ? `more than one delegation id starts with \`${which}\``
      : `no delegation id starts with \`${which}\``,
    'list them with `tollgate delegations list`',
  )
}
