// The HTTP door of MCP on a real socket, with scripted conversations.

import { createConnection, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpDoor } from '../../src/mcp/client/http.ts'
import type { HttpLimits } from '../../src/mcp/client/http-limits.ts'
import { formatNotification, formatResult } from '../../src/mcp/message.ts'
import { serve } from '../../src/serve.ts'
import { createApiRig, type ApiRig, type Person } from '../api/rig.ts'
import { createStandIn, type StandInMcp } from './standin.ts'

const VERSION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
}
const BOTH = 'application/json, text/event-stream'

interface Rig extends StandInMcp, Pick<ApiRig, 'tokens' | 'token'> {
  readonly url: string
  readonly port: number
  post(
    person: Person | undefined,
    body: unknown,
    headers?: Record<string, string>,
    path?: string,
  ): Promise<Response>
  /** A modern request with its headers. */
  modern(
    method: string,
    params?: object,
    headers?: Record<string, string>,
    more?: ModernOptions,
  ): Promise<Response>
  /** Begins a session and returns its id. */
  initialize(person?: Person): Promise<string>
  close(): Promise<void>
}

interface ModernOptions {
  readonly person?: Person
  readonly signal?: AbortSignal
  readonly id?: number
  readonly path?: string
}

const opened: Rig[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((rig) => rig.close()))
})

async function openRig(limits: Partial<HttpLimits> = {}): Promise<Rig> {
  const api = await createApiRig()
  const standIn = createStandIn()
  const door = createHttpDoor({
    mcp: standIn.mcp,
    tokens: api.tokens,
    log: () => undefined,
    limits: { look: 20, ...limits },
  })
  const served = await serve(api.options, { host: '127.0.0.1', port: 0, grace: 300 }, [door])
  const bearer = (person: Person | undefined): Record<string, string> =>
    person === undefined ? {} : { authorization: `Bearer ${api.token(person)}` }
  const post: Rig['post'] = (person, body, headers = {}, path = '/mcp') =>
    fetch(`${served.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: BOTH, ...bearer(person), ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const rig: Rig = {
    ...standIn,
    tokens: api.tokens,
    token: (person) => api.token(person),
    url: served.url,
    port: Number(new URL(served.url).port),
    post,
    modern: (method, params = {}, headers = {}, { person = 'agent', signal, id = 1, path = '/mcp' } = {}) =>
      fetch(`${served.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: BOTH,
          'mcp-protocol-version': VERSION,
          'mcp-method': method,
          ...bearer(person),
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: META, ...params } }),
        ...(signal && { signal }),
      }),
    async initialize(person = 'agent') {
      const response = await post(person, { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
      expect(response.status).toBe(200)
      await response.text()
      return response.headers.get('mcp-session-id') ?? ''
    },
    close: () => served.close(),
  }
  opened.push(rig)
  return rig
}

interface Rpc {
  readonly id: unknown
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

async function rpc(response: Response): Promise<Rpc> {
  return JSON.parse(await response.text()) as Rpc
}

/** The messages of a stream, in order. */
async function* events(response: Response): AsyncGenerator<Record<string, unknown>> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      if (part.startsWith('data: ')) yield JSON.parse(part.slice(6)) as Record<string, unknown>
    }
  }
}

async function all(response: Response): Promise<Record<string, unknown>[]> {
  const list = []
  for await (const each of events(response)) list.push(each)
  return list
}

const ECHO = { jsonrpc: '2.0', id: 7, method: 'echo', params: {} }

describe('authentication', () => {
  it('challenges a request without a token before its body is read', async () => {
    const rig = await openRig()
    const socket = await connectTo(rig)
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    )
    const answer = await firstOf(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer.toLowerCase()).toContain('www-authenticate: bearer')
    socket.destroy()
  })

  it('refuses unknown tokens, and every role but `agent`', async () => {
    const rig = await openRig()
    const unknown = await rig.post(undefined, ECHO, { authorization: `Bearer tg_agent_${'x'.repeat(43)}` })
    expect(unknown.status).toBe(401)
    for (const person of ['operator', 'admin', 'auditor', 'sentinel'] as const) {
      expect((await rig.post(person, ECHO)).status).toBe(403)
    }
    expect(rig.begun).toEqual([])
  })

  it('leaves other paths to the API, and knows only configured servers', async () => {
    const rig = await openRig()
    expect((await fetch(`${rig.url}/healthz`)).status).toBe(200)
    expect((await rig.post('agent', ECHO, {}, '/mcp/Files')).status).toBe(404)
    expect((await rig.post('agent', ECHO, {}, '/mcp/')).status).toBe(404)
    const other = await rig.modern('echo', {}, {}, { path: '/mcp/other' })
    expect([other.status, (await rpc(other)).error?.message]).toEqual([404, 'unknown server: check the path'])
    expect((await rig.modern('echo', {}, {}, { path: '/mcp/files' })).status).toBe(200)
    expect(rig.begun.map(({ scope }) => scope)).toEqual([{ kind: 'server', name: 'files' }])
  })

  it('refuses other origins before it asks the door', async () => {
    const rig = await openRig()
    expect((await rig.post('agent', ECHO, { origin: 'http://evil.example' })).status).toBe(403)
  })
})

describe('the body', () => {
  it.each([
    ['another media type', { 'content-type': 'text/plain' }, 415],
    ['an encoding', { 'content-encoding': 'gzip' }, 415],
    ['an answer that may only be JSON', { accept: 'application/json' }, 406],
    ['an answer that may only be a stream', { accept: 'text/event-stream' }, 406],
    ['a stream that is refused', { accept: 'application/json, text/event-stream;q=0' }, 406],
    ['anything as an answer', { accept: '*/*' }, 400],
    ['families of answers', { accept: 'application/*, text/*;q=0.5' }, 400],
  ])('%s', async (_, headers, status) => {
    const rig = await openRig()
    expect((await rig.post('agent', ECHO, headers)).status).toBe(status)
  })

  it('has a limit', async () => {
    const rig = await openRig({ body: 2000 })
    const response = await rig.post('agent', { ...ECHO, params: { text: 'x'.repeat(3000) } })
    expect(response.status).toBe(413)
    expect(rig.begun).toEqual([])
  })

  it.each([
    ['no JSON', '{"jsonrpc":', -32700],
    ['a batch', [ECHO, ECHO], -32600],
    ['a name twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"echo"}', -32700],
    ['no message', '7', -32600],
  ])('%s is refused with 400, and the conversation sees it for the record', async (_, body, code) => {
    const rig = await openRig()
    const response = await rig.post('agent', body)
    expect([response.status, (await rpc(response)).error?.code]).toEqual([400, code])
    expect(rig.begun[0]?.taken).toMatchObject([{ kind: 'unreadable' }])
  })

  it('accepts only POST, GET and DELETE', async () => {
    const rig = await openRig()
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const response = await fetch(`${rig.url}/mcp`, { method: 'PUT', headers })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, GET, DELETE'])
  })
})

describe('requests without a session', () => {
  it('are answered with one object and the id of the client', async () => {
    const rig = await openRig()
    const response = await rig.modern('echo', { a: 1 })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('mcp-session-id')).toBeNull()
    expect(await rpc(response)).toMatchObject({ id: 1, result: { method: 'echo', params: { a: 1 } } })
  })

  it('are kept apart if their ids are equal, and share one conversation per principal', async () => {
    const rig = await openRig()
    const answers = [rig.modern('hold'), rig.modern('hold')]
    const [first, second] = await rig.until(() => {
      const held = rig.begun[0]?.held ?? []
      return held.length === 2 && held
    })
    expect(first?.id).not.toBe(second?.id)
    second?.out.send(formatResult(second.id, '{"which":2}'), true)
    first?.out.send(formatResult(first.id, '{"which":1}'), true)
    const got = await Promise.all(answers.map(async (each) => rpc(await each)))
    expect(got.map(({ id }) => id)).toEqual([1, 1])
    expect(got.map(({ result }) => result?.which).sort()).toEqual([1, 2])
    await rig.modern('echo', {}, {}, { person: 'other' })
    await rig.modern('echo', {}, {}, { path: '/mcp/files' })
    await rig.modern('echo')
    expect(rig.begun.map(({ principal, scope }) => [principal, scope.kind])).toEqual([
      ['agent:a', 'all'],
      ['agent:b', 'all'],
      ['agent:a', 'server'],
    ])
  })

  it('never return the answer to another request', async () => {
    const rig = await openRig()
    const answer = rig.modern('hold')
    const held = await rig.until(() => rig.begun[0]?.held[0])
    held.out.send(formatResult('http-999', '{"secret":true}'), true)
    const { id, result, error } = await rpc(await answer)
    expect({ id, result, code: error?.code }).toEqual({ id: 1, result: undefined, code: -32603 })
  })

  it('are answered with a stream if another message comes first', async () => {
    const rig = await openRig()
    const response = await rig.modern('tell')
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    expect(await all(response)).toMatchObject([{ method: 'notifications/progress' }, { id: 1, result: {} }])
  })

  it('are answered with a stream after a while, with heartbeats', async () => {
    const rig = await openRig({ patience: 10, heartbeat: 20 })
    const response = await rig.modern('hold')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (text.split(': \n\n').length < 3) text += Buffer.from((await reader.read()).value ?? []).toString()
    const held = rig.begun[0]?.held[0]
    held?.out.send(formatResult(held.id, '{}'), true)
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      text += Buffer.from(next.value).toString()
    }
    expect(text).toMatch(/data: \{"id":1,"jsonrpc":"2.0","result":\{\}\}\n\n$/)
  })

  it('have a status that fits the error', async () => {
    const rig = await openRig()
    const unknown = await rig.modern('nothing')
    expect([unknown.status, (await rpc(unknown)).error?.code]).toEqual([404, -32601])
    const wrong = await rig.modern('wrong')
    expect([wrong.status, (await rpc(wrong)).error?.code]).toEqual([200, -32602])
  })

  it('are answered even if the conversation fails', async () => {
    const rig = await openRig()
    expect((await rpc(await rig.modern('break'))).error).toEqual({
      code: -32603,
      message: 'internal error of the gateway; see its log',
    })
  })

  it('accept and ignore notifications, and refuse answers', async () => {
    const rig = await openRig()
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'http-1' } }
    const taken = await rig.post('agent', cancel, { 'mcp-protocol-version': VERSION })
    expect([taken.status, await taken.text()]).toEqual([202, ''])
    const answer = { jsonrpc: '2.0', id: 1, result: {} }
    expect((await rig.post('agent', answer, { 'mcp-protocol-version': VERSION })).status).toBe(400)
    expect(rig.begun).toEqual([])
  })

  it('are cancelled when the client disconnects, before and after the stream begins', async () => {
    const rig = await openRig({ patience: 30 })
    for (const waits of [false, true]) {
      const abort = new AbortController()
      const answer = rig.modern('hold', {}, {}, { signal: abort.signal })
      if (waits) await answer
      const count = rig.begun[0]?.abandoned.length ?? 0
      const held = await rig.until(() => rig.begun[0]?.held[count])
      abort.abort()
      await answer.catch(() => undefined)
      expect(await rig.until(() => rig.begun[0]?.abandoned[count])).toBe(held.id)
    }
  })

  it("keep the client's id in notifications", async () => {
    const rig = await openRig()
    const response = rig.modern('subscriptions/listen', {}, {}, { id: 42 })
    const { id, clientId, out } = await rig.until(() => rig.begun[0]?.held[0])
    expect(id).not.toBe(42)
    const key = 'io.modelcontextprotocol/subscriptionId'
    const acknowledged = { _meta: { [key]: clientId } }
    out.send(formatNotification('notifications/subscriptions/acknowledged', acknowledged), false)
    out.send(formatNotification('notifications/tools/list_changed', { _meta: { [key]: 'else' } }), false)
    const stream = events(await response)
    expect((await stream.next()).value).toMatchObject({ params: { _meta: { [key]: 42 } } })
    expect((await stream.next()).value).toMatchObject({ params: { _meta: { [key]: 'else' } } })
    await stream.return(undefined)
  })

  it('close an idle conversation and begin another', async () => {
    const rig = await openRig({ conversationIdle: 60 })
    const held = rig.modern('hold')
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    await rig.modern('echo')
    expect(rig.begun).toHaveLength(1)
    out.send(formatResult(id, '{}'), true)
    await held
    await rig.until(() => rig.begun[0]?.closed)
    await rig.modern('echo')
    expect(rig.begun).toHaveLength(2)
  })
})

describe('MCP headers', () => {
  const call = (name: string): object => ({ name, arguments: {} })

  it.each<[string, object, Record<string, string>, number]>([
    ['another method', call('a'), { 'mcp-name': 'a', 'mcp-method': 'tools/list' }, -32020],
    ['another version', call('a'), { 'mcp-name': 'a', 'mcp-protocol-version': '2025-11-25' }, -32020],
    ['an unknown version', call('a'), { 'mcp-name': 'a', 'mcp-protocol-version': '2027-01-01' }, -32020],
    ['no name', call('a'), {}, -32020],
    ['another name', call('a'), { 'mcp-name': 'b' }, -32020],
    ['a name in base64 that says another', call('a'), { 'mcp-name': '=?base64?Yg==?=' }, -32020],
    ['a name in base64 that is not exact', call('a'), { 'mcp-name': '=?base64?YQ=?=' }, -32020],
    ['a name that is a name twice', call('a'), { 'mcp-name': 'a, a' }, -32020],
    ['no capabilities', { _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION } }, {}, -32602],
    ['no version in the body', { _meta: {} }, {}, -32602],
  ])('%s is refused', async (_, params, headers, code) => {
    const rig = await openRig()
    const response = await rig.modern('tools/call', params, { ...headers })
    expect([response.status, (await rpc(response)).error?.code]).toEqual([400, code])
    expect(rig.begun).toEqual([])
  })

  it('are required', async () => {
    const rig = await openRig()
    const body = { jsonrpc: '2.0', id: 1, method: 'echo', params: { _meta: META } }
    const none = await rig.post('agent', body)
    expect([none.status, (await rpc(none)).error?.code]).toEqual([400, -32020])
    const noMethod = await rig.post('agent', body, { 'mcp-protocol-version': VERSION })
    expect([noMethod.status, (await rpc(noMethod)).error?.code]).toEqual([400, -32020])
  })

  it('with an unsupported revision get the list of supported ones', async () => {
    const rig = await openRig()
    const _meta = { ...META, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' }
    const response = await rig.modern('echo', { _meta }, { 'mcp-protocol-version': '2027-01-01' })
    expect(response.status).toBe(400)
    expect((await rpc(response)).error).toMatchObject({
      code: -32022,
      data: { requested: '2027-01-01', supported: [VERSION, '2025-11-25', '2025-06-18', '2025-03-26'] },
    })
  })

  it('may be in base64', async () => {
    const rig = await openRig()
    const plain = await rig.modern('tools/call', call('a/b'), { 'mcp-name': 'a/b' })
    expect(plain.status).toBe(200)
    const encoded = `=?base64?${Buffer.from('naïve').toString('base64')}?=`
    expect((await rig.modern('tools/call', call('naïve'), { 'mcp-name': encoded })).status).toBe(200)
    const uri = { uri: 'file:///a' }
    expect((await rig.modern('resources/read', uri, { 'mcp-name': 'file:///a' })).status).toBe(200)
    expect((await rig.modern('resources/read', uri, { 'mcp-name': 'file:///b' })).status).toBe(400)
  })

  it('must not be repeated', async () => {
    const rig = await openRig()
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'echo', params: { _meta: META } })
    for (const name of ['Mcp-Method: echo', 'Mcp-Session-Id: a', `MCP-Protocol-Version: ${VERSION}`]) {
      const socket = await connectTo(rig)
      const lines = [
        'POST /mcp HTTP/1.1',
        'Host: 127.0.0.1',
        `Authorization: Bearer ${rig.token('agent')}`,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
      ]
      socket.write(`${[...lines, name, name].join('\r\n')}\r\n\r\n${body}`)
      expect(await firstOf(socket)).toMatch(/^HTTP\/1\.1 400 [^]*is repeated/)
      socket.destroy()
    }
    expect(rig.begun).toEqual([])
  })
})

describe('sessions', () => {
  const asked = (method: string, params: object = {}): object => ({ jsonrpc: '2.0', id: 3, method, params })

  function listen(rig: Rig, session: string, more: Record<string, string> = {}, signal?: AbortSignal) {
    const headers = {
      authorization: `Bearer ${rig.token('agent')}`,
      accept: 'text/event-stream',
      'mcp-session-id': session,
      ...more,
    }
    return fetch(`${rig.url}/mcp`, { headers, ...(signal && { signal }) })
  }

  it('begin with initialize and carry an id that cannot be guessed', async () => {
    const rig = await openRig()
    const [first, second] = [await rig.initialize(), await rig.initialize()]
    expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect(second).not.toBe(first)
    const response = await rig.post('agent', asked('echo'), { 'mcp-session-id': first })
    expect([response.status, (await rpc(response)).id]).toEqual([200, 3])
    expect(rig.begun.map(({ taken }) => taken.length)).toEqual([2, 1])
  })

  it('are required, must be known, and belong to one principal, tenant and path', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    const ask = async (person: Person, headers: Record<string, string>, path?: string) =>
      (await rig.post(person, asked('echo'), headers, path)).status
    expect(await ask('agent', {})).toBe(400)
    expect(await ask('agent', { 'mcp-session-id': 'x'.repeat(43) })).toBe(404)
    expect(await ask('other', { 'mcp-session-id': session })).toBe(404)
    expect(await ask('far-agent', { 'mcp-session-id': session })).toBe(404)
    expect(await ask('agent', { 'mcp-session-id': session }, '/mcp/files')).toBe(404)
    expect(await ask('agent', { 'mcp-session-id': session })).toBe(200)
  })

  it('do not exist if `initialize` fails', async () => {
    const rig = await openRig()
    const response = await rig.post('agent', asked('initialize', { fail: true }))
    expect([response.status, response.headers.get('mcp-session-id')]).toEqual([200, null])
    await rig.until(() => rig.begun[0]?.closed)
    const unknown = await rig.post('agent', asked('initialize'), {}, '/mcp/other')
    expect(unknown.status).toBe(404)
  })

  it('begin once', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    expect((await rig.post('agent', asked('initialize'), { 'mcp-session-id': session })).status).toBe(400)
  })

  it('take answers and notifications with 202', async () => {
    const rig = await openRig()
    const headers = { 'mcp-session-id': await rig.initialize() }
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'a', result: {} },
      { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'no' } },
    ]) {
      const response = await rig.post('agent', message, headers)
      expect([response.status, await response.text()]).toEqual([202, ''])
    }
    expect(rig.begun[0]?.taken.map(({ kind }) => kind)).toEqual([
      'request',
      'notification',
      'response',
      'response',
    ])
  })

  it('know their revisions by the header', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    const ask = async (version: string) =>
      (await rig.post('agent', asked('echo'), { 'mcp-session-id': session, 'mcp-protocol-version': version }))
        .status
    expect(await ask('2025-06-18')).toBe(200)
    expect(await ask('2024-11-05')).toBe(400)
    expect(await ask('yesterday')).toBe(400)
  })

  it('answer protocol errors with 200', async () => {
    const rig = await openRig()
    const response = await rig.post('agent', asked('nothing'), { 'mcp-session-id': await rig.initialize() })
    expect([response.status, (await rpc(response)).error?.code]).toEqual([200, -32601])
  })

  it('have one stream for messages that belong to no request', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    const abort = new AbortController()
    const stream = events(await listen(rig, session, {}, abort.signal))
    expect((await listen(rig, session)).status).toBe(409)
    rig.begun[0]?.attached?.send(formatNotification('notifications/tools/list_changed', {}), false)
    expect((await stream.next()).value).toMatchObject({ method: 'notifications/tools/list_changed' })
    abort.abort()
    await rig.until(() => rig.begun[0]?.attached === undefined)
    const again = await listen(rig, session)
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })

  it('refuse streams without a session, or for a revision without sessions', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    expect((await listen(rig, 'x')).status).toBe(404)
    const modern = await listen(rig, session, { 'mcp-protocol-version': VERSION })
    expect([modern.status, modern.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await listen(rig, session, { accept: 'application/json' })).status).toBe(406)
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    expect((await fetch(`${rig.url}/mcp`, { headers })).status).toBe(400)
  })

  it('continue after a lost connection, because that does not cancel', async () => {
    const rig = await openRig({ patience: 10 })
    const session = await rig.initialize()
    const response = await rig.post('agent', asked('hold'), { 'mcp-session-id': session })
    await response.body?.cancel()
    const answer = await rig.post('agent', { ...asked('echo'), id: 4 }, { 'mcp-session-id': session })
    expect(answer.status).toBe(200)
    expect(rig.begun[0]?.abandoned).toEqual([])
  })

  it('end on DELETE', async () => {
    const rig = await openRig()
    const session = await rig.initialize()
    const end = (person: Person) =>
      fetch(`${rig.url}/mcp`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${rig.token(person)}`, 'mcp-session-id': session },
      })
    expect((await end('other')).status).toBe(404)
    expect(rig.begun[0]?.closed).toBe(false)
    expect((await end('agent')).status).toBe(204)
    expect(rig.begun[0]?.closed).toBe(true)
    expect((await end('agent')).status).toBe(404)
  })

  it('end when idle, but not while a request is open', async () => {
    const rig = await openRig({ sessionIdle: 300, patience: 10 })
    const session = await rig.initialize()
    const response = await rig.post('agent', asked('hold'), { 'mcp-session-id': session })
    const idle = await rig.initialize()
    await rig.until(() => rig.begun[1]?.closed)
    expect(rig.begun[0]?.closed).toBe(false)
    expect((await rig.post('agent', asked('echo'), { 'mcp-session-id': idle })).status).toBe(404)
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    out.send(formatResult(id, '{}'), true)
    expect(await all(response)).toHaveLength(1)
    await rig.until(() => rig.begun[0]?.closed)
  })

  it('are evicted, the oldest idle one first, only for their own principal', async () => {
    const rig = await openRig({ sessions: 2, sessionsInAll: 3, patience: 10 })
    const [busy, idle] = [await rig.initialize(), await rig.initialize()]
    await rig.post('agent', asked('hold'), { 'mcp-session-id': busy })
    await rig.initialize()
    expect(rig.begun.map(({ closed }) => closed)).toEqual([false, true, false])
    expect((await rig.post('agent', asked('echo'), { 'mcp-session-id': idle })).status).toBe(404)
    await rig.initialize('other')
    const full = await rig.post('far-agent', asked('initialize'))
    expect(full.status).toBe(429)
    expect(rig.begun.filter(({ closed }) => closed)).toHaveLength(1)
  })
})

describe('streams', () => {
  it('end soon after their token is revoked, and their requests are cancelled', async () => {
    const rig = await openRig({ patience: 10 })
    const { token, info } = await rig.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:brief' },
      'test',
    )
    const bearer = { authorization: `Bearer ${token}` }
    const begun = await rig.post(undefined, { jsonrpc: '2.0', id: 0, method: 'initialize' }, bearer)
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    const asked = await rig.post(undefined, { ...ECHO, method: 'hold' }, { ...bearer, ...session })
    const listening = await fetch(`${rig.url}/mcp`, {
      headers: { ...bearer, ...session, accept: 'text/event-stream' },
    })
    await rig.tokens.revoke(info.hash, 'test')
    expect(await all(asked)).toEqual([])
    expect(await all(listening)).toEqual([])
    expect(rig.begun[0]?.abandoned).toEqual([7])
    expect((await rig.post(undefined, ECHO, { ...bearer, ...session })).status).toBe(401)
  })

  it('do not begin with a token that was revoked while the body arrived', async () => {
    const rig = await openRig()
    const { token, info } = await rig.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:brief' },
      'test',
    )
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
    const socket = await connectTo(rig)
    const lines = [
      'POST /mcp HTTP/1.1',
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    // The caller is authenticated, and the body is awaited.
    expect(await firstOf(socket)).toMatch(/^HTTP\/1\.1 100 /)
    await rig.tokens.revoke(info.hash, 'test')
    const answer = firstOf(socket)
    socket.write(body)
    expect(await answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(rig.begun).toEqual([])
    socket.destroy()
  })

  it('are refused when the token is revoked before the answer begins', async () => {
    const rig = await openRig()
    const { token, info } = await rig.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:brief' },
      'test',
    )
    const answer = rig.modern('hold', {}, { authorization: `Bearer ${token}` })
    await rig.until(() => rig.begun[0]?.held[0])
    await rig.tokens.revoke(info.hash, 'test')
    expect((await answer).status).toBe(401)
  })

  it('are limited per principal', async () => {
    const rig = await openRig({ open: 2, patience: 10 })
    await rig.modern('hold')
    await rig.modern('hold')
    expect((await rig.modern('echo')).status).toBe(429)
    expect((await rig.modern('echo', {}, {}, { person: 'other' })).status).toBe(200)
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    out.send(formatResult(id, '{}'), true)
    expect((await rig.modern('echo')).status).toBe(200)
  })

  it('are dropped if the client does not read', async () => {
    const rig = await openRig({ patience: 10, unread: 100_000 })
    const response = await rig.modern('hold')
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    const note = formatNotification('notifications/message', { data: 'x'.repeat(60_000) })
    // More than all buffers hold, without a chance to read.
    for (let i = 0; i < 3; i++) out.send(note, false)
    expect(rig.begun[0]?.abandoned).toEqual([id])
    expect((await all(response)).length).toBeLessThan(3)
  })

  it('end with the gateway, and active requests may finish', async () => {
    const rig = await openRig({ patience: 10 })
    const session = await rig.initialize()
    const bearer = { authorization: `Bearer ${rig.token('agent')}` }
    const listening = await fetch(`${rig.url}/mcp`, {
      headers: { ...bearer, 'mcp-session-id': session, accept: 'text/event-stream' },
    })
    const asked = await rig.modern('hold')
    const { id, out } = await rig.until(() => rig.begun[1]?.held[0])
    const closed = rig.close()
    expect(await all(listening)).toEqual([])
    out.send(formatResult(id, '{"done":true}'), true)
    expect(await all(asked)).toMatchObject([{ result: { done: true } }])
    await closed
    expect(rig.begun.map((each) => each.closed)).toEqual([true, true])
  })
})

function connectTo({ port }: Rig): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => resolve(socket))
    socket.on('error', reject)
  })
}

function firstOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString('latin1'))))
}
