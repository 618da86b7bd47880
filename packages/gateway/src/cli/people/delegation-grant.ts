// `tollgate delegations grant`: signs a delegation on this machine and registers it. The key stays on this machine.

import { randomBytes } from 'node:crypto'
import {
  EFFECT_CLASSES,
  EvidenceError,
  signDelegation,
  type DelegationStatement,
  type EffectClass,
  type SigningKey,
} from '@tollgate/evidence'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { withConnection, type Connection } from '../program/connect.ts'
import { readSigningKey } from './delegation-key.ts'
import { delegationOf } from './delegations.ts'
import { moment, shown } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface GrantOptions extends GatewayOptions {
  readonly from: string
  readonly to: string
  readonly tools: readonly string[]
  readonly effects?: readonly string[]
  readonly until: string
  readonly depth: number
  readonly parent?: string
  readonly session?: string
  readonly key: string
}

/** Signs and registers a delegation. */
export async function runGrant(terminal: Terminal, options: GrantOptions): Promise<number> {
  const until = momentOf(options.until, new Date().getTime())
  const effects = options.effects?.map(effectOf)
  requireOne(options)
  const key = await readSigningKey(options.key)
  return withConnection(options, 'write', async (connection) => {
    const statement = await statementOf(connection, options, { until, effects })
    const registered = await register(connection, statement, key)
    terminal.data({ ...registered, until }, registered.delegation)
    const { delegator, delegate, tools } = statement
    const what = tools.map((tool) => `\`${shown(tool)}\``).join(', ')
    terminal.say(
      `\`${shown(delegate)}\` can act for \`${shown(delegator)}\` with ${what} until ${moment(until)}`,
    )
    if (!terminal.json) terminal.say('its calls must name this id as `delegation`')
    return 0
  })
}

/** Builds the statement to sign, with the ledger and tenant of the gateway. */
async function statementOf(
  connection: Connection,
  { from, to, tools, depth, parent, session }: GrantOptions,
  { until, effects }: { readonly until: string; readonly effects: readonly EffectClass[] | undefined },
): Promise<DelegationStatement> {
  const { ledger, tenant } = await ask<{ readonly ledger: string; readonly tenant: string }>(
    connection,
    '/v1/status',
  )
  return {
    v: 1,
    ledger,
    tenant,
    delegator: from,
    delegate: to,
    tools,
    ...(effects && { effects }),
    until,
    depth,
    parent: parent === undefined ? null : await delegationOf(connection, parent),
    ...(session !== undefined && { session }),
    nonce: randomBytes(16).toString('base64url'),
  }
}

interface Registered {
  readonly delegation: string
  readonly receipt: string
}

async function register(
  connection: Connection,
  statement: DelegationStatement,
  key: SigningKey,
): Promise<Registered> {
  try {
    const { envelope } = await signDelegation(statement, key)
    return await ask<Registered>(connection, '/v1/delegations', {
      envelope: Buffer.from(envelope).toString(),
    })
  } catch (fault) {
    if (fault instanceof EvidenceError) throw new UsageError(fault.message)
    throw fault
  }
}

/** Refuses patterns in `--to` and lists in `--tools`, because they would match nothing. */
function requireOne({ to, tools }: GrantOptions): void {
  if (to.includes('*')) {
    throw new UsageError(
      '`--to` must be one principal without `*`',
      'grant one delegation for each principal',
    )
  }
  const several = tools.find((tool) => tool.includes(','))
  if (several === undefined) return
  throw new UsageError(
    `\`--tools ${several.slice(0, 80)}\` contains a comma, which no tool name has`,
    'repeat `--tools` for each pattern',
  )
}

function effectOf(text: string): EffectClass {
  const found = EFFECT_CLASSES.find((each) => each === text)
  if (found) return found
  throw new UsageError(
    `\`${text.slice(0, 40)}\` is not an effect class`,
    `use one of ${EFFECT_CLASSES.join(', ')}`,
  )
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function momentOf(text: string, now: number): string {
  const [, digits, unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(text) ?? []
  const isMoment = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,12}Z$/.test(text)
  const time = isMoment ? Date.parse(text) : now + Number(digits) * (UNITS[unit] ?? NaN)
  if (time > now && time < now + 366 * 86_400_000) return new Date(time).toISOString()
  throw new UsageError(
    `\`--until ${text.slice(0, 40)}\` is not a time in the next year`,
    'for example `2h`, `30d` or `2027-01-05T09:00:00Z`',
  )
}
