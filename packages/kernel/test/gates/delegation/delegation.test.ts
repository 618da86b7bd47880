import { signDelegation, toBase64, type DelegationStatement, type EffectClass } from '@tollgate/evidence'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { registerDelegation, revokeDelegation, type Registration } from '../../../src/admin/delegate.ts'
import { delegationName, takeUpDelegation } from '../../../src/gates/delegation/records.ts'
import {
  chainOf,
  createDelegations,
  isDelegateOnly,
  partiesIn,
  problemOf,
  registered,
  rootDelegator,
  wideningOf,
  type DelegatedCall,
  type RegisteredDelegation,
} from '../../../src/gates/delegation/delegations.ts'
import { delegation } from '../../../src/gates/delegation/gate.ts'
import { activatePolicy, setFreeze } from '../../../src/admin.ts'
import { openKernel, type Decided, type Kernel, type ToolCall } from '../../../src/index.ts'
import { glob } from '../../../src/policy/glob.ts'
import { createRig, fixedKey, ORIGIN, policyOf, START, type Rig } from '../../rig.ts'
import { runs } from '../../../../evidence/test/runs.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (time: number): string => new Date(time).toISOString()

/** Public keys by the name of their principal, in base64. */
const keys = new Map<string, string>()
let POLICY = ''

beforeAll(async () => {
  for (const name of ['planner', 'lead', 'worker', 'other', 'hub', 'rotated', ...chainNames()]) {
    keys.set(name, toBase64((await fixedKey(name)).publicKey.bytes))
  }
  POLICY = policyWith()
})

function chainNames(): string[] {
  return Array.from({ length: 10 }, (_, i) => `link-${i}`)
}

/** The policy of these tests, with one key in the place of another. */
function policyWith(changes: Readonly<Record<string, string>> = {}): string {
  const entry = (name: string, more = ''): string =>
    `  "agent:${name}": { tier: standard, key: "${keys.get(changes[name] ?? name) ?? ''}"${more} }`
  return `
principals:
${['planner', 'lead', 'other', ...chainNames()].map((name) => entry(name)).join('\n')}
${entry('worker', ', delegate-only: true')}
${entry('hub', ', delegate-only: true')}
  "agent:temp-*": { tier: standard, delegate-only: true }
  "agent:temp-boss": { tier: standard }
tools:
  "fs/read": { effect: read }
  "fs/write": { effect: write }
  "mail/send": { effect: send }
rules:
  - { id: all, allow: "*" }
`
}

let nonces = 0

/** A root delegation from planner to worker, for all tools and a day, changed as the test wants. */
function statementOf(changes: Partial<DelegationStatement> = {}): DelegationStatement {
  return {
    v: 1,
    ledger: ORIGIN,
    tenant: 'default',
    delegator: 'agent:planner',
    delegate: 'agent:worker',
    tools: ['*'],
    until: at(START + DAY),
    depth: 8,
    parent: null,
    nonce: `n-${nonces++}`,
    ...changes,
  }
}

async function envelopeOf(changes: Partial<DelegationStatement> = {}, signer?: string): Promise<Uint8Array> {
  const statement = statementOf(changes)
  const key = await fixedKey(signer ?? statement.delegator.replace('agent:', ''))
  return (await signDelegation(statement, key)).envelope
}

async function register(
  rig: Pick<Rig, 'kernel'>,
  changes: Partial<DelegationStatement> = {},
  signer?: string,
): Promise<Registration> {
  const envelope = await envelopeOf(changes, signer)
  return registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'user:olga' })
}

/** Planner to lead to worker: what the second one narrows is the test's. */
async function handedOn(
  rig: Rig,
  first: Partial<DelegationStatement> = {},
  second: Partial<DelegationStatement> = {},
): Promise<{ parent: string; child: string }> {
  const { delegation: parent } = await register(rig, { delegate: 'agent:lead', ...first })
  const { delegation: child } = await register(rig, {
    delegator: 'agent:lead',
    parent,
    depth: 2,
    ...(first.until !== undefined && { until: first.until }),
    ...second,
  })
  return { parent, child }
}

function rigOf(): Promise<Rig> {
  return createRig({ policy: POLICY, tenants: ['default', 'elsewhere'] })
}

async function decide(rig: Rig, call: Partial<ToolCall>, principal = 'agent:worker'): Promise<Decided> {
  const caller = { tenant: 'default', principal }
  return (await rig.authorize({ caller, tool: 'fs/read', ...call })).decided
}

const refused = (message = ''): unknown =>
  expect.objectContaining({ code: 'DELEGATION_REFUSED', message: expect.stringContaining(message) as string })
const invalid = { verdict: 'DENY', reason: 'DELEGATION_INVALID', rung: 'delegation' }
const outside = { verdict: 'DENY', reason: 'DELEGATION_SCOPE_VIOLATION', rung: 'delegation' }

describe('a registered delegation', () => {
  it('lets its delegate act, and the decision names it', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
    expect(rig.last('decision').delegation).toBe(id)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('is a receipt that says who, for whom, until when and from what', async () => {
    const rig = await rigOf()
    const { parent, child } = await handedOn(rig)
    const [first, second] = rig.receipts().filter(({ kind }) => kind === 'delegation')
    expect(first).toMatchObject({
      op: 'grant',
      delegation_hash: parent,
      delegator: 'agent:planner',
      delegate: 'agent:lead',
      expires: at(START + DAY),
      by: 'user:olga',
      causes: [],
    })
    expect(first).not.toHaveProperty('parent')
    expect(second).toMatchObject({ delegation_hash: child, parent, causes: [rig.store.entries.at(-2)?.id] })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('is registered once, however often and however fast it is handed in', async () => {
    const rig = await rigOf()
    const envelope = await envelopeOf()
    const hand = (): Promise<Registration> =>
      registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'agent:worker' })
    const [first, ...more] = await Promise.all([hand(), hand(), hand()])
    more.push(await hand())
    for (const each of more) expect(each).toEqual(first)
    expect(rig.receipts().filter(({ kind }) => kind === 'delegation')).toHaveLength(1)
    expect(rig.kernel.delegations.size).toBe(1)
    expect(first.id).not.toBe(first.delegation)
  })

  it('takes storage of the agent that hands it in; one that has none left is refused, an operator is not', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { storage: 4096 } })
    const hand = async (by: string, limited: boolean): Promise<Registration> =>
      registerDelegation(rig.kernel, await envelopeOf(), { tenant: 'default', by, limited })
    const handAll = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) await hand('agent:worker', true)
    }
    await expect(handAll()).rejects.toEqual(refused('stored as much as it may'))
    const size = rig.store.entries.length
    expect(size).toBeGreaterThan(3)
    await expect(hand('agent:worker', true)).rejects.toEqual(refused())
    expect(rig.store.entries).toHaveLength(size)
    for (let i = 0; i < 10; i++) await hand('user:olga', false)
  })

  it('is of its tenant alone', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    const caller = { tenant: 'elsewhere', principal: 'agent:worker' }
    expect(await decide(rig, { caller, delegation: id })).toMatchObject(invalid)
    expect(rig.kernel.delegations.get('elsewhere', id)).toBeUndefined()
    expect(rig.kernel.delegations.list('elsewhere')).toEqual([])
    await expect(revokeDelegation(rig.kernel, 'elsewhere', id, 'user:olga')).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
  })
})

describe('a call is denied', () => {
  it('without a delegation, if its principal acts only for others', async () => {
    const rig = await rigOf()
    expect(await decide(rig, {})).toMatchObject({
      ...invalid,
      detail: 'this principal acts only under a delegation',
    })
    expect(await decide(rig, {}, 'agent:temp-7')).toMatchObject(invalid)
    expect(await decide(rig, {}, 'agent:temp-boss')).toMatchObject({ verdict: 'ALLOW' })
    expect(await decide(rig, {}, 'agent:planner')).toMatchObject({ verdict: 'ALLOW' })
  })

  it('under one that nobody registered', async () => {
    const rig = await rigOf()
    for (const id of ['ab'.repeat(32), 'x', delegationName('default', 'x').slice(0, 10).trim()]) {
      expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
      expect(await decide(rig, { delegation: id }, 'agent:planner')).toMatchObject(invalid)
    }
    expect((await rig.verify()).findings).toEqual([])
  })

  it('under one that is for another principal, also for its own delegator', async () => {
    const rig = await rigOf()
    const { parent, child } = await handedOn(rig)
    expect(await decide(rig, { delegation: parent })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child }, 'agent:lead')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child }, 'agent:planner')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
  })

  it('beyond the tools, effects or session of any link', async () => {
    const rig = await rigOf()
    const narrow = { tools: ['fs/*'], effects: ['read'] as EffectClass[], session: 's1' }
    const { delegation: id } = await register(rig, narrow)
    const { child } = await handedOn(rig, narrow, narrow)
    const { child: below } = await handedOn(rig, {}, narrow)
    for (const each of [id, child, below]) {
      expect(await decide(rig, { delegation: each })).toMatchObject({ verdict: 'ALLOW' })
      expect(await decide(rig, { delegation: each, tool: 'mail/send' })).toMatchObject(outside)
      expect(await decide(rig, { delegation: each, tool: 'fs/write' })).toMatchObject(outside)
      expect(await decide(rig, { delegation: each, session_id: 's2' })).toMatchObject(outside)
    }
  })

  it('from the moment after `until`, of any link', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig, { until: at(START + HOUR) })
    const { child } = await handedOn(rig, { until: at(START + 2 * HOUR) })
    rig.host.advance(HOUR)
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
    rig.host.advance(1)
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
    rig.host.advance(HOUR)
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    // The clock of the ledger does not go back.
    rig.host.time = START
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
  })

  it('once it, or what it hangs from, is revoked', async () => {
    const rig = await rigOf()
    const { parent, child } = await handedOn(rig)
    const { child: twin } = await handedOn(rig)
    await revokeDelegation(rig.kernel, 'default', parent, 'user:olga')
    expect(rig.last('delegation')).toMatchObject({ op: 'revoke', delegation_hash: parent, by: 'user:olga' })
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: parent }, 'agent:lead')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: twin })).toMatchObject({ verdict: 'ALLOW' })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('while a delegator of its line is frozen, and not after', async () => {
    const rig = await rigOf()
    const { child } = await handedOn(rig)
    for (const target of ['agent:planner', 'agent:lead']) {
      const order = { scope: 'principal', target, by: 'user:olga' } as const
      await setFreeze(rig.kernel, { ...order, tenant: 'elsewhere', frozen: true })
      expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
      await setFreeze(rig.kernel, { ...order, frozen: true })
      expect(await decide(rig, { delegation: child })).toMatchObject({
        ...invalid,
        detail: 'a delegator is frozen',
      })
      await setFreeze(rig.kernel, { ...order, frozen: false })
      expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
    }
  })

  it('while the policy has another key for a delegator of its line, or none', async () => {
    const rig = await rigOf()
    const { child } = await handedOn(rig)
    const activate = (text: string): Promise<unknown> =>
      activatePolicy(rig.kernel, policyOf(text), 'user:olga')
    for (const name of ['planner', 'lead']) {
      await activate(policyWith({ [name]: 'rotated' }))
      expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
      await activate(POLICY)
      expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
    }
    await activate('tools: { "fs/read": { effect: read } }\nrules: [{ id: all, allow: "*" }]')
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    expect(await decide(rig, {})).toMatchObject({ verdict: 'ALLOW' })
  })

  it('under a line whose first delegator has become one that acts only for others', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    const text = POLICY.replace(/("agent:planner": \{[^}]*) \}/, '$1, delegate-only: true }')
    await activatePolicy(rig.kernel, policyOf(text), 'user:olga')
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
  })
})

describe('a delegation is refused', () => {
  it('if anybody but its delegator signed it', async () => {
    const rig = await rigOf()
    await expect(register(rig, {}, 'worker')).rejects.toThrow(refused('sign it with that one'))
    await expect(register(rig, { delegator: 'agent:stranger' }, 'planner')).rejects.toThrow(
      refused('under `principals`'),
    )
    await expect(register(rig, { delegator: 'agent:temp-1' }, 'planner')).rejects.toThrow(refused('`key`'))
    await expect(register(rig, { delegator: 'agent:temp-boss' }, 'planner')).rejects.toThrow(refused('`key`'))
  })

  it('if it is none', async () => {
    const rig = await rigOf()
    const hand = (envelope: Uint8Array | string): Promise<unknown> =>
      registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'user:olga' })
    const good = new TextDecoder().decode(await envelopeOf())
    for (const bad of [
      '',
      '{}',
      `${good}\n`,
      good.slice(1),
      rig.store.envelopes.at(-1) ?? '',
      'x'.repeat(99_999),
    ])
      await expect(hand(bad)).rejects.toThrow(refused())
    expect(rig.kernel.delegations.size).toBe(0)
    await hand(good)
    expect(rig.kernel.delegations.size).toBe(1)
  })

  it('for another ledger or another tenant', async () => {
    const rig = await rigOf()
    const before = rig.store.entries.length
    await expect(register(rig, { ledger: 'ledger.example/other' })).rejects.toThrow(refused('another ledger'))
    await expect(register(rig, { tenant: 'elsewhere' })).rejects.toThrow(refused('another tenant'))
    expect(rig.store.entries.length).toBe(before)
    expect(rig.kernel.delegations.size).toBe(0)
  })

  it('if it has ended, or lasts for more than 366 days', async () => {
    const rig = await rigOf()
    await expect(register(rig, { until: at(START) })).rejects.toThrow(refused('past'))
    await expect(register(rig, { until: at(START - 1) })).rejects.toThrow(refused('past'))
    await expect(register(rig, { until: at(START + 366 * DAY + 1) })).rejects.toThrow(refused('366 days'))
    await register(rig, { until: at(START + 366 * DAY) })
    await register(rig, { until: at(START + 1) })
  })

  it('to oneself, also through others', async () => {
    const rig = await rigOf()
    await expect(register(rig, { delegate: 'agent:planner' })).rejects.toThrow(refused('themselves'))
    const { parent, child } = await handedOn(rig)
    const below = { depth: 1, parent: child, delegator: 'agent:worker' }
    for (const delegate of ['agent:planner', 'agent:lead', 'agent:worker'])
      await expect(register(rig, { ...below, delegate })).rejects.toThrow(refused('themselves'))
    await expect(
      register(rig, { depth: 1, parent, delegator: 'agent:lead', delegate: 'agent:planner' }),
    ).rejects.toThrow(refused('themselves'))
    await register(rig, { ...below, delegate: 'agent:other' })
  })

  it('if it hangs from nothing that is known, or from what was given to somebody else', async () => {
    const rig = await rigOf()
    const { parent } = await handedOn(rig)
    const mine = { delegator: 'agent:lead', depth: 1 }
    await expect(register(rig, { ...mine, parent: 'ab'.repeat(32) })).rejects.toThrow(
      refused('register that first'),
    )
    await expect(register(rig, { delegator: 'agent:other', depth: 1, parent })).rejects.toThrow(
      refused('another principal'),
    )
    await expect(register(rig, { depth: 1, parent, delegate: 'agent:other' }, 'planner')).rejects.toThrow(
      refused('another principal'),
    )
    await register(rig, { ...mine, parent })
  })

  it('from what is revoked, and after it was revoked itself', async () => {
    const rig = await rigOf()
    const envelope = await envelopeOf({ delegate: 'agent:lead' })
    const hand = (): Promise<Registration> =>
      registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'agent:lead' })
    const { delegation: parent } = await hand()
    await revokeDelegation(rig.kernel, 'default', parent, 'agent:planner')
    await expect(register(rig, { delegator: 'agent:lead', depth: 1, parent })).rejects.toThrow(
      refused('revoked'),
    )
    await expect(hand()).rejects.toThrow(refused('another `nonce`'))
    await rig.reopen()
    await expect(hand()).rejects.toThrow(refused('another `nonce`'))
    expect(await decide(rig, { delegation: parent }, 'agent:lead')).toMatchObject(invalid)
  })

  it('as the first of a line by one that acts only for others', async () => {
    const rig = await rigOf()
    const own = { delegator: 'agent:hub', delegate: 'agent:worker' }
    await expect(register(rig, own)).rejects.toThrow(refused('name that one as `parent`'))
    const { delegation: parent } = await register(rig, { delegate: 'agent:hub' })
    await register(rig, { ...own, parent, depth: 1 })
  })

  const first: Partial<DelegationStatement> = {
    tools: ['fs/*', 'mail/send'],
    effects: ['read', 'write'],
    until: at(START + HOUR),
    depth: 3,
    session: 's1',
  }
  const same: Partial<DelegationStatement> = { ...first, depth: 2 }
  interface Wider {
    readonly field: string
    readonly changes?: Partial<DelegationStatement>
    /** The field is left out. */
    readonly left?: true
  }
  const wider: readonly Wider[] = [
    { field: 'tools', changes: { tools: ['*'] } },
    { field: 'tools', changes: { tools: ['fs/read', 'f*'] } },
    { field: 'tools', changes: { tools: ['mail/*'] } },
    { field: 'tools', changes: { tools: ['*fs/'] } },
    { field: 'tools', changes: { tools: ['fs/*', 'mail/send', 'db/read'] } },
    { field: 'effects', changes: { effects: ['read', 'send'] } },
    { field: 'effects', left: true },
    { field: 'until', changes: { until: at(START + HOUR + 1) } },
    { field: 'depth', changes: { depth: 3 } },
    { field: 'depth', changes: { depth: 8 } },
    { field: 'session', changes: { session: 's2' } },
    { field: 'session', left: true },
  ]
  it.each(wider)('if it widens `$field`: $changes', async ({ field, changes, left }) => {
    const rig = await rigOf()
    const { delegation: parent } = await register(rig, { ...first, delegate: 'agent:lead' })
    const entries = Object.entries({ ...same, ...changes, delegator: 'agent:lead', parent })
    const statement = Object.fromEntries(entries.filter(([name]) => !left || name !== field))
    await expect(register(rig, statement)).rejects.toThrow(refused(`\`${field}\` goes beyond`))
    await register(rig, { ...same, delegator: 'agent:lead', parent })
  })

  it('below the greatest depth, and a line as long as can be still carries calls', async () => {
    const rig = await rigOf()
    let parent: string | null = null
    for (let i = 0; i < 9; i++) {
      const link: Partial<DelegationStatement> = {
        delegator: `agent:link-${i}`,
        delegate: `agent:link-${i + 1}`,
        depth: 8 - i,
        parent,
      }
      parent = (await register(rig, link)).delegation
    }
    expect(await decide(rig, { delegation: parent }, 'agent:link-9')).toMatchObject({ verdict: 'ALLOW' })
    const more = { delegator: 'agent:link-9', delegate: 'agent:worker', depth: 0, parent }
    await expect(register(rig, more)).rejects.toThrow(refused('`depth`'))
    const chain = chainOf(rig.kernel.delegations, 'default', parent ?? '') ?? []
    expect(chain).toHaveLength(9)
    expect(rootDelegator(chain)).toBe('agent:link-0')
  })

  it('if its key was taken from the policy while its signature was checked', async () => {
    const rig = await rigOf()
    const envelope = await envelopeOf()
    const registering = registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'user:olga' })
    rig.kernel.policies.set('default', policyOf(policyWith({ planner: 'rotated' })))
    await expect(registering).rejects.toThrow(refused('sign it with that one'))
    expect(rig.kernel.delegations.size).toBe(0)
  })

  it('if the same statement comes again under another key', async () => {
    const rig = await rigOf()
    const nonce = { nonce: 'the same' }
    await register(rig, nonce)
    await activatePolicy(rig.kernel, policyOf(policyWith({ planner: 'rotated' })), 'user:olga')
    await expect(register(rig, nonce, 'rotated')).rejects.toThrow(refused('another key'))
    const { delegation: id } = await register(rig, {}, 'rotated')
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
  })

  it('if its delegator has a thousand that still run; those that have ended are forgotten', async () => {
    const rig = await rigOf()
    const { delegation: ended } = await register(rig, { until: at(START + 1) })
    rig.host.advance(2)
    const sample = statementOf()
    for (let i = 0; i < 1000; i++)
      rig.kernel.delegations.add(
        registered({ id: `id-${i}`, statement: sample, keyId: '' }, { id: '', clock: i }, i % 2 === 0),
      )
    await expect(register(rig)).rejects.toThrow(refused('1000'))
    expect(rig.kernel.delegations.get('default', ended)).toBeDefined()
    await register(rig, { delegator: 'agent:other' })
    expect(rig.kernel.delegations.get('default', ended)).toBeUndefined()
    expect(rig.store.records.has(delegationName('default', ended))).toBe(false)
    expect(await decide(rig, { delegation: ended })).toMatchObject(invalid)
  })
})

describe('revoking', () => {
  it('is done once, for what is known', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    const revoke = (which: string): Promise<unknown> =>
      revokeDelegation(rig.kernel, 'default', which, 'user:olga')
    await expect(revoke('ab'.repeat(32))).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    await revoke(id)
    await expect(revoke(id)).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
    expect(rig.kernel.delegations.list('default')).toMatchObject([{ id, revoked: true }])
    expect(rig.receipts().filter(({ kind }) => kind === 'delegation')).toHaveLength(2)
  })

  it('counts for every call that is decided after it, also of those sent at once', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    const calls = [
      decide(rig, { delegation: id }),
      revokeDelegation(rig.kernel, 'default', id, 'user:olga').then(() => undefined),
      decide(rig, { delegation: id, session_id: 's2' }),
    ]
    const kinds: string[] = []
    await Promise.all(calls)
    for (const receipt of rig.receipts().slice(-3))
      kinds.push(receipt.kind === 'decision' ? receipt.verdict : receipt.kind)
    expect(kinds).toContain('delegation')
    const after = kinds.slice(kinds.indexOf('delegation') + 1)
    expect(after.every((verdict) => verdict === 'DENY')).toBe(true)
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
  })
})

describe('after a restart', () => {
  it('delegations stand as they stood', async () => {
    const rig = await rigOf()
    const { parent, child } = await handedOn(rig)
    const { delegation: gone } = await register(rig)
    await revokeDelegation(rig.kernel, 'default', gone, 'user:olga')
    const before = rig.kernel.delegations.list('default')
    await rig.reopen()
    const plain = (all: readonly RegisteredDelegation[]): unknown =>
      all.map(({ tools, ...rest }) => ({ ...rest, tools: tools.map(({ source }) => source) }))
    expect(plain(rig.kernel.delegations.list('default'))).toEqual(plain(before))
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
    expect(await decide(rig, { delegation: gone })).toMatchObject(invalid)
    await revokeDelegation(rig.kernel, 'default', parent, 'user:olga')
    await rig.reopen()
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('one that has ended is not taken up', async () => {
    const rig = await rigOf()
    await register(rig, { until: at(START + 1) })
    const { delegation: id } = await register(rig)
    rig.host.advance(2)
    await decide(rig, { delegation: id })
    await rig.reopen()
    expect(rig.kernel.delegations.list('default').map((each) => each.id)).toEqual([id])
  })

  /** A kernel on a store whose record of this delegation is another. */
  async function withRecord(rig: Rig, id: string, record: string | undefined): Promise<Kernel> {
    const name = delegationName('default', id)
    const { store } = rig
    return openKernel({
      store: {
        ...store,
        head: () => store.head(),
        load: async (names) => {
          const found = await store.load(names)
          return found.map((each, i) => (names[i] === name ? { ...each, record } : each))
        },
      },
      host: rig.host,
      origin: ORIGIN,
      writer: 'gw-1',
      key: (await fixedKey('writer')).publicKey.id,
    })
  }

  it('one whose record is lost or changed counts as revoked, and so does what hangs below it', async () => {
    const rig = await rigOf()
    const { parent, child } = await handedOn(rig, { tools: ['fs/read'] }, { tools: ['fs/read'] })
    const { delegation: wide } = await register(rig, { delegate: 'agent:lead' })
    const own = rig.store.records.get(delegationName('default', parent)) ?? ''
    const others = rig.store.records.get(delegationName('default', wide)) ?? ''
    const [envelope = '', key = ''] = own.split('\n')
    const rotated = keys.get('rotated') ?? ''
    const rotatedId = (await fixedKey('rotated')).publicKey.id
    const plannerId = (await fixedKey('planner')).publicKey.id
    const records = [
      undefined,
      '',
      'x',
      others,
      envelope,
      `${envelope}\n${rotated}`,
      `${envelope.replace(plannerId, rotatedId)}\n${rotated}`,
      `${envelope.replace(plannerId, rotatedId)}\n${key}`,
      `${own.slice(0, 20)}${own.slice(21)}`,
    ]
    for (const record of records) {
      rig.kernel = await withRecord(rig, parent, record)
      expect(rig.kernel.delegations.get('default', parent)).toMatchObject({ id: parent, revoked: true })
      expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
      expect(await decide(rig, { delegation: parent }, 'agent:lead')).toMatchObject(invalid)
      expect(await decide(rig, { delegation: wide }, 'agent:lead')).toMatchObject({ verdict: 'ALLOW' })
    }
    rig.kernel = await withRecord(rig, parent, own)
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
  })

  it('what is no anchor is no delegation', async () => {
    const delegations = createDelegations()
    await takeUpDelegation({ delegations }, { record: 'x', anchor: undefined, id: '' }, START)
    expect(delegations.size).toBe(0)
  })
})

describe('a chain', () => {
  const registry = (...all: readonly RegisteredDelegation[]): ReturnType<typeof createDelegations> => {
    const delegations = createDelegations()
    for (const each of all) delegations.add(each)
    return delegations
  }
  const kept = (id: string, changes: Partial<DelegationStatement> = {}): RegisteredDelegation =>
    registered(
      { id, statement: statementOf(changes), keyId: 'key' },
      { id: `receipt of ${id}`, clock: 1 },
      false,
    )
  const parties = { frozen: () => false, keyIdOf: () => 'key', delegateOnly: () => false }
  const call: DelegatedCall = {
    principal: 'agent:worker',
    tool: 'fs/read',
    effect: 'read',
    session: 's1',
    time: START,
  }
  const lead = kept('a', { delegate: 'agent:lead', depth: 1 })
  const worker = kept('b', { delegator: 'agent:lead', parent: 'a', depth: 0 })
  const codeOf = (...chain: readonly RegisteredDelegation[]): string | undefined =>
    problemOf(chain, call, parties)?.code

  it('goes from the delegation that is named to the first of its line', () => {
    const delegations = registry(lead, worker)
    expect(chainOf(delegations, 'default', 'b')?.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(chainOf(delegations, 'default', 'a')?.map(({ id }) => id)).toEqual(['a'])
    expect(rootDelegator([worker, lead])).toBe('agent:planner')
    expect(rootDelegator([])).toBeUndefined()
    expect(codeOf(worker, lead)).toBeUndefined()
  })

  it('is none if a link is missing, of another tenant, turns back on itself, or there are ten', () => {
    expect(chainOf(registry(worker), 'default', 'b')).toBeUndefined()
    expect(chainOf(registry(lead, worker), 'elsewhere', 'b')).toBeUndefined()
    expect(chainOf(registry(worker, kept('a', { tenant: 'elsewhere' })), 'default', 'b')).toBeUndefined()
    expect(chainOf(registry(kept('c', { parent: 'c' })), 'default', 'c')).toBeUndefined()
    expect(
      chainOf(registry(kept('c', { parent: 'd' }), kept('d', { parent: 'c' })), 'default', 'c'),
    ).toBeUndefined()
    const line = Array.from({ length: 10 }, (_, i) => kept(`l${i}`, { parent: i === 0 ? null : `l${i - 1}` }))
    expect(chainOf(registry(...line), 'default', 'l8')).toHaveLength(9)
    expect(chainOf(registry(...line), 'default', 'l9')).toBeUndefined()
  })

  it('carries nothing if it is empty, or a link does not follow from the one above it', () => {
    const above = (changes: Partial<DelegationStatement>): RegisteredDelegation =>
      kept('a', { delegate: 'agent:lead', depth: 1, ...changes })
    expect(codeOf()).toBe('DELEGATION_INVALID')
    expect(codeOf(worker)).toBe('DELEGATION_INVALID')
    expect(codeOf(kept('b', { parent: 'x' }), lead)).toBe('DELEGATION_INVALID')
    for (const changes of [
      { delegate: 'agent:other' },
      { depth: 0 },
      { ledger: 'ledger.example/other' },
      { tenant: 'elsewhere' },
      { parent: 'x' },
    ])
      expect(codeOf(worker, above(changes)), JSON.stringify(changes)).toBe('DELEGATION_INVALID')
    expect(codeOf({ ...worker, tenant: 'elsewhere' }, lead)).toBe('DELEGATION_INVALID')
  })

  it('does not hold if its time cannot be read', () => {
    expect(codeOf({ ...kept('c'), until: Number.NaN })).toBe('DELEGATION_INVALID')
    expect(codeOf(kept('c', { until: 'tomorrow' }))).toBe('DELEGATION_INVALID')
  })

  it('that does not hold says so before it says that a call lies outside of it', () => {
    const narrow = kept('c', { tools: ['mail/*'] })
    expect(codeOf(narrow)).toBe('DELEGATION_SCOPE_VIOLATION')
    expect(codeOf({ ...narrow, revoked: true })).toBe('DELEGATION_INVALID')
  })

  it('carries only what lies within every link, whatever was registered', () => {
    for (const narrow of [{ tools: ['mail/*'] }, { effects: ['send'] as const }, { session: 's2' }]) {
      const above = kept('a', { delegate: 'agent:lead', depth: 1, ...narrow })
      const below = kept('b', { delegator: 'agent:lead', parent: 'a', depth: 0, ...narrow })
      expect(codeOf(worker, above)).toBe('DELEGATION_SCOPE_VIOLATION')
      expect(codeOf(below, lead)).toBe('DELEGATION_SCOPE_VIOLATION')
    }
  })

  it('of nobody’s principal carries nothing', () => {
    expect(problemOf([worker, lead], { ...call, principal: undefined }, parties)?.code).toBe(
      'DELEGATION_INVALID',
    )
  })

  it('says nothing of the names on it', () => {
    const asked = [
      problemOf([worker, lead], { ...call, principal: 'agent:x' }, parties),
      problemOf([worker, { ...lead, revoked: true }], call, parties),
      problemOf([worker, lead], call, { ...parties, frozen: () => true }),
      problemOf([worker, lead], call, { ...parties, keyIdOf: () => undefined }),
      problemOf([worker, lead], call, { ...parties, delegateOnly: () => true }),
      problemOf([worker, lead], { ...call, time: START + 2 * DAY }, parties),
      problemOf([kept('c', { tools: ['x'] })], call, parties),
      problemOf([kept('c', { session: 'secret' })], call, parties),
    ]
    for (const problem of asked) expect(problem?.detail).toMatch(/^(?!.*(?:agent:|secret|fs\/))/)
    expect(new Set(asked.map((problem) => problem?.detail)).size).toBe(asked.length)
  })
})

describe('patterns of tools', () => {
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 7 })
    .map((parts) => parts.join(''))
  const name = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 9 }).map((parts) => parts.join(''))

  it('that only narrow match nothing that those above do not', () => {
    fc.assert(
      fc.property(pattern, pattern, name, (above, below, tool) => {
        const parent = registered(
          { id: 'p', statement: statementOf({ tools: [above] }), keyId: '' },
          { id: '', clock: 0 },
          false,
        )
        const widens = wideningOf(statementOf({ tools: [below], depth: 0 }), parent)
        return widens !== undefined || !glob(below).matches(tool) || glob(above).matches(tool)
      }),
      { numRuns: runs(20_000) },
    )
  })

  it('may be as wide as those above, and no wider', () => {
    const widens = (above: string[], below: string[]): boolean =>
      wideningOf(
        statementOf({ tools: below, depth: 0 }),
        registered(
          { id: 'p', statement: statementOf({ tools: above }), keyId: '' },
          { id: '', clock: 0 },
          false,
        ),
      ) !== undefined
    expect(widens(['fs/*'], ['fs/*'])).toBe(false)
    expect(widens(['*'], ['fs/*', '*/read', '*'])).toBe(false)
    expect(widens(['a*c'], ['ab*c', 'a*bc', 'ac'])).toBe(false)
    expect(widens(['a*c'], ['a*'])).toBe(true)
    expect(widens(['a*c', 'x'], ['ac', 'xx'])).toBe(true)
    expect(widens(['fs/read'], ['fs/*'])).toBe(true)
  })
})

describe('the policy says of a principal', () => {
  it('whether it acts only for others: by its own entry, or else by any pattern', () => {
    const policy = policyOf(POLICY)
    expect(isDelegateOnly(policy, 'agent:worker')).toBe(true)
    expect(isDelegateOnly(policy, 'agent:temp-7')).toBe(true)
    expect(isDelegateOnly(policy, 'agent:temp-boss')).toBe(false)
    expect(isDelegateOnly(policy, 'agent:planner')).toBe(false)
    expect(isDelegateOnly(policy, 'agent:nobody')).toBe(false)
    const late = policyOf(
      'principals:\n  "*": { tier: observer }\n  "agent:x": { tier: observer, delegate-only: true }\nrules: []',
    )
    expect(isDelegateOnly(late, 'agent:x')).toBe(true)
  })

  it('which key it signs with: by its whole name alone', async () => {
    const policy = policyOf(POLICY)
    const parties = partiesIn(policy, () => false)
    expect(parties.keyIdOf('agent:planner')).toBe((await fixedKey('planner')).publicKey.id)
    for (const name of ['agent:plan', 'agent:temp-*', 'agent:temp-boss', '*', ''])
      expect(parties.keyIdOf(name), name).toBeUndefined()
  })

  it('whether the rung has anything to do', () => {
    const standing = (principals: string): string =>
      delegation.standing(policyOf(`principals: { ${principals} }\nrules: []`))
    expect(delegation.standing(policyOf(POLICY))).toBe('active')
    expect(standing('')).toBe('not configured')
    expect(standing('"agent:a": { tier: admin }')).toBe('not configured')
    expect(standing('"agent:*": { tier: admin, delegate-only: true }')).toBe('active')
    expect(standing(`"agent:a": { tier: admin, key: "${keys.get('lead') ?? ''}" }`)).toBe('active')
  })
})
