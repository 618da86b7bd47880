// Delegations, principals, and how sessions show both, over HTTP.

import { describe, expect, test } from 'vitest'
import { createApiRig, delegated, DELEGATING, START, type ApiRig, type Person } from './rig.ts'

async function rigged(): Promise<ApiRig> {
  return createApiRig({ policy: DELEGATING })
}

async function hand(rig: ApiRig, person: Person, envelope: string | object): Promise<unknown[]> {
  const body = { envelope: envelope as string }
  const { status, json } = await rig.ask(person, 'POST', '/v1/delegations', body)
  return [status, json.code ?? json.delegation, json.detail]
}

describe('a delegation', () => {
  test('is registered as text or as the object, by its delegator, its delegate or an operator', async () => {
    const rig = await rigged()
    const { id, envelope } = await delegated({ delegate: 'agent:b' })
    expect(await hand(rig, 'agent', envelope)).toEqual([201, id, undefined])
    const second = await delegated({ delegate: 'agent:b', nonce: 'two' })
    expect(await hand(rig, 'other', JSON.parse(second.envelope) as object)).toEqual([
      201,
      second.id,
      undefined,
    ])
    const third = await delegated({ nonce: 'three' })
    expect(await hand(rig, 'operator', `${third.envelope}\n`)).toEqual([201, third.id, undefined])
    expect(rig.receipts().at(-1)).toMatchObject({ kind: 'delegation', op: 'grant', by: 'user:olga' })
  })

  test('that is registered twice has one receipt', async () => {
    const rig = await rigged()
    const { envelope } = await delegated()
    const [first, again] = [
      await rig.ask('agent', 'POST', '/v1/delegations', { envelope }),
      await rig.ask('operator', 'POST', '/v1/delegations', { envelope }),
    ]
    expect(again.json).toEqual(first.json)
    expect(rig.receipts().filter(({ kind }) => kind === 'delegation')).toHaveLength(1)
  })

  const refused = [
    ['another key', async () => (await delegated({}, 'agent:b')).envelope, /not signed with the key/],
    [
      'no such delegator',
      async () => (await delegated({ delegator: 'agent:x', delegate: 'agent:a' })).envelope,
      /has no key/,
    ],
    [
      'an end in the past',
      async () => (await delegated({ until: new Date(START - 1).toISOString() })).envelope,
      /in the past/,
    ],
    [
      'another ledger',
      async () => (await delegated({ ledger: 'ledger.example/other' })).envelope,
      /another ledger/,
    ],
    [
      'an unknown parent',
      async () => (await delegated({ parent: 'f'.repeat(64) })).envelope,
      /register the parent first/,
    ],
    ['half an envelope', async () => (await delegated()).envelope.slice(0, -9), /not in canonical form/],
    ['no envelope at all', () => Promise.resolve('{}'), /not in canonical form/],
    [
      'another spelling',
      async () => (await delegated()).envelope.replace('{"', '{ "'),
      /not in canonical form/,
    ],
  ] as const
  test.each(refused)('with %s is refused, and leaves no receipt', async (_, make, why) => {
    const rig = await rigged()
    const before = rig.receipts().length
    const { status, json } = await rig.ask('agent', 'POST', '/v1/delegations', { envelope: await make() })
    expect([status, json.code]).toEqual([409, 'delegation-refused'])
    expect(json.detail).toMatch(why)
    expect(json.remedy).toMatch(/Sign a new delegation/)
    expect(rig.receipts().length).toBe(before)
  })

  test('that is far too long is refused', async () => {
    const rig = await rigged()
    const { status } = await rig.ask('agent', 'POST', '/v1/delegations', { envelope: 'x'.repeat(60_000) })
    expect(status).toBe(409)
  })

  test('is shown with its chain, with the status of the weakest delegation in it', async () => {
    const rig = await rigged()
    const first = await delegated({ delegate: 'agent:b' })
    await hand(rig, 'agent', first.envelope)
    const shown = await rig.ask('other', 'GET', `/v1/delegations/${first.id}`)
    expect(shown.json).toMatchObject({
      id: first.id,
      delegator: 'agent:a',
      delegate: 'agent:b',
      tools: ['fs/*'],
      effects: null,
      session: null,
      depth: 1,
      parent: null,
      standing: 'in force',
      lineage: [{ delegation: first.id, delegator: 'agent:a', delegate: 'agent:b', revoked: false }],
    })
    rig.host.time += 3_600_001
    const later = await rig.ask('operator', 'GET', '/v1/delegations')
    expect(later.json.delegations).toMatchObject([{ id: first.id, standing: 'ended' }])
  })

  test('is revoked by its delegator or an operator, not by its delegate, and only once', async () => {
    const rig = await rigged()
    const { id, envelope } = await delegated({ delegate: 'agent:b' })
    await hand(rig, 'agent', envelope)
    const revoke = async (person: Person): Promise<unknown[]> => {
      const { status, json } = await rig.ask(person, 'POST', `/v1/delegations/${id}/revoke`)
      return [status, json.code]
    }
    expect(await revoke('other')).toEqual([403, 'role-forbidden'])
    expect(await revoke('agent')).toEqual([200, undefined])
    expect(await revoke('operator')).toEqual([400, 'request-invalid'])
    expect(rig.receipts().at(-1)).toMatchObject({ kind: 'delegation', op: 'revoke', by: 'agent:a' })
    const { json } = await rig.ask('agent', 'GET', `/v1/delegations/${id}`)
    expect(json).toMatchObject({ standing: 'revoked', lineage: [{ revoked: true }] })
  })

  test('permits calls of its delegate within its limits, and no others', async () => {
    const rig = await rigged()
    const { id, envelope } = await delegated({ delegate: 'agent:b', tools: ['fs/read_file'] })
    await hand(rig, 'agent', envelope)
    const ask = async (tool: string): Promise<unknown[]> => {
      const { json } = await rig.ask('other', 'POST', '/v1/evaluate', {
        tool,
        delegation: id,
        session_id: 's9',
      })
      return [json.verdict, json.reason_code]
    }
    expect(await ask('fs/read_file')).toEqual(['ALLOW', 'RULE_ALLOWED'])
    expect(await ask('mail/send')).toEqual(['DENY', 'DELEGATION_SCOPE_VIOLATION'])
    await rig.ask('operator', 'POST', `/v1/delegations/${id}/revoke`)
    expect(await ask('fs/read_file')).toEqual(['DENY', 'DELEGATION_INVALID'])
  })
})

describe('a session', () => {
  test('shows its delegation, even after it has ended and was removed', async () => {
    const rig = await rigged()
    const first = await delegated({ delegate: 'agent:b' })
    await hand(rig, 'agent', first.envelope)
    await rig.ask('other', 'POST', '/v1/evaluate', {
      tool: 'fs/read_file',
      delegation: first.id,
      session_id: 's',
    })
    const lineage = [
      {
        delegation: first.id,
        delegator: 'agent:a',
        delegate: 'agent:b',
        until: new Date(START + 3_600_000).toISOString(),
        revoked: false,
      },
    ]
    const show = async (): Promise<unknown> =>
      (await rig.ask('auditor', 'GET', '/v1/sessions/s?principal=agent:b')).json.lineage
    expect(await show()).toEqual(lineage)
    rig.host.time += 3_600_001
    const until = new Date(rig.host.time + 1000).toISOString()
    // Registering another delegation removes ended ones.
    await hand(rig, 'agent', (await delegated({ nonce: 'two', until })).envelope)
    expect((await rig.ask('auditor', 'GET', `/v1/delegations/${first.id}`)).status).toBe(404)
    expect(await show()).toEqual(lineage)
  })

  test('without a delegation has an empty lineage, no labels, and no trust if the policy does not use it', async () => {
    const rig = await rigged()
    await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file', session_id: 's' })
    const { json } = await rig.ask('agent', 'GET', '/v1/sessions/s')
    expect(json).toMatchObject({ lineage: [], labels: [], elevated: null, trust: null })
  })

  test('shows its labels, its raised tier and the trust of its principal', async () => {
    const rig = await createApiRig({ policy: LADDER })
    const read = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'db/people', session_id: 's' })
    await rig.ask('agent', 'POST', '/v1/effects', {
      decision: String(read.json.receipt),
      status: 'COMPLETED',
      output: { rows: ['a person'] },
    })
    expect((await rig.ask('agent', 'GET', '/v1/sessions/s')).json).toMatchObject({
      labels: ['personal'],
      elevated: null,
      trust: '501.0000',
    })
    const call = { tool: 'db/drop', session_id: 's' }
    const asked = await rig.ask('agent', 'POST', '/v1/evaluate', call)
    expect(asked.json.reason_code).toBe('ELEVATION_REQUIRED')
    await rig.ask('operator', 'POST', `/v1/approvals/${String(asked.json.approval)}/approve`)
    expect((await rig.ask('agent', 'POST', '/v1/evaluate', call)).json.verdict).toBe('ALLOW')
    expect((await rig.ask('agent', 'GET', '/v1/sessions/s')).json).toMatchObject({
      elevated: { tier: 'elevated', until: new Date(START + 900_000).toISOString() },
      trust: '506.0000',
    })
    rig.host.time += 900_001
    expect((await rig.ask('agent', 'GET', '/v1/sessions/s')).json).toMatchObject({ elevated: null })
  })

  test('is shown as broken when the record of its data was modified', async () => {
    const rig = await createApiRig({ policy: LADDER })
    const read = await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'db/people', session_id: 's' })
    const decision = String(read.json.receipt)
    await rig.ask('agent', 'POST', '/v1/effects', { decision, status: 'COMPLETED', output: 'none' })
    const records = rig.store.records as Map<string, string>
    const name = 'provenance\ndefault\nagent:a\ns'
    expect(records.has(name)).toBe(true)
    records.set(name, `${records.get(name) ?? ''} `)
    expect((await rig.ask('agent', 'GET', '/v1/sessions/s')).json).toMatchObject({ broken: true, labels: [] })
  })
})

const LADDER = `
tollgate: 1
name: ladder
principals:
  "agent:a": { tier: standard }
  "agent:*": { tier: observer, delegate-only: true }
tools:
  "db/people": { effect: read, destinations: none, returns: [personal], cost: 2.5 }
  "db/drop": { effect: delete, destinations: none }
rules:
  - { id: all, allow: "db/*" }
gates:
  taint: {}
  trust: {}
  privilege: { elevation: { up-to: elevated, for: 15m } }
  temporal:
    rate: { "db/*": 3/h }
    budget: { cost: 10/day }
    burst: { deny: 1000/s }
`

describe('a principal', () => {
  test('has its tier, its trust and its remaining limits', async () => {
    const rig = await createApiRig({ policy: LADDER })
    await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'db/people', session_id: 's' })
    const { json } = await rig.ask('agent', 'GET', '/v1/principals/agent:a')
    expect(json).toEqual({
      principal: 'agent:a',
      tier: 'standard',
      trust: '500.0000',
      delegate_only: false,
      frozen: false,
      limits: [
        { kind: 'rate', name: 'db/*', of: 'calls', most: 3, left: 2, period_seconds: 3600 },
        { kind: 'budget', name: 'cost', of: 'cost', most: 10, left: 7.5, period_seconds: 86_400 },
      ],
    })
  })

  test('has exactly the remaining calls that are still allowed, over time', async () => {
    const rig = await createApiRig({ policy: LADDER.replace('cost: 10/day', 'cost: 999/day') })
    const left = async (): Promise<number | undefined> => {
      const { json } = await rig.ask('auditor', 'GET', '/v1/principals/agent:a')
      return (json.limits as { left: number }[])[0]?.left
    }
    for (const [wait, passes] of [
      [0, 3],
      [1_200_000, 1],
      [1_199_999, 0],
      [1, 1],
      [7_200_000, 3],
    ] as const) {
      rig.host.time += wait
      expect(await left()).toBe(passes)
      for (let i = 0; i <= passes; i++) {
        const { json } = await rig.ask('agent', 'POST', '/v1/evaluate', {
          tool: 'db/people',
          session_id: 's',
        })
        expect(json.verdict).toBe(i < passes ? 'ALLOW' : 'DENY')
      }
      expect(await left()).toBe(0)
    }
  })

  test('whose record was modified has nothing remaining', async () => {
    const rig = await createApiRig({ policy: LADDER })
    await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'db/people', session_id: 's' })
    const records = rig.store.records as Map<string, string>
    const name = 'principal\ndefault\nagent:a'
    records.set(name, records.get(name)?.replace('"broken":false', '"broken":true ') ?? '')
    const { json } = await rig.ask('agent', 'GET', '/v1/principals/agent:a')
    expect(json.limits).toMatchObject([{ left: 0 }, { left: 0 }])
  })

  test('that is unknown has the initial state', async () => {
    const rig = await createApiRig({ policy: LADDER })
    const { json } = await rig.ask('operator', 'GET', '/v1/principals/agent%3Anew')
    expect(json).toMatchObject({ tier: 'observer', trust: '500.0000', delegate_only: true, frozen: false })
    expect(json.limits).toMatchObject([{ left: 3 }, { left: 10 }])
  })

  test('is frozen by name and by a global freeze', async () => {
    const rig = await createApiRig({ policy: LADDER })
    const frozen = async (): Promise<unknown> =>
      (await rig.ask('operator', 'GET', '/v1/principals/agent:a')).json.frozen
    await rig.ask('operator', 'POST', '/v1/freeze', { scope: 'principal', target: 'agent:a', frozen: true })
    expect(await frozen()).toBe(true)
    await rig.ask('operator', 'POST', '/v1/freeze', { scope: 'principal', target: 'agent:a', frozen: false })
    expect(await frozen()).toBe(false)
    await rig.ask('admin', 'POST', '/v1/freeze', { scope: 'all', frozen: true })
    expect(await frozen()).toBe(true)
  })
})
