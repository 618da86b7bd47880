import { cpSync } from 'node:fs'
import { answerRequest, setFreeze } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openKeyring } from '../../src/keyring.ts'
import { silent } from '../../src/log.ts'
import { fsckLedger, openGateway, type Gateway } from '../../src/open.ts'
import { activate } from '../gateway-rig.ts'
import { startServer, type TestServer } from '../store/postgres/server.ts'
import { ask, createFleet, run, type Member } from './rig.ts'

const POLICY = `
tollgate: 1
name: shared
principals: { "agent:*": { tier: standard } }
tools:
  "notes/read": { effect: read, destinations: none }
  "notes/write": { effect: write, destinations: none }
  "mail/send": { effect: send, destinations: none }
rules:
  - { id: notes, allow: "notes/*" }
  - { id: mail, require: "mail/send", expires: 15m }
gates:
  temporal: { rate: { "notes/write": { session: 3/300day }, "notes/read": { tenant: 40/300day } } }
`

let server: TestServer
let fleet: readonly Member[]
let gateways: readonly Gateway[]
const [a, b] = [() => at(0), () => at(1)]

function at(index: number): Gateway {
  const gateway = gateways[index]
  if (!gateway) throw new Error('no such gateway')
  return gateway
}

beforeAll(async () => {
  server = await startServer()
  fleet = await createFleet(server.place(), ['gw-a', 'gw-b'])
  gateways = await Promise.all(fleet.map((member) => member.open()))
  await activate(a(), POLICY)
})

afterAll(async () => {
  for (const gateway of gateways) await gateway.close()
  await server.stop()
})

/** Resolves when this condition holds, as another gateway learns it without a call. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Keeps the head locked while both gateways decide, so that both decide on the same old state. */
async function whileLocked<T>(start: () => readonly Promise<T>[]): Promise<readonly T[]> {
  const { schema } = fleet[0]?.config.database ?? { schema: '' }
  const lock = await server.hold(`SELECT 1 FROM ${schema}.head FOR UPDATE`)
  const calls = start()
  await lock.untilWaiting(calls.length)
  await lock.release()
  return Promise.all(calls)
}

describe('two gateways on one ledger', () => {
  test('know a policy that the other has activated', async () => {
    expect((await ask(b(), 'notes/read')).decided.verdict).toBe('ALLOW')
  })

  test('never let two calls of one session pass on the same old state', async () => {
    for (const session of ['r1', 'r2', 'r3']) {
      await ask(a(), 'notes/write', session)
      await ask(b(), 'notes/write', session)
      // One call is left in the budget. Both gateways decide that it passes; one of them has to decide again.
      const made = await whileLocked(() => [
        ask(a(), 'notes/write', session),
        ask(b(), 'notes/write', session),
      ])
      expect(made.map(({ decided }) => decided.verdict).sort()).toEqual(['ALLOW', 'DENY'])
    }
  })

  test('allow exactly the number of calls of a limit that sessions share', async () => {
    const calls = Array.from({ length: 60 }, (_, i) => ask(at(i % 2), 'notes/read', `many-${i % 7}`))
    const verdicts = (await Promise.all(calls)).map(({ decided }) => decided.verdict)
    // One was used above.
    expect(verdicts.filter((verdict) => verdict === 'ALLOW')).toHaveLength(39)
  })

  test('spend an approval exactly once', async () => {
    const { decided } = await ask(a(), 'mail/send', 'mail')
    const order = { tenant: 'default', request: decided.approval ?? '', granted: true, approver: 'user:olga' }
    await until(() => b().kernel.approvals.find({ id: order.request }) !== undefined)
    await answerRequest(b().kernel, order)
    const uses = await whileLocked(() => [ask(a(), 'mail/send', 'mail'), ask(b(), 'mail/send', 'mail')])
    expect(uses.map(({ decided: { verdict } }) => verdict).sort()).toEqual(['ALLOW', 'ESCALATE'])
  })

  test('obey a freeze that the other has acknowledged', async () => {
    await setFreeze(a().kernel, { scope: 'all', frozen: true, by: 'user:olga' })
    expect((await ask(b(), 'notes/read', 'frozen')).decided.reason).toBe('SYSTEM_FROZEN')
    await setFreeze(b().kernel, { scope: 'all', frozen: false, by: 'user:olga' })
    expect((await ask(a(), 'notes/write', 'thawed')).decided.verdict).toBe('ALLOW')
  })

  test('learn a freeze and a token without a call', async () => {
    await setFreeze(a().kernel, { scope: 'tool', target: 'notes/write', frozen: true, by: 'user:olga' })
    await until(() => b().kernel.freezes.any)
    await setFreeze(a().kernel, { scope: 'tool', target: 'notes/write', frozen: false, by: 'user:olga' })
    await until(() => !b().kernel.freezes.any)
    const { token, info } = await a().tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:a' },
      'user:olga',
    )
    await until(() => b().tokens.identify(token) !== undefined)
    await b().tokens.revoke(info.hash, 'user:olga')
    await until(() => a().tokens.identify(token) === undefined)
  })

  test('do not close the open calls of a gateway that still runs them', async () => {
    const { permit, decided } = await ask(a(), 'notes/write', 'open')
    const again = fleet[1]
    await b().close()
    const reopened = await again?.open()
    gateways = [a(), ...(reopened ? [reopened] : [])]
    expect(permit).toBeDefined()
    expect(b().kernel.openings.get(decided.receipt ?? '')).toBeDefined()
  })

  test('keep a second gateway with the same key out', async () => {
    const config = fleet[0]?.config
    if (!config) throw new Error('no fleet')
    const copy = { ...config, data: `${config.data}-copy` }
    cpSync(config.data, copy.data, { recursive: true })
    await expect(openGateway(copy, await openKeyring(copy), silent, { brief: true })).rejects.toMatchObject({
      code: 'LEDGER_LOCKED',
    })
    expect((await ask(a(), 'notes/write', 'still')).decided.verdict).toBe('ALLOW')
  })

  test('leave a ledger that fsck finds intact, with one chain for each writer', async () => {
    await run(a(), 'notes/write', 'last')
    await run(b(), 'notes/write', 'last')
    for (const gateway of gateways) await gateway.close()
    gateways = []
    const config = fleet[1]?.config
    if (!config) throw new Error('no fleet')
    const report = await fsckLedger(config, () => undefined)
    expect(report).toMatchObject({ ok: true, problems: [] })
    expect(report.verified).toBe(report.entries)
  })
})
