// `tollgate delegations`: who may act for whom.

import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { moment, pairs, shown, table, until } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

/** A delegation as the API gives it. */
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

/** One delegation of a chain, as the API gives it. */
export interface ShownLink {
  readonly delegation: string
  readonly delegator: string
  readonly delegate: string
  readonly until: string
  readonly revoked: boolean
}

/** Lists the delegations. */
export async function runList(terminal: Terminal, options: GatewayOptions): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const { delegations } = await listOn(connection)
    terminal.data({ delegations }, () => format(delegations))
    if (delegations.length === 0)
      terminal.say('there is no delegation; sign one with `tollgate delegations grant`')
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
  return rows.length === 0 ? '' : table(['ID', 'FROM', 'TO', 'TOOLS', 'PARENT', 'STANDING', 'LEFT'], rows)
}

/** Shows one delegation, and what it hangs from. */
export async function runShow(terminal: Terminal, options: GatewayOptions, which = ''): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const id = await delegationOf(connection, which)
    const found = await ask<ShownDelegation & { readonly lineage: readonly ShownLink[] }>(
      connection,
      `/v1/delegations/${id}`,
    )
    terminal.data(found, () => describe(found, found.lineage))
    return 0
  })
}

function describe(each: ShownDelegation, lineage: readonly ShownLink[]): string {
  return pairs([
    ['delegation', each.id],
    ['from', shown(each.delegator)],
    ['to', shown(each.delegate)],
    ['tools', each.tools.map(shown).join(', ')],
    ['effects', each.effects?.join(', ') ?? 'any'],
    ['session', each.session === null ? 'any' : shown(each.session)],
    ['until', moment(each.until)],
    ['below it', `${each.depth} further delegations may hang`],
    ['standing', each.standing],
    ['receipt', each.receipt],
    ...lineageRows(lineage),
  ])
}

/** A chain in lines: in whose name, and through whom. */
export function lineageRows(lineage: readonly ShownLink[]): readonly (readonly [string, string])[] {
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

/** Takes a delegation back. */
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
    terminal.say(`the delegation ${id.slice(0, 8)} is revoked, and with it all that hang below it`)
    return 0
  })
}

/** The delegation that is meant, by its id or the beginning of it. */
export async function delegationOf(connection: Connection, which: string): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(which)) return which
  if (!/^[0-9a-f]{8,63}$/.test(which)) {
    throw new UsageError(
      `\`${which.slice(0, 80)}\` is no id of a delegation`,
      'give at least 8 characters of one that `tollgate delegations list` shows',
    )
  }
  const { delegations } = await listOn(connection)
  const [found, another] = delegations.filter(({ id }) => id.startsWith(which))
  if (found && !another) return found.id
  throw new CommandError(
    found ? `more than one delegation begins with \`${which}\`` : `no delegation begins with \`${which}\``,
    '`tollgate delegations list` shows them',
  )
}
