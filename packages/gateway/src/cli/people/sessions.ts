// `tollgate sessions show`: shows the state of a session and its delegations.

import type { LineageLink } from '../../api/lineage.ts'
import type { GatewayOptions } from '../commands.ts'
import { ask, queryOf } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { lineageRows } from './delegations.ts'
import { pointsOf } from '../receipts/detail.ts'
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
  readonly lineage: readonly LineageLink[]
  readonly last: { readonly receipt: string; readonly time: string }
}

interface SessionShowOptions extends GatewayOptions {
  readonly principal?: string
}

/** Shows a session. */
export async function runShow(terminal: Terminal, options: SessionShowOptions, id = ''): Promise<number> {
  return withConnection(options, 'memory', async (connection) => {
    const principal = options.principal ?? (await ownerOf(connection, id))
    const query = queryOf({ principal }).toString()
    const session = await ask<ShownSession>(connection, `/v1/sessions/${encodeURIComponent(id)}?${query}`)
    terminal.data(session, () => format(session))
    if (session.broken) {
      terminal.warn(
        'the record of this session was lost or changed, so its side effects are denied',
        'let the agent start another session, and run `tollgate fsck`',
      )
    }
    return 0
  })
}

/** Returns the principal of a session, from its newest decisions. @throws if it is unknown or ambiguous. */
export async function ownerOf(connection: Connection, session: string): Promise<string> {
  const query = queryOf({ session, kind: 'decision', limit: 100 }).toString()
  const { receipts } = await ask<ReceiptPage>(connection, `/v1/receipts?${query}`)
  const names = new Set(
    receipts.flatMap(({ receipt }) => (receipt.kind === 'decision' ? [receipt.principal] : [])),
  )
  const [name, another] = names
  if (name !== undefined && another === undefined) return name
  if (name === undefined)
    throw new CommandError('the principal of this session is unknown', 'give it with `--principal NAME`')
  throw new UsageError(
    'more than one principal has a session with this id',
    `choose one with \`--principal\`: ${[...names].map((each) => `\`${shown(each)}\``).join(', ')}`,
  )
}

function format(session: ShownSession): string {
  const { id, principal, decisions, risk, labels, elevated, trust, lineage, last } = session
  return pairs([
    ['session', `${shown(id)} of ${shown(principal)}`],
    ['decisions', `${decisions}, newest ${last.receipt.slice(0, 8)} at ${moment(last.time)}`],
    ['risk', riskOf(session, risk)],
    ['data read', labels.length === 0 ? 'no labelled data' : labels.map(shown).join(', ')],
    ['tier', elevated ? `elevated to ${elevated.tier} until ${moment(elevated.until)}` : 'not elevated'],
    ['trust', trust === null ? 'not used by the policy' : `${pointsOf(trust)} of 1000`],
    ...(lineage.length === 0 ? [['acts for', 'itself'] as const] : lineageRows(lineage)),
  ])
}

function riskOf(
  { source, recent_denials: denials }: ShownSession,
  { turns, trajectory_risk_score: score }: ShownSession['risk'],
): string {
  const facts = [
    `${score} over ${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    ...(source ? ['sensitive data was read'] : []),
    ...(denials > 0 ? [`${denials} denied in a row`] : []),
  ]
  return facts.join('; ')
}
