// Servers that ask for the folders of the client outside of a call, as file servers do when they start.

import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Decision, JsonObject } from '@tollgate/evidence'
import { answerRequest, pinTool, setFreeze } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activate, newFolder } from '../gateway-rig.ts'
import { openGate, POLICY, type Gate as RealGate } from './gate.ts'
import { COMMANDS, connectPeer, KINDS, type Peer } from './peers.ts'
import { at, gateForTest, MCP_POLICY, modernMeta, type Client, type Gate } from './rig.ts'

const CALL = { name: 'echo', arguments: { text: 'hello' } }
const ROOTS: JsonObject = { roots: [{ uri: 'file:///work' }] }
const CHANGED = 'notifications/roots/list_changed'
const WAITING = new AbortController().signal

/** A question of the newest connected server; its answer, or the error. */
function ask(gate: Gate, signal: AbortSignal = WAITING): Promise<unknown> {
  const answer = gate.server.events.at(-1)?.onAsk?.('roots/list', {}, signal)
  return (answer ?? Promise.reject(new Error('no question is possible'))).catch((fault: unknown) => fault)
}

/** A legacy client that has not ended its greeting. */
async function greeting(gate: Gate, capabilities: JsonObject = { roots: {} }): Promise<Client> {
  const client = gate.client()
  await client.request('initialize', { protocolVersion: '2025-11-25', capabilities })
  return client
}

const initialized = (client: Client): Promise<unknown> =>
  client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
const asked = ({ heard }: Client): readonly JsonObject[] =>
  heard.filter(({ method }) => method === 'roots/list')
const answerTo = (client: Client, question: JsonObject | undefined): Promise<unknown> =>
  client.send(JSON.stringify({ jsonrpc: '2.0', id: question?.id, result: ROOTS }))
const reached = ({ server }: Gate): readonly string[] => server.reached.map(({ method }) => method)

async function decisions(gate: Gate): Promise<readonly Decision[]> {
  const all = (await gate.receipts()).filter((receipt) => receipt.kind === 'decision')
  return all.filter(({ tool }) => tool === 'plain:roots/list')
}

async function approvedGate(): Promise<Gate> {
  const gate = await gateForTest()
  await gate.approve()
  return gate
}

describe('a question for folders outside of a call', () => {
  test('waits for the greeting of the client, and is a decision of its own', async () => {
    const gate = await approvedGate()
    const client = await greeting(gate)
    const answer = ask(gate)
    expect(asked(client)).toEqual([])
    expect(await decisions(gate)).toEqual([])
    await initialized(client)
    await expect.poll(() => asked(client)).toHaveLength(1)
    await answerTo(client, asked(client)[0])
    expect(await answer).toEqual(ROOTS)
    expect(await decisions(gate)).toMatchObject([{ verdict: 'ALLOW', author: 'server:plain' }])
  })

  test('that arrives later reaches the client at once', async () => {
    const gate = await approvedGate()
    const client = await gate.legacy({ roots: {} })
    const answer = ask(gate)
    await expect.poll(() => asked(client)).toHaveLength(1)
    await answerTo(client, asked(client)[0])
    expect(await answer).toEqual(ROOTS)
  })

  test('waits for a stream if the client has none', async () => {
    const gate = await approvedGate()
    const client = gate.client()
    client.conversation.attach(undefined)
    await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} } })
    await initialized(client)
    const answer = ask(gate)
    const heard: string[] = []
    client.conversation.attach({ send: (message) => void heard.push(message) })
    await expect.poll(() => heard).toHaveLength(1)
    await answerTo(client, JSON.parse(heard[0] ?? '') as JsonObject)
    expect(await answer).toEqual(ROOTS)
  })

  test('without a stream is asked in the next call of a tool, before the call', async () => {
    const gate = await approvedGate()
    const client = gate.client()
    client.conversation.attach(undefined)
    await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} } })
    await initialized(client)
    const answer = ask(gate)
    client.onAsk = ({ id }) => {
      expect(reached(gate)).not.toContain('tools/call')
      return { jsonrpc: '2.0', id: id ?? null, result: ROOTS }
    }
    await client.request('tools/call', CALL)
    expect(await answer).toEqual(ROOTS)
    expect(reached(gate)).toContain('tools/call')
  })

  test('is a round of the next tool call of a modern client, before the call', async () => {
    const gate = await approvedGate()
    const client = gate.client()
    const _meta = modernMeta({ roots: {} })
    await client.request('tools/list', { _meta })
    const answer = ask(gate)
    const { result } = await client.request('tools/call', { ...CALL, _meta })
    expect(at(result, 'inputRequests', 'ask-0', 'method')).toBe('roots/list')
    expect(reached(gate)).not.toContain('tools/call')
    const requestState = at(result, 'requestState') ?? null
    const last = await client.request('tools/call', {
      ...{ ...CALL, _meta, requestState },
      inputResponses: { 'ask-0': ROOTS },
    })
    expect(at(last, 'result', 'resultType')).toBe('complete')
    expect(await answer).toEqual(ROOTS)
  })

  test('that the server gave up is repeated before the next call', async () => {
    const gate = await approvedGate()
    const client = gate.client()
    const _meta = modernMeta({ roots: {} })
    await client.request('tools/list', { _meta })
    const gone = new AbortController()
    const first = ask(gate, gone.signal)
    gone.abort()
    expect(await first).toBeInstanceOf(Error)
    const calling = client.request('tools/call', { ...CALL, _meta })
    await expect.poll(() => reached(gate)).toContain('notifications/roots/list_changed')
    void ask(gate)
    expect(at((await calling).result, 'inputRequests', 'ask-0', 'method')).toBe('roots/list')
  })

  test('ends with its server', async () => {
    const gate = await approvedGate()
    const client = await greeting(gate)
    const answer = ask(gate)
    gate.server.events.at(-1)?.onDown()
    expect(await answer).toBeInstanceOf(Error)
    await initialized(client)
    expect(asked(client)).toEqual([])
    expect(await decisions(gate)).toEqual([])
  })

  test('does not reach a client that offers no folders', async () => {
    const gate = await approvedGate()
    const client = await gate.legacy()
    expect(await ask(gate)).toBeInstanceOf(Error)
    expect(asked(client)).toEqual([])
    expect(await decisions(gate)).toEqual([])
  })

  test('that is asked without end is refused after 16 in a minute', async () => {
    const gate = await approvedGate()
    await activate(gate.gateway, MCP_POLICY.replace('allow: "plain:*"', 'deny: "plain:*"'))
    await gate.legacy({ roots: {} })
    for (let i = 0; i < 40; i++) expect(await ask(gate)).toBeInstanceOf(Error)
    expect(await decisions(gate)).toHaveLength(16)
  })

  test('is denied while the client is frozen', async () => {
    const gate = await approvedGate()
    const client = await gate.legacy({ roots: {} })
    await setFreeze(gate.gateway.kernel, {
      ...{ scope: 'principal', target: 'agent:a', frozen: true, by: 'user:olga' },
    })
    expect(await ask(gate)).toBeInstanceOf(Error)
    expect(asked(client)).toEqual([])
  })

  test('is asked again after a person has approved it, alone or for the server', async () => {
    const gate = await gateForTest()
    const client = await gate.legacy({ roots: {} })
    await client.request('tools/list')
    expect(await ask(gate)).toBeInstanceOf(Error)
    expect(await decisions(gate)).toMatchObject([{ verdict: 'ESCALATE', reason_code: 'TOOL_NOT_PINNED' }])
    const { kernel } = gate.gateway
    const again = (times: number): Promise<void> =>
      expect
        .poll(() => reached(gate).filter((method) => method === CHANGED), { timeout: 5000 })
        .toHaveLength(times)
    const [request] = kernel.approvals.list(kernel.host.now())
    await answerRequest(kernel, {
      ...{ tenant: 'default', request: request?.id ?? '', granted: true, approver: 'user:olga' },
    })
    await again(1)
    client.onAsk = undefined
    void ask(gate)
    await expect.poll(() => asked(client)).toHaveLength(1)
    expect(await ask(gate)).toBeInstanceOf(Error)
    const hash = kernel.catalogue.offered('plain:roots/list')?.hash ?? ''
    await pinTool(kernel, 'plain:roots/list', hash, 'user:olga')
    await again(2)
  })
})

describe('the official file server without directories', () => {
  let gate: RealGate
  let folder: string

  beforeAll(async () => {
    folder = join(realpathSync(newFolder()), 'open')
    mkdirSync(folder)
    writeFileSync(join(folder, 'note.txt'), 'milk, bread')
    gate = await openGate({ files: { command: COMMANDS.filesystem } }, { policy: POLICY })
    await gate.meet('files')
    await gate.pin('files')
  })
  afterAll(() => gate.close())

  const read = (peer: Peer): Promise<string> =>
    peer
      .ask('tools/call', { name: 'read_text_file', arguments: { path: join(folder, 'note.txt') } })
      .then((answer) => JSON.stringify(answer))

  test.each(KINDS)('reads in the folders that the client %s offers', async (kind) => {
    const peer = await connectPeer(kind, gate.place('files'), [pathToFileURL(folder).href])
    await expect.poll(() => read(peer), { timeout: 10_000 }).toContain('milk, bread')
    const [newest] = (await gate.record('files:roots/list')).toReversed()
    expect(newest).toMatchObject({
      decision: { verdict: 'ALLOW', author: 'server:files' },
      effects: [{ status: 'COMPLETED' }],
    })
    await peer.close()
  })

  test('reads in them behind the wrapper too', async () => {
    const place = gate.wrapped('files', COMMANDS.filesystem)
    const peer = await connectPeer('v1', place, [pathToFileURL(folder).href])
    await expect.poll(() => read(peer), { timeout: 10_000 }).toContain('milk, bread')
    await peer.close()
  })

  test.each(KINDS)('reads nothing for a client %s that offers none', async (kind) => {
    const before = (await gate.record('files:roots/list')).length
    const peer = await connectPeer(kind, gate.place('files'), null)
    expect(await read(peer)).toContain('Access denied')
    expect(await gate.record('files:roots/list')).toHaveLength(before)
    await peer.close()
  })
})
