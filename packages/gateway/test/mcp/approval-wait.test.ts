// Calls that wait for the answer of a person while their client waits for the result.

import type { Decision, JsonObject } from '@tollgate/evidence'
import { answerRequest, pinTool, setFreeze, type ApprovalRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activate } from '../gateway-rig.ts'
import { openGate, type Gate as RealGate } from './gate.ts'
import { COMMANDS, connectPeer, KINDS, type Kind, type Peer, type Place } from './peers.ts'
import { at, gateForTest, MCP_POLICY, type Client, type Gate } from './rig.ts'

const OWN = 'dev.tollgate/wait'
const WAIT = { [OWN]: '5m' }
const CALL = { name: 'echo', arguments: { text: 'hello' } }
const POLICY = MCP_POLICY.replace('rules:', 'rules:\n  - { id: ask, require: ["plain/echo", "plain:*"] }')

async function asking(policy = POLICY): Promise<Gate> {
  const gate = await gateForTest()
  await activate(gate.gateway, policy)
  await gate.approve()
  return gate
}

const open = ({ gateway: { kernel } }: Pick<Gate, 'gateway'>): readonly ApprovalRequest[] =>
  // Questions of a server wait for people too.
  kernel.approvals.list(kernel.host.now()).filter(({ author }) => author === undefined)

/** The id of the request that waits, once there is one besides those that are known. */
async function requestOf(gate: Pick<Gate, 'gateway'>, ...known: readonly string[]): Promise<string> {
  const others = (): readonly ApprovalRequest[] => open(gate).filter(({ id }) => !known.includes(id))
  await expect.poll(others, { timeout: 10_000 }).toHaveLength(1)
  const id = others()[0]?.id ?? ''
  // Nothing can be answered before it is on disk.
  await expect.poll(() => gate.gateway.view.record(`input\n${id}`), { timeout: 10_000 }).toBeDefined()
  return id
}

const answer = (gate: Pick<Gate, 'gateway'>, request: string, granted = true): Promise<unknown> =>
  answerRequest(gate.gateway.kernel, { tenant: 'default', request, granted, approver: 'user:olga' })

const call = (client: Client, _meta: JsonObject = WAIT): Promise<JsonObject> =>
  client.request('tools/call', { ...CALL, _meta })
const sent = (gate: Gate): number =>
  gate.server.reached.filter(({ method }) => method === 'tools/call').length

async function verdicts(gate: Gate): Promise<readonly string[]> {
  const all = (await gate.receipts()).filter((receipt): receipt is Decision => receipt.kind === 'decision')
  return all.map(({ verdict, reason_code: reason }) => `${verdict} ${reason}`)
}

describe('a call that waits', () => {
  test('runs when a person approves it, and its result is the answer', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy())
    await answer(gate, await requestOf(gate))
    expect(at(await calling, 'result', 'answered')).toBe('tools/call')
    expect(await verdicts(gate)).toEqual(['ESCALATE APPROVAL_REQUIRED', 'ALLOW APPROVAL_GRANTED'])
    expect(sent(gate)).toBe(1)
    expect(open(gate)).toEqual([])
  })

  test('tells a client that wants progress what it waits for', async () => {
    const gate = await asking()
    const client = await gate.legacy()
    const coming = client.send(
      JSON.stringify({
        ...{ jsonrpc: '2.0', id: 'p', method: 'tools/call' },
        params: { ...CALL, _meta: { ...WAIT, progressToken: 7 } },
      }),
    )
    const request = await requestOf(gate)
    await answer(gate, request)
    expect(await coming).toMatchObject([
      {
        method: 'notifications/progress',
        params: { progressToken: 7, progress: 0.001, message: expect.stringContaining(request) as string },
      },
      { id: 'p', result: {} },
    ])
  })

  test('is denied when a person denies it', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy())
    await answer(gate, await requestOf(gate), false)
    expect(JSON.stringify(await calling)).toContain('APPROVAL_REFUSED')
    expect(sent(gate)).toBe(0)
  })

  test('gets the answer without a wait when its time is over; the request stays open', async () => {
    const gate = await asking()
    const result = await call(await gate.legacy(), { [OWN]: '1s' })
    expect(JSON.stringify(result)).toContain('APPROVAL_REQUIRED')
    const [request] = open(gate)
    await answer(gate, request?.id ?? '')
    expect(at(await call(await gate.legacy()), 'result', 'answered')).toBe('tools/call')
  })

  test('does not wait by default, nor with "0"', async () => {
    const gate = await asking()
    for (const meta of [{}, { [OWN]: '0' }])
      expect(JSON.stringify(await call(await gate.legacy(), meta))).toContain('APPROVAL_REQUIRED')
  })

  test('with an unreadable time is refused, and is no decision', async () => {
    const gate = await asking()
    const client = await gate.legacy()
    for (const time of ['soon', '5', '-1s', 5, null, { s: 1 }, '99999m'])
      expect(at(await call(client, { [OWN]: time }), 'error', 'code')).toBe(-32602)
    expect(await verdicts(gate)).toEqual([])
  })

  test('is denied at once when its caller is frozen', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy())
    await requestOf(gate)
    const order = { scope: 'principal', target: 'agent:a', frozen: true, by: 'user:olga' } as const
    await setFreeze(gate.gateway.kernel, order)
    expect(JSON.stringify(await calling)).toContain('AGENT_KILLED')
    expect(sent(gate)).toBe(0)
  })

  test('is denied at once when the session that it names is frozen', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy(), { ...WAIT, 'dev.tollgate/session': 'mine' })
    await requestOf(gate)
    const order = { scope: 'session', target: 'mine', frozen: true, by: 'user:olga' } as const
    await setFreeze(gate.gateway.kernel, order)
    expect(JSON.stringify(await calling)).toMatch(/FROZEN/)
  })

  test('is not sent if its tool has changed meanwhile', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy())
    const request = await requestOf(gate)
    gate.server.tools = [{ name: 'echo', description: 'Another.', inputSchema: { type: 'object' } }]
    for (const events of gate.server.events) events.onNotification('notifications/tools/list_changed', {})
    await answer(gate, request)
    expect(JSON.stringify(await calling)).toContain('TOOL_DEFINITION_CHANGED')
    expect(sent(gate)).toBe(0)
  })

  test('runs when a person approves the tool itself', async () => {
    const gate = await gateForTest()
    const calling = call(await gate.legacy())
    await requestOf(gate)
    const { kernel } = gate.gateway
    const hash = kernel.catalogue.offered('plain/echo')?.hash ?? ''
    await pinTool(kernel, 'plain/echo', hash, 'user:olga')
    expect(at(await calling, 'result', 'answered')).toBe('tools/call')
  })

  test('ends with the gateway, and its request stays open', async () => {
    const gate = await asking()
    const calling = call(await gate.legacy())
    const request = await requestOf(gate)
    gate.mcp.end()
    expect(JSON.stringify(await calling)).toContain('APPROVAL_REQUIRED')
    expect(open(gate)).toMatchObject([{ id: request }])
  })

  test('may read a resource or get a prompt, but complete no argument', async () => {
    const gate = await asking()
    const client = await gate.legacy()
    const ask = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'a', value: 'b' } }
    expect(JSON.stringify(await client.request('completion/complete', { ...ask, _meta: WAIT }))).toContain(
      'APPROVAL_REQUIRED',
    )
    for (const [method, params] of [
      ['resources/read', { uri: 'memo://x' }],
      ['prompts/get', { name: 'greet', arguments: {} }],
    ] as const) {
      const known = open(gate).map(({ id }) => id)
      const calling = client.request(method, { ...params, _meta: WAIT })
      await answer(gate, await requestOf(gate, ...known))
      expect(at(await calling, 'result', 'answered')).toBe(method)
    }
  })
})

describe('a client that gives up', () => {
  type GiveUp = (client: Client) => unknown
  const ways: readonly (readonly [string, GiveUp])[] = [
    [
      'by cancelling',
      (client) =>
        client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r1"}}'),
    ],
    ['by losing the connection of the request', (client) => client.conversation.lose('r1')],
    ['by leaving', (client) => client.conversation.close()],
  ]

  test.each(ways)('%s closes the request, and nothing runs', async (_, giveUp) => {
    const gate = await asking()
    const client = await gate.legacy()
    const calling = call(client).catch(() => undefined)
    const request = await requestOf(gate)
    await giveUp(client)
    await calling
    await expect.poll(() => open(gate)).toEqual([])
    await expect(answer(gate, request)).rejects.toThrow('expired')
    expect(sent(gate)).toBe(0)
    expect(await verdicts(gate)).toEqual(['ESCALATE APPROVAL_REQUIRED'])
    // The same call asks again.
    await call(await gate.legacy(), {})
    expect(await requestOf(gate)).not.toBe(request)
  })

  test('still counts against the limit of its requests', async () => {
    const gate = await asking()
    const { kernel } = gate.gateway
    const client = await gate.legacy()
    const calling = call(client).catch(() => undefined)
    await requestOf(gate)
    await client.conversation.close()
    await calling
    await expect.poll(() => open(gate)).toEqual([])
    expect(kernel.approvals.asking('default', 'agent:a', kernel.host.now())).toBe(1)
  })
})

describe('two equal calls that wait', () => {
  test('need two approvals', async () => {
    const gate = await asking()
    const calls = [call(await gate.legacy()), call(await gate.legacy())]
    await expect.poll(async () => (await verdicts(gate)).length).toBe(2)
    const first = await requestOf(gate)
    await answer(gate, first)
    const second = await requestOf(gate, first)
    expect(sent(gate)).toBe(1)
    await answer(gate, second)
    for (const each of await Promise.all(calls)) expect(at(each, 'result', 'answered')).toBe('tools/call')
    expect(sent(gate)).toBe(2)
  })

  test('keep their request if only one gives up', async () => {
    const gate = await asking()
    const [leaving, staying] = [await gate.legacy(), await gate.legacy()]
    const gone = call(leaving).catch(() => undefined)
    const calling = call(staying)
    await expect.poll(async () => (await verdicts(gate)).length).toBe(2)
    await leaving.conversation.close()
    await gone
    await answer(gate, await requestOf(gate))
    expect(at(await calling, 'result', 'answered')).toBe('tools/call')
    expect(sent(gate)).toBe(1)
  })
})

describe('official clients with `wait` in the configuration', () => {
  let gate: RealGate
  const POLICY_OF_ALL = `
tollgate: 1
name: wait
principals: { "agent:*": { tier: standard } }
tools: { "*": { effect: write, destinations: none } }
rules: [{ id: ask, require: "everything/echo" }, { id: all, allow: "*" }]
`

  beforeAll(async () => {
    const servers = { everything: { command: COMMANDS.everything } }
    gate = await openGate(servers, { policy: POLICY_OF_ALL, wait: '5m' })
    await gate.meet('everything')
    await gate.pin('everything')
  })
  afterAll(() => gate.close())

  const running = (): Pick<Gate, 'gateway'> => ({ gateway: gate.running.gateway })
  const echo = (peer: Peer, onProgress?: (progress: unknown) => void): Promise<unknown> =>
    peer.ask(
      'tools/call',
      { name: 'echo', arguments: { message: 'hello' } },
      onProgress ? { onProgress } : {},
    )
  const places: readonly (readonly [string, Kind, () => Place])[] = [
    ...KINDS.map((kind) => [`${kind} over HTTP`, kind, () => gate.place('everything')] as const),
    ['v1 behind the wrapper', 'v1', () => gate.wrapped('everything', COMMANDS.everything)],
  ]

  test.each(places)(
    '%s gets the result after the approval, and hears of the wait',
    async (_, kind, place) => {
      const peer = await connectPeer(kind, place())
      const heard: unknown[] = []
      const calling = echo(peer, (progress) => heard.push(progress))
      const request = await requestOf(running())
      await expect.poll(() => JSON.stringify(heard)).toContain(request)
      await answer(running(), request)
      expect(JSON.stringify(await calling)).toContain('Echo: hello')
      await peer.close()
    },
  )

  test.each(places.slice(2))('%s closes the request by leaving', async (_, kind, place) => {
    const peer = await connectPeer(kind, place())
    const calling = echo(peer)
    await requestOf(running())
    await peer.close()
    await calling
    await expect.poll(() => open(running()), { timeout: 10_000 }).toEqual([])
  })
})
