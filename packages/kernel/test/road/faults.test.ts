// Fault injection: after any failure a call is denied or the ledger is poisoned. A tool never runs unrecorded.

import { describe, expect, it } from 'vitest'
import type { Effect } from '@tollgate/evidence'
import {
  complete,
  LADDER,
  type Batch,
  type Kernel,
  type MemoryStore,
  type Permit,
  type Store,
  type ToolAnswer,
} from '../../src/index.ts'
import { setFreeze } from '../../src/admin.ts'
import { createRig, type Rig } from '../rig.ts'

const POLICY = `
tools: { "fs/*": { effect: read } }
rules: [{ id: reading, allow: "fs/*" }]
`
const COMPLETED: ToolAnswer = { status: 'COMPLETED', output: new Uint8Array([1]) }

/** A store whose write number `at` (counted from the first after the policy) fails, before or after it is done. */
interface Breakable {
  fail: 'before' | 'after' | 'load' | undefined
  /** Delays every write until it is called. */
  hold: boolean
  release: () => void
  writes: Batch[]
}

async function breakable(): Promise<{ rig: Rig; store: Breakable }> {
  const control: Breakable = { fail: undefined, hold: false, release: () => undefined, writes: [] }
  const between = (inner: MemoryStore): Store => ({
    ...inner,
    async write(batch) {
      if (control.hold) await new Promise<void>((resolve) => (control.release = resolve))
      if (control.fail === 'before') throw new Error('disk full')
      await inner.write(batch)
      control.writes.push(batch)
      if (control.fail === 'after') throw new Error('connection lost at commit')
    },
    load: (names) => (control.fail === 'load' ? Promise.reject(new Error('cannot read')) : inner.load(names)),
  })
  return { rig: await createRig({ policy: POLICY, between }), store: control }
}

const DENIED = { verdict: 'DENY', reason: 'LEDGER_UNAVAILABLE', receipt: undefined }

/** Checks that every call is denied and no tool runs. */
async function checkPoisoned(rig: Rig): Promise<void> {
  expect(rig.kernel.ledger.poisoned).toBeDefined()
  let ran = false
  const { decided } = await rig.enforce({}, () => {
    ran = true
    return Promise.resolve(COMPLETED)
  })
  expect(decided).toMatchObject(DENIED)
  expect(ran).toBe(false)
  await expect(setFreeze(rig.kernel, { scope: 'all', frozen: true, by: 'user:olga' })).rejects.toMatchObject({
    code: 'LEDGER_POISONED',
  })
}

describe('every gate', () => {
  for (const { name } of LADDER) {
    it(`${name}: denies under its own name if it throws`, async () => {
      const { rig } = await breakable()
      rig.kernel = withBroken(rig.kernel, name)
      const { decided, effect } = await rig.enforce()
      expect(decided).toMatchObject({ verdict: 'DENY', reason: 'GATE_FAILED', rung: name })
      expect(effect).toBeUndefined()
      expect(rig.last('decision')).toMatchObject({ reason_code: 'GATE_FAILED', rung: name })
      expect(rig.kernel.ledger.poisoned).toBeUndefined()
    })
  }

  it('does not reveal its error, which may contain argument values', async () => {
    const { rig } = await breakable()
    rig.kernel = withBroken(rig.kernel, 'egress')
    const { decided } = await rig.enforce({ args: { path: 'hunter2' } })
    expect(JSON.stringify([decided, rig.receipts()])).not.toContain('hunter2')
  })

  function withBroken(kernel: Kernel, name: string): Kernel {
    const check = (): never => {
      throw new Error('hunter2')
    }
    return { ...kernel, ladder: LADDER.map((rung) => (rung.name === name ? { ...rung, check } : rung)) }
  }
})

describe('the store', () => {
  for (const fail of ['before', 'after'] as const) {
    it(`fails ${fail} a decision is written: the call and every later one are denied`, async () => {
      const { rig, store } = await breakable()
      store.fail = fail
      let ran = false
      const { decided } = await rig.enforce({}, () => {
        ran = true
        return Promise.resolve(COMPLETED)
      })
      expect(decided).toMatchObject(DENIED)
      expect(ran).toBe(false)
      store.fail = undefined
      await checkPoisoned(rig)
      // The stored state decides: a persisted decision is closed as UNKNOWN, a lost one never existed.
      await rig.reopen()
      const effects = rig.receipts().filter((receipt): receipt is Effect => receipt.kind === 'effect')
      expect(effects.map(({ status, cause }) => [status, cause])).toEqual(
        fail === 'after' ? [['UNKNOWN', 'crash']] : [],
      )
      expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
      expect((await rig.verify()).findings).toEqual([])
    })

    it(`fails ${fail} an effect is written: the caller gets no result, and every later call is denied`, async () => {
      const { rig, store } = await breakable()
      const call = rig.enforce({}, () => {
        store.fail = fail
        return Promise.resolve(COMPLETED)
      })
      await expect(call).rejects.toMatchObject({ code: 'EFFECT_UNRECORDED' })
      store.fail = undefined
      await checkPoisoned(rig)
      await rig.reopen()
      const effects = rig.receipts().filter((receipt): receipt is Effect => receipt.kind === 'effect')
      expect(effects.map(({ status }) => status)).toEqual([fail === 'after' ? 'COMPLETED' : 'UNKNOWN'])
      expect((await rig.verify()).findings).toEqual([])
    })
  }

  it('fails while other calls wait: all are denied', async () => {
    const { rig, store } = await breakable()
    store.hold = true
    const first = rig.enforce({ session_id: 'a' })
    await give()
    const others = ['b', 'c', 'd'].map((session_id) => rig.enforce({ session_id }))
    await give()
    store.fail = 'before'
    store.release()
    for (const { decided } of await Promise.all([first, ...others])) expect(decided).toMatchObject(DENIED)
    store.hold = false
    store.fail = undefined
    await checkPoisoned(rig)
  })

  it('fails to read a session: the call and every later one are denied', async () => {
    const { rig, store } = await breakable()
    store.fail = 'load'
    expect((await rig.enforce({ session_id: 'never seen' })).decided).toMatchObject(DENIED)
    store.fail = undefined
    await checkPoisoned(rig)
  })

  it('returns too few records: the call and every later one are denied', async () => {
    let short = false
    const rig = await createRig({
      policy: POLICY,
      between: (inner) => ({ ...inner, load: (names) => (short ? Promise.resolve([]) : inner.load(names)) }),
    })
    short = true
    expect((await rig.enforce()).decided).toMatchObject(DENIED)
    await checkPoisoned(rig)
  })

  it('fails a read while a decision is being written: that call does not run either', async () => {
    const { rig, store } = await breakable()
    store.hold = true
    let ran = false
    const call = rig.enforce({ session_id: 'a' }, () => {
      ran = true
      return Promise.resolve(COMPLETED)
    })
    await give()
    store.fail = 'load'
    expect((await rig.enforce({ session_id: 'never seen' })).decided).toMatchObject(DENIED)
    store.fail = undefined
    store.hold = false
    store.release()
    expect((await call).decided).toMatchObject(DENIED)
    expect(ran).toBe(false)
    // It is stored, and the next start closes it as UNKNOWN.
    await rig.reopen()
    expect(rig.last('effect')).toMatchObject({ status: 'UNKNOWN', cause: 'crash' })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('fails a read while a decision is being written: that decision gives no permit', async () => {
    const { rig, store } = await breakable()
    store.hold = true
    const call = rig.authorize({ session_id: 'a' })
    await give()
    store.fail = 'load'
    await rig.authorize({ session_id: 'never seen' })
    store.fail = undefined
    store.hold = false
    store.release()
    const { decided, permit } = await call
    expect(decided).toMatchObject(DENIED)
    expect(permit).toBeUndefined()
  })

  it('is poisoned at any moment between a durable decision and its tool: the tool never starts after that', async () => {
    const started: (string | undefined)[] = []
    for (let steps = 0; steps < 12; steps++) {
      let armed = false
      const rig: Rig = await createRig({
        policy: POLICY,
        between: (inner) => ({
          ...inner,
          async write(batch) {
            await inner.write(batch)
            if (!armed) return
            armed = false
            void after(steps, () => rig.kernel.ledger.poison(new Error('another effect was lost')))
          },
        }),
      })
      armed = true
      const call = rig.enforce({}, () => {
        started.push(rig.kernel.ledger.poisoned)
        return Promise.resolve(COMPLETED)
      })
      await call.catch((fault: unknown) => expect(fault).toMatchObject({ code: 'EFFECT_UNRECORDED' }))
    }
    expect(started.filter((poisoned) => poisoned !== undefined)).toEqual([])
    // Some were poisoned too late; otherwise nothing was tried in between.
    expect(started.length).toBeGreaterThan(0)
    expect(started.length).toBeLessThan(12)
  })

  it('hangs: the call waits, and no tool runs meanwhile', async () => {
    const { rig, store } = await breakable()
    store.hold = true
    let ran = false
    const call = rig.enforce({}, () => {
      ran = true
      return Promise.resolve(COMPLETED)
    })
    await give()
    expect(ran).toBe(false)
    store.hold = false
    store.release()
    expect((await call).decided.verdict).toBe('ALLOW')
    expect(ran).toBe(true)
  })
})

describe('a faulty host application', () => {
  it('turns the clock back: ledger time does not decrease', async () => {
    const { rig } = await breakable()
    await rig.enforce()
    const before = rig.last('decision').time
    rig.host.time -= 86_400_000
    await rig.enforce()
    expect(rig.last('decision').time).toBe(before)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('has no clock: every call is denied, and nothing is written', async () => {
    const { rig } = await breakable()
    const size = rig.store.entries.length
    rig.host.time = NaN
    expect((await rig.enforce()).decided).toMatchObject({ verdict: 'DENY', receipt: undefined })
    expect(rig.store.entries).toHaveLength(size)
  })

  it('has a salt of the wrong length: the call is denied', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { commit: 'salted' } })
    rig.host.salt = () => new Uint8Array(31)
    expect((await rig.enforce()).decided).toMatchObject({ verdict: 'DENY', receipt: undefined })
    rig.host.salt = () => new Uint8Array(32)
    expect((await rig.enforce()).decided).toMatchObject({ verdict: 'ALLOW' })
    expect((await rig.verify()).findings).toEqual([])
  })
})

describe('concurrent calls', () => {
  const RATE = `
tools: { "fs/*": { effect: read } }
rules: [{ id: reading, allow: "fs/*" }]
gates: { temporal: { rate: { "fs/*": 100/h } } }
`

  it('500 calls of one session have consecutive numbers, and the rate is exact', async () => {
    const rig = await createRig({ policy: RATE })
    const all = await Promise.all(Array.from({ length: 500 }, () => rig.enforce()))
    expect(all.filter(({ decided }) => decided.verdict === 'ALLOW')).toHaveLength(100)
    const seqs = decisions(rig).map(({ session }) => session.seq)
    expect(seqs).toEqual(Array.from({ length: 500 }, (_, i) => i))
    expect((await rig.verify()).findings).toEqual([])
  })

  it('500 calls over 50 sessions have consecutive numbers per session, and linked states', async () => {
    const rig = await createRig({ policy: POLICY })
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        rig.enforce({
          session_id: `s${i % 50}`,
          caller: { tenant: 'default', principal: `agent:${i % 50}` },
        }),
      ),
    )
    for (let s = 0; s < 50; s++) {
      const own = decisions(rig).filter(({ session }) => session.id === `s${s}`)
      expect(own.map(({ session }) => session.seq)).toEqual(Array.from({ length: 10 }, (_, i) => i))
      own.slice(1).forEach(({ state_hash }, i) => expect(state_hash).toBe(own[i]?.next_state_hash))
    }
    expect((await rig.verify()).findings).toEqual([])
  })

  it('calls get their records, even if many are evicted while they wait', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { maxRemembered: 1 } })
    for (let round = 0; round < 5; round++) {
      const all = await Promise.all(
        Array.from({ length: 40 }, (_, i) => rig.enforce({ session_id: `s${i}` })),
      )
      expect(all.filter(({ decided }) => decided.verdict !== 'ALLOW')).toEqual([])
    }
    const seqs = decisions(rig).map(({ session }) => `${session.id} ${session.seq}`)
    expect(new Set(seqs).size).toBe(200)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('all waiting receipts are written in one batch', async () => {
    const { rig, store } = await breakable()
    store.writes.length = 0
    await Promise.all(Array.from({ length: 200 }, () => rig.authorize()))
    expect(store.writes.map(({ entries }) => entries.length)).toEqual([200])
  })

  it('a decision that is not durable yet counts for later ones', async () => {
    const rig = await createRig({ policy: RATE.replace('100/h', '1/h') })
    const [first, second] = await Promise.all([rig.authorize(), rig.authorize()])
    expect([first.decided.verdict, second.decided.reason]).toEqual(['ALLOW', 'RATE_EXCEEDED'])
  })

  it('no permit exists before its decision is durable', async () => {
    const { rig, store } = await breakable()
    store.hold = true
    let permit: Permit | undefined
    const pending = rig.authorize().then((authorization) => (permit = authorization.permit))
    await give()
    expect(permit).toBeUndefined()
    store.hold = false
    store.release()
    await pending
    expect(permit).toBeDefined()
    await complete(rig.kernel, permit as unknown as Permit, COMPLETED)
  })

  it('calls above the limit are denied without a receipt; effects and freezes are still accepted', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { maxWaiting: 10 } })
    const { permit } = await rig.authorize()
    const calls = Array.from({ length: 30 }, () => rig.authorize())
    const reserved = [
      complete(rig.kernel, permit as Permit, COMPLETED),
      setFreeze(rig.kernel, { scope: 'tool', target: 'x', frozen: true, by: 'user:olga' }),
    ]
    const all = await Promise.all(calls)
    await Promise.all(reserved)
    expect(all.filter(({ decided }) => decided.verdict === 'ALLOW')).toHaveLength(10)
    expect(all.filter(({ decided }) => decided.reason === 'LEDGER_UNAVAILABLE')).toHaveLength(20)
    expect(rig.kernel.ledger.poisoned).toBeUndefined()
  })
})

describe('a flood', () => {
  const quota = { calls: 5, period: 3_600_000 }

  it('freezes the principal, and its further denials are counted in one receipt', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    const deny = (): ReturnType<Rig['enforce']> => rig.enforce({ tool: 'no/such' })
    for (let i = 0; i < 5; i++) expect((await deny()).decided.reason).toBe('DENY_TOOL_NOT_FOUND')
    expect(rig.last('freeze')).toMatchObject({
      scope: 'principal',
      target: 'agent:ci',
      by: 'tollgate',
      frozen: true,
    })
    const size = rig.store.entries.length
    for (let i = 0; i < 40; i++) {
      expect((await deny()).decided).toMatchObject({ reason: 'QUOTA_EXCEEDED', receipt: undefined })
    }
    expect((await rig.enforce()).decided.reason).toBe('QUOTA_EXCEEDED')
    expect(rig.store.entries).toHaveLength(size)
    // Other principals are not affected.
    const other = { caller: { tenant: 'default', principal: 'agent:other' } }
    expect((await rig.enforce(other)).decided.verdict).toBe('ALLOW')
    const lift = { scope: 'principal', target: 'agent:ci', frozen: false, by: 'user:olga' } as const
    await setFreeze(rig.kernel, lift)
    expect(rig.last('freeze')).toMatchObject({ frozen: false, denials: 41 })
    expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
    expect((await rig.verify()).findings).toEqual([])
  })

  it('of concurrent calls in new sessions writes no more than the same calls in sequence', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => rig.enforce({ tool: 'no/such', session_id: `new ${i}` })),
    )
    const kinds = rig.receipts().map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'decision')).toHaveLength(5)
    expect(kinds.filter((kind) => kind === 'freeze')).toHaveLength(1)
  })

  it('guard cannot be impersonated, and does not confuse a tool with a principal', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    const order = { scope: 'tool', target: 'agent:ci', by: 'tollgate' } as const
    await expect(setFreeze(rig.kernel, { ...order, frozen: true })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
    expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
  })

  it('with credentials of no principal is counted, too', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    const anonymous = { caller: { tenant: 'default', principal: undefined } }
    for (let i = 0; i < 5; i++) expect((await rig.enforce(anonymous)).decided.reason).toBe('IDENTITY_MISSING')
    const size = rig.store.envelopes.length
    expect((await rig.enforce(anonymous)).decided).toMatchObject({
      reason: 'QUOTA_EXCEEDED',
      receipt: undefined,
    })
    expect(rig.store.envelopes).toHaveLength(size)
    expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
  })

  it('while everything is frozen is counted, and freezes no principal permanently', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    await setFreeze(rig.kernel, { scope: 'all', frozen: true, by: 'user:olga' })
    for (let i = 0; i < 5; i++) expect((await rig.enforce()).decided.receipt).toBeDefined()
    for (let i = 0; i < 7; i++) {
      expect((await rig.enforce()).decided).toMatchObject({ reason: 'SYSTEM_FROZEN', receipt: undefined })
    }
    await setFreeze(rig.kernel, { scope: 'all', frozen: false, by: 'user:olga' })
    expect(rig.last('freeze')).toMatchObject({ scope: 'all', frozen: false, denials: 7 })
    expect((await rig.enforce()).decided.verdict).toBe('ALLOW')
    expect((await rig.verify()).findings).toEqual([])
  })

  it('of repeated requests for the same call ends like one of denials', async () => {
    const policy = 'tools: { "fs/*": { effect: read } }\nrules: [{ id: ask, require: "fs/*" }]'
    const rig = await createRig({ policy, kernel: { quota } })
    for (let i = 0; i < 6; i++) expect((await rig.enforce()).decided.verdict).toBe('ESCALATE')
    expect((await rig.enforce()).decided.reason).toBe('QUOTA_EXCEEDED')
  })

  it('is answered after a pause; other principals are answered at once', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota, floodPause: 25 } })
    for (let i = 0; i < 5; i++) await rig.enforce({ tool: 'no/such' })
    let answered = false
    const refused = rig.enforce({ tool: 'no/such' }).then((result) => {
      answered = true
      return result
    })
    const other = { caller: { tenant: 'default', principal: 'agent:other' } }
    expect((await rig.enforce(other)).decided.verdict).toBe('ALLOW')
    rig.host.advance(24)
    await after(20, () => undefined)
    expect(answered).toBe(false)
    rig.host.advance(1)
    expect((await refused).decided.reason).toBe('QUOTA_EXCEEDED')
  })

  it('stays frozen after a restart', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { quota } })
    for (let i = 0; i < 5 + 9; i++) await rig.enforce({ tool: 'no/such' })
    await rig.reopen()
    expect((await rig.enforce()).decided.reason).toBe('QUOTA_EXCEEDED')
    await setFreeze(rig.kernel, { scope: 'principal', target: 'agent:ci', frozen: false, by: 'user:olga' })
    // A crash may lose the last part of the count, never most of it: it is stored at 1, 2, 4, 8, …
    expect(rig.last('freeze')).toMatchObject({ frozen: false, denials: 9 })
  })
})

function decisions(
  rig: Rig,
): readonly { session: { id: string; seq: number }; state_hash: string; next_state_hash: string }[] {
  return rig.receipts().filter((receipt) => receipt.kind === 'decision')
}

/** Runs a function a number of microtasks later. */
async function after(steps: number, run: () => void): Promise<void> {
  for (let i = 0; i < steps; i++) await Promise.resolve()
  run()
}

/** Lets pending tasks run. */
async function give(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
}
