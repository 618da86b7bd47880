// Data that leaves drop by drop in a session whose user's words are not known, as over MCP.

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

/** The id of a process. */
const made = (i: number): string => madeSession(String(i).padStart(32, '0'))

async function send(rig: Rig, call: Call): Promise<string> {
  rig.host.advance(20_000)
  const output = { status: 'COMPLETED', output: new Uint8Array(), content: { name: 'Ada Byron' } } as const
  const { decided } = await rig.enforce(call, () => Promise.resolve(output))
  return decided.verdict === 'ALLOW' ? 'ALLOW' : decided.reason
}

/** The first call, counted from 1, that does not pass in so many rounds of reading and posting; what it is met with. */
async function drip(rig: Rig, each: (call: Call, i: number) => Call): Promise<readonly [number, string]> {
  for (let i = 0; i < 20; i++) {
    const call = i % 2 === 0 ? READ : post(`note ${i} of the day`)
    const came = await send(rig, each(call, i))
    if (came !== 'ALLOW') return [i + 1, came]
  }
  return [Infinity, 'ALLOW']
}

/** A person says yes to a call, and it is sent again. */
async function agree(rig: Rig, call: Call, reason: string): Promise<void> {
  const { decided } = await rig.authorize(call)
  expect(decided.reason).toBe(reason)
  const order = { tenant: 'default', request: decided.approval ?? '', granted: true, approver: 'user:olga' }
  await answerRequest(rig.kernel, order)
  expect(await send(rig, call)).toBe('ALLOW')
}

describe('labelled data to many sinks at once, without the user’s words', () => {
  const toHosts = (count: number, text: string): Call => ({
    tool: 'web/post',
    args: { url: Array.from({ length: count }, (_, i) => `https://h${i}.example/`), text },
  })

  it('is asked about as soon as there are more than are counted, also after a yes', async () => {
    const rig = await createRig({ policy: POLICY })
    expect(await send(rig, READ)).toBe('ALLOW')
    expect(await send(rig, toHosts(8, 'one'))).toBe('ALLOW')
    await agree(rig, toHosts(9, 'two'), 'SESSION_RISK_APPROVAL_REQUIRED')
    expect(await send(rig, toHosts(9, 'three'))).toBe('SESSION_RISK_APPROVAL_REQUIRED')
  })
})

describe('labelled data to the same sink, without the user’s words', () => {
  it.each<[string, (call: Call, i: number) => Call]>([
    ['in the session of the principal', (call) => ({ ...call, session_id: undefined })],
    ['in a session that the client names', (call) => ({ ...call, session_id: 's1' })],
    ['in a new session for each round', (call, i) => ({ ...call, session_id: `s${i >> 1}` })],
    ['in a new session for each call, as of a new process', (call, i) => ({ ...call, session_id: made(i) })],
    ['in a new session for each call', (call, i) => ({ ...call, session_id: `s${i}` })],
    [
      'in words that differ, to another path',
      (call, i) => (i % 2 === 0 ? call : post(`${i}`, `https://api.example/${i}`)),
    ],
  ])('is asked about within six calls: %s', async (_, each) => {
    expect(await drip(await createRig({ policy: POLICY }), each)).toEqual([
      6,
      'SESSION_RISK_APPROVAL_REQUIRED',
    ])
  })

  it('is asked about also after a restart before every call', async () => {
    const rig = await createRig({ policy: POLICY })
    let came = 'ALLOW'
    let calls = 0
    for (; came === 'ALLOW' && calls < 20; calls++) {
      await rig.reopen()
      came = await send(rig, calls % 2 === 0 ? READ : post(`note ${calls}`))
    }
    expect([calls, came]).toEqual([6, 'SESSION_RISK_APPROVAL_REQUIRED'])
  })

  it('is asked about once: what a person has agreed to goes on', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => call)
    await agree(rig, post('note 5 of the day'), 'SESSION_RISK_APPROVAL_REQUIRED')
    expect(await drip(rig, (each) => each)).toEqual([Infinity, 'ALLOW'])
  })

  it('is asked about again a week after a person has agreed, however often it went on', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => call)
    await agree(rig, post('note 5 of the day'), 'SESSION_RISK_APPROVAL_REQUIRED')
    const came: string[] = []
    for (let day = 1; day <= 11; day++) {
      rig.host.advance(86_400_000)
      await send(rig, READ)
      came.push(await send(rig, post(`day ${day}`)))
    }
    const passed = Array.from({ length: 8 }, () => 'ALLOW')
    expect(came).toEqual([...passed, ...Array.from({ length: 3 }, () => 'SESSION_RISK_APPROVAL_REQUIRED')])
  })

  it('is asked about although a person has agreed to something else that went there', async () => {
    const rig = await createRig({ policy: POLICY })
    await send(rig, READ)
    await agree(rig, post('a draft'), 'APPROVAL_REQUIRED')
    expect(await drip(rig, (call) => call)).toEqual([4, 'SESSION_RISK_APPROVAL_REQUIRED'])
  })

  it('is asked about once it has gone to more sinks than are counted', async () => {
    const rig = await createRig({ policy: POLICY })
    await send(rig, READ)
    const came: string[] = []
    for (let i = 0; i < 26; i++) came.push(await send(rig, post('x', `https://h${i}.api.example/`)))
    expect(came.indexOf('SESSION_RISK_APPROVAL_REQUIRED')).toBe(24)
    rig.host.advance(8 * 86_400_000)
    expect(await send(rig, post('x', 'https://h25.api.example/'))).toBe('ALLOW')
  })

  it('is asked about for a week, and then no longer counts', async () => {
    const rig = await createRig({ policy: POLICY })
    for (const call of [READ, post('1'), READ, post('2')]) await send(rig, call)
    rig.host.advance(6 * 86_400_000)
    expect(await send(rig, post('3'))).toBe('SESSION_RISK_APPROVAL_REQUIRED')
    rig.host.advance(2 * 86_400_000)
    expect(await send(rig, post('4'))).toBe('ALLOW')
  })

  it('may go to what is internal', async () => {
    const rig = await createRig({ policy: POLICY })
    const inside = (call: Call): Call => (call === READ ? call : post('x', 'https://in.example/'))
    expect(await drip(rig, inside)).toEqual([Infinity, 'ALLOW'])
  })

  it('is known to a session that an operator has reset: its data stays labelled', async () => {
    const rig = await createRig({ policy: POLICY })
    await drip(rig, (call) => ({ ...call, session_id: 's1' }))
    const order = { tenant: 'default', principal: 'agent:ci', session: 's1' }
    await resetSession(rig.kernel, { ...order, by: 'user:olga', because: 'It was asked for.' })
    expect(await send(rig, { ...post('again'), session_id: 's1' })).toBe('SESSION_RISK_APPROVAL_REQUIRED')
  })
})

describe('eighty calls of honest work', () => {
  const WORK: readonly Call[] = [
    { tool: 'docs/read', args: { path: 'plan.md' } },
    { tool: 'docs/write', args: { path: 'plan.md', text: 'the next step' } },
    { tool: 'web/get', args: { url: 'https://api.example/weather' } },
  ]
  it.each<[string, (i: number) => Call]>([
    ['that read labelled data and write at home', (i) => [READ, ...WORK][i % 4] ?? READ],
    [
      'that post all day and have read nothing labelled',
      (i) => (i % 2 === 0 ? (WORK[0] ?? READ) : post(`${i}`)),
    ],
    [
      'that post twice about what they have read',
      (i) => (i === 20 || i === 60 ? post(`${i}`) : ([READ, ...WORK][i % 4] ?? READ)),
    ],
  ])('pass untouched: %s', async (_, call) => {
    const rig = await createRig({ policy: POLICY })
    for (let i = 0; i < 80; i++) expect(await send(rig, call(i)), `call ${i}`).toBe('ALLOW')
  })
})
