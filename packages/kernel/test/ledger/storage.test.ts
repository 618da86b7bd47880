// The daily storage limit: a principal over it is denied until the next day, others are not, and every effect is recorded.

import { describe, expect, it } from 'vitest'
import type { Receipt } from '@tollgate/evidence'
import { createReplay, foresee } from '../../src/workbench.ts'
import { EFFECT_RESERVE, STORAGE } from '../../src/ledger/storage.ts'
import { endStorageDays, type ToolCall } from '../../src/index.ts'
import { parseScope } from '../../src/detection.ts'
import { setFreeze, setScope } from '../../src/admin.ts'
import { createRig, type Rig } from '../rig.ts'
import { keptName } from '../../src/road/kept.ts'

const POLICY = `
tools: { "fs/*": { effect: read } }
rules: [{ id: reading, allow: "fs/*" }]
`
const DAY = 86_400_000
const CI = 'agent:ci'
const NAME = `${STORAGE}default\n${CI}`
const OTHER = { caller: { tenant: 'default', principal: 'agent:other' } }

const rigWith = (storage: number | null, more = {}): Promise<Rig> =>
  createRig({ policy: POLICY, kernel: { storage, ...more } })

function ofKind<K extends Receipt['kind']>(rig: Rig, kind: K): Extract<Receipt, { kind: K }>[] {
  return rig.receipts().filter((each): each is Extract<Receipt, { kind: K }> => each.kind === kind)
}

/** Sends calls until one is denied, and returns the number of the others. */
async function fill(rig: Rig, fields: Partial<ToolCall> = {}): Promise<number> {
  for (let passed = 0; passed < 1000; passed++) {
    const { decided } = await rig.enforce(fields)
    if (decided.reason === 'STORAGE_QUOTA_EXCEEDED') return passed
  }
  throw new Error('the limit was never reached')
}

/** Returns the smallest storage limit that allows a number of such calls. */
async function leastFor(calls: number): Promise<number> {
  let [low, high] = [0, calls * (EFFECT_RESERVE + 8192)]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await fill(await rigWith(middle))) >= calls) high = middle
    else low = middle
  }
  return high
}

describe('a principal at its storage limit', () => {
  it('is denied at exactly the limit, and not before', async () => {
    const least = await leastFor(5)
    expect(await fill(await rigWith(least - 1))).toBe(4)
    const rig = await rigWith(least)
    expect(await fill(rig)).toBe(5)
    expect(rig.last('decision')).toMatchObject({
      verdict: 'DENY',
      reason_code: 'STORAGE_QUOTA_EXCEEDED',
      rung: 'freeze',
    })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('gets a receipt for the first denial, and one with the count of the others after the day', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    const size = rig.store.entries.length
    for (let i = 0; i < 40; i++) {
      const { decided } = await rig.enforce({ session_id: `new ${i}`, tool: i % 2 ? 'fs/x' : 'no/such' })
      expect(decided).toMatchObject({ reason: 'STORAGE_QUOTA_EXCEEDED', rung: 'freeze', receipt: undefined })
    }
    expect(rig.store.entries).toHaveLength(size)
    rig.host.advance(DAY)
    expect((await rig.enforce()).decided).toMatchObject({ verdict: 'ALLOW' })
    expect(ofKind(rig, 'quota')).toMatchObject([
      { of: 'storage', tenant: 'default', principal: CI, day: '2026-01-05', denials: 40 },
    ])
    expect((await rig.verify()).findings).toEqual([])
  })

  it('gets the count even if it sends no more calls, and its record is removed', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    await rig.enforce()
    await endStorageDays(rig.kernel)
    expect(ofKind(rig, 'quota')).toEqual([])
    rig.host.advance(DAY)
    await endStorageDays(rig.kernel)
    await endStorageDays(rig.kernel)
    expect(ofKind(rig, 'quota')).toMatchObject([{ day: '2026-01-05', denials: 1 }])
    expect(rig.store.records.has(NAME)).toBe(false)
  })

  it('gets no receipt for a day without counted denials', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    rig.host.advance(DAY)
    await rig.enforce()
    expect(ofKind(rig, 'quota')).toEqual([])
  })

  it('does not affect other principals, or the same name in another tenant', async () => {
    const rig = await createRig({ policy: POLICY, tenants: ['default', 'acme'], kernel: { storage: 10_000 } })
    await fill(rig)
    expect((await rig.enforce(OTHER)).decided.verdict).toBe('ALLOW')
    const acme = { caller: { tenant: 'acme', principal: CI } }
    expect((await rig.enforce(acme)).decided.verdict).toBe('ALLOW')
  })

  it.each([
    ['is denied', { tool: 'no/such' }],
    ['cannot be read', { args: '{"a":1,"a":2}' }],
    ['is frozen', { tool: 'fs/frozen' }],
  ])('is denied even if every call %s', async (_, fields) => {
    const rig = await rigWith(20_000)
    await setFreeze(rig.kernel, { scope: 'tool', target: 'fs/frozen', frozen: true, by: 'user:olga' })
    expect(await fill(rig, fields)).toBeGreaterThan(2)
    const size = rig.store.entries.length
    await rig.enforce(fields)
    expect(rig.store.entries).toHaveLength(size)
  })

  it('still gets the effects of its allowed calls recorded', async () => {
    const rig = await rigWith(5 * EFFECT_RESERVE)
    const release: (() => void)[] = []
    const wait = (): Promise<void> => new Promise((resolve) => release.push(resolve))
    const ran = Array.from({ length: 20 }, () =>
      rig.enforce({}, async () => {
        await wait()
        return { status: 'COMPLETED', output: new Uint8Array([1]) }
      }),
    )
    const first = rig.enforce()
    expect((await first).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
    const open = release.length
    expect(open).toBeGreaterThan(2)
    for (const each of release) each()
    const done = await Promise.all(ran)
    expect(done.filter(({ effect }) => effect !== undefined)).toHaveLength(open)
    expect(ofKind(rig, 'effect').filter(({ status }) => status === 'COMPLETED')).toHaveLength(open)
    // An unused reserve does not allow new calls before the day ends.
    expect((await rig.enforce()).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
    expect((await rig.verify()).findings).toEqual([])
  })

  it('stores no more with a hundred concurrent calls than in sequence', async () => {
    const storage = 40 * EFFECT_RESERVE
    const rig = await rigWith(storage)
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, i) => rig.enforce({ session_id: `new ${i}` })),
    )
    const passed = all.filter(({ decided }) => decided.verdict === 'ALLOW')
    expect(passed.length).toBeGreaterThan(20)
    expect(passed.length).toBeLessThanOrEqual(40)
    expect(all.filter(({ decided }) => decided.receipt === undefined)).toHaveLength(100 - passed.length - 1)
    const payloads = rig.store.envelopes.reduce((sum, { length }) => sum + length, 0)
    expect(payloads).toBeLessThan(storage)
  })

  it('stays denied after a restart, with the count', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    for (let i = 0; i < 9; i++) await rig.enforce()
    await rig.reopen()
    expect((await rig.enforce()).decided).toMatchObject({
      reason: 'STORAGE_QUOTA_EXCEEDED',
      receipt: undefined,
    })
    rig.host.advance(DAY)
    await rig.enforce()
    // Stored at 1, 2, 4, 8: a crash loses less than half.
    expect(rig.last('quota')).toMatchObject({ denials: 9 })
  })

  it('is reset by an operator, with the number of denials in the receipt', async () => {
    const rig = await rigWith(10_000)
    const passed = await fill(rig)
    for (let i = 0; i < 3; i++) await rig.enforce()
    await setFreeze(rig.kernel, { scope: 'principal', target: CI, frozen: false, by: 'user:olga' })
    expect(rig.last('freeze')).toMatchObject({ frozen: false, denials: 3 })
    expect(await fill(rig)).toBe(passed)
    expect(ofKind(rig, 'quota')).toEqual([])
  })

  it('does not lose trust', async () => {
    const trusting = `${POLICY}gates: { trust: { needs: { send: 600 } } }`
    const rig = await createRig({ policy: trusting, kernel: { storage: 10_000 } })
    await fill(rig)
    expect(rig.last('decision').trust).toBeUndefined()
  })

  it('sees the denial in a preview', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    const { judgement } = await foresee(rig.kernel, rig.call())
    expect(judgement).toMatchObject({ verdict: 'DENY', reason: 'STORAGE_QUOTA_EXCEEDED' })
    expect((await foresee(rig.kernel, rig.call(OTHER))).judgement.verdict).toBe('ALLOW')
  })

  it('cannot have sessions opened by its host application, only by an operator', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    const scope = parseScope({ effects: ['read'], by: 'host' })
    const order = { tenant: 'default', principal: CI, session: 'new', scope, by: 'host:app' }
    await expect(setScope(rig.kernel, { ...order, as: 'host' })).rejects.toMatchObject({
      code: 'SCOPE_REFUSED',
      message: expect.stringContaining('reached its storage limit') as unknown,
    })
    expect((await setScope(rig.kernel, { ...order, as: 'operator' })).receipt).toBeDefined()
  })
})

describe('the sum', () => {
  it('survives a restart, and never decreases', async () => {
    const storage = 300_000
    const once = await fill(await rigWith(storage))
    const rig = await rigWith(storage)
    let passed = 0
    for (; passed < once / 2; passed++) await rig.enforce()
    await rig.reopen()
    passed += await fill(rig)
    expect(passed).toBeLessThanOrEqual(once)
    // At most one step of 64 KiB is added.
    expect(passed).toBeGreaterThan(once / 2)
  })

  it('is the whole limit if its record is damaged', async () => {
    for (const text of ['', 'x', '1', '-1 5', '20458 NaN', '20458 1 x']) {
      const rig = await rigWith(1_000_000)
      await rig.enforce()
      await rig.store.write({
        after: (await rig.store.head())?.id,
        entries: [],
        records: new Map([[NAME, text]]),
      })
      await rig.reopen()
      expect((await rig.enforce()).decided.reason, text).toBe('STORAGE_QUOTA_EXCEEDED')
    }
  })

  it('does not decrease if the clock goes back', async () => {
    const rig = await rigWith(10_000)
    await fill(rig)
    rig.host.advance(-2 * DAY)
    expect((await rig.enforce()).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
  })

  it('charges a question of a server to the server', async () => {
    const rig = await rigWith(10_000)
    const asked = { author: 'server:files' }
    await fill(rig, asked)
    expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
    expect((await rig.enforce(asked)).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
  })

  it('includes sessions opened by a host application', async () => {
    const rig = await rigWith(10_000)
    const scope = parseScope({ effects: ['read'], by: 'host' })
    const order = { tenant: 'default', principal: CI, scope, by: 'host:app', as: 'host' } as const
    const open = async (): Promise<number> => {
      for (let i = 0; ; i++) await setScope(rig.kernel, { ...order, session: `new ${i}` })
    }
    await expect(open()).rejects.toMatchObject({ code: 'SCOPE_REFUSED' })
    expect((await rig.enforce()).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
  })

  it('includes kept calls and the data of results', async () => {
    const args = { text: 'é'.repeat(2000) }
    const plain = await fill(await rigWith(100_000), { args })
    const kept = await fill(await rigWith(100_000, { keep: true }), { args })
    expect(kept).toBeLessThan(plain * 0.7)
  })

  it('includes decisions and effects with their overhead', async () => {
    const rig = await rigWith(100_000)
    await fill(rig)
    const made = [...ofKind(rig, 'decision'), ...ofKind(rig, 'effect')]
    const bytes = made.reduce((sum, receipt) => sum + JSON.stringify(receipt).length + 512, 0)
    expect(bytes).toBeLessThan(100_000)
  })

  it('is not counted or stored without a limit', async () => {
    const rig = await rigWith(null)
    for (let i = 0; i < 50; i++) expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
    expect([...rig.store.records.keys()].filter((name) => name.startsWith(STORAGE))).toEqual([])
  })
})

it('a denial at the storage limit replays identically', async () => {
  const rig = await rigWith(20_000, { keep: true })
  await fill(rig)
  await rig.enforce()
  rig.host.advance(DAY)
  await rig.enforce()
  const replay = createReplay({
    texts: new Map(
      [...rig.store.records].flatMap(([name, text]) =>
        name.startsWith('text\n') ? [[name.slice(5), text]] : [],
      ),
    ),
  })
  const replayed = rig.store.entries.flatMap(({ receipt, id }) => {
    const kept = rig.store.records.get(keptName({ id, clock: receipt.lamport_clock }))
    return replay.take({ id, receipt, kept }) ?? []
  })
  expect(replayed.map(({ skipped, differs }) => [skipped, differs])).toEqual(
    replayed.map(() => [undefined, []]),
  )
  const reasons = replayed.map(({ judged }) => judged?.reason)
  expect(reasons.filter((reason) => reason === 'STORAGE_QUOTA_EXCEEDED')).toHaveLength(1)
  expect(reasons.at(-1)).toBe('RULE_ALLOWED')
})
