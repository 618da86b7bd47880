// Tests data that leaves in small parts in a session without a known user message, as over MCP.

import { madeSession } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { answerRequest, resetSession } from '../../../src/admin.ts'
import type { ToolCall } from '../../../src/index.ts'
import { createRig, type Rig } from '../../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: admin } }
tools:
  crm/get: { effect: read, destinations: none, returns: [personal] }
  docs/read: { effect: read, destinations: none }
  docs/write: { effect: write, destinations: none }
  web/get: { effect: read, destinations: [url] }
  web/post: { effect: send, destinations: [url] }
rules: [{ id: seen, require: web/post, when: 'args.text == "a draft"' }, { id: all, allow: "*" }]
gates:
  egress: { allow: ["*"] }
  taint: { deny: [secret], internal: ["in.example"], provenance: { untrusted: allow, ordered: allow, flagged: deny } }
`
type Call = Partial<ToolCall>
const READ: Call = { tool: 'crm/get', args: { id: 7 } }
const post = (text: string, url = 'https://api.example/notes'): Call => ({
  tool: 'web/post',
  args: { url, text },
})

/** A generated session id. */
const made = (i: number): string => madeSession(String(i).padStart(32, '0'))

async function send(rig: Rig, call: Call): Promise<string> {
  rig.host.advance(20_000)
  const output = { status: 'COMPLETED', output: new Uint8Array(), content: { name: 'Ada Byron' } } as const
  const { decided } = await rig.enforce(call, () => Promise.resolve(output))
  return decided.verdict === 'ALLOW' ? 'ALLOW' : decided.reason
}

/** Alternates reads and posts. Returns the number of the first call that is not allowed, from 1, and its reason. */
async function drip(rig: Rig, each: (call: Call, i: number) => Call): Promise<readonly [number, string]> {
  for (let i = 0; i < 20; i++) {
    const call = i % 2 === 0 ? READ : post(`note ${i} of the day`)
    const outcome = await send(rig, each(call, i))
    if (outcome !== 'ALLOW') return [i + 1, outcome]
  }
  return [Infinity, 'ALLOW']
}

/** A person approves a call, and the call is repeated. */
async function agree(rig: Rig, call: Call, reason: string): Promise<void> {
  const { decided } = await rig.authorize(call)
  expect(decided.reason).toBe(reason)
  const order = { tenant: 'default', request: decided.approval ?? '', granted: true, approver: 'user:olga' }
  await answerRequest(rig.kernel, order)
  expect(await send(rig, call)).toBe('ALLOW')
}

describe('labelled data to many sinks at once, without a user message', () => {
  const toHosts = (count: number, text: string): Call => ({
    tool: 'web/post',
    args: { url: Array.from({ length: count }, (_, i) => `https://h${i}.example/`), text },
  })

  it('is escalated with more sinks than are counted, even after an approval', async () => {
    const rig = await createRig({ policy: POLICY })
    expect(await send(rig, READ)).toBe('ALLOW')
    expect(await send(rig, toHosts(8, 'one'))).toBe('ALLOW')
    await agree(rig, toHosts(9, 'two'), 'SESSION_RISK_APPROVAL_REQUIRED')
    expect(await send(rig, toHosts(9, 'three'))).toBe('SESSION_RISK_APPROVAL_REQUIRED')
  })
})

describe('labelled data to the same sink, without a user message', () => {
  it.each<[string, (call: Call, i: number) => Call]>([
    ['in the session of the principal', (call) => ({ ...call, session_id: undefined })],
    ['in a named session', (call) => ({ ...call, session_id: 's1' })],
    ['in a new session for each round', (call, i) => ({ ...call, session_id: `s${i >> 1}` })],
    ['in a new session for each call, as of a new process', (call, i) => ({ ...call, session_id: made(i) })],
    ['in a new session for each call', (call, i) => ({ ...call, session_id: `s${i}` })],
    [
      'with other texts, to other paths',
      (call, i) => (i % 2 === 0 ? call : post(`${i}`, `https://api.example/${i}`)),
    ],
  ])('is escalated within six calls: %s', async (_, each) => {
    expect(await drip(await createRig({ policy: POLICY }), each)).toEqual([
      6,
      'SESSION_RISK_APPROVAL_REQUIRED',
    ])
  })

  it('is escalated even with a restart before every call', async () => {
    const rig = await createRig({ policy: POLICY })
    let outcome = 'ALLOW'
    let calls = 0
    for (; outcome === 'ALLOW' && calls < 20; calls++) {
      await rig.reopen()
      outcome = await send(rig, calls % 2 === 0 ? READ : post(`note ${calls}`))
    }
    expect([calls, outcome]).toEqual([6, 'SESSION_RISK_APPROVAL_REQUIRED'])
  })

  it('is not escalated again after an approval', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => call)
    await agree(rig, post('note 5 of the day'), 'SESSION_RISK_APPROVAL_REQUIRED')
    expect(await drip(rig, (each) => each)).toEqual([Infinity, 'ALLOW'])
  })

  it('is escalated again a week after the approval, even if it was used in between', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => call)
    await agree(rig, post('note 5 of the day'), 'SESSION_RISK_APPROVAL_REQUIRED')
    const outcomes: string[] = []
    for (let day = 1; day <= 11; day++) {
      rig.host.advance(86_400_000)
      await send(rig, READ)
      outcomes.push(await send(rig, post(`day ${day}`)))
    }
    const passed = Array.from({ length: 8 }, () => 'ALLOW')
    expect(outcomes).toEqual([
      ...passed,
      ...Array.from({ length: 3 }, () => 'SESSION_RISK_APPROVAL_REQUIRED'),
    ])
  })

  it('is escalated even if a person approved another call to the same sink', async () => {
    const rig = await createRig({ policy: POLICY })
    await send(rig, READ)
    await agree(rig, post('a draft'), 'APPROVAL_REQUIRED')
    expect(await drip(rig, (call) => call)).toEqual([4, 'SESSION_RISK_APPROVAL_REQUIRED'])
  })

  it('is escalated once more sinks received data than are counted', async () => {
    const rig = await createRig({ policy: POLICY })
    await send(rig, READ)
    const outcomes: string[] = []
    for (let i = 0; i < 26; i++) outcomes.push(await send(rig, post('x', `https://h${i}.api.example/`)))
    expect(outcomes.indexOf('SESSION_RISK_APPROVAL_REQUIRED')).toBe(24)
    rig.host.advance(8 * 86_400_000)
    expect(await send(rig, post('x', 'https://h25.api.example/'))).toBe('ALLOW')
  })

  it('counts for a week', async () => {
    const rig = await createRig({ policy: POLICY })
    for (const call of [READ, post('1'), READ, post('2')]) await send(rig, call)
    rig.host.advance(6 * 86_400_000)
    expect(await send(rig, post('3'))).toBe('SESSION_RISK_APPROVAL_REQUIRED')
    rig.host.advance(2 * 86_400_000)
    expect(await send(rig, post('4'))).toBe('ALLOW')
  })

  it('is allowed to internal destinations', async () => {
    const rig = await createRig({ policy: POLICY })
    const inside = (call: Call): Call => (call === READ ? call : post('x', 'https://in.example/'))
    expect(await drip(rig, inside)).toEqual([Infinity, 'ALLOW'])
  })

  it('is still escalated after an operator resets the session, because its data stays labelled', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => ({ ...call, session_id: 's1' }))
    const order = { tenant: 'default', principal: 'agent:ci', session: 's1' }
    await resetSession(rig.kernel, { ...order, by: 'user:olga', because: 'It was asked for.' })
    expect(await send(rig, { ...post('again'), session_id: 's1' })).toBe('SESSION_RISK_APPROVAL_REQUIRED')
  })
})

describe('eighty calls of ordinary work', () => {
  const WORK: readonly Call[] = [
    { tool: 'docs/read', args: { path: 'plan.md' } },
    { tool: 'docs/write', args: { path: 'plan.md', text: 'the next step' } },
    { tool: 'web/get', args: { url: 'https://api.example/weather' } },
  ]
  it.each<[string, (i: number) => Call]>([
    ['reading labelled data and writing locally', (i) => [READ, ...WORK][i % 4] ?? READ],
    ['posting without labelled data', (i) => (i % 2 === 0 ? (WORK[0] ?? READ) : post(`${i}`))],
    [
      'posting twice after reading labelled data',
      (i) => (i === 20 || i === 60 ? post(`${i}`) : ([READ, ...WORK][i % 4] ?? READ)),
    ],
  ])('are all allowed: %s', async (_, call) => {
    const rig = await createRig({ policy: POLICY })
    for (let i = 0; i < 80; i++) expect(await send(rig, call(i)), `call ${i}`).toBe('ALLOW')
  })
})
