// The names of tools on the merged endpoint, and its list in one page.

import type { JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import {
  at,
  ECHO,
  gateForTest,
  modernMeta,
  plainServer,
  type Client,
  type Gate,
  type PlainServer,
} from './rig.ts'

const ALL = { kind: 'all' } as const
const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/

async function namesOf(client: Client, params: JsonObject = {}): Promise<readonly unknown[]> {
  const page = await client.request('tools/list', params)
  return (at(page, 'result', 'tools') as readonly JsonObject[]).map(({ name }) => name)
}

function serverWith(...names: readonly string[]): PlainServer {
  const server = plainServer()
  server.tools = names.map((name) => ({ ...ECHO, name }))
  return server
}

const call = (client: Client, name: string): Promise<JsonObject> =>
  client.request('tools/call', { name, arguments: { text: 'hi' } })

async function lastCall(gate: Gate): Promise<unknown> {
  const receipt = (await gate.receipts()).findLast(({ kind }) => kind === 'decision')
  return receipt?.kind === 'decision' && [receipt.tool, receipt.verdict, receipt.reason_code]
}

describe('the merged list', () => {
  test('has names that model providers accept, on one page', async () => {
    const gate = await gateForTest(serverWith('echo', 'read.text', 'x'.repeat(120)), serverWith('echo'))
    const client = await gate.legacy({}, ALL)
    const page = await client.request('tools/list')
    expect(at(page, 'result', 'nextCursor')).toBeUndefined()
    const names = await namesOf(client)
    expect(names.slice(0, 2)).toEqual(['plain__echo', 'plain__read_text'])
    expect(names[3]).toBe('second__echo')
    for (const name of names) expect(name).toMatch(ACCEPTED)
    expect(new Set(names).size).toBe(4)
  })

  test('has names with a slash if the configuration wants them', async () => {
    const gate = await gateForTest(plainServer(), plainServer(), { names: 'slash' })
    const client = await gate.legacy({}, ALL)
    expect(await namesOf(client)).toEqual(['plain/echo', 'plain/other', 'second/echo', 'second/other'])
    await gate.approve()
    expect(at(await call(client, 'plain__echo'), 'result', 'isError')).toBeUndefined()
    expect(await lastCall(gate)).toEqual(['plain/echo', 'ALLOW', 'RULE_ALLOWED'])
  })

  test('leaves out tools that share a name, and logs it', async () => {
    const logged: unknown[] = []
    const log = (_: string, message: string, fields = {}): void => void logged.push({ message, ...fields })
    const gate = await gateForTest(serverWith('a.b', 'a_b', 'c'), plainServer(), { log })
    const client = await gate.legacy({}, ALL)
    expect(await namesOf(client)).toEqual(['plain__c', 'second__echo', 'second__other'])
    const hint = 'rename one of the servers, or set `mcp.names: slash` in tollgate.yaml'
    const message = 'two MCP tools share a name, so agents get neither of them'
    expect(logged).toEqual(
      ['plain/a.b', 'plain/a_b'].map((tool) => ({ message, name: 'plain__a_b', tool, hint })),
    )
    // A server alone has no such names.
    expect(await namesOf(await gate.legacy())).toEqual(['a.b', 'a_b', 'c'])
  })

  test('is cut into pages only above 4 MiB, and the pages have every tool once', async () => {
    const [plain, second] = [plainServer(), plainServer()]
    const big = (count: number): JsonObject[] =>
      Array.from({ length: count }, (_, i) => ({ ...ECHO, name: `t${i}`, description: 'x'.repeat(200_000) }))
    plain.tools = big(11)
    second.tools = big(11)
    const gate = await gateForTest(plain, second)
    await gate.mcp.meet()
    await gate.approve()
    const client = await gate.legacy({}, ALL)
    const first = await client.request('tools/list')
    expect(at(first, 'result', 'tools')).toHaveLength(11)
    const cursor = at(first, 'result', 'nextCursor') as string
    expect(await namesOf(client, { cursor })).toEqual(big(11).map((_, i) => `second__t${i}`))
  })

  test('continues in the list of a server that has pages of its own', async () => {
    const server = serverWith('first')
    server.beside = { nextCursor: 'more' }
    server.answer = (method) =>
      Promise.resolve({
        ok: true,
        result: method === 'tools/list' ? { tools: [{ ...ECHO, name: 'last' }] } : { done: true },
      })
    const client = await (await gateForTest(server)).legacy({}, ALL)
    expect(await namesOf(client)).toEqual(['plain__first', 'plain__last', 'second__echo', 'second__other'])
  })

  test.each(['x', '', 'W10', 'W1swXSxbMF1d', 'W1s5XV0', 'W1swLCJvdGhlciJdXQ'])(
    'refuses the cursor `%s`, which it did not give',
    async (cursor) => {
      const client = await (await gateForTest()).legacy({}, ALL)
      expect(at(await client.request('tools/list', { cursor }), 'error', 'code')).toBe(-32602)
    },
  )
})

describe('a call on the merged endpoint', () => {
  test.each(['plain__echo', 'plain/echo', 'mcp__plain__echo', 'mcp__tollgate__plain__echo'])(
    'by the name %s reaches the tool, and is recorded as plain/echo',
    async (name) => {
      const gate = await gateForTest()
      await gate.approve()
      const client = await gate.legacy({}, ALL)
      expect(at(await call(client, name), 'result', 'answered')).toBe('tools/call')
      expect(gate.server.reached.at(-1)).toMatchObject({ params: { name: 'echo' } })
      expect(await lastCall(gate)).toEqual(['plain/echo', 'ALLOW', 'RULE_ALLOWED'])
    },
  )

  test('by a shortened name reaches the long tool', async () => {
    const long = 'y'.repeat(100)
    const gate = await gateForTest(serverWith(long))
    await gate.approve()
    const client = await gate.legacy({}, ALL)
    const [name] = await namesOf(client)
    expect(at(await call(client, String(name)), 'result', 'answered')).toBe('tools/call')
    expect(await lastCall(gate)).toEqual([`plain/${long}`, 'ALLOW', 'RULE_ALLOWED'])
  })

  test('needs no list before it, also after a restart of the gateway', async () => {
    const gate = await gateForTest()
    await gate.approve()
    for (const tool of gate.gateway.kernel.catalogue.names()) gate.gateway.kernel.catalogue.withdraw(tool)
    const client = await gate.legacy({}, ALL)
    expect(at(await call(client, 'plain__echo'), 'result', 'answered')).toBe('tools/call')
  })

  test('by a name of two tools is denied with the candidates, and reaches none', async () => {
    const gate = await gateForTest(serverWith('a.b', 'a_b'))
    await gate.approve()
    const client = await gate.legacy({}, ALL)
    gate.server.reached.length = 0
    const answer = await call(client, 'plain__a_b')
    expect(at(answer, 'result', '_meta', 'dev.tollgate/decision')).toMatchObject({
      reason_code: 'DENY_TOOL_NOT_FOUND',
      detail: '`plain__a_b` can mean `plain/a.b` or `plain/a_b`; call the tool by one of these names',
    })
    expect(gate.server.reached).toEqual([])
    expect(await lastCall(gate)).toEqual(['plain__a_b', 'DENY', 'DENY_TOOL_NOT_FOUND'])
    expect(at(await call(client, 'plain/a.b'), 'result', 'answered')).toBe('tools/call')
  })

  test.each([
    'nowhere/echo',
    'nowhere__echo',
    'echo',
    'plain',
    'plain__',
    '__echo',
    'plain__nothing',
    'Plain__echo',
  ])('by the name %s, which no tool has, is denied and recorded', async (name) => {
    const gate = await gateForTest()
    await gate.approve()
    const client = await gate.legacy({}, ALL)
    gate.server.reached.length = 0
    await call(client, name)
    expect(await lastCall(gate)).toEqual([name, 'DENY', 'DENY_TOOL_NOT_FOUND'])
    expect(gate.server.reached).toEqual([])
  })
})

describe('a slow server', () => {
  test('does not delay the list of the others, and the client is told when it is there', async () => {
    const second = plainServer()
    let start = (): void => undefined
    second.slow = new Promise((resolve) => (start = resolve))
    const gate = await gateForTest(plainServer(), second, { patience: 20 })
    const client = gate.client(ALL)
    const _meta = modernMeta()
    const first = await client.request('tools/list', { _meta })
    expect((at(first, 'result', 'tools') as readonly JsonObject[]).map(({ name }) => name)).toEqual([
      'plain__echo',
      'plain__other',
    ])
    const cursor = at(first, 'result', 'nextCursor') as string
    const listening = client.send(
      JSON.stringify({
        ...{ jsonrpc: '2.0', id: 'listen', method: 'subscriptions/listen' },
        params: { notifications: { toolsListChanged: true }, _meta },
      }),
    )
    const rest = namesOf(client, { cursor, _meta })
    start()
    expect(await rest).toEqual(['second__echo', 'second__other'])
    expect(await namesOf(client, { _meta })).toHaveLength(4)
    client.conversation.abandon('listen')
    const told = (await listening).map(({ method }) => method)
    expect(told).toContain('notifications/tools/list_changed')
  })

  test('that never starts does not hide the others', async () => {
    const second = plainServer()
    second.slow = new Promise(() => undefined)
    const gate = await gateForTest(plainServer(), second, { patience: 20 })
    expect(await namesOf(gate.client(ALL), { _meta: modernMeta() })).toEqual(['plain__echo', 'plain__other'])
  })
})
