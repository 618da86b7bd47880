// Allowed calls without a reported effect: closing them is bounded work, and their memory is freed.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parseJson, type JsonObject } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { closeAllExpired, type Batch, type Store } from '../../src/index.ts'
import { closeExpired } from '../../src/road/closing.ts'
import { activatePolicy } from '../../src/admin.ts'
import { createRig, policyOf, type Rig } from '../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: standard } }
tools: { "notes/read": { effect: read, destinations: none } }
rules: [{ id: all, allow: "notes/read" }]
gates:
  trust: {}
`

/** Returns a rig that records the number of effects in each batch. */
async function counted(): Promise<{ rig: Rig; effects: number[] }> {
  const effects: number[] = []
  const between = (store: Store): Store => ({
    head: () => store.head(),
    load: (names) => store.load(names),
    list: (prefix, of) => store.list(prefix, of),
    write: (batch: Batch) => {
      effects.push(batch.entries.filter(({ encoded }) => encoded.receipt.kind === 'effect').length)
      return store.write(batch)
    },
  })
  return { rig: await createRig({ policy: POLICY, between }), effects }
}

const advised = (rig: Rig, i: number): ReturnType<Rig['authorize']> =>
  rig.authorize({
    caller: { tenant: 'default', principal: 'agent:a' },
    door: 'http',
    assurance: 'advised',
    tool: 'notes/read',
    args: {},
    session_id: `s${i % 50}`,
  })

async function open(rig: Rig, count: number): Promise<void> {
  const asked = await Promise.all(Array.from({ length: count }, (_, i) => advised(rig, i)))
  expect(asked.every(({ decided }) => decided.verdict === 'ALLOW')).toBe(true)
}

const lost = (rig: Rig): number =>
  rig.receipts().filter((receipt) => receipt.kind === 'effect' && receipt.cause === 'lost').length

describe('calls without a report', () => {
  it('are closed a hundred per batch, even with many concurrent calls', async () => {
    const { rig, effects } = await counted()
    await open(rig, 500)
    rig.host.advance(120_000)
    effects.length = 0
    await open(rig, 64)
    expect(Math.max(...effects)).toBeLessThanOrEqual(100)
    expect(lost(rig)).toBeGreaterThan(0)
  })

  it('are all closed without any traffic, in bounded batches', async () => {
    const { rig, effects } = await counted()
    await open(rig, 1200)
    rig.host.advance(120_000)
    effects.length = 0
    await closeAllExpired(rig.kernel)
    expect(rig.kernel.openings.size).toBe(0)
    expect(rig.kernel.openings.all()).toEqual([])
    expect(lost(rig)).toBe(1200)
    expect(Math.max(...effects)).toBeLessThanOrEqual(1000)
    expect([...rig.store.records.keys()].filter((name) => name.startsWith('open\n'))).toEqual([])
  })

  it('decrease under a steady load: more are closed than opened', async () => {
    const { rig } = await counted()
    await open(rig, 1200)
    rig.host.advance(120_000)
    for (let i = 0; i < 6; i++) await open(rig, 300)
    // All expired calls are closed; only newer ones are open.
    expect(lost(rig)).toBe(1200)
    expect(rig.kernel.openings.size).toBe(1800)
  })

  it('are closed by one call at a time; other calls do not wait', async () => {
    const { rig } = await counted()
    await open(rig, 150)
    rig.host.advance(120_000)
    const first = closeExpired(rig.kernel)
    const before = rig.kernel.openings.size
    await closeExpired(rig.kernel)
    expect(rig.kernel.openings.size).toBe(before)
    await first
    await closeAllExpired(rig.kernel)
    expect(rig.kernel.openings.size).toBe(0)
  })

  it('keep only their names in memory, not the request', async () => {
    setFlagsFromString('--expose-gc')
    // Safe cast: the flag adds this function.
    const collect = runInNewContext('gc') as () => void
    const { rig } = await counted()
    const padding = 'x'.repeat(1 << 18)
    const used = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    await open(rig, 1)
    const before = used()
    for (let i = 0; i < 200; i++) {
      const body = `{"session":"a session with a name ${i % 3}","padding":"${padding}${i}"}`
      const { session } = parseJson(body) as JsonObject
      await rig.authorize({
        caller: { tenant: 'default', principal: 'agent:a' },
        door: 'http',
        assurance: 'advised',
        tool: 'notes/read',
        args: {},
        session_id: session,
      })
    }
    expect(rig.kernel.openings.size).toBe(201)
    // The bodies alone are 50 MiB.
    expect(used() - before).toBeLessThan(16 << 20)
  })

  it('wait longer for a person at a client, also after a restart', async () => {
    const policy = POLICY.replace('allow: "notes/read"', 'require: "notes/read", answer: client')
    const rig = await createRig({ policy })
    const prompted = await rig.authorize({
      ...{ caller: { tenant: 'default', principal: 'agent:a' }, door: 'hook', assurance: 'advised' },
      ...{ prompting: true, tool: 'notes/read', session_id: 's1' },
    })
    expect(prompted.decided.reason).toBe('ASKED_IN_CLIENT')
    await activatePolicy(rig.kernel, policyOf(POLICY), 'user:olga')
    await advised(rig, 2)
    await rig.reopen()
    rig.host.advance(61_000)
    await closeAllExpired(rig.kernel)
    expect(lost(rig)).toBe(1)
    rig.host.advance(840_000)
    await closeAllExpired(rig.kernel)
    expect(lost(rig)).toBe(2)
  })
})
