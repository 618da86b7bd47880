// A ledger that moves from its file into a database, and a database that moves back in time.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setFreeze } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createData } from '../../src/cli/setup/create.ts'
import { readConfig } from '../../src/config/config.ts'
import { migrateLedger } from '../../src/migrate.ts'
import { openKeyring } from '../../src/keyring.ts'
import { silent } from '../../src/log.ts'
import { fsckLedger, openGateway, openView } from '../../src/open.ts'
import type { Config } from '../../src/config/config.ts'
import { activate, ask as askAdvised, createSite, newFolder, report } from '../gateway-rig.ts'
import { startServer, type TestServer } from '../store/postgres/server.ts'
import { ask, createFleet, run, through } from './rig.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

async function envelopesIn(config: Config): Promise<readonly string[]> {
  const { view, close } = await openView(config)
  const envelopes = await view.envelopes(0, 1000)
  await close()
  return envelopes.map((each) => Buffer.from(each).toString())
}

test('a migrated ledger has every byte, every proof and all state, and continues in the database', async () => {
  const site = await createSite()
  const { config } = site
  writeFileSync(join(config.data, 'tollgate.yaml'), `tollgate: 1\nledger: ${config.ledger}\n`, {
    mode: 0o600,
  })
  const before = await site.open()
  await activate(before)
  const { decided } = await askAdvised(before, 'notes/write')
  await report(before, decided.receipt ?? '')
  const waiting = await askAdvised(before, 'mail/send')
  const checkpoint = await before.checkpoint()
  await before.close()
  const envelopes = await envelopesIn(config)

  process.env.TOLLGATE_TEST_MIGRATE = server.place().url
  const { size } = await migrateLedger(config, 'TOLLGATE_TEST_MIGRATE', () => undefined)
  expect(size).toBe(envelopes.length)
  expect(existsSync(join(config.data, 'ledger.sqlite'))).toBe(false)
  const read = readConfig(config.data)
  const moved = { ...config, ...(read.database && { database: read.database }) }
  expect(await envelopesIn(moved)).toEqual(envelopes)
  expect(await fsckLedger(moved, () => undefined)).toMatchObject({ ok: true, verified: size })

  const after = await openGateway(moved, await openKeyring(moved), silent, { brief: true })
  const [, written = '', root = ''] = checkpoint.split('\n')
  expect(Buffer.from(await after.view.rootAt(Number(written))).toString('base64')).toBe(root)
  // The request that waited still waits, and the session continues.
  expect((await askAdvised(after, 'mail/send')).decided.approval).toBe(waiting.decided.approval)
  expect((await askAdvised(after, 'notes/write')).decided.verdict).toBe('ALLOW')
  await after.close()
  expect(await fsckLedger(moved, () => undefined)).toMatchObject({ ok: true, problems: [] })
  await expect(migrateLedger(moved, 'TOLLGATE_TEST_MIGRATE', () => undefined)).rejects.toMatchObject({
    code: 'DATA_EXISTS',
  })
})

test('a ledger is not moved into a database that has one, and stays as it was', async () => {
  const { config } = await createSite()
  process.env.TOLLGATE_TEST_MIGRATE = server.place().url
  const file = readFileSync(join(config.data, 'ledger.sqlite'))
  await expect(migrateLedger(config, 'TOLLGATE_TEST_MIGRATE', () => undefined)).rejects.toMatchObject({
    code: 'DATA_EXISTS',
  })
  expect(readFileSync(join(config.data, 'ledger.sqlite')).equals(file)).toBe(true)
})

test('a database that was restored to an earlier time is refused', async () => {
  const place = server.place()
  const [member] = await createFleet(place, ['gw-a'])
  if (!member) throw new Error('no gateway')
  await server.query('CREATE DATABASE earlier TEMPLATE postgres')
  const gateway = await member.open()
  await activate(gateway)
  await run(gateway, 'notes/write', 's')
  await gateway.close()
  const restored = through(member, place.url.replace(/postgres$/, 'earlier'))
  await expect(restored.open()).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
  const again = await member.open()
  expect((await ask(again, 'notes/write')).decided.verdict).toBe('ALLOW')
  await again.close()
})

test('a database that cannot be used leaves no data directory behind', async () => {
  process.env.TOLLGATE_TEST_AWAY = 'postgres://tollgate@127.0.0.1:1/postgres'
  const data = join(newFolder(), 'data')
  for (const urlEnv of ['TOLLGATE_TEST_AWAY', 'TOLLGATE_TEST_NOT_SET']) {
    await expect(createData(data, { urlEnv }, () => undefined)).rejects.toThrow()
    expect(existsSync(data)).toBe(false)
  }
})

const TAMPERING: readonly (readonly [what: string, sql: string])[] = [
  ['changes an entry', "UPDATE entries SET kind = 'effect' WHERE idx = 1"],
  ['removes an entry', 'DELETE FROM entries WHERE idx = 1'],
  ['empties the entries', 'TRUNCATE entries CASCADE'],
  ['shortens the ledger', 'UPDATE head SET size = 1'],
  ['removes the head', 'DELETE FROM head'],
  ['puts back an old checkpoint', 'UPDATE checkpoint SET size = 0'],
]

test.each(TAMPERING)('the owner of the tables is refused if it %s', async (_, sql) => {
  const [{ schema } = { schema: '' }] = (await server.query(
    "SELECT schemaname AS schema FROM pg_tables WHERE tablename = 'entries' LIMIT 1",
  )) as readonly { readonly schema: string }[]
  await expect(server.query(`SET search_path = ${schema}; ${sql}`)).rejects.toThrow(/never|permission denied/)
})

const ANCHORS: readonly (readonly [what: string, sql: string])[] = [
  ['lifts a freeze', "UPDATE anchors SET idx = idx - 2 WHERE name LIKE 'freeze%'"],
  ['removes a freeze', "DELETE FROM anchors WHERE name LIKE 'freeze%'"],
  ['puts back an older policy', "UPDATE anchors SET idx = idx - 1 WHERE name LIKE 'policy%'"],
  ['invents a token', "INSERT INTO anchors VALUES ('token' || chr(10) || 'x', 1)"],
]

test.each(ANCHORS)('a gateway does not start if a person with the tables %s', async (_, sql) => {
  const place = server.place()
  const [member] = await createFleet(place, ['gw-a'])
  if (!member) throw new Error('no gateway')
  const gateway = await member.open()
  await activate(gateway)
  await setFreeze(gateway.kernel, { scope: 'all', frozen: false, by: 'user:olga' })
  await run(gateway, 'notes/write', 's')
  await setFreeze(gateway.kernel, { scope: 'all', frozen: true, by: 'user:olga' })
  await gateway.close()
  await (await member.open()).close()
  await server.query(`SET search_path = ${place.schema}; ${sql}`)
  await expect(member.open()).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' })
})
