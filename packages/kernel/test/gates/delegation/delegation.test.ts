import { signDelegation, toBase64, type DelegationStatement, type EffectClass } from '@tollgate/evidence'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { registerDelegation, revokeDelegation, type Registration } from '../../../src/admin/delegate.ts'
import { delegationName, restoreDelegation } from '../../../src/gates/delegation/records.ts'
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

/** The policy of these tests, with replaced keys. */
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

/** A root delegation from planner to worker for all tools and a day, with changes. */
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

/** A chain from planner to lead to worker. */
async function chained(
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
  it('allows calls of its delegate, and the decision names it', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
    expect(rig.last('decision').delegation).toBe(id)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('has a receipt with delegator, delegate, expiry and parent', async () => {
    const rig = await rigOf()
    const { parent, child } = await chained(rig)
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

  it('is registered once, even if it is submitted several times at once', async () => {
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

  it('uses the storage quota of the submitting agent, but not of an operator', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { storage: 4096 } })
    const hand = async (by: string, limited: boolean): Promise<Registration> =>
      registerDelegation(rig.kernel, await envelopeOf(), { tenant: 'default', by, limited })
    const handAll = async (): Promise<void> => {
      for (let i = 0; i < 20; i++) await hand('agent:worker', true)
    }
    await expect(handAll()).rejects.toEqual(refused('reached its storage limit'))
    const size = rig.store.entries.length
    expect(size).toBeGreaterThan(3)
    await expect(hand('agent:worker', true)).rejects.toEqual(refused())
    expect(rig.store.entries).toHaveLength(size)
    for (let i = 0; i < 10; i++) await hand('user:olga', false)
  })

  it('belongs to its tenant only', async () => {
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
  it('without a delegation, if its principal is delegate-only', async () => {
    const rig = await rigOf()
    expect(await decide(rig, {})).toMatchObject({
      ...invalid,
      detail: 'this principal may act only under a delegation',
    })
    expect(await decide(rig, {}, 'agent:temp-7')).toMatchObject(invalid)
    expect(await decide(rig, {}, 'agent:temp-boss')).toMatchObject({ verdict: 'ALLOW' })
    expect(await decide(rig, {}, 'agent:planner')).toMatchObject({ verdict: 'ALLOW' })
  })

  it('under an unregistered delegation', async () => {
    const rig = await rigOf()
    for (const id of ['ab'.repeat(32), 'x', delegationName('default', 'x').slice(0, 10).trim()]) {
      expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
      expect(await decide(rig, { delegation: id }, 'agent:planner')).toMatchObject(invalid)
    }
    expect((await rig.verify()).findings).toEqual([])
  })

  it('under a delegation for another principal, even for its delegator', async () => {
    const rig = await rigOf()
    const { parent, child } = await chained(rig)
    expect(await decide(rig, { delegation: parent })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child }, 'agent:lead')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child }, 'agent:planner')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
  })

  it('outside the tools, effects or session of any link', async () => {
    const rig = await rigOf()
    const narrow = { tools: ['fs/*'], effects: ['read'] as EffectClass[], session: 's1' }
    const { delegation: id } = await register(rig, narrow)
    const { child } = await chained(rig, narrow, narrow)
    const { child: below } = await chained(rig, {}, narrow)
    for (const each of [id, child, below]) {
      expect(await decide(rig, { delegation: each })).toMatchObject({ verdict: 'ALLOW' })
      expect(await decide(rig, { delegation: each, tool: 'mail/send' })).toMatchObject(outside)
      expect(await decide(rig, { delegation: each, tool: 'fs/write' })).toMatchObject(outside)
      expect(await decide(rig, { delegation: each, session_id: 's2' })).toMatchObject(outside)
    }
  })

  it('after `until` of any link', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig, { until: at(START + HOUR) })
    const { child } = await chained(rig, { until: at(START + 2 * HOUR) })
    rig.host.advance(HOUR)
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
    rig.host.advance(1)
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: child })).toMatchObject({ verdict: 'ALLOW' })
    rig.host.advance(HOUR)
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    // The clock of the ledger never moves backwards.
    rig.host.time = START
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
  })

  it('once the delegation or its parent is revoked', async () => {
    const rig = await rigOf()
    const { parent, child } = await chained(rig)
    const { child: twin } = await chained(rig)
    await revokeDelegation(rig.kernel, 'default', parent, 'user:olga')
    expect(rig.last('delegation')).toMatchObject({ op: 'revoke', delegation_hash: parent, by: 'user:olga' })
    expect(await decide(rig, { delegation: child })).toMatchObject(invalid)
    expect(await decide(rig, { delegation: parent }, 'agent:lead')).toMatchObject(invalid)
    expect(await decide(rig, { delegation: twin })).toMatchObject({ verdict: 'ALLOW' })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('only while a delegator of the chain is frozen', async () => {
    const rig = await rigOf()
    const { child } = await chained(rig)
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

  it('while the policy has another key or no key for a delegator of the chain', async () => {
    const rig = await rigOf()
    const { child } = await chained(rig)
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

  it('under a chain whose first delegator has become delegate-only', async () => {
    const rig = await rigOf()
    const { delegation: id } = await register(rig)
    const text = POLICY.replace(/("agent:planner": \{[^}]*) \}/, '$1, delegate-only: true }')
    await activatePolicy(rig.kernel, policyOf(text), 'user:olga')
    expect(await decide(rig, { delegation: id })).toMatchObject(invalid)
  })
})

describe('a delegation is refused', () => {
  it('if it is not signed by its delegator', async () => {
    const rig = await rigOf()
    await expect(register(rig, {}, 'worker')).rejects.toThrow(refused('sign it with that key'))
    await expect(register(rig, { delegator: 'agent:stranger' }, 'planner')).rejects.toThrow(
      refused('under `principals`'),
    )
    await expect(register(rig, { delegator: 'agent:temp-1' }, 'planner')).rejects.toThrow(refused('`key`'))
    await expect(register(rig, { delegator: 'agent:temp-boss' }, 'planner')).rejects.toThrow(refused('`key`'))
  })

  it('if it is malformed', async () => {
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

  it('if it has expired, or is valid for more than 366 days', async () => {
    const rig = await rigOf()
    await expect(register(rig, { until: at(START) })).rejects.toThrow(refused('past'))
    await expect(register(rig, { until: at(START - 1) })).rejects.toThrow(refused('past'))
    await expect(register(rig, { until: at(START + 366 * DAY + 1) })).rejects.toThrow(refused('366 days'))
    await register(rig, { until: at(START + 366 * DAY) })
    await register(rig, { until: at(START + 1) })
  })

  it('if it goes back to a delegator of the chain', async () => {
    const rig = await rigOf()
    await expect(register(rig, { delegate: 'agent:planner' })).rejects.toThrow(
      refused('one of its delegators'),
    )
    const { parent, child } = await chained(rig)
    const below = { depth: 1, parent: child, delegator: 'agent:worker' }
    for (const delegate of ['agent:planner', 'agent:lead', 'agent:worker'])
      await expect(register(rig, { ...below, delegate })).rejects.toThrow(refused('one of its delegators'))
    await expect(
      register(rig, { depth: 1, parent, delegator: 'agent:lead', delegate: 'agent:planner' }),
    ).rejects.toThrow(refused('one of its delegators'))
    await register(rig, { ...below, delegate: 'agent:other' })
  })

  it('if its parent is unknown or is for another principal', async () => {
    const rig = await rigOf()
    const { parent } = await chained(rig)
    const mine = { delegator: 'agent:lead', depth: 1 }
    await expect(register(rig, { ...mine, parent: 'ab'.repeat(32) })).rejects.toThrow(
      refused('register the parent first'),
    )
    await expect(register(rig, { delegator: 'agent:other', depth: 1, parent })).rejects.toThrow(
      refused('another principal'),
    )
    await expect(register(rig, { depth: 1, parent, delegate: 'agent:other' }, 'planner')).rejects.toThrow(
      refused('another principal'),
    )
    await register(rig, { ...mine, parent })
  })

  it('if it or its parent was revoked', async () => {
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

  it('as the root of a chain by a delegate-only principal', async () => {
    const rig = await rigOf()
    const own = { delegator: 'agent:hub', delegate: 'agent:worker' }
    await expect(register(rig, own)).rejects.toThrow(refused('name that delegation as `parent`'))
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
    /** Leave the field out. */
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
    await expect(register(rig, statement)).rejects.toThrow(refused(`\`${field}\` exceeds`))
    await register(rig, { ...same, delegator: 'agent:lead', parent })
  })

  it('below the maximum depth, and a chain of the maximum length still allows calls', async () => {
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

  it('if its key was removed from the policy during the signature check', async () => {
    const rig = await rigOf()
    const envelope = await envelopeOf()
    const registering = registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'user:olga' })
    rig.kernel.policies.set('default', policyOf(policyWith({ planner: 'rotated' })))
    await expect(registering).rejects.toThrow(refused('sign it with that key'))
    expect(rig.kernel.delegations.size).toBe(0)
  })

  it('if the same statement is submitted again under another key', async () => {
    const rig = await rigOf()
    const nonce = { nonce: 'the same' }
    await register(rig, nonce)
    await activatePolicy(rig.kernel, policyOf(policyWith({ planner: 'rotated' })), 'user:olga')
    await expect(register(rig, nonce, 'rotated')).rejects.toThrow(refused('another key'))
    const { delegation: id } = await register(rig, {}, 'rotated')
    expect(await decide(rig, { delegation: id })).toMatchObject({ verdict: 'ALLOW' })
  })

  it('if its delegator has a thousand valid ones; expired ones are removed', async () => {
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
  it('works once, and only for known delegations', async () => {
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

  it('applies to every call that is decided after it, also to concurrent calls', async () => {
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
  it('delegations are unchanged', async () => {
    const rig = await rigOf()
    const { parent, child } = await chained(rig)
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

  it('an expired delegation is not restored', async () => {
    const rig = await rigOf()
    await register(rig, { until: at(START + 1) })
    const { delegation: id } = await register(rig)
    rig.host.advance(2)
    await decide(rig, { delegation: id })
    await rig.reopen()
    expect(rig.kernel.delegations.list('default').map((each) => each.id)).toEqual([id])
  })

  /** A kernel whose store has another record of this delegation. */
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

  it('a delegation with a lost or changed record counts as revoked, and so do its children', async () => {
    const rig = await rigOf()
    const { parent, child } = await chained(rig, { tools: ['fs/read'] }, { tools: ['fs/read'] })
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

  it('a record without an anchor is ignored', async () => {
    const delegations = createDelegations()
    await restoreDelegation({ delegations }, { record: 'x', anchor: undefined, id: '' }, START)
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

  it('leads from the named delegation to its root', () => {
    const delegations = registry(lead, worker)
    expect(chainOf(delegations, 'default', 'b')?.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(chainOf(delegations, 'default', 'a')?.map(({ id }) => id)).toEqual(['a'])
    expect(rootDelegator([worker, lead])).toBe('agent:planner')
    expect(rootDelegator([])).toBeUndefined()
    expect(codeOf(worker, lead)).toBeUndefined()
  })

  it('is undefined if a link is missing or of another tenant, if it is a cycle, or if it has ten links', () => {
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

  it('grants nothing if it is empty, or if a link does not follow from the one above it', () => {
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

  it('is invalid if its time cannot be read', () => {
    expect(codeOf({ ...kept('c'), until: Number.NaN })).toBe('DELEGATION_INVALID')
    expect(codeOf(kept('c', { until: 'tomorrow' }))).toBe('DELEGATION_INVALID')
  })

  it('reports that it is invalid before it reports that a call is outside', () => {
    const narrow = kept('c', { tools: ['mail/*'] })
    expect(codeOf(narrow)).toBe('DELEGATION_SCOPE_VIOLATION')
    expect(codeOf({ ...narrow, revoked: true })).toBe('DELEGATION_INVALID')
  })

  it('grants only calls that every link grants', () => {
    for (const narrow of [{ tools: ['mail/*'] }, { effects: ['send'] as const }, { session: 's2' }]) {
      const above = kept('a', { delegate: 'agent:lead', depth: 1, ...narrow })
      const below = kept('b', { delegator: 'agent:lead', parent: 'a', depth: 0, ...narrow })
      expect(codeOf(worker, above)).toBe('DELEGATION_SCOPE_VIOLATION')
      expect(codeOf(below, lead)).toBe('DELEGATION_SCOPE_VIOLATION')
    }
  })

  it('grants nothing without a principal', () => {
    expect(problemOf([worker, lead], { ...call, principal: undefined }, parties)?.code).toBe(
      'DELEGATION_INVALID',
    )
  })

  it('reports no names', () => {
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

describe('tool patterns', () => {
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '/', '*'), { maxLength: 7 })
    .map((parts) => parts.join(''))
  const name = fc.array(fc.constantFrom('a', 'b', '/'), { maxLength: 9 }).map((parts) => parts.join(''))

  it('that narrow match nothing that the parent does not match', () => {
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

  it('may be equal to those of the parent, but not wider', () => {
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

describe('the policy', () => {
  it('declares a principal delegate-only by its own entry, or otherwise by any pattern', () => {
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

  it('registers a key only for an exact name', async () => {
    const policy = policyOf(POLICY)
    const parties = partiesIn(policy, () => false)
    expect(parties.keyIdOf('agent:planner')).toBe((await fixedKey('planner')).publicKey.id)
    for (const name of ['agent:plan', 'agent:temp-*', 'agent:temp-boss', '*', ''])
      expect(parties.keyIdOf(name), name).toBeUndefined()
  })

  it('determines the status of the gate', () => {
    const standing = (principals: string): string =>
      delegation.standing(policyOf(`principals: { ${principals} }\nrules: []`))
    expect(delegation.standing(policyOf(POLICY))).toBe('active')
    expect(standing('')).toBe('not configured')
    expect(standing('"agent:a": { tier: admin }')).toBe('not configured')
    expect(standing('"agent:*": { tier: admin, delegate-only: true }')).toBe('active')
    expect(standing(`"agent:a": { tier: admin, key: "${keys.get('lead') ?? ''}" }`)).toBe('active')
  })
})
