import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '@tollgate/evidence'
import { UpstreamFault } from '../../src/mcp/server/upstream.ts'
import {
  closeStandIns,
  startHttp,
  type Got,
  type HttpStandIn,
  type Say,
  type StandInOptions,
} from './http-stand-in.ts'
import {
  closeUpstreams,
  connectTo,
  dig,
  EVERYTHING,
  faultOf,
  standIn,
  textFor,
  type UpstreamRig,
} from './upstream-rig.ts'

afterEach(async () => {
  await closeUpstreams()
  await closeStandIns()
})

const HEADERS = { Authorization: 'Bearer secret-of-the-server', 'MCP-Session-Id': 'forged' }

async function start(
  options: StandInOptions,
  connecting: Parameters<typeof connectTo>[1] = {},
): Promise<{ server: HttpStandIn; up: UpstreamRig }> {
  const server = await startHttp(options)
  const address = { transport: 'http', url: server.url, headers: HEADERS } as const
  return { server, up: connectTo(address, { ...connecting, times: { grace: 300, ...connecting.times } }) }
}

const methodsOf = ({ got }: HttpStandIn): unknown[] => got.map(({ verb, message }) => message.method ?? verb)
const isCall = ({ message }: Got): boolean => message.method === 'tools/call'

describe('a legacy server by HTTP', () => {
  it('gets the modern greeting, then the handshake, and keeps a session', async () => {
    const { server, up } = await start({ protocol: 'legacy', aside: true })
    expect(await up.hello()).toMatchObject({
      protocol: 'legacy',
      version: '2025-11-25',
      info: { name: 'stand-in' },
    })
    expect(await up.call('echo')).toBe('done')
    await server.gotten(({ verb }) => verb === 'GET')
    await up.close()
    expect(methodsOf(server).slice(0, 3)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
    ])
    expect(methodsOf(server).slice(3).sort()).toEqual(['DELETE', 'GET', 'tools/call'])
    for (const { headers, path } of server.got) {
      expect(headers.authorization).toBe('Bearer secret-of-the-server')
      expect(path).toBe('/mcp?tenant=7')
    }
    expect(server.got[1]?.headers).not.toHaveProperty('mcp-protocol-version')
    for (const { headers } of server.got.slice(2)) {
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-11-25' })
      expect(headers).not.toHaveProperty('mcp-method')
    }
    expect(up.logged.join()).not.toContain('secret')
  })

  it.each([401, 404, 405, 406, 422])(
    'is greeted after it refused the modern question with %i',
    async (status) => {
      const { up } = await start({
        protocol: 'legacy',
        onDiscover: ({ response }) =>
          void response.writeHead(status, { 'content-type': 'text/plain' }).end('no'),
      })
      expect((await up.hello()).protocol).toBe('legacy')
    },
  )

  it.each(['2024-11-05', '2026-07-28', '2031-01-01'])(
    'may not claim to speak %s by handshake',
    async (version) => {
      const { up } = await start({ protocol: 'legacy', version })
      expect((await faultOf(up.hello())).code).toBe('UNREACHABLE')
    },
  )

  it('that refuses the handshake is unreachable, and its error text is not quoted', async () => {
    const { up } = await start({
      protocol: 'legacy',
      onInitialize: ({ response }) => void response.writeHead(401).end('the secret is wrong'),
    })
    const fault = await faultOf(up.hello())
    expect(fault.code).toBe('UNREACHABLE')
    expect(fault.message).toContain('status 401')
    expect(fault.message).not.toContain('secret')
  })

  it('that forgets a session fails active requests, and gets a new session with the next one', async () => {
    const { server, up } = await start({ protocol: 'legacy', tools: { hang: () => undefined } })
    const hung = faultOf(up.call('hang'))
    await server.gotten(isCall)
    server.sessions.clear()
    expect((await faultOf(up.call('echo'))).code).toBe('LOST')
    expect((await hung).code).toBe('LOST')
    expect(up.downs()).toBe(1)
    expect((await faultOf(up.call('echo', {}, { only: 1 }))).code).toBe('UNREACHABLE')
    expect(server.got.filter(isCall)).toHaveLength(2)
    expect(await up.call('echo')).toBe('done')
    expect(up.incarnation).toBe(2)
    expect((await faultOf(up.call('echo', {}, { only: 1 }))).code).toBe('UNREACHABLE')
    expect(await up.call('echo', {}, { only: 2 })).toBe('done')
    expect(server.got.filter(isCall)).toHaveLength(4)
  })

  it('that answers 400 is asked with `ping` whether it knows the session', async () => {
    const refused = { jsonrpc: '2.0', error: { code: -32_000, message: 'No valid session ID provided' } }
    const { server, up } = await start({
      protocol: 'legacy',
      tools: { bad: (_, say) => say.json(refused, 400) },
      onOther: ({ response }) => {
        const isKnown = server.sessions.size > 0
        response.writeHead(isKnown ? 200 : 400, JSON_TYPE)
        response.end(JSON.stringify(isKnown ? { jsonrpc: '2.0', id: 999, result: {} } : refused))
      },
    })
    expect(await up.call('bad')).toBe('-32000 No valid session ID provided')
    await server.gotten(({ message }) => message.method === 'ping')
    expect(await up.call('echo')).toBe('done')
    expect(up.downs()).toBe(0)
    const forgetful = await start({
      protocol: 'legacy',
      tools: { bad: (_, say) => say.json(refused, 400) },
      onOther: ({ response }) => void response.writeHead(400, JSON_TYPE).end(JSON.stringify(refused)),
    })
    expect(await forgetful.up.call('bad')).toBe('-32000 No valid session ID provided')
    await forgetful.up.down()
    expect(await forgetful.up.call('echo')).toBe('done')
    expect(forgetful.server.sessions.size).toBe(2)
  })

  it('that asks faster than it takes answers is dropped', async () => {
    const { up } = await start({
      protocol: 'legacy',
      tools: {
        pings({ response }, say) {
          say.stream()
          for (let id = 0; id < 2000; id++)
            response.write(`data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`)
        },
      },
    })
    expect((await faultOf(up.call('pings'))).code).toBe('GARBLED')
  })

  it('gets cancellations', async () => {
    const { server, up } = await start({ protocol: 'legacy', tools: { hang: () => undefined } })
    const stop = new AbortController()
    const hung = faultOf(up.call('hang', {}, { signal: stop.signal }))
    const { message } = await server.gotten(isCall)
    stop.abort()
    expect((await hung).code).toBe('CANCELLED')
    const told = await server.gotten((each) => each.message.method === 'notifications/cancelled')
    expect(told.message.params).toEqual({ requestId: message.id })
    expect(await up.call('echo')).toBe('done')
  })

  it('asks on the stream of a request, and gets the answer as a request', async () => {
    const { server, up } = await start({
      protocol: 'legacy',
      tools: {
        other: () => undefined,
        ask(_, say) {
          const event = say.stream()
          event({ jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'who?' } })
          event({ jsonrpc: '2.0', id: 'x', method: 'rm/rf', params: {} })
          const answered = (id: string) => (got: Got) => got.message.id === id
          void Promise.all([server.gotten(answered('q')), server.gotten(answered('x'))]).then(([q, x]) => {
            const code = dig(x.message.error, 'code')
            event(say.text(JSON.stringify([q.message.result, code])))
          })
        },
      },
    })
    const older = faultOf(up.call('other', {}, { onAsk: () => Promise.resolve({ from: 'the wrong one' }) }))
    await server.gotten(isCall)
    const onAsk = (method: string, params: JsonObject): Promise<JsonObject> =>
      Promise.resolve({ method, params })
    expect(JSON.parse(await up.call('ask', {}, { onAsk }))).toEqual([
      { method: 'elicitation/create', params: { message: 'who?' } },
      -32601,
    ])
    await up.close()
    expect((await older).code).toBe('LOST')
  })

  it('is read on its separate stream, except for answers', async () => {
    const { server, up } = await start({ protocol: 'legacy', aside: true, tools: { hang: () => undefined } })
    const stop = new AbortController()
    const hung = faultOf(up.call('hang', {}, { signal: stop.signal }))
    const { message } = await server.gotten(isCall)
    await server.gotten(({ verb }) => verb === 'GET')
    const [aside] = server.asides()
    const event = (value: JsonObject): unknown =>
      aside?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...value })}\n\n`)
    event({ id: message.id ?? null, result: { content: [] } })
    event({ method: 'notifications/rm_rf' })
    event({ method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } })
    event({ method: 'notifications/tools/list_changed' })
    await up.toldOf('notifications/tools/list_changed')
    expect(up.told).toEqual([
      { method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } },
      { method: 'notifications/tools/list_changed', params: {} },
    ])
    stop.abort()
    expect((await hung).code).toBe('CANCELLED')
  })

  it('that asks on that stream is refused if the question may belong to either of two clients', async () => {
    const { server, up } = await start({ protocol: 'legacy', aside: true, tools: { hang: () => undefined } })
    const hang = (asker: string, signal?: AbortSignal): Promise<UpstreamFault> => {
      const onAsk = (): Promise<JsonObject> => Promise.resolve({ asker })
      return faultOf(up.call('hang', {}, { asker, onAsk, ...(signal && { signal }) }))
    }
    const stop = new AbortController()
    const both = [hang('a', stop.signal), hang('b')]
    await server.gotten(({ verb }) => verb === 'GET')
    await expect.poll(() => server.got.filter(isCall)).toHaveLength(2)
    const ask = async (id: string): Promise<Got> => {
      const question = { jsonrpc: '2.0', id, method: 'elicitation/create', params: {} }
      server.asides()[0]?.write(`data: ${JSON.stringify(question)}\n\n`)
      return server.gotten(({ message }) => message.id === id)
    }
    expect((await ask('q1')).message).toMatchObject({ error: { code: -32603 } })
    stop.abort()
    await both[0]
    expect((await ask('q2')).message).toMatchObject({ result: { asker: 'b' } })
    await up.close()
    expect((await both[1])?.code).toBe('LOST')
  })
})

const PROGRESS = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 2, progress: 1 },
}

/** Invalid answers to a call, and their codes. */
const FAULTS: Readonly<Record<string, [code: string, tool: (got: Got, say: Say) => void]>> = {
  'a cut connection': ['LOST', ({ response }) => void response.destroy()],
  'a JSON text cut half way': [
    'LOST',
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"jsonrpc":', () => response.destroy())
    },
  ],
  'a stream cut half way': [
    'LOST',
    ({ response }, say) => {
      say.stream()(PROGRESS)
      response.write('data: {"jsonrpc"', () => response.destroy())
    },
  ],
  'a stream that ends without an answer': [
    'LOST',
    ({ response }, say) => {
      say.stream()(PROGRESS)
      response.end()
    },
  ],
  'a stream that ends in half an answer': [
    'LOST',
    ({ response }, say) => {
      say.stream()
      response.end(`data: ${JSON.stringify(say.text('half'))}\n`)
    },
  ],
  'another content type': ['GARBLED', (_, say) => say.json(say.text('x'), 200, 'text/html')],
  'no content type': ['GARBLED', ({ response }) => void response.writeHead(200).end('{}')],
  'no answer at all': ['GARBLED', ({ response }) => void response.writeHead(202).end()],
  'an answer to another question': ['GARBLED', (_, say) => say.json({ ...say.text('x'), id: 999 })],
  'a batch': [
    'GARBLED',
    ({ response }, say) => void response.writeHead(200, JSON_TYPE).end(`[${JSON.stringify(say.text('x'))}]`),
  ],
  'no JSON': ['GARBLED', ({ response }) => void response.writeHead(200, JSON_TYPE).end('{oops')],
  'a number that cannot be read': [
    'GARBLED',
    ({ response, message }) =>
      void response
        .writeHead(200, JSON_TYPE)
        .end(`{"jsonrpc":"2.0","id":${textFor(message.id)},"result":{"n":1e999}}`),
  ],
  'too much JSON': ['GARBLED', (_, say) => say.done('x'.repeat(70_000))],
  'too large an event': ['GARBLED', (_, say) => say.stream()(say.text('x'.repeat(70_000)))],
  'an event that cannot be read': [
    'GARBLED',
    ({ response, message }, say) => {
      say.stream()
      response.write(`data: {"jsonrpc":"2.0","id":${textFor(message.id)},"result":{"a":1,"a":2}}\n\n`)
    },
  ],
  'a flood of what is no message': [
    'GARBLED',
    ({ response }, say) => {
      say.stream()
      response.write('data: nothing\n\n'.repeat(100))
    },
  ],
  'a redirect': [
    'GARBLED',
    ({ response, headers }) =>
      void response.writeHead(307, { location: `http://${String(headers.host)}/stolen` }).end(),
  ],
  'a page of a proxy': [
    'GARBLED',
    ({ response }) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<p>'),
  ],
  'a refusal in JSON that is no answer': ['GARBLED', (_, say) => say.json({ error: 'invalid_token' }, 401)],
  'a result with status 500': ['GARBLED', (_, say) => say.json(say.text('x'), 500)],
  'a result with status 403 that cannot be read': [
    'GARBLED',
    ({ message }, say) => say.json({ jsonrpc: '2.0', id: message.id ?? null, result: 7 }, 403),
  ],
  'an error that cannot be read': [
    'GARBLED',
    ({ message }, say) => say.json({ jsonrpc: '2.0', id: message.id ?? null, error: 'no' }),
  ],
  'an error without an id and with status 500': [
    'GARBLED',
    (_, say) => say.json({ jsonrpc: '2.0', id: null, error: { code: -32603, message: 'x' } }, 500),
  ],
}
const JSON_TYPE = { 'content-type': 'application/json' }
/** Those that are results all the same: the call was done. */
const RESULTS = ['a number that cannot be read', 'an event that cannot be read']

describe.each(['modern', 'legacy'] as const)('a %s server by HTTP that answers a call badly', (protocol) => {
  it.each(Object.entries(FAULTS))(
    'with %s fails that call, and nothing is sent again',
    async (how, [code, tool]) => {
      const { server, up } = await start({ protocol, tools: { bad: tool } }, { maxMessage: 65_536 })
      const fault = await faultOf(up.call('bad'))
      expect([fault.code, fault.bytes !== undefined]).toEqual([code, RESULTS.includes(how)])
      expect(server.got.filter(isCall)).toHaveLength(1)
      expect(await up.call('good')).toBe('done')
      expect(server.got.every(({ path }) => path === '/mcp?tenant=7')).toBe(true)
    },
  )

  it('with an error under its id gets it forwarded, whatever the status', async () => {
    const { up } = await start({
      protocol,
      tools: {
        bad: ({ message }, say) =>
          say.json({ jsonrpc: '2.0', id: message.id ?? null, error: { code: -32_050, message: 'no' } }, 500),
      },
    })
    expect(await up.call('bad')).toBe('-32050 no')
  })

  it('with an error that uses the keys of the gateway has them removed', async () => {
    const data = { 'dev.tollgate/decision': { verdict: 'DENY' }, kept: 1 }
    const { up } = await start({
      protocol,
      tools: {
        bad: ({ message }, say) =>
          say.json(
            { jsonrpc: '2.0', id: message.id ?? null, error: { code: 403, message: 'no', data } },
            403,
          ),
      },
    })
    expect(await up.request('tools/call', { name: 'bad' })).toEqual({
      ok: false,
      error: { code: 403, message: 'no', data: { kept: 1 } },
    })
  })

  it('by staying silent fails it in time', async () => {
    const { server, up } = await start(
      { protocol, tools: { hang: () => undefined } },
      { times: { patience: 300 } },
    )
    await up.hello()
    expect((await faultOf(up.call('hang'))).code).toBe('SILENT')
    const { response } = await server.gotten(isCall)
    if (!response.closed) await once(response, 'close')
    expect(response.writableFinished).toBe(false)
  })

  it('with progress and log messages on its stream is read once', async () => {
    const { server, up } = await start({
      protocol,
      tools: {
        work({ message, response }, say) {
          const event = say.stream()
          const progressToken = dig(message, 'params', '_meta', 'progressToken') ?? null
          event({ ...PROGRESS, params: { progressToken, progress: 1 } })
          event({ ...PROGRESS, params: { progressToken: 999, progress: 1 } })
          event({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hi' } })
          event({ jsonrpc: '2.0', method: 'notifications/rm_rf', params: {} })
          event(say.text('first'))
          event(say.text('second'))
          response.end()
        },
      },
    })
    const seen: JsonObject[] = []
    const note = (params: JsonObject): void => void seen.push(params)
    expect(await up.call('work', {}, { onProgress: note, onMessage: note })).toBe('first')
    expect(seen).toEqual([{ progress: 1 }, { level: 'info', data: 'hi' }])
    expect(up.told).toEqual([])
    expect(server.got.filter(isCall)).toHaveLength(1)
  })
})

describe('a server by HTTP', () => {
  it('that does not exist is unreachable, at every attempt', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    // Sound: it listens on a port.
    const { port } = probe.address() as AddressInfo
    probe.close()
    const up = connectTo({ transport: 'http', url: `http://127.0.0.1:${port}/`, headers: {} })
    for (let i = 0; i < 3; i++) expect((await faultOf(up.call('echo'))).code).toBe('UNREACHABLE')
  })

  it('that disappears is down, and no unsent request is lost', async () => {
    const { up } = await start({ protocol: 'modern' })
    await up.hello()
    await closeStandIns()
    const faults = [await faultOf(up.call('echo')), await faultOf(up.call('echo'))]
    expect(faults.at(-1)?.code).toBe('UNREACHABLE')
    expect(up.downs()).toBe(1)
  })

  it.each([301, 307, 500, 503])('that answers %i to the greeting is unreachable', async (status) => {
    const { server, up } = await start({
      protocol: 'legacy',
      onDiscover: ({ response }) => void response.writeHead(status, { location: '/stolen' }).end(),
    })
    expect((await faultOf(up.hello())).code).toBe('UNREACHABLE')
    expect(server.got).toHaveLength(1)
  })

  it('that stays silent is unreachable', async () => {
    const { up } = await start({ protocol: 'modern', onDiscover: () => undefined }, { times: { hello: 200 } })
    expect((await faultOf(up.hello())).code).toBe('UNREACHABLE')
  })

  it.each([
    [['2025-11-25'], 'legacy'],
    [['2031-01-01'], 'UNREACHABLE'],
  ])('that is modern and speaks %j is %s', async (supported, outcome) => {
    const { up } = await start({
      protocol: 'legacy',
      onDiscover({ message, response }) {
        const error = { code: -32_022, message: 'no', data: { supported } }
        response.writeHead(400, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }))
      },
    })
    const found = await up.hello().then(
      ({ protocol }) => protocol,
      (fault: unknown) => (fault instanceof UpstreamFault ? fault.code : 'none'),
    )
    expect(found).toBe(outcome)
  })
})

describe('a modern server by HTTP', () => {
  const LISTED = {
    name: 'where',
    inputSchema: {
      type: 'object',
      properties: {
        place: { type: 'string', 'x-mcp-header': 'Place' },
        deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
        sure: { type: 'boolean', 'x-mcp-header': 'Sure' },
        'x-mcp-header': { type: 'string' },
        rest: { type: 'string', default: { 'x-mcp-header': 'data' } },
      },
    },
  }
  const bad = (name: string, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    name,
    inputSchema: { type: 'object', properties, ...more },
  })
  const onOther = ({ message, response }: Got): void => {
    const tools = [
      LISTED,
      bad('twice', {
        a: { type: 'string', 'x-mcp-header': 'A' },
        b: { type: 'string', 'x-mcp-header': 'a' },
      }),
      bad('broken', { a: { type: 'string', 'x-mcp-header': 'A\r\nX: y' } }),
      bad('number', { a: { type: 'number', 'x-mcp-header': 'A' } }),
      bad('hidden', {}, { allOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }),
      bad('plain', { a: { type: 'string' } }),
    ]
    const result = { resultType: 'complete', tools, ttlMs: 5, cacheScope: 'private' }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  }

  it('gets headers that describe the request', async () => {
    const { server, up } = await start({ protocol: 'modern', onOther })
    const listed = await up.request('tools/list', {})
    // Sound: it is the list above.
    const result = (listed as unknown as { result: { tools: JsonObject[] } }).result
    expect(result).not.toHaveProperty('resultType')
    expect(result).toMatchObject({ ttlMs: 5, cacheScope: 'private' })
    expect(result.tools.map(({ name }) => name)).toEqual(['where', 'plain'])
    await up.call('where', { place: 'Zürich', deep: { n: -7 }, sure: true, rest: 'x' })
    await up.call('where', { place: null, deep: 'no' })
    await up.request('resources/read', { uri: 'a:b' })
    const [discover, list, first, second, read] = server.got.map(({ headers }) => headers)
    expect(discover).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' })
    expect(list).toMatchObject({ 'mcp-method': 'tools/list', authorization: 'Bearer secret-of-the-server' })
    expect(first).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': 'where',
      'mcp-param-place': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
      'mcp-param-n': '-7',
      'mcp-param-sure': 'true',
    })
    expect(first).not.toHaveProperty('mcp-param-data')
    expect(Object.keys(second ?? {}).filter((name) => name.startsWith('mcp-param'))).toEqual([])
    expect(read).toMatchObject({ 'mcp-method': 'resources/read', 'mcp-name': 'a:b' })
  })

  it.each([' padded ', '=?base64?x?=', 'line\nbreak', 'é'])(
    'gets the name %j unambiguously',
    async (name) => {
      const { server, up } = await start({ protocol: 'modern' })
      await up.call(name)
      const coded = String((await server.gotten(isCall)).headers['mcp-name'])
      expect(Buffer.from(coded.slice('=?base64?'.length, -2), 'base64').toString()).toBe(name)
    },
  )

  it('takes a closed connection as a cancellation, and gets nothing else', async () => {
    const { server, up } = await start({ protocol: 'modern', tools: { hang: (_, say) => void say.stream() } })
    const stop = new AbortController()
    const hung = faultOf(up.call('hang', {}, { signal: stop.signal }))
    const { response } = await server.gotten(isCall)
    stop.abort()
    expect((await hung).code).toBe('CANCELLED')
    if (!response.closed) await once(response, 'close')
    up.notify('notifications/roots/list_changed', {})
    expect(await up.call('echo')).toBe('done')
    expect(methodsOf(server)).toEqual(['server/discover', 'tools/call', 'tools/call'])
  })

  it('is read on its subscribed stream, and not for other subscriptions', async () => {
    const streams: ((message: JsonObject) => void)[] = []
    const { server, up } = await start({
      protocol: 'modern',
      onOther({ response }) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        streams.push(
          (message) => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`),
        )
        response.write(':\n\n')
      },
    })
    up.listen({ tools: true, prompts: false, resources: true, uris: ['a:1'] })
    await up.hello()
    const { message } = await server.gotten(({ message: each }) => each.method === 'subscriptions/listen')
    expect(dig(message.params, 'notifications')).toEqual({
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['a:1'],
    })
    const meta = (id: unknown): JsonObject => ({
      _meta: { 'io.modelcontextprotocol/subscriptionId': id as number },
    })
    streams[0]?.({ method: 'notifications/prompts/list_changed', params: meta(77) })
    streams[0]?.({
      method: 'notifications/resources/updated',
      params: { uri: 'a:1', ...meta(message.id) },
    })
    await up.toldOf('notifications/resources/updated')
    expect(up.told).toEqual([
      { method: 'notifications/resources/updated', params: { uri: 'a:1', _meta: {} } },
    ])
    up.listen({ tools: false, prompts: false, resources: false, uris: [] })
    const { response } = await server.gotten(({ message: each }) => each === message)
    if (!response.closed) await once(response, 'close')
    // It was not lost: it was no longer wanted.
    expect(await up.call('echo', {}, { only: 1 })).toBe('done')
    expect([up.downs(), up.incarnation]).toEqual([0, 1])
  })

  const TOOLS_ONLY = { tools: true, prompts: false, resources: false, uris: [] }
  const isListen = ({ message }: Got): boolean => message.method === 'subscriptions/listen'
  const beginStream = ({ response }: Got): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(':\n\n')
  }

  it.each<[string, (got: Got) => void]>([
    ['ends', ({ response }) => void response.end()],
    ['breaks', ({ response }) => void response.destroy()],
    [
      'ends with a result',
      ({ response, message }) =>
        void response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} })}\n\n`),
    ],
  ])('may be another server when its change stream %s', async (_, lose) => {
    const { server, up } = await start({ protocol: 'modern', onOther: beginStream })
    up.listen(TOOLS_ONLY)
    await up.hello()
    const stream = await server.gotten(isListen)
    expect(await up.call('echo', {}, { only: 1 })).toBe('done')
    expect([up.downs(), up.incarnation]).toEqual([0, 1])
    lose(stream)
    await up.down()
    expect([up.downs(), up.incarnation]).toEqual([1, 2])
    expect((await faultOf(up.call('echo', {}, { only: 1 }))).code).toBe('UNREACHABLE')
    expect(await up.call('echo', {}, { only: 2 })).toBe('done')
    expect(server.got.filter(isCall)).toHaveLength(2)
  })

  it.each([true, false])('gets its subscriptions again after a stream only if approved: %s', async (yes) => {
    const { server, up } = await start(
      { protocol: 'modern', onOther: beginStream },
      { isApproved: () => yes },
    )
    await up.hello()
    up.listen({ ...TOOLS_ONLY, uris: ['a:1'] })
    const first = await server.gotten(isListen)
    first.response.end()
    const second = await server.gotten((got) => isListen(got) && got !== first)
    expect(dig(second.message.params, 'notifications')).toEqual({
      toolsListChanged: true,
      ...(yes && { resourceSubscriptions: ['a:1'] }),
    })
  })

  it.each([404, 500])('may be another server when it refuses subscriptions with %i', async (status) => {
    const { up } = await start({
      protocol: 'modern',
      onOther({ response, message: { id } }) {
        const error = { code: -32_601, message: 'no' }
        const body = status === 404 ? { jsonrpc: '2.0', id, error } : {}
        response.writeHead(status, JSON_TYPE).end(JSON.stringify(body))
      },
    })
    up.listen(TOOLS_ONLY)
    await up.hello()
    await up.down()
    expect([up.downs(), up.incarnation]).toEqual([1, 2])
    expect((await faultOf(up.call('echo', {}, { only: 1 }))).code).toBe('UNREACHABLE')
  })

  it('that may be another server is asked again who it is, and active requests continue', async () => {
    const says = [{ instructions: 'first' }, { instructions: 'second' }]
    let finish: () => void = () => undefined
    const { server, up } = await start({
      protocol: 'modern',
      onOther: beginStream,
      onDiscover({ message, response }) {
        const result = { supportedVersions: ['2026-07-28'], capabilities: {}, ...says.shift() }
        response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
      },
      tools: { slow: (_, say) => void (finish = () => say.done('slowly')) },
    })
    up.listen(TOOLS_ONLY)
    expect((await up.hello()).instructions).toBe('first')
    const slow = up.call('slow')
    await server.gotten(isCall)
    const { response } = await server.gotten(isListen)
    response.end()
    await up.down()
    const hellos = await Promise.all([up.hello(), up.hello()])
    expect(hellos.map(({ instructions }) => instructions)).toEqual(['second', 'second'])
    finish()
    expect(await slow).toBe('slowly')
    expect(methodsOf(server).filter((method) => method === 'server/discover')).toHaveLength(2)
  })

  it('that became a legacy one gets the handshake', async () => {
    let isModern = true
    const { server, up } = await start({
      protocol: 'legacy',
      onDiscover({ message: { id }, response }) {
        const result = { supportedVersions: ['2026-07-28'], capabilities: {} }
        const error = { code: -32_601, message: 'no' }
        response.writeHead(200, JSON_TYPE)
        response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(isModern ? { result } : { error }) }))
      },
    })
    up.listen(TOOLS_ONLY)
    // It knows no session, so it refuses subscriptions.
    expect((await up.hello()).protocol).toBe('modern')
    await up.down()
    isModern = false
    expect((await faultOf(up.hello())).code).toBe('UNREACHABLE')
    expect((await up.hello()).protocol).toBe('legacy')
    expect([up.downs(), up.incarnation, server.sessions.size]).toEqual([2, 3, 1])
  })

  it('that may be another server gets no further message of an earlier request', async () => {
    const { server, up } = await start({
      protocol: 'modern',
      onOther: beginStream,
      tools: {
        ask: ({ message }, say) => {
          const inputRequests = { a: { method: 'roots/list' } }
          say.json({
            jsonrpc: '2.0',
            id: message.id ?? null,
            result: { resultType: 'input_required', inputRequests },
          })
        },
      },
    })
    up.listen(TOOLS_ONLY)
    await up.hello()
    const { response } = await server.gotten(isListen)
    const onAsk = async (): Promise<JsonObject> => {
      response.end()
      await up.down()
      return {}
    }
    expect((await faultOf(up.call('ask', {}, { only: 1, onAsk }))).code).toBe('LOST')
    expect(server.got.filter(isCall)).toHaveLength(1)
  })
})

describe('the real servers', () => {
  const children: ChildProcess[] = []
  afterAll(() => children.forEach((child) => child.kill('SIGKILL')))

  /** Starts a server and returns its first output. */
  async function spawned(
    args: readonly string[],
    env: Record<string, string>,
    says: RegExp,
  ): Promise<RegExpExecArray> {
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    return new Promise((resolve, reject) => {
      let text = ''
      const take = (chunk: Buffer): void => {
        text += chunk.toString()
        const found = says.exec(text)
        if (found) resolve(found)
      }
      child.stdout.on('data', take)
      child.stderr.on('data', take)
      child.on('exit', () => reject(new Error(text)))
    })
  }

  const onAsk = (method: string): Promise<JsonObject> =>
    Promise.resolve(
      method === 'elicitation/create'
        ? { action: 'accept', content: { name: 'Ada' } }
        : { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } },
    )

  it('with the legacy protocol work', async () => {
    const free = createServer().listen(0)
    await once(free, 'listening')
    // Sound: it listens on a port.
    const { port } = free.address() as AddressInfo
    free.close()
    await spawned([EVERYTHING, 'streamableHttp'], { PORT: String(port) }, /listening on port/)
    const up = connectTo({ transport: 'http', url: `http://localhost:${port}/mcp`, headers: {} })
    expect(await up.hello()).toMatchObject({ protocol: 'legacy', info: { name: 'mcp-servers/everything' } })
    expect(await up.call('echo', { message: 'hi' })).toContain('hi')
    const progress: JsonObject[] = []
    await up.call(
      'trigger-long-running-operation',
      { duration: 0.1, steps: 1 },
      {
        onProgress: (each) => void progress.push(each),
      },
    )
    expect(progress).toEqual([{ progress: 1, total: 1 }])
    expect(await up.call('trigger-sampling-request', { prompt: 'p' }, { onAsk })).toContain('sampled')
    const elicited = await up.request(
      'tools/call',
      { name: 'trigger-elicitation-request', arguments: {} },
      { onAsk },
    )
    expect(JSON.stringify(elicited)).toContain('Ada')
  })

  it('with the modern protocol work', async () => {
    const [port] = await spawned([standIn('modern'), 'http'], {}, /\d+/)
    const up = connectTo({ transport: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} })
    up.listen({ tools: true, prompts: false, resources: false, uris: [] })
    expect(await up.hello()).toMatchObject({
      protocol: 'modern',
      info: { name: 'modern' },
      instructions: 'be kind',
    })
    // It wants a header for this, which only the tool list declares.
    await up.request('tools/list', {})
    expect(await up.call('echo', { place: 'Zürich' })).toBe('{"place":"Zürich"}')
    const seen: string[] = []
    const exchange = {
      logLevel: 'debug',
      onProgress: (each: JsonObject) => void seen.push(`progress ${JSON.stringify(each)}`),
      onMessage: ({ data }: JsonObject) => void seen.push(`message ${textFor(data)}`),
    }
    expect(await up.call('work', {}, exchange)).toBe('worked')
    expect(seen).toEqual(['progress {"progress":1,"total":1}', 'message working'])
    expect(JSON.parse(await up.call('meet', {}, { onAsk }))).toMatchObject({ name: { action: 'accept' } })
    await up.call('change')
    await up.toldOf('notifications/tools/list_changed')
  })
})
