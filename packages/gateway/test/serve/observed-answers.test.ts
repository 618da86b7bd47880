// Every answer that observe mode changed says so, at each door. Answers to other calls, and what servers receive, do not.

import type { JsonObject } from '@tollgate/evidence'
import { setObserve } from '@tollgate/kernel/admin'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Gateway } from '../../src/open.ts'
import { activate } from '../gateway-rig.ts'
import { openLlmGate, POLICY, type LlmGate } from '../llm/gate.ts'
import { startUpstream } from '../llm/upstream.ts'
import {
  at,
  gateForTest,
  MCP_POLICY,
  modernMeta,
  plainServer,
  type Gate,
  type PlainServer,
} from '../mcp/rig.ts'

const DECISION = 'dev.tollgate/decision'
const CHAT = '/openai/v1/chat/completions'
const READ = { id: 'call_read', name: 'read_note', args: { name: 'list' } }
const ASKED = {
  model: 'm',
  messages: [{ role: 'user', content: 'Read the list.' }],
  tools: [
    {
      type: 'function',
      function: { name: 'read_note', parameters: { type: 'object', properties: { name: {} } } },
    },
  ],
}
const MARK = {
  verdict: 'ALLOW',
  reason_code: 'OBSERVE_MODE_ALLOWED',
  message: 'No rule matches this call. Observe mode allowed and recorded it.',
  detail: expect.stringMatching(/^observe mode ends at 20\d\d-.*Z$/) as string,
}

async function observe({ kernel }: Gateway, door: string): Promise<void> {
  await setObserve(kernel, { scope: 'door', target: door, lasts: 3_600_000, by: 'user:ann' })
}

/** A gate whose rules allow only the calls that the setup needs. */
async function mcpGate(server: Partial<PlainServer> = {}): Promise<Gate> {
  const gate = await gateForTest({ ...plainServer(), ...server })
  await gate.approve()
  await activate(gate.gateway, MCP_POLICY.replace(/ {2}- \{ id: (?:echo|faculties).*\n/g, ''))
  await observe(gate.gateway, 'mcp')
  return gate
}

const CALL = { name: 'echo', arguments: { text: 'hello' } }

describe('an MCP result that observe mode allowed', () => {
  it('has the decision in `_meta`, for both revisions, beside the members of the server', async () => {
    const meta = { 'example.com/own': 1, [DECISION]: 'forged' }
    const answer = () => Promise.resolve({ ok: true, result: { content: [], _meta: meta } } as const)
    const gate = await mcpGate({ answer })
    const legacy = await (await gate.legacy()).request('tools/call', CALL)
    expect(at(legacy, 'result', '_meta')).toMatchObject({ 'example.com/own': 1, [DECISION]: MARK })
    const modern = await gate.client().request('tools/call', { ...CALL, _meta: modernMeta() })
    expect(at(modern, 'result', '_meta')).toMatchObject({ 'example.com/own': 1, [DECISION]: MARK })
    expect(at(modern, 'result', 'content')).toEqual([])
  })

  it.each(['prompts/get', 'resources/read'])('has it for %s', async (method) => {
    const gate = await mcpGate({
      answer: () => Promise.resolve({ ok: true, result: { contents: [], messages: [] } }),
    })
    const params: JsonObject = method === 'prompts/get' ? { name: 'p' } : { uri: 'memo://x' }
    const answered = await (await gate.legacy()).request(method, params)
    expect(at(answered, 'result', '_meta', DECISION)).toMatchObject(MARK)
  })

  it('has it in an error of the server, and beside a withheld result', async () => {
    const refusing = await mcpGate({
      answer: () => Promise.resolve({ ok: false, error: { code: -32050, message: 'no' } }),
    })
    const refused = await (await refusing.legacy()).request('tools/call', CALL)
    expect(at(refused, 'error', 'data', DECISION)).toMatchObject(MARK)
    const silent = await mcpGate({ answer: () => Promise.reject(new Error('gone')) })
    const withheld = await (await silent.legacy()).request('tools/call', CALL)
    expect(at(withheld, 'result', 'isError')).toBe(true)
    expect(at(withheld, 'result', '_meta', DECISION)).toMatchObject(MARK)
  })

  it('is unlike one that a rule allowed', async () => {
    const gate = await mcpGate()
    await activate(gate.gateway, MCP_POLICY)
    const answered = await (await gate.legacy()).request('tools/call', CALL)
    expect(at(answered, 'result', '_meta')).toBeUndefined()
  })

  it('tells a server nothing when a client answers its question', async () => {
    let told: unknown
    const gate = await mcpGate({
      answer: async (_, __, exchange) => {
        told = await exchange.onAsk?.('roots/list', {})
        return { ok: true, result: { content: [] } }
      },
    })
    const client = await gate.legacy({ roots: {} })
    client.onAsk = ({ id }) => ({ jsonrpc: '2.0', id: id ?? null, result: { roots: [] } })
    await client.request('tools/call', CALL)
    expect(told).toEqual({ roots: [] })
  })
})

async function llmGate(policy: string): Promise<LlmGate> {
  const upstream = await startUpstream({ calls: [READ] }, { calls: [{ ...READ, id: 'call_again' }] })
  const gate = await openLlmGate({ upstream: upstream.url, policy })
  onTestFinished(async () => {
    await gate.close()
    await upstream.close()
  })
  await observe(gate.running.gateway, 'llm')
  return gate
}

describe('an answer of the LLM door with a call that observe mode allowed', () => {
  it('counts it in a header, and in the comment at the end of a stream', async () => {
    const gate = await llmGate(POLICY.replace('  - { id: notes, allow: "read_note" }\n', ''))
    const whole = await gate.post(CHAT, ASKED)
    expect(await whole.text()).toContain('call_read')
    expect(whole.headers.get('tollgate-observed')).toBe('1')
    expect(whole.headers.get('tollgate-verdicts')).toBe('allow=1 deny=0 escalate=0')
    const stream = await gate.post(CHAT, { ...ASKED, stream: true })
    expect(await stream.text()).toMatch(/allow=1 deny=0 escalate=0 checkpoint-size=\d+ observed=1\n\n$/)
  })

  it('counts nothing if a rule allowed it', async () => {
    const gate = await llmGate(POLICY)
    const whole = await gate.post(CHAT, ASKED)
    expect(whole.headers.get('tollgate-observed')).toBeNull()
    const stream = await gate.post(CHAT, { ...ASKED, stream: true })
    expect(await stream.text()).not.toContain('observed=')
  })
})

describe('an answer of the HTTP door to a call that observe mode allowed', () => {
  it('names observe mode and its end', async () => {
    const gate = await llmGate(POLICY.replace('  - { id: notes, allow: "read_note" }\n', ''))
    await observe(gate.running.gateway, 'http')
    const answered = await gate.post('/v1/evaluate', { tool: 'read_note', arguments: { name: 'list' } })
    expect(await answered.json()).toMatchObject(MARK)
  })
})
