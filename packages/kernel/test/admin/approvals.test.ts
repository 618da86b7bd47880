import { describe, expect, it } from 'vitest'
import { activatePolicy, answerRequest, type ApprovalRequest } from '../../src/admin.ts'
import type { Decided, ToolCall } from '../../src/index.ts'
import { createRig, policyOf, type Rig } from '../rig.ts'

const POLICY = `
tools:
  "mail/send": { effect: send, destinations: [to] }
  "vault/put": { effect: write, commit: salted }
  "vault/get": { effect: read }
  "web/click": { effect: write, browser: true }
rules:
  - { id: getting, allow: "vault/get" }
  - { id: clicking, allow: "web/click" }
  - { id: mail, require: "mail/send", approvers: [ops, "user:paul"], expires: 15m }
  - { id: vault, require: "vault/put" }
gates:
  egress: { allow: ["example.com"], ask: ["ask.test"] }
  browser: { domains: ["example.com", "ask.test"] }
`
const MAIL = { tool: 'mail/send', args: { to: 'a@example.com', text: 'hello' } }

async function opened(call: Partial<ToolCall> = MAIL): Promise<{ rig: Rig; request: string }> {
  const rig = await createRig({ policy: POLICY, tenants: ['default', 'other'] })
  const { decided } = await rig.authorize(call)
  expect(decided.verdict).toBe('ESCALATE')
  return { rig, request: decided.approval ?? '' }
}

function answer(
  rig: Rig,
  request: string,
  granted = true,
  approver = 'user:olga',
  groups = ['ops'],
): Promise<unknown> {
  return answerRequest(rig.kernel, { tenant: 'default', request, granted, approver, groups })
}

async function decide(rig: Rig, call: Partial<ToolCall> = MAIL): Promise<Decided> {
  return (await rig.authorize(call)).decided
}

const refused = (code = 'APPROVAL_REFUSED'): unknown => expect.objectContaining({ code })

describe('a grant', () => {
  it('allows exactly the requested call, once', async () => {
    const { rig, request } = await opened()
    await answer(rig, request)
    expect(await decide(rig)).toMatchObject({
      verdict: 'ALLOW',
      reason: 'APPROVAL_GRANTED',
      rung: 'policy',
      rule: 'mail',
    })
    expect(rig.last('decision').approval).toBe(rig.store.entries.at(-2)?.id)
    expect(await decide(rig)).toMatchObject({ verdict: 'ESCALATE' })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('allows one of many concurrent calls', async () => {
    const { rig, request } = await opened()
    await answer(rig, request)
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => decide(rig)))
    expect(all.filter(({ verdict }) => verdict === 'ALLOW')).toHaveLength(1)
    expect((await rig.verify()).findings).toEqual([])
  })

  it('allows no other arguments, session, principal, tenant or tool', async () => {
    const { rig, request } = await opened()
    await answer(rig, request)
    const others: Partial<ToolCall>[] = [
      { ...MAIL, args: { ...MAIL.args, text: 'hello!' } },
      { ...MAIL, session_id: 's2' },
      { ...MAIL, caller: { tenant: 'default', principal: 'agent:other' } },
      { ...MAIL, caller: { tenant: 'other', principal: 'agent:ci' } },
      { tool: 'vault/put', args: MAIL.args },
    ]
    for (const call of others) {
      expect((await decide(rig, call)).verdict).toBe('ESCALATE')
      expect(await decide(rig, { ...call, approval: request })).toMatchObject({ reason: 'APPROVAL_INVALID' })
    }
    expect((await decide(rig)).verdict).toBe('ALLOW')
  })

  it('allows no other page, destination, context, door or assurance', async () => {
    const hash = 'ab'.repeat(32)
    const observation = {
      url: 'https://example.com/pay',
      dom_hash: hash,
      visual_text_hash: hash,
      sentinel_risk: 0,
      sentinel_findings: [],
    }
    const browser = { observation, planner_ref: 'p', destination: 'https://ask.test/a' }
    const click = { tool: 'web/click', args: {}, browser, context: { environment: 'staging' } }
    const { rig, request } = await opened(click)
    await answer(rig, request)
    const others: Partial<ToolCall>[] = [
      { ...click, browser: { ...browser, destination: 'https://ask.test/b' } },
      { ...click, browser: { ...browser, observation: { ...observation, url: 'https://example.com/' } } },
      { ...click, context: { environment: 'production' } },
      { ...click, door: 'browser' },
      { ...click, assurance: 'advised' },
    ]
    for (const call of others) expect((await decide(rig, call)).verdict).toBe('ESCALATE')
    expect((await decide(rig, click)).verdict).toBe('ALLOW')
  })

  it('for one step does not cover another', async () => {
    const { rig, request } = await opened({ tool: 'vault/get', args: { host: 'ask.test' } })
    expect(rig.last('decision').rung).toBe('egress')
    await answer(rig, request)
    await activatePolicy(
      rig.kernel,
      policyOf(
        POLICY.replace('ask: ["ask.test"]', 'allow: ["ask.test"]')
          .replace('allow: ["example.com"], ', '')
          .replace('allow: "vault/get"', 'require: "vault/get"'),
      ),
      'user:olga',
    )
    expect(await decide(rig, { tool: 'vault/get', args: { host: 'ask.test' } })).toMatchObject({
      verdict: 'ESCALATE',
      rung: 'policy',
    })
  })

  it('has the hash of the request, even if the declaration of the tool has changed', async () => {
    const call = { tool: 'vault/put', args: { name: 'pin', value: '1234' } }
    const { rig, request } = await opened(call)
    await answer(rig, request)
    const plain = POLICY.replace(', commit: salted', '')
    await activatePolicy(rig.kernel, policyOf(plain), 'user:olga')
    expect((await decide(rig, call)).verdict).toBe('ALLOW')
    expect((await rig.verify()).findings).toEqual([])
  })

  it('cannot be forged, restored or reversed in the private records', async () => {
    const recordOf = (rig: Rig, request: string): [Map<string, string>, string, ApprovalRequest] => {
      const records = rig.store.records as Map<string, string>
      const name = `approval\n${request}`
      return [records, name, JSON.parse(records.get(name) ?? '') as ApprovalRequest]
    }
    const grant = { id: 'ab'.repeat(32), clock: 9e15, granted: true, approver: 'user:x', until: 9e15 }
    const forged = await opened()
    const [records, name, record] = recordOf(forged.rig, forged.request)
    records.set(name, JSON.stringify({ ...record, answer: grant }))
    await forged.rig.reopen()
    expect((await decide(forged.rig)).verdict).toBe('ESCALATE')

    const refusedOne = await opened()
    await answer(refusedOne.rig, refusedOne.request, false)
    const [turned, own, no] = recordOf(refusedOne.rig, refusedOne.request)
    turned.set(own, JSON.stringify({ ...no, answer: { ...no.answer, granted: true } }))
    await refusedOne.rig.reopen()
    expect((await decide(refusedOne.rig)).reason).toBe('APPROVAL_REFUSED')

    const used = await opened()
    await answer(used.rig, used.request)
    const [kept, at, granted] = recordOf(used.rig, used.request)
    expect((await decide(used.rig)).verdict).toBe('ALLOW')
    kept.set(at, JSON.stringify(granted))
    await used.rig.reopen()
    expect((await decide(used.rig)).verdict).toBe('ESCALATE')

    const moved = await opened()
    await answer(moved.rig, moved.request)
    const [all, key, mine] = recordOf(moved.rig, moved.request)
    await decide(moved.rig, { ...MAIL, args: { ...MAIL.args, text: 'other' } })
    const [other] = moved.rig.kernel.approvals.list(moved.rig.host.time)
    all.set(key, JSON.stringify({ ...mine, binding: other?.binding }))
    all.delete(`approval\n${other?.id ?? ''}`)
    await moved.rig.reopen()
    expect((await decide(moved.rig, { ...MAIL, args: { ...MAIL.args, text: 'other' } })).verdict).toBe(
      'ESCALATE',
    )
  })

  it('expires after the time in the rule', async () => {
    const { rig, request } = await opened()
    await answer(rig, request)
    rig.host.advance(900_001)
    expect((await decide(rig, { ...MAIL, approval: request })).reason).toBe('APPROVAL_INVALID')
    expect((await decide(rig)).verdict).toBe('ESCALATE')
  })

  it('never overrides a DENY', async () => {
    const { rig, request } = await opened()
    await answer(rig, request)
    await rig.reopen()
    rig.kernel.freezes.apply({ scope: 'tool', tenant: 'default', target: 'mail/send', frozen: true })
    expect((await decide(rig)).reason).toBe('TOOL_FROZEN')
    rig.kernel.freezes.apply({ scope: 'tool', tenant: 'default', target: 'mail/send', frozen: false })
    expect((await decide(rig)).reason).toBe('APPROVAL_GRANTED')
  })

  it('survives a restart, used or not', async () => {
    const { rig, request } = await opened()
    await rig.reopen()
    await answer(rig, request)
    await rig.reopen()
    expect((await decide(rig)).verdict).toBe('ALLOW')
    await rig.reopen()
    expect((await decide(rig)).verdict).toBe('ESCALATE')
    expect((await rig.verify()).findings).toEqual([])
  })

  it('proves that the arguments are the same, even if their hash is salted', async () => {
    const call = { tool: 'vault/put', args: { name: 'pin', value: '1234' } }
    const { rig, request } = await opened(call)
    const asked = rig.last('decision').args_hash
    await answer(rig, request)
    expect((await decide(rig, call)).verdict).toBe('ALLOW')
    expect(rig.last('decision')).toMatchObject({ commit: 'salted', args_hash: asked })
    expect((await rig.verify()).findings).toEqual([])
  })
})

describe('an answer', () => {
  it('never comes from the requester', async () => {
    const { rig, request } = await opened()
    await expect(answer(rig, request, true, 'agent:ci', ['ops'])).rejects.toEqual(refused())
    expect((await decide(rig)).verdict).toBe('ESCALATE')
  })

  it('comes from an approver of the rule, by name or by group', async () => {
    const { rig, request } = await opened()
    await expect(answer(rig, request, true, 'user:olga', [])).rejects.toEqual(refused())
    await expect(answer(rig, request, true, 'user:olga', ['dev'])).rejects.toEqual(refused())
    await answer(rig, request, true, 'user:paul', [])
    expect(rig.last('approval')).toMatchObject({
      answer: 'GRANTED',
      approver: 'user:paul',
      decision: request,
    })
  })

  it('is given once, in time, to a request that exists', async () => {
    const { rig, request } = await opened()
    await expect(answer(rig, 'ab'.repeat(32))).rejects.toEqual(refused())
    await answer(rig, request, false)
    await expect(answer(rig, request, true)).rejects.toEqual(refused())
    const { rig: late, request: waited } = await opened()
    late.host.advance(900_001)
    await expect(answer(late, waited)).rejects.toEqual(refused())
  })

  it('comes from the tenant of the call', async () => {
    const { rig, request } = await opened()
    const order = { request, granted: true, approver: 'user:olga', groups: ['ops'] }
    await expect(answerRequest(rig.kernel, { ...order, tenant: 'other' })).rejects.toEqual(refused())
  })

  it('counts once, even if several people answer concurrently', async () => {
    const { rig, request } = await opened()
    const all = await Promise.allSettled([
      answer(rig, request, true),
      answer(rig, request, false),
      answer(rig, request),
    ])
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(rig.receipts().filter(({ kind }) => kind === 'approval')).toHaveLength(1)
  })

  it('that denies applies to the same call until it expires', async () => {
    const { rig, request } = await opened()
    await answer(rig, request, false)
    expect(await decide(rig)).toMatchObject({ verdict: 'DENY', reason: 'APPROVAL_REFUSED' })
    rig.host.advance(900_001)
    expect((await decide(rig)).verdict).toBe('ESCALATE')
    expect((await rig.verify()).findings).toEqual([])
  })
})

describe('a request', () => {
  it('is opened once, even if the same call is sent often', async () => {
    const { rig, request } = await opened()
    const again = await Promise.all([decide(rig), decide(rig), decide(rig)])
    expect(again.map(({ approval }) => approval)).toEqual([request, request, request])
    expect(rig.kernel.approvals.list(rig.host.time)).toHaveLength(1)
  })

  it('without an answer times out; sending the call again opens a new one', async () => {
    const { rig, request } = await opened()
    rig.host.advance(900_001)
    expect((await decide(rig, { ...MAIL, approval: request })).reason).toBe('APPROVAL_TIMEOUT')
    const { approval } = await decide(rig)
    expect(approval).not.toBe(request)
  })

  it('that is the newest counts, even if an older one is answered', async () => {
    const { rig, request } = await opened()
    const strict = POLICY.replace('id: mail', 'id: strict')
    await activatePolicy(rig.kernel, policyOf(strict), 'user:olga')
    const { approval } = await decide(rig)
    expect(approval).not.toBe(request)
    await answer(rig, request)
    expect((await decide(rig)).approval).toBe(approval)
  })

  it('that is the newest counts, even after a restart', async () => {
    const { rig } = await opened()
    for (let i = 0; i < 8; i++) {
      rig.host.advance(900_001)
      await decide(rig)
    }
    const [newest] = rig.kernel.approvals.list(rig.host.time)
    await rig.reopen()
    expect((await decide(rig)).approval).toBe(newest?.id)
  })

  it('of a gate and a rule together keeps the approvers of the rule', async () => {
    const { rig, request } = await opened({ tool: 'mail/send', args: { to: 'a@ask.test' } })
    expect(rig.last('decision')).toMatchObject({
      rung: 'egress',
      rule: 'mail',
      reason_code: 'EGRESS_APPROVAL_REQUIRED',
    })
    await expect(answer(rig, request, true, 'user:olga', ['dev'])).rejects.toEqual(refused())
  })

  it('is refused if a principal has a hundred waiting requests', async () => {
    const { rig } = await opened()
    for (let i = 0; i < 99; i++)
      await decide(rig, { ...MAIL, args: { ...MAIL.args, text: `${i}` }, session_id: `s${i}` })
    expect(await decide(rig, { ...MAIL, args: { ...MAIL.args, text: 'more' } })).toMatchObject({
      verdict: 'DENY',
      reason: 'RATE_EXCEEDED',
    })
    expect(rig.kernel.approvals.list(rig.host.time)).toHaveLength(100)
    // Unanswered requests that timed out no longer wait.
    rig.host.advance(900_001)
    expect((await decide(rig)).verdict).toBe('ESCALATE')
    expect(rig.kernel.approvals.list(rig.host.time)).toHaveLength(1)
  })

  it('is removed a day after it expired, even if an older one waits longer', async () => {
    const rig = await createRig({
      policy: POLICY.replace('require: "vault/put"', 'require: "vault/put", expires: 7d'),
    })
    await decide(rig, { tool: 'vault/put', args: {} })
    for (let i = 0; i < 5; i++) await decide(rig, { ...MAIL, session_id: `s${i}` })
    rig.host.advance(2 * 86_400_000)
    await decide(rig, { tool: 'no/such' })
    expect([...rig.store.records.keys()].filter((name) => name.startsWith('approval\n'))).toHaveLength(1)
  })

  it('is removed a day after it expired', async () => {
    const { rig } = await opened()
    rig.host.advance(900_000 + 86_400_001)
    await decide(rig, { tool: 'no/such' })
    expect(rig.kernel.approvals.list(rig.host.time)).toEqual([])
    expect([...rig.store.records.keys()].filter((name) => name.startsWith('approval\n'))).toEqual([])
  })
})
