// `tollgate sessions show`: what is remembered of a session, and in whose name it acts.

import type { GatewayOptions } from '../commands.ts'
import { ask, queryOf } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { lineageRows, type ShownLink } from './delegations.ts'
import type { ReceiptPage } from '../receipts/receipts.ts'
import { moment, pairs, shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface ShownSession {
  readonly id: string
  readonly principal: string
  readonly decisions: number
  readonly broken: boolean
  readonly source: boolean
  readonly recent_denials: number
  readonly labels: readonly string[]
  readonly elevated: { readonly tier: string; readonly until: string } | null
  readonly trust: string | null
  readonly risk: { readonly turns: number; readonly trajectory_risk_score: string }
  readonly lineage: readonly ShownLink[]
  readonly last: { readonly receipt: string; readonly time: string }
}

interface SessionShowOptions extends GatewayOptions {
  readonly principal?: string
}

/** Shows a session. */
export async function runShow(terminal: Terminal, options: SessionShowOptions, id = ''): Promise<number> {
  return withConnection(options, 'read', async (connection) => {
    const principal = options.principal ?? (await ownerOf(connection, id))
    const query = queryOf({ principal }).toString()
    const session = await ask<ShownSession>(connection, `/v1/sessions/${encodeURIComponent(id)}?${query}`)
    terminal.data(session, () => format(session))
    if (session.broken) {
      terminal.warn(
        'its record was lost or changed, and no side effect passes in it any more',
        'let the agent begin another session, and run `tollgate fsck`',
      )
    }
    return 0
  })
}

/** Whose session it is, by the newest decisions in it. */
export async function ownerOf(connection: Connection, session: string): Promise<string> {
  const query = queryOf({ session, kind: 'decision', limit: 100 }).toString()
  const { receipts } = await ask<ReceiptPage>(connection, `/v1/receipts?${query}`)
  const names = new Set(
    receipts.flatMap(({ receipt }) => (receipt.kind === 'decision' ? [receipt.principal] : [])),
  )
  const [name, another] = names
  if (name !== undefined && another === undefined) return name
  if (name === undefined)
    throw new CommandError(
      'no decision of this session is among the newest',
      'say whose it is with `--principal NAME`',
    )
  throw new UsageError(
    'more than one principal has a session of this name',
    `say whose with \`--principal\`: ${[...names].map((each) => `\`${shown(each)}\``).join(', ')}`,
  )
}

function format(session: ShownSession): string {
  const { id, principal, decisions, risk, labels, elevated, trust, lineage, last } = session
  return pairs([
    ['session', `${shown(id)} of ${shown(principal)}`],
    ['decisions', `${decisions}, the newest ${last.receipt.slice(0, 8)} at ${moment(last.time)}`],
    ['risk', riskOf(session, risk)],
    ['data read', labels.length === 0 ? 'no class that the policy follows' : labels.map(shown).join(', ')],
    ['tier', elevated ? `raised to ${elevated.tier} until ${moment(elevated.until)}` : 'not raised'],
    ['trust', trust === null ? 'the policy does not ask' : `${pointsOf(trust)} of 1000`],
    ...(lineage.length === 0 ? [['acts for', 'itself'] as const] : lineageRows(lineage)),
  ])
}

function riskOf(
  { source, recent_denials: denials }: ShownSession,
  { turns, trajectory_risk_score: score }: ShownSession['risk'],
): string {
  const facts = [
    `${score} over ${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    ...(source ? ['something sensitive was read'] : []),
    ...(denials > 0 ? [`${denials} denied in a row`] : []),
  ]
  return facts.join('; ')
}

/** Trust in whole points. */
export function pointsOf(trust: string): string {
  return trust.split('.', 1)[0] ?? trust
}
