import { sha256Hex, type Decision, type Effect } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import {
  authorize,
  complete,
  createMemoryStore,
  openKernel,
  reportEffect,
  type EffectReport,
  type Order,
  type Permit,
  type ToolAnswer,
  type ToolCall,
} from '../../src/index.ts'
import { definitionOf, pinTool } from '../../src/admin.ts'
import { createHost, createRig, fixedKey, ORIGIN, WRITER, type Rig } from '../rig.ts'

const POLICY = `
tools:
  "fs/*": { effect: read }
  "mail/send": { effect: send, destinations: [to] }
  "vault/get": { effect: read, commit: salted }
rules:
  - { id: no-env, deny: "fs/*", when: 'has(args.path) && args.path.endsWith(".env")', because: secrets stay here }
  - { id: reading, allow: ["fs/*", "vault/get"] }
  - { id: mail, require: "mail/send" }
gates:
  egress: { allow: ["example.com"] }
`
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const COMPLETED: ToolAnswer = { status: 'COMPLETED', output: bytes('done') }

function rigWith(options: Parameters<typeof createRig>[0] = {}): Promise<Rig> {
  return createRig({ policy: POLICY, ...options })
}

function effects(rig: Rig): readonly Effect[] {
  return rig.receipts().filter((receipt): receipt is Effect => receipt.kind === 'effect')
}

/** Checks that the whole ledger verifies. */
async function checkLedger(rig: Rig): Promise<void> {
  const { level, findings } = await rig.verify()
  expect({ level, findings }).toEqual({ level: 'verified', findings: [] })
}

describe('the pipeline', () => {
  it('runs an allowed call once, between its decision and its effect', async () => {
    const rig = await rigWith()
    const seen: { order: Order; last: string | undefined }[] = []
    const { decided, effect } = await rig.enforce({ args: { path: 'a.txt' } }, (order) => {
      seen.push({ order, last: rig.store.entries.at(-1)?.id })
      return Promise.resolve(COMPLETED)
    })
    expect(decided).toMatchObject({
      verdict: 'ALLOW',
      reason: 'RULE_ALLOWED',
      rung: 'policy',
      rule: 'reading',
    })
    // The decision was durable when the tool ran.
    expect(seen).toEqual([
      {
        order: {
          tool: 'fs/read_file',
          args: '{"path":"a.txt"}',
          value: { path: 'a.txt' },
          receipt: decided.receipt,
        },
        last: decided.receipt,
      },
    ])
    expect(rig.last('effect')).toMatchObject({
      decision: decided.receipt,
      status: 'COMPLETED',
      reported_by: 'gateway',
    })
    expect(effect?.receipt).toBe(rig.store.entries.at(-1)?.id)
    await checkLedger(rig)
  })

  it('runs no call that is denied or escalated', async () => {
    const rig = await rigWith()
    let runs = 0
    const dispatch = (): Promise<ToolAnswer> => {
      runs++
      return Promise.resolve(COMPLETED)
    }
    const denied = await rig.enforce({ args: { path: '.env' } }, dispatch)
    expect(denied.decided).toMatchObject({
      verdict: 'DENY',
      reason: 'POLICY_VIOLATION',
      rule: 'no-env',
      detail: 'secrets stay here',
    })
    const asked = await rig.enforce({ tool: 'mail/send', args: { to: 'a@example.com' } }, dispatch)
    expect(asked.decided).toMatchObject({ verdict: 'ESCALATE', reason: 'APPROVAL_REQUIRED' })
    expect([denied.effect, asked.effect, runs]).toEqual([undefined, undefined, 0])
    await checkLedger(rig)
  })

  it('gives the tool the captured arguments, even if the caller changes its object later', async () => {
    const rig = await rigWith()
    const args = { path: 'a.txt', deep: { list: [1, 2] } }
    const pending = rig.enforce({ args }, ({ args: given }) => {
      expect(given).toBe('{"deep":{"list":[1,2]},"path":"a.txt"}')
      return Promise.resolve(COMPLETED)
    })
    args.path = '.env'
    args.deep.list.push(3)
    expect((await pending).decided.verdict).toBe('ALLOW')
    expect(effects(rig)).toHaveLength(1)
  })

  it('reads a changing object once: the hashed arguments are the ones that run', async () => {
    const rig = await rigWith()
    let reads = 0
    const shifty = Object.defineProperty({}, 'path', {
      enumerable: true,
      get: () => (reads++ === 0 ? 'a.txt' : '.env'),
    })
    const { decided } = await rig.enforce({ args: shifty }, ({ args }) => {
      expect(args).toBe('{"path":"a.txt"}')
      return Promise.resolve(COMPLETED)
    })
    expect([decided.verdict, reads]).toEqual(['ALLOW', 1])
  })

  it('denies ambiguous arguments, with a receipt for the received bytes', async () => {
    const rig = await rigWith()
    for (const raw of ['{"path":"a","path":".env"}', '{"n":1e999}', '{', '{"a":"\ud800"}', 'nul']) {
      const { decided } = await rig.enforce({ raw })
      expect(decided, raw).toMatchObject({ verdict: 'DENY', reason: 'AMBIGUOUS_INPUT', rung: 'capture' })
      expect(rig.last('decision'), raw).toMatchObject({ commit: 'raw', tool: 'fs/read_file' })
    }
    for (const raw of [null, 7, {}] as unknown[]) {
      expect((await rig.enforce({ raw: raw as string })).decided.reason).toBe('AMBIGUOUS_INPUT')
    }
    const telling = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw Object.assign(new Error('hunter2'), { code: 'hunter2' })
      },
    })
    expect(JSON.stringify(await rig.enforce({ args: telling }))).not.toContain('hunter2')
    for (const args of [new Date(0), () => 1, { n: NaN }, { s: '\udfff' }, new Map()]) {
      expect((await rig.enforce({ args })).decided.reason).toBe('AMBIGUOUS_INPUT')
    }
    await checkLedger(rig)
  })

  it('denies calls with unreadable names, and still writes a receipt', async () => {
    const rig = await rigWith()
    const odd = [undefined, 7, '', 'x'.repeat(257), 'a\nb', '\ud800', {}, []]
    for (const tool of odd) {
      expect((await rig.enforce({ tool })).decided.reason).toBe('AMBIGUOUS_INPUT')
      expect(rig.last('decision').tool).toBe('(unreadable)')
    }
    for (const session_id of odd.slice(1)) {
      expect((await rig.enforce({ session_id })).decided.reason).toBe('AMBIGUOUS_INPUT')
    }
    expect((await rig.enforce({ args: {}, raw: '{}' })).decided.reason).toBe('AMBIGUOUS_INPUT')
    await checkLedger(rig)
  })

  it('denies a call that throws when it is read, without a receipt', async () => {
    const rig = await rigWith()
    const odd = Object.defineProperty(rig.call(), 'tool', {
      get: () => {
        throw new Error('hunter2')
      },
    })
    expect((await authorize(rig.kernel, odd)).decided).toMatchObject({
      verdict: 'DENY',
      reason: 'AMBIGUOUS_INPUT',
      receipt: undefined,
    })
  })

  it('denies everything without a policy', async () => {
    const rig = await createRig()
    expect((await rig.enforce()).decided).toMatchObject({
      verdict: 'DENY',
      reason: 'NO_POLICY_DEFINED',
      rung: 'policy',
    })
    await checkLedger(rig)
  })
})

describe('a permit', () => {
  it('cannot be forged, neither in types nor at run time', async () => {
    const rig = await rigWith()
    const { decided, permit } = await rig.authorize()
    // @ts-expect-error A permit has a mark that only `enforce.ts` can set.
    const forged: Permit = { intent: permit?.intent, receipt: decided.receipt }
    await expect(complete(rig.kernel, forged, { status: 'CANCELLED' })).rejects.toMatchObject({
      code: 'PERMIT_INVALID',
    })
    const copied = { ...(permit as Permit) }
    await expect(complete(rig.kernel, copied, { status: 'CANCELLED' })).rejects.toMatchObject({
      code: 'PERMIT_INVALID',
    })
    expect(effects(rig)).toEqual([])
  })

  it('is spent once', async () => {
    const rig = await rigWith()
    const { permit } = await rig.authorize()
    const live = permit as Permit
    await complete(rig.kernel, live, COMPLETED)
    await expect(complete(rig.kernel, live, COMPLETED)).rejects.toMatchObject({ code: 'PERMIT_INVALID' })
    expect(effects(rig)).toHaveLength(1)
    await checkLedger(rig)
  })

  it('comes only with an ALLOW', async () => {
    const rig = await rigWith()
    expect((await rig.authorize()).permit).toBeDefined()
    expect((await rig.authorize({ args: { path: '.env' } })).permit).toBeUndefined()
    expect((await rig.authorize({ tool: 'mail/send', args: { to: 'a@example.com' } })).permit).toBeUndefined()
  })

  it('may be returned before anything was dispatched: CANCELLED', async () => {
    const rig = await rigWith()
    const { permit } = await rig.authorize()
    await complete(rig.kernel, permit as Permit, { status: 'CANCELLED' })
    expect(rig.last('effect')).toMatchObject({ status: 'CANCELLED' })
    await checkLedger(rig)
  })
})

describe('a permit of another kernel', () => {
  it('is refused without side effects', async () => {
    const [one, other] = [await rigWith(), await rigWith()]
    const { permit } = await one.authorize()
    await expect(complete(other.kernel, permit as Permit, COMPLETED)).rejects.toMatchObject({
      code: 'PERMIT_INVALID',
    })
    expect(other.kernel.ledger.poisoned).toBeUndefined()
    await complete(one.kernel, permit as Permit, COMPLETED)
  })
})

describe('an effect', () => {
  it('is read once from the tool answer', async () => {
    const rig = await rigWith()
    let looks = 0
    const shifty = { output: bytes('done'), status: 'COMPLETED' } as ToolAnswer
    Object.defineProperty(shifty, 'status', { get: () => (looks++ === 0 ? 'COMPLETED' : 'CANCELLED') })
    await rig.enforce({}, () => Promise.resolve(shifty))
    expect([rig.last('effect').status, looks]).toEqual(['COMPLETED', 1])
  })

  it('that arrives exactly at the timeout is late, and poisons nothing', async () => {
    const rig = await rigWith({ kernel: { patience: 5_000 } })
    let answer: (value: ToolAnswer) => void = () => undefined
    const pending = rig.enforce({}, () => new Promise((resolve) => (answer = resolve)))
    await untilTimers(rig, 1)
    rig.host.advance(5_000)
    answer(COMPLETED)
    expect((await pending).effect?.outcome).toEqual({ status: 'UNKNOWN', cause: 'timeout' })
    await until(() => effects(rig).length === 2)
    expect(rig.kernel.ledger.poisoned).toBeUndefined()
    await checkLedger(rig)
  })

  it('is FAILED if the tool reports a failure', async () => {
    const rig = await rigWith()
    await rig.enforce({}, () => Promise.resolve({ status: 'FAILED', output: bytes('no such file') }))
    expect(rig.last('effect')).toMatchObject({ status: 'FAILED' })
    await checkLedger(rig)
  })

  it('is UNKNOWN if the tool throws or returns garbage', async () => {
    const rig = await rigWith()
    const garbage: unknown[] = [
      undefined,
      null,
      'done',
      {},
      { status: 'COMPLETED' },
      { status: 'COMPLETED', output: 'text' },
      { status: 'CANCELLED', output: bytes('') },
      { status: 'COMPLETED', output: bytes(''), delivery: 'half' },
    ]
    const answers = [
      () => Promise.reject(new Error('connection reset')),
      () => {
        throw new Error('at once')
      },
      ...garbage.map((answer) => () => Promise.resolve(answer as ToolAnswer)),
    ]
    for (const answer of answers) {
      const { effect } = await rig.enforce({}, answer)
      expect(effect?.outcome).toEqual({ status: 'UNKNOWN', cause: 'lost' })
      expect(rig.last('effect')).toMatchObject({ status: 'UNKNOWN', cause: 'lost' })
    }
    expect(rig.kernel.ledger.poisoned).toBeUndefined()
    await checkLedger(rig)
  })

  it('is UNKNOWN if the tool times out, and a later answer is late', async () => {
    const rig = await rigWith({ kernel: { patience: 5_000 } })
    let answer: (value: ToolAnswer) => void = () => undefined
    const pending = rig.enforce({}, () => new Promise((resolve) => (answer = resolve)))
    await untilTimers(rig, 1)
    rig.host.advance(5_000)
    expect((await pending).effect?.outcome).toEqual({ status: 'UNKNOWN', cause: 'timeout' })
    answer(COMPLETED)
    await until(() => effects(rig).length === 2)
    expect(effects(rig).map(({ status, late }) => [status, late])).toEqual([
      ['UNKNOWN', undefined],
      ['COMPLETED', true],
    ])
    expect(rig.host.timers).toBe(0)
    await checkLedger(rig)
  })

  it('has the SHA-256 of the output, or a salted hash if the tool declares it', async () => {
    const rig = await rigWith()
    await rig.enforce({}, () => Promise.resolve(COMPLETED))
    expect(rig.last('effect')).toMatchObject({
      commit: 'plain',
      effect_hash: 'a4c3ed04a95a3da14a9d235c83d868bed7c0f45cf7f3faa751ee8f50598d2211',
    })
    await rig.enforce({ tool: 'vault/get', args: { name: 'pin' } }, () => Promise.resolve(COMPLETED))
    expect([rig.last('decision').commit, rig.last('effect').commit]).toEqual(['salted', 'salted'])
    const salts = [...rig.store.records.keys()].filter((name) => name.startsWith('salt\n'))
    expect(salts).toHaveLength(2)
    await checkLedger(rig)
  })
})

describe('an advised call', () => {
  const advised: Partial<ToolCall> = { assurance: 'advised', door: 'http' }
  const caller = { tenant: 'default', principal: 'agent:ci' }

  async function allowed(rig: Rig): Promise<string> {
    const { decided } = await rig.authorize(advised)
    expect(decided).toMatchObject({
      verdict: 'ALLOW',
      expires: new Date(rig.host.time + 60_000).toISOString(),
    })
    return decided.receipt ?? ''
  }
  const report = (rig: Rig, decision: string, as = caller): Promise<unknown> =>
    reportEffect(rig.kernel, { caller: as, decision, status: 'COMPLETED', output: bytes('done') })

  it('is reported by its own principal, once', async () => {
    const rig = await rigWith()
    const decision = await allowed(rig)
    for (const as of [
      { tenant: 'default', principal: 'agent:other' },
      { tenant: 'other', principal: 'agent:ci' },
    ])
      await expect(report(rig, decision, as)).rejects.toMatchObject({ code: 'EFFECT_REFUSED' })
    await report(rig, decision)
    await expect(report(rig, decision)).rejects.toMatchObject({ code: 'EFFECT_REFUSED' })
    expect(effects(rig)).toMatchObject([{ decision, status: 'COMPLETED', reported_by: 'caller' }])
    await checkLedger(rig)
  })

  it('is recorded once, even with concurrent reports', async () => {
    const rig = await rigWith()
    const decision = await allowed(rig)
    const results = await Promise.allSettled([1, 2, 3, 4].map(() => report(rig, decision)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(effects(rig)).toHaveLength(1)
  })

  it('closes UNKNOWN after a minute, and one late report may follow', async () => {
    const rig = await rigWith()
    const decision = await allowed(rig)
    rig.host.advance(60_001)
    const late = await Promise.allSettled([
      report(rig, decision),
      report(rig, decision),
      report(rig, decision),
    ])
    expect(late.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(effects(rig).map(({ status, cause, late: isLate }) => [status, cause, isLate])).toEqual([
      ['UNKNOWN', 'lost', undefined],
      ['COMPLETED', undefined, true],
    ])
    await checkLedger(rig)
  })

  it('closes UNKNOWN with the next call', async () => {
    const rig = await rigWith()
    const decision = await allowed(rig)
    rig.host.advance(60_001)
    await rig.enforce()
    expect(effects(rig)[0]).toMatchObject({ decision, status: 'UNKNOWN', cause: 'lost' })
    await checkLedger(rig)
  })

  it('gets no permit, and cannot be enforced', async () => {
    const rig = await rigWith()
    expect((await rig.authorize(advised)).permit).toBeUndefined()
    await expect(rig.enforce(advised)).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it('is late an hour later, also if many are', async () => {
    const rig = await rigWith()
    const ids: string[] = []
    for (let i = 0; i < 150; i++) ids.push(await allowed(rig))
    rig.host.advance(3_600_000)
    await report(rig, ids[149] ?? '')
    expect(effects(rig).findLast(({ decision }) => decision === ids[149])).toMatchObject({ late: true })
    await checkLedger(rig)
  })

  it('refuses malformed reports, which leave nothing in memory', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { maxRemembered: 10 } })
    const decision = await allowed(rig)
    const odd = { caller, decision, status: 'CANCELLED', output: 'text' } as unknown as EffectReport
    await expect(reportEffect(rig.kernel, odd)).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    for (let i = 0; i < 50; i++) {
      await expect(report(rig, sha256Hex(String(i)))).rejects.toMatchObject({ code: 'EFFECT_REFUSED' })
      await expect(report(rig, 'x'.repeat(2000))).rejects.toMatchObject({ code: 'EFFECT_REFUSED' })
    }
    expect(rig.kernel.ledger.remembered).toBeLessThanOrEqual(12)
    await report(rig, decision)
  })

  it('cannot be reported if it is enforced, unknown, or was never allowed', async () => {
    const rig = await rigWith()
    const { decided: enforced } = await rig.authorize()
    const { decided: denied } = await rig.authorize({ ...advised, args: { path: '.env' } })
    for (const id of [enforced.receipt, denied.receipt, 'ab'.repeat(32), '', '../x']) {
      await expect(report(rig, id ?? '')).rejects.toMatchObject({ code: 'EFFECT_REFUSED' })
    }
    expect(effects(rig)).toEqual([])
  })

  it('stays open after a restart while it may still be reported', async () => {
    const rig = await rigWith()
    const decision = await allowed(rig)
    await rig.reopen()
    await report(rig, decision)
    expect(effects(rig)).toMatchObject([{ decision, status: 'COMPLETED' }])
    await checkLedger(rig)
  })
})

describe('a store', () => {
  it('without a ledger, or with a different one, is not opened', async () => {
    const keys = [await fixedKey('ledger'), await fixedKey('writer')]
    const options = { host: createHost(), origin: ORIGIN, writer: WRITER, key: keys[1]?.publicKey.id ?? '' }
    const empty = openKernel({ ...options, store: createMemoryStore(keys) })
    await expect(empty).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    const { store } = await rigWith()
    const other = openKernel({ ...options, store, origin: 'other.example/ledger' })
    await expect(other).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  })

  it('that was created as salted stays salted', async () => {
    const rig = await rigWith({ kernel: { commit: 'salted' } })
    const kernel = await openKernel({
      store: rig.store,
      host: rig.host,
      origin: ORIGIN,
      writer: WRITER,
      key: (await fixedKey('writer')).publicKey.id,
    })
    expect(kernel.commit).toBe('salted')
  })

  it('with a damaged record is not opened', async () => {
    const rig = await rigWith()
    await rig.authorize()
    const records = rig.store.records as Map<string, string>
    const name = [...records.keys()].find((each) => each.startsWith('open\n')) ?? ''
    records.set(name, '{')
    await expect(rig.reopen()).rejects.toMatchObject({ code: 'STATE_MALFORMED' })
  })
})

describe('a restart', () => {
  it('closes open calls as UNKNOWN, with a recovery receipt that counts them', async () => {
    const rig = await rigWith()
    await rig.authorize()
    await rig.authorize()
    await rig.reopen()
    expect(effects(rig).map(({ status, cause }) => [status, cause])).toEqual([
      ['UNKNOWN', 'crash'],
      ['UNKNOWN', 'crash'],
    ])
    expect(rig.last('recovery')).toMatchObject({ closed: 2 })
    await rig.reopen()
    expect(rig.receipts().filter(({ kind }) => kind === 'recovery')).toHaveLength(1)
    await checkLedger(rig)
  })

  it('denies calls of a tool whose pinned definition is lost or changed', async () => {
    for (const spoil of [undefined, '{"inputSchema":{"type":"object","additionalProperties":true}}']) {
      const rig = await rigWith()
      const definition = definitionOf({
        inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
      })
      rig.kernel.catalogue.offer('fs/search', definition)
      await pinTool(rig.kernel, 'fs/search', definition.hash, 'user:olga')
      expect((await rig.authorize({ tool: 'fs/search', args: { path: 'a' } })).decided.verdict).toBe('ALLOW')
      const records = rig.store.records as Map<string, string>
      if (spoil === undefined) records.delete('pin\nfs/search')
      else records.set('pin\nfs/search', spoil)
      await rig.reopen()
      const { decided } = await rig.authorize({ tool: 'fs/search', args: { path: 'a', drop: true } })
      expect(decided).toMatchObject({ verdict: 'DENY', reason: 'SCHEMA_VIOLATION', rung: 'schema' })
    }
  })

  it('keeps policy, sessions and freezes', async () => {
    const rig = await rigWith()
    await rig.enforce()
    await rig.reopen()
    await rig.enforce()
    expect(rig.last('decision')).toMatchObject({ verdict: 'ALLOW', session: { id: 's1', seq: 1 } })
    const [first, second] = rig.receipts().filter((each): each is Decision => each.kind === 'decision')
    expect(second?.state_hash).toBe(first?.next_state_hash)
  })
})

/** Waits until a condition holds, while pending tasks run; fails if it never does. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (holds()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('the condition never held')
}

function untilTimers(rig: Rig, count: number): Promise<void> {
  return until(() => rig.host.timers === count)
}
