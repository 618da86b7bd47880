// Questions of a server to its client during a call. They are charged to the server, never to the agent.

import type { Decision, JsonObject } from '@tollgate/evidence'
import { setFreeze, type FreezeOrder } from '@tollgate/kernel/admin'
import { describe, expect, test } from 'vitest'
import { MAX_QUESTIONS } from '../../src/mcp/send.ts'
import { activate } from '../gateway-rig.ts'
import { at, gateForTest, MCP_POLICY, modernMeta, plainServer, type Gate } from './rig.ts'

const IBAN = 'GB29NWBK60161331926819'
const CAN = { elicitation: {}, sampling: {}, roots: {} }
const CALL = { name: 'echo', arguments: { text: 'hello' } }
const MAIL = { name: 'mail', arguments: { text: IBAN } }
const ASKED = ['elicitation/create', 'sampling/createMessage'] as const

const POLICY = MCP_POLICY.replace(
  '"second/*"',
  '"plain/mail": { effect: send, sinks: [text], destinations: none }\n  "second/*"',
).concat('gates: { taint: { provenance: { untrusted: deny } } }\n')
const DENYING = POLICY.replace('allow: "plain:*"', 'deny: "plain:*"')

/** A gate whose server asks this often in each call of `echo`, and records the answers. */
async function asking(times: number, method: string, policy: string): Promise<[Gate, unknown[]]> {
  const server = plainServer()
  const told: unknown[] = []
  server.tools = [
    ...server.tools,
    {
      name: 'mail',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  ]
  server.answer = async (_method, params, exchange) => {
    for (let i = 0; i < times && params.name === 'echo'; i++) {
      const asked = exchange.onAsk?.(method, { message: `Is it ${IBAN}?`, number: i })
      told.push(await asked?.catch((fault: unknown) => fault))
    }
    return { ok: true, result: {} }
  }
  const gate = await gateForTest(server)
  await activate(gate.gateway, policy)
  await gate.approve()
  return [gate, told]
}

async function decisionsOf(gate: Gate): Promise<readonly Decision[]> {
  return (await gate.receipts()).filter((receipt) => receipt.kind === 'decision')
}

const answerer = ({ id }: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: id ?? null, result: {} })

describe.each(ASKED)('text that a server writes into %s', (method) => {
  test.each([
    ['allowed', POLICY],
    ['denied', DENYING],
  ])('is output and not the agent’s word, also if it is %s', async (verdict, policy) => {
    const [gate] = await asking(1, method, policy)
    const client = await gate.legacy(CAN)
    client.onAsk = answerer
    await client.request('tools/call', CALL)
    const reached = gate.server.reached.length
    const answer = await client.request('tools/call', MAIL)
    expect(JSON.stringify(answer)).toContain('UNTRUSTED_VALUE_DENY')
    expect(gate.server.reached).toHaveLength(reached)
    expect(await decisionsOf(gate)).toMatchObject([
      { tool: 'plain/echo', verdict: 'ALLOW' },
      {
        tool: `plain:${method}`,
        author: 'server:plain',
        verdict: verdict === 'allowed' ? 'ALLOW' : 'DENY',
        labels: ['personal'],
      },
      { tool: 'plain/mail', verdict: 'DENY' },
    ])
  })
})

test('a value that only the agent named is allowed: the denial above is due to its origin', async () => {
  const [gate] = await asking(0, 'elicitation/create', POLICY)
  const client = await gate.legacy(CAN)
  const answer = await client.request('tools/call', MAIL)
  expect(JSON.stringify(answer)).not.toContain('Denied')
  const [decision] = await decisionsOf(gate)
  expect(decision).toMatchObject({ tool: 'plain/mail', verdict: 'ALLOW' })
  expect(decision?.author).toBeUndefined()
})

describe('a server that asks 1,010 times', () => {
  test('in one call is refused after a few, without a receipt for each', async () => {
    const [gate, told] = await asking(1010, 'elicitation/create', DENYING)
    const client = await gate.legacy(CAN)
    client.onAsk = answerer
    await client.request('tools/call', CALL)
    expect(told).toHaveLength(1010)
    expect(told.slice(0, MAX_QUESTIONS).every((each) => at(each as JsonObject, 'action') === 'decline')).toBe(
      true,
    )
    expect(told.slice(MAX_QUESTIONS).every((each) => each instanceof Error)).toBe(true)
    expect((await decisionsOf(gate)).filter(({ author }) => author !== undefined)).toHaveLength(MAX_QUESTIONS)
    expect(at(await client.request('tools/call', CALL), 'result', 'isError')).toBeUndefined()
  })

  test.each([...ASKED, 'roots/list'])('may ask no more of %s either', async (method) => {
    const [gate, told] = await asking(MAX_QUESTIONS + 4, method, POLICY)
    const client = await gate.legacy(CAN)
    client.onAsk = answerer
    await client.request('tools/call', CALL)
    expect(told.map((each) => each instanceof Error)).toEqual([
      ...Array<boolean>(MAX_QUESTIONS).fill(false),
      ...Array<boolean>(4).fill(true),
    ])
  })

  test('over many calls is frozen, and the agent continues', async () => {
    const [gate] = await asking(MAX_QUESTIONS, 'elicitation/create', DENYING)
    const client = await gate.legacy(CAN)
    // Like `open`, with a smaller quota.
    const quota = { calls: 2 * MAX_QUESTIONS, period: 3_600_000 }
    Object.assign(gate.gateway.kernel, { quota })
    for (let i = 0; i < 4; i++) {
      const answer = await client.request('tools/call', CALL)
      expect(at(answer, 'result', 'isError')).toBeUndefined()
    }
    const frozen = (await gate.receipts()).filter((receipt) => receipt.kind === 'freeze')
    expect(frozen).toMatchObject([{ scope: 'principal', target: 'server:plain', frozen: true }])
    const asked = (await decisionsOf(gate)).filter(({ author }) => author !== undefined)
    expect(asked.length).toBeLessThanOrEqual(quota.calls + 1)
    expect(at(await client.request('tools/call', CALL), 'result', 'isError')).toBeUndefined()
  })
})

test('a modern client gets as many questions as a legacy one, and no more', async () => {
  const [gate, told] = await asking(MAX_QUESTIONS + 1, 'elicitation/create', POLICY)
  const client = gate.client()
  let params: JsonObject = { ...CALL, _meta: modernMeta({ elicitation: {} }) }
  for (let round = 0; round < MAX_QUESTIONS; round++) {
    const { result } = await client.request('tools/call', params)
    expect(at(result, 'resultType')).toBe('input_required')
    const [name = ''] = Object.keys(at(result, 'inputRequests') as JsonObject)
    const requestState = at(result, 'requestState') ?? null
    params = { ...params, requestState, inputResponses: { [name]: { action: 'accept' } } }
  }
  expect(at(await client.request('tools/call', params), 'result', 'resultType')).toBe('complete')
  expect(told.at(-1)).toBeInstanceOf(Error)
})

describe.each([
  ['everything', { scope: 'all' }],
  ['the agent', { scope: 'principal', target: 'agent:a' }],
  ['the session of the call', { scope: 'session', target: 'mine' }],
] as const)('an answer that comes after %s was frozen', (_, order) => {
  const session = { 'dev.tollgate/session': 'mine' }
  const freeze = (gate: Gate): Promise<unknown> =>
    setFreeze(gate.gateway.kernel, { ...order, frozen: true, by: 'user:olga' } satisfies FreezeOrder)

  test('does not reach the server that asked, from a legacy client', async () => {
    const [gate, told] = await asking(1, 'sampling/createMessage', POLICY)
    const client = await gate.legacy(CAN)
    client.onAsk = async ({ id }) => {
      await freeze(gate)
      return { jsonrpc: '2.0', id: id ?? null, result: { text: 'the answer' } }
    }
    await client.request('tools/call', { ...CALL, _meta: session })
    expect(told).toEqual([expect.any(Error)])
  })

  test('does not reach it from a modern client that brings it in another session', async () => {
    const [gate, told] = await asking(1, 'sampling/createMessage', POLICY)
    const client = gate.client()
    const first = await client.request('tools/call', {
      ...CALL,
      _meta: modernMeta({ sampling: {} }, session),
    })
    const { result } = first
    const [name = ''] = Object.keys(at(result, 'inputRequests') as JsonObject)
    await freeze(gate)
    await client.request('tools/call', {
      ...CALL,
      _meta: modernMeta({ sampling: {} }),
      requestState: at(result, 'requestState') ?? null,
      inputResponses: { [name]: { text: 'the answer' } },
    })
    await expect.poll(() => told).toEqual([expect.any(Error)])
  })
})
