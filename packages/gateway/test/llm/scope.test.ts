// A scope at the LLM door: the header counts only from a `host` token, and is refused from any other.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const CHAT = '/openai/v1/chat/completions'
const POLICY = `
tollgate: 1
name: models
tools: { "send_mail": { effect: send, sinks: [to], destinations: none } }
rules: [{ id: mail, allow: "send_mail" }]
`
const TOOLS = [
  {
    type: 'function',
    function: { name: 'send_mail', parameters: { type: 'object', properties: { to: { type: 'string' } } } },
  },
]
const ASKED = { model: 'm', messages: [{ role: 'user', content: 'Write to Olga.' }], tools: TOOLS }
const EVE = { id: 'call_mail', name: 'send_mail', args: { to: 'eve@example.net' } }
const SCOPE = JSON.stringify({ sinks: ['olga@example.com', 'Jürgen'] })
const ENCODED = Buffer.from(SCOPE).toString('base64url')

let upstream: Upstream
let gate: LlmGate
let host: string

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url, policy: POLICY })
  const who = { role: 'host', tenant: 'default', principal: 'agent:peer' } as const
  host = `Bearer ${(await gate.running.gateway.tokens.issue(who, 'test')).token}`
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

async function errorOf(response: Response): Promise<string> {
  return JSON.stringify(await response.json())
}

it('an agent’s scope is refused, and nothing is forwarded', async () => {
  const before = upstream.requests.length
  const response = await gate.post(CHAT, ASKED, { 'tollgate-scope': ENCODED, 'tollgate-session': 's1' })
  expect(response.status).toBe(403)
  expect(await errorOf(response)).toContain('role `host`')
  expect(upstream.requests.length).toBe(before)
})

it('an invalid scope is refused, also from a host', async () => {
  for (const header of ['{', '[]', '!!', '{"sink":[]}', Buffer.from('nonsense').toString('base64url')]) {
    const response = await gate.post(CHAT, ASKED, { authorization: host, 'tollgate-scope': header })
    expect(response.status).toBe(400)
  }
  expect(await gate.decisions()).toEqual([])
})

it('a host’s scope applies to the calls of its session, from any caller', async () => {
  upstream.script({ calls: [EVE] }, { calls: [EVE] })
  const headers = { authorization: host, 'tollgate-scope': ENCODED, 'tollgate-session': 's2' }
  await (await gate.post(CHAT, ASKED, headers)).text()
  await (await gate.post(CHAT, ASKED, { 'tollgate-session': 's2' })).text()
  const decisions = await gate.decisions()
  expect(decisions.map(({ reason_code }) => reason_code)).toEqual([
    'TASK_SCOPE_EXCEEDED',
    'TASK_SCOPE_EXCEEDED',
  ])
  expect(new Set(decisions.map(({ scope_hash }) => scope_hash)).size).toBe(1)
  // The header belongs to the gateway and is not forwarded.
  expect(JSON.stringify(upstream.requests)).not.toContain('tollgate-scope')
})
