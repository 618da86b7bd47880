// Several gateways on one PostgreSQL ledger: each has a data directory, a key and a chain of its own.

import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { authorize, complete, type Authorization, type ToolCall } from '@tollgate/kernel'
import type { Config } from '../../src/config/config.ts'
import { joinLedger } from '../../src/join.ts'
import { createKey, openKeyring } from '../../src/keyring.ts'
import { silent } from '../../src/log.ts'
import { foundLedger, openGateway, type Gateway } from '../../src/open.ts'
import type { DatabasePlace } from '../../src/store/postgres/session.ts'
import { configFor, newFolder } from '../gateway-rig.ts'

/** A gateway of a fleet, open or not. */
export interface Member {
  readonly config: Config
  open(): Promise<Gateway>
}

let urls = 0

/** Creates a ledger in this place, and as many gateways. */
export async function createFleet(
  place: DatabasePlace,
  names: readonly string[],
): Promise<readonly Member[]> {
  const folder = newFolder()
  const [first = '', ...others] = names
  const config = configOf(folder, place, first)
  mkdirSync(config.data, { mode: 0o700 })
  const keyring = { keys: [await createKey(config.data, 'ledger'), await createKey(config.data, 'writer')] }
  await foundLedger(config, keyring)
  const members = [memberOf(config)]
  // Founding the first gateway also makes the key for kept calls.
  await (await memberOf(config).open()).close()
  for (const name of others) {
    const own = configOf(folder, place, name)
    mkdirSync(join(own.data, 'keys'), { mode: 0o700, recursive: true })
    for (const { file, role } of (await openKeyring(config)).keys)
      if (role === 'ledger') cpSync(file, join(own.data, 'keys', file.slice(file.lastIndexOf('/') + 1)))
    await joinLedger(own)
    members.push(memberOf(own))
  }
  return members
}

/** The same gateway on another address of the database, such as that of a proxy. */
export function through(member: Member, url: string): Member {
  const { database } = member.config
  const urlEnv = variableFor(url)
  return memberOf({ ...member.config, ...(database && { database: { ...database, urlEnv } }) })
}

function memberOf(config: Config): Member {
  return {
    config,
    open: async () => openGateway(config, await openKeyring(config), silent, { brief: true }),
  }
}

function configOf(folder: string, place: DatabasePlace, writer: string): Config {
  const config = configFor(join(folder, writer), join(folder, `${writer}-heads`))
  const database = { urlEnv: variableFor(place.url), schema: place.schema, writer }
  return { ...config, writer, database, keep: { ...config.keep, keyFile: join(folder, 'seal.key') } }
}

function variableFor(url: string): string {
  const name = `TOLLGATE_TEST_DATABASE_${urls++}`
  process.env[name] = url
  return name
}

const CALLER = { tenant: 'default', principal: 'agent:a' }

/** Asks one gateway for a call that it would run itself. */
export function ask(
  { kernel }: Gateway,
  tool: string,
  session: string = 's1',
  more: Partial<ToolCall> = {},
): Promise<Authorization> {
  return authorize(kernel, {
    caller: CALLER,
    door: 'mcp',
    assurance: 'enforced',
    tool,
    args: {},
    session_id: session,
    ...more,
  })
}

/** Asks, and records an effect if the call was allowed. Returns the ids of the receipts that were acknowledged. */
export async function run(gateway: Gateway, tool: string, session: string): Promise<readonly string[]> {
  const { decided, permit } = await ask(gateway, tool, session)
  const ids = decided.receipt === undefined ? [] : [decided.receipt]
  if (!permit) return ids
  return [...ids, await complete(gateway.kernel, permit, { status: 'COMPLETED', output: new Uint8Array() })]
}
