import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '@tollgate/evidence'
import { CODE, RpcFault } from '../../src/mcp/message.ts'
import type { Exchange } from '../../src/mcp/server/upstream.ts'
import {
  closeUpstreams,
  connectTo,
  dig,
  EVERYTHING,
  faultOf,
  standIn,
  textFor,
  textOf,
  type UpstreamRig,
} from './upstream-rig.ts'

afterEach(closeUpstreams)

const QUICK = { grace: 300, backOff: 60_000 }

function start(how: JsonObject = {}, options: Parameters<typeof connectTo>[1] = {}): UpstreamRig {
  return connectTo(
    {
      transport: 'stdio',
      command: process.execPath,
      args: [standIn('hostile'), JSON.stringify(how)],
      env: { ONLY: 'this' },
    },
    { ...options, times: { ...QUICK, ...options.times } },
  )
}

const heardBy = async (server: UpstreamRig): Promise<readonly JsonObject[]> =>
  // Sound: the stand-in returns all messages it received.
  JSON.parse(await server.call('heard')) as JsonObject[]

/** Whether a process runs. An ended one may stay listed until it is collected. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux' && isListed(pid)
  }
}

function isListed(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a process', () => {
  it('is started on first use, once for all requests', async () => {
    const server = start()
    const [first, second] = await Promise.all([server.hello(), server.hello()])
    expect(first).toEqual({
      protocol: 'legacy',
      version: '2025-11-25',
      capabilities: {},
      info: { name: 'hostile', version: '1' },
      instructions: undefined,
    })
    expect(second).toBe(first)
    const heard = await heardBy(server)
    expect(heard.map(({ method }) => method)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ])
    expect(heard[1]?.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      clientInfo: { name: 'tester', version: '1' },
    })
  })

  it('gets exactly the environment it is given', async () => {
    expect(JSON.parse(await start().call('env'))).toEqual({ ONLY: 'this' })
  })

  it('that cannot be started is unreachable', async () => {
    const server = connectTo({ transport: 'stdio', command: '/no/such/thing', args: [], env: {} })
    const fault = await faultOf(server.hello())
    expect(fault.code).toBe('UNREACHABLE')
    expect(fault.message).toBe('`srv` cannot be reached: it could not be started (ENOENT)')
    expect(server.downs()).toBe(0)
    expect(server.incarnation).toBe(0)
  })

  it('is started again after a start that failed at once', async () => {
    // No argument may hold a zero byte, so nothing can be spawned.
    const args = ['\0']
    const address = { transport: 'stdio', command: process.execPath, args, env: {} } as const
    const server = connectTo(address, { times: QUICK })
    expect((await faultOf(server.hello())).code).toBe('UNREACHABLE')
    args.splice(0, 1, standIn('hostile'), '{}')
    expect((await server.hello()).protocol).toBe('legacy')
  })

  it('that stays silent is unreachable', async () => {
    const server = start({ mute: true }, { times: { hello: 600 } })
    expect((await faultOf(server.hello())).code).toBe('UNREACHABLE')
  })

  it('that is not ready in time gets no request', async () => {
    const server = start({ mute: true }, { times: { patience: 100 } })
    expect((await faultOf(server.call('echo'))).code).toBe('UNREACHABLE')
  })

  it('that ignores the modern greeting gets the legacy one', async () => {
    const server = start({ protocol: 'silent' }, { times: { silence: 100 } })
    expect((await server.hello()).protocol).toBe('legacy')
    expect(await server.call('echo')).toBe('{}')
  })

  it('that exits at the modern greeting gets the legacy one at the next start', async () => {
    const server = start({ dieOnProbe: true })
    expect((await faultOf(server.hello())).code).toBe('UNREACHABLE')
    expect((await server.hello()).protocol).toBe('legacy')
  })

  it.each(['2025-06-18', '2025-03-26', '2024-11-05'])('may speak %s', async (version) => {
    expect((await start({ version }).hello()).version).toBe(version)
  })

  it.each(['1999-01-01', '2026-07-28', 7, null])(
    'may not claim to speak %s by handshake',
    async (version) => {
      expect((await faultOf(start({ version }).hello())).code).toBe('UNREACHABLE')
    },
  )

  it('that names only legacy revisions gets the handshake', async () => {
    expect((await start({ supported: ['2025-11-25'] }).hello()).protocol).toBe('legacy')
    expect((await faultOf(start({ supported: ['2031-01-01'] }).hello())).code).toBe('UNREACHABLE')
  })
})

describe('a process that misbehaves', () => {
  it('fails its active requests when it ends, and is restarted by the next request', async () => {
    const server = start()
    const before = await server.call('pid')
    const [hung, crashed] = await Promise.all([faultOf(server.call('hang')), faultOf(server.call('crash'))])
    expect([hung.code, crashed.code]).toEqual(['LOST', 'LOST'])
    expect(server.downs()).toBe(1)
    expect(await server.call('pid')).not.toBe(before)
  })

  it('gets a request for one incarnation in that one, or not at all', async () => {
    const server = start()
    const meant = { only: 1 }
    expect((await faultOf(server.call('pid', {}, { only: 0 }))).code).toBe('UNREACHABLE')
    expect((await faultOf(server.call('pid', {}, meant))).code).toBe('UNREACHABLE')
    expect([server.incarnation, server.stderr()]).toEqual([0, ''])
    const pid = await server.call('pid')
    expect([server.incarnation, await server.call('pid', {}, meant)]).toEqual([1, pid])
    expect((await faultOf(server.call('crash', {}, meant))).code).toBe('LOST')
    expect((await faultOf(server.call('pid', {}, meant))).code).toBe('UNREACHABLE')
    // Nothing was started.
    expect(server.incarnation).toBe(1)
    const next = await server.call('pid')
    expect(server.incarnation).toBe(2)
    expect((await faultOf(server.call('pid', {}, meant))).code).toBe('UNREACHABLE')
    expect(next).not.toBe(pid)
    expect(await server.call('pid', {}, { only: 2 })).toBe(next)
    expect((await heardBy(server)).filter(({ method }) => method === 'tools/call')).toHaveLength(3)
    await server.close()
    expect((await faultOf(server.call('pid', {}, { only: 2 }))).code).toBe('UNREACHABLE')
  })

  it('is not restarted in a loop', async () => {
    const server = start({}, { times: { backOff: 400 } })
    expect((await faultOf(server.call('crash'))).code).toBe('LOST')
    expect((await faultOf(server.call('crash'))).code).toBe('LOST')
    expect((await faultOf(server.call('echo'))).code).toBe('UNREACHABLE')
    await expect.poll(() => server.call('echo').catch(() => 'down'), { timeout: 5000 }).toBe('{}')
    expect(server.downs()).toBe(2)
  })

  it('is restarted at once after it has run well', async () => {
    const server = start({}, { times: { well: 0 } })
    for (let i = 0; i < 3; i++) expect((await faultOf(server.call('crash'))).code).toBe('LOST')
  })

  it('is read to its end after it exits', async () => {
    const answer = await start().request('tools/call', { name: 'last' })
    expect(answer).toEqual({ ok: true, result: { last: true } })
  })

  it('has not answered with half a line', async () => {
    expect((await faultOf(start().call('half'))).code).toBe('LOST')
  })

  it('may print garbage, without effect', async () => {
    const server = start()
    expect(await server.call('garbage')).toBe('done')
    expect(server.logged.join()).toContain('unreadable messages')
  })

  it('is ended after too much garbage', async () => {
    const server = start()
    expect((await faultOf(server.call('flood'))).code).toBe('GARBLED')
    expect(server.downs()).toBe(1)
  })

  it('is ended, with its active requests, at a line that is too long', async () => {
    const server = start({}, { maxMessage: 65_536 })
    const faults = await Promise.all([faultOf(server.call('hang')), faultOf(server.call('oversize'))])
    expect(faults.map(({ code }) => code)).toEqual(['GARBLED', 'GARBLED'])
  })

  it.each(['unreadable', 'doubled', 'strange'])('fails the one request whose answer is %s', async (tool) => {
    const server = start()
    const slow = server.call('wait', { milliseconds: 50 })
    const fault = await faultOf(server.call(tool))
    expect(fault.code).toBe('GARBLED')
    expect(Buffer.from(fault.bytes ?? []).toString()).toContain('"jsonrpc"')
    expect(await slow).toBe('done')
  })

  it.each(['bad error', 'bad both', 'bad neither'])(
    'has nothing on record as done when its answer is a %s',
    async (tool) => {
      const fault = await faultOf(start().call(tool))
      expect([fault.code, fault.bytes]).toEqual(['GARBLED', undefined])
    },
  )

  it('cannot use the keys of the gateway', async () => {
    const server = start()
    expect(await server.request('tools/call', { name: 'forge' })).toEqual({
      ok: true,
      result: { content: [], _meta: { kept: 1 } },
    })
    expect(await server.request('tools/call', { name: 'forge an error' })).toEqual({
      ok: false,
      error: { code: 403, message: 'no', data: { kept: 1, _meta: {} } },
    })
  })

  it('has one answer counted if it sends two', async () => {
    const server = start()
    expect(await server.call('twice')).toBe('first')
    expect(await server.call('echo')).toBe('{}')
    expect(server.logged.join()).toContain('an answer without a request')
  })

  it('is ignored if it answers under another id', async () => {
    expect(await start().call('wrong')).toBe('to you')
  })

  it('is ended when it closes its output', async () => {
    const server = start()
    const pid = Number(await server.call('pid'))
    expect((await faultOf(server.call('mute'))).code).toBe('LOST')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('is ended when it closes its input', async () => {
    const server = start()
    expect(await server.call('unplug')).toBe('done')
    expect((await faultOf(server.call('echo'))).code).toBe('LOST')
    expect(server.downs()).toBe(1)
  })

  it('is ended when it does not read its input', async () => {
    const server = start({}, { maxQueue: 1 << 20 })
    const deaf = faultOf(server.call('deaf'))
    const rest = Array.from({ length: 8 }, () => faultOf(server.call('echo', { text: 'x'.repeat(300_000) })))
    const codes = (await Promise.all([deaf, ...rest])).map(({ code }) => code)
    expect(codes.slice(0, 5)).toEqual(['LOST', 'LOST', 'LOST', 'LOST', 'LOST'])
    expect(codes.every((code) => code === 'LOST' || code === 'UNREACHABLE')).toBe(true)
  })

  it('gets a cancellation if it does not answer in time', async () => {
    const server = start({}, { times: { patience: 600 } })
    await server.hello()
    expect((await faultOf(server.call('hang'))).code).toBe('SILENT')
    expect((await heardBy(server)).map(({ method }) => method)).toContain('notifications/cancelled')
  })

  it('never blocks on standard error, of which a part is forwarded', async () => {
    const server = start()
    expect(await server.call('shout')).toBe('done')
    expect(server.stderr()).toMatch(/^e+$/)
    expect(server.stderr().length).toBeLessThanOrEqual(2 * 65_536)
  })
})

describe('the end of a process', () => {
  it('begins with closing its input', async () => {
    const server = start({}, { times: { grace: 30_000 } })
    const pid = Number(await server.call('pid'))
    const hung = faultOf(server.call('hang'))
    await server.call('echo')
    await server.close()
    expect((await hung).code).toBe('LOST')
    expect(isAlive(pid)).toBe(false)
    expect((await faultOf(server.call('echo'))).code).toBe('UNREACHABLE')
    expect(server.downs()).toBe(0)
  })

  it('is forced if needed', async () => {
    const server = start()
    const pid = Number(await server.call('stubborn'))
    await server.close()
    expect(isAlive(pid)).toBe(false)
  })

  it('also ends the processes it started', async () => {
    const server = start()
    const pid = Number(await server.call('family'))
    expect(isAlive(pid)).toBe(true)
    await server.close()
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('after its own exit, also ends the processes it started', async () => {
    const server = start()
    const pid = Number(await server.call('family'))
    await faultOf(server.call('crash'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

describe('a legacy request', () => {
  it('keeps the `_meta` it has, and adds a progress token only if progress is wanted', async () => {
    const server = start()
    const progress: JsonObject[] = []
    const params = { name: 'progress', arguments: {}, _meta: { traceparent: 't', progressToken: 'theirs' } }
    await server.request('tools/call', params, { onProgress: (each) => void progress.push(each) })
    await server.request('tools/call', { ...params, name: 'echo' })
    await server.request('tools/call', { name: 'echo', _meta: { progressToken: 1 } })
    expect(progress).toEqual([{ progress: 1, total: 2 }])
    const heard = await heardBy(server)
    const metas = heard.flatMap(({ params: sent }) => dig(sent, '_meta') ?? 'none')
    expect(metas.slice(3, 6)).toEqual([{ traceparent: 't', progressToken: 3 }, { traceparent: 't' }, 'none'])
  })

  it('that is cancelled is cancelled at the server, and not sent if it was cancelled before', async () => {
    const server = start()
    const early = new AbortController()
    const unsent = faultOf(server.call('crash', {}, { signal: early.signal }))
    early.abort()
    expect((await unsent).code).toBe('CANCELLED')
    const late = new AbortController()
    await server.hello()
    const sent = faultOf(server.call('hang', {}, { signal: late.signal }))
    await server.call('echo')
    late.abort()
    expect((await sent).code).toBe('CANCELLED')
    const heard = await heardBy(server)
    const hang = heard.find(({ params }) => dig(params, 'name') === 'hang')
    expect(heard.at(-2)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: hang?.id },
    })
  })

  it('takes questions of the server to the oldest request that can be asked', async () => {
    const server = start()
    const asked: string[] = []
    const first = server.call(
      'wait',
      { milliseconds: 300 },
      {
        onAsk: (method) => {
          asked.push(method)
          if (method === 'roots/list') throw new RpcFault(CODE.invalidParams, 'no roots')
          return Promise.resolve({ from: 'first' })
        },
      },
    )
    const methods = ['elicitation/create', 'roots/list', 'ping', 'tools/list', 'constructor']
    const answers: unknown = JSON.parse(
      await server.call('asks', { methods }, { onAsk: () => Promise.resolve({ from: 'second' }) }),
    )
    expect(answers).toEqual({
      'q-elicitation/create': { from: 'first' },
      'q-roots/list': -32602,
      'q-ping': {},
      'q-tools/list': -32601,
      'q-constructor': -32601,
      'q-list': -32602,
    })
    expect(asked).toEqual(['elicitation/create', 'roots/list'])
    await first
  })

  it('refuses a question that may belong to either of two clients', async () => {
    const server = start()
    const asked: string[] = []
    const exchange = (who: string, asker: string): Exchange => ({
      asker,
      onAsk() {
        asked.push(who)
        return Promise.resolve({ who })
      },
    })
    const stop = new AbortController()
    const hung = faultOf(server.call('hang', {}, { ...exchange('first', 'a'), signal: stop.signal }))
    const given = { methods: ['elicitation/create'] }
    const answer = async (more?: Exchange): Promise<unknown> =>
      dig(JSON.parse(await server.call('asks', given, more)) as JsonObject, 'q-elicitation/create')
    expect(await answer(exchange('second', 'b'))).toBe(-32603)
    expect(await answer({ onAsk: () => Promise.reject(new Error('never')) })).toBe(-32603)
    expect(asked).toEqual([])
    // A request that cannot be asked does not matter.
    expect(await answer({ asker: 'b' })).toEqual({ who: 'first' })
    expect(await answer(exchange('second', 'a'))).toEqual({ who: 'first' })
    stop.abort()
    await hung
    expect(await answer(exchange('second', 'b'))).toEqual({ who: 'second' })
  })

  it('refuses questions if no client can be asked', async () => {
    const answers: unknown = JSON.parse(await start().call('asks', { methods: ['sampling/createMessage'] }))
    expect(answers).toEqual({ 'q-sampling/createMessage': -32603, 'q-list': -32602 })
  })

  it('forwards no unknown notification', async () => {
    const server = start()
    await server.call('notes')
    expect(server.told).toEqual([
      { method: 'notifications/tools/list_changed', params: {} },
      { method: 'notifications/message', params: { level: 'info', data: 'hi' } },
      { method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } },
    ])
  })

  it('subscribes to new URIs and unsubscribes from old ones, if the server supports it', async () => {
    const wanted = { tools: true, prompts: true, resources: true }
    for (const subscribe of [true, false]) {
      const server = start({ capabilities: { resources: { subscribe } } })
      server.listen({ ...wanted, uris: ['a:1', 'a:2'] })
      await server.hello()
      server.listen({ ...wanted, uris: ['a:2', 'a:3'] })
      const said = async (): Promise<string[]> =>
        (await heardBy(server))
          .filter(({ method }) => textFor(method).startsWith('resources/'))
          .map(({ method, params }) => `${textFor(method)} ${textFor(dig(params, 'uri'))}`)
      const all = ['subscribe a:1', 'subscribe a:2', 'unsubscribe a:1', 'subscribe a:3']
      await expect.poll(said).toEqual(subscribe ? all.map((each) => `resources/${each}`) : [])
    }
  })

  it.each<[string, () => boolean, number]>([
    ['the approved one', () => true, 1],
    ['not the approved one', () => false, 0],
    [
      'one that cannot be compared',
      () => {
        throw new Error('unreachable')
      },
      0,
    ],
  ])('is asked for what is watched after a restart if it is %s', async (_, isApproved, times) => {
    const server = start({ capabilities: { resources: { subscribe: true } } }, { isApproved })
    await server.hello()
    server.listen({ tools: true, prompts: true, resources: true, uris: ['a:1'] })
    const subscribed = async (): Promise<number> =>
      (await heardBy(server)).filter(({ method }) => method === 'resources/subscribe').length
    await expect.poll(subscribed).toBe(1)
    await faultOf(server.call('crash'))
    await server.hello()
    expect(server.incarnation).toBe(2)
    await expect.poll(subscribed).toBe(times)
  })

  it('forwards known notifications of the client', async () => {
    const server = start()
    server.notify('notifications/roots/list_changed', {})
    await server.hello()
    server.notify('notifications/roots/list_changed', {})
    // On purpose: refused at run time too, not only by the compiler.
    server.notify('notifications/rm_rf' as 'notifications/roots/list_changed', {})
    const methods = (await heardBy(server)).map(({ method }) => method)
    expect(methods.filter((each) => textFor(each).startsWith('notifications/'))).toEqual([
      'notifications/initialized',
      'notifications/roots/list_changed',
    ])
  })
})

describe('a modern request', () => {
  const modern = (options: Parameters<typeof connectTo>[1] = {}): UpstreamRig =>
    start({ protocol: 'modern' }, options)

  it('names its sender every time', async () => {
    const server = modern()
    await server.request(
      'tools/call',
      { name: 'echo', _meta: { traceparent: 't', 'io.modelcontextprotocol/protocolVersion': 'x' } },
      { logLevel: 'debug', onProgress: () => undefined },
    )
    const heard = await heardBy(server)
    expect(heard.map(({ method }) => method)).toEqual(['server/discover', 'tools/call', 'tools/call'])
    expect(dig(heard[1]?.params, '_meta')).toEqual({
      traceparent: 't',
      progressToken: 2,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {}, roots: {} },
      'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
      'io.modelcontextprotocol/logLevel': 'debug',
    })
  })

  it('brings all answers at once, with the state', async () => {
    const server = modern()
    const given = {
      inputRequests: {
        a: { method: 'elicitation/create', params: { message: 'who?' } },
        b: { method: 'roots/list' },
      },
      requestState: 'kept',
    }
    let under = 0
    const text = await server.call('input', given, {
      async onAsk(method, params) {
        under++
        await expect.poll(() => under).toBe(2)
        return { method, params }
      },
    })
    expect(JSON.parse(text)).toEqual({
      inputResponses: {
        a: { method: 'elicitation/create', params: { message: 'who?' } },
        b: { method: 'roots/list', params: {} },
      },
      requestState: 'kept',
    })
  })

  it('gets an error answer if the client cannot be asked', async () => {
    const server = modern()
    const given = { inputRequests: { a: { method: 'elicitation/create' } } }
    expect(await server.call('input', given)).toBe('-32603 the client cannot be asked')
    const onAsk = (): Promise<JsonObject> => Promise.reject(new RpcFault(-32_001, 'denied'))
    expect(await server.call('input', given, { onAsk })).toBe('-32001 the client cannot be asked: denied')
    const fails = (): never => {
      throw new Error('secret')
    }
    expect(await server.call('input', given, { onAsk: fails })).toBe(
      '-32603 the client cannot be asked: the question failed',
    )
  })

  it.each([
    { inputRequests: { a: { method: 'tools/call' } } },
    { inputRequests: { a: 'x' } },
    { inputRequests: [] },
    { inputRequests: {}, requestState: 7 },
    {
      inputRequests: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, { method: 'roots/list' }])),
    },
    {},
  ])('asks the client nothing that the protocol does not have: %j', async (given) => {
    let asked = 0
    const onAsk = (): Promise<JsonObject> => Promise.resolve({ asked: ++asked })
    const fault = await faultOf(modern().call('input', given, { onAsk }))
    expect([fault.code, fault.bytes, asked]).toEqual(['GARBLED', undefined, 0])
  })

  it('asks the client nothing in methods without questions', async () => {
    const server = modern()
    const onAsk = (): Promise<JsonObject> => Promise.reject(new Error('never'))
    const fault = await faultOf(server.request('resources/templates/list', {}, { onAsk }))
    expect([fault.code, fault.bytes]).toEqual(['GARBLED', undefined])
  })

  it('is lost with its server after the first message, and continues nowhere else', async () => {
    const server = modern()
    expect((await faultOf(server.call('die asked', {}, {}))).code).toBe('LOST')
    const onAsk = async (): Promise<JsonObject> => {
      await server.down(2)
      return {}
    }
    expect((await faultOf(server.call('die asking', {}, { onAsk }))).code).toBe('LOST')
    expect(server.incarnation).toBe(2)
  })

  it('fails if the server asks forever, or sends an unknown type of result', async () => {
    const server = modern()
    const endless = await faultOf(server.call('endless'))
    expect([endless.code, endless.bytes]).toEqual(['GARBLED', undefined])
    expect(endless.message).toBe('`srv` asked the client in too many rounds')
    expect((await heardBy(server)).filter(({ method }) => method === 'tools/call')).toHaveLength(17)
    const odd = await faultOf(server.call('odd'))
    expect(odd.code).toBe('GARBLED')
    expect(Buffer.from(odd.bytes ?? []).toString()).toBe('{"resultType":"odd"}')
  })

  it('that is cancelled during a question ends at once', async () => {
    const server = modern()
    const stop = new AbortController()
    const onAsk = (): Promise<JsonObject> => {
      stop.abort()
      return new Promise(() => undefined)
    }
    const given = { inputRequests: { a: { method: 'elicitation/create' } } }
    expect((await faultOf(server.call('input', given, { signal: stop.signal, onAsk }))).code).toBe(
      'CANCELLED',
    )
  })

  it('forwards no notification that the modern protocol lacks', async () => {
    const server = modern()
    await server.call('notes')
    expect(server.told).toEqual([{ method: 'notifications/message', params: { level: 'info', data: 'hi' } }])
  })

  it('refuses legacy questions of the server', async () => {
    const text = await modern().call(
      'asks',
      { methods: ['elicitation/create', 'ping'] },
      {
        onAsk: () => Promise.resolve({}),
      },
    )
    expect(JSON.parse(text)).toEqual({ 'q-elicitation/create': -32601, 'q-ping': {}, 'q-list': -32602 })
  })

  it('listens with one request, which is replaced when the subscription changes', async () => {
    const server = modern()
    const none = { tools: false, prompts: false, resources: false, uris: [] }
    server.listen({ ...none, tools: true })
    await server.hello()
    server.listen({ ...none, tools: true })
    server.listen({ ...none, tools: true, uris: ['a:1'] })
    await server.call('changes', { id: 3 })
    expect(server.told).toEqual([{ method: 'notifications/tools/list_changed', params: { _meta: {} } }])
    server.listen(none)
    await server.call('changes', { id: 3 })
    expect(server.told).toHaveLength(1)
    const heard = await heardBy(server)
    const [first, second] = heard.filter(({ method }) => method === 'subscriptions/listen')
    expect(dig(second?.params, 'notifications')).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['a:1'],
    })
    const cancelled = heard.filter(({ method }) => method === 'notifications/cancelled')
    expect(cancelled.map(({ params }) => dig(params, 'requestId'))).toEqual([first?.id, second?.id])
  })
})

describe('the real servers', () => {
  it('with the legacy protocol work', async () => {
    const server = connectTo({
      transport: 'stdio',
      command: process.execPath,
      args: [EVERYTHING, 'stdio'],
      env: {},
    })
    const hello = await server.hello()
    expect(hello).toMatchObject({
      protocol: 'legacy',
      version: '2025-11-25',
      info: { name: 'mcp-servers/everything' },
    })
    expect(await server.call('echo', { message: 'hi' })).toContain('hi')
    const progress: JsonObject[] = []
    await server.call(
      'trigger-long-running-operation',
      { duration: 0.1, steps: 2 },
      {
        onProgress: (each) => void progress.push(each),
      },
    )
    expect(progress).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ])
    const asked: string[] = []
    const onAsk = (method: string): Promise<JsonObject> => {
      asked.push(method)
      return Promise.resolve(
        method === 'elicitation/create'
          ? { action: 'accept', content: { name: 'Ada' } }
          : { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } },
      )
    }
    expect(await server.call('trigger-sampling-request', { prompt: 'p' }, { onAsk })).toContain('sampled')
    const elicited = await server.request(
      'tools/call',
      { name: 'trigger-elicitation-request', arguments: {} },
      { onAsk },
    )
    expect(JSON.stringify(elicited)).toContain('Ada')
    expect(asked.filter((each) => each !== 'roots/list')).toEqual([
      'sampling/createMessage',
      'elicitation/create',
    ])
  })

  it('with the modern protocol work', async () => {
    const server = connectTo({
      transport: 'stdio',
      command: process.execPath,
      args: [standIn('modern'), 'stdio'],
      env: {},
    })
    server.listen({ tools: true, prompts: false, resources: false, uris: [] })
    expect(await server.hello()).toMatchObject({
      protocol: 'modern',
      version: '2026-07-28',
      info: { name: 'modern', version: '1.2.3' },
      instructions: 'be kind',
    })
    const listed = await server.request('tools/list', {})
    expect(listed.ok && listed.result.resultType).toBeUndefined()
    expect(await server.call('echo', { place: 'here' })).toBe('{"place":"here"}')
    const seen: string[] = []
    const exchange = {
      logLevel: 'debug',
      onProgress: (each: JsonObject) => void seen.push(`progress ${JSON.stringify(each)}`),
      onMessage: ({ data }: JsonObject) => void seen.push(`message ${textFor(data)}`),
    }
    expect(await server.call('work', {}, exchange)).toBe('worked')
    expect(seen).toEqual(['progress {"progress":1,"total":1}', 'message working'])
    const met: unknown = JSON.parse(
      await server.call(
        'meet',
        {},
        {
          onAsk: (method) =>
            Promise.resolve(
              method === 'elicitation/create'
                ? { action: 'accept', content: { name: 'Ada' } }
                : { role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } },
            ),
        },
      ),
    )
    expect(met).toMatchObject({ name: { action: 'accept' }, model: { model: 'm' } })
    await server.call('change')
    await server.toldOf('notifications/tools/list_changed')
    const stop = new AbortController()
    const slow = faultOf(server.call('slow', {}, { signal: stop.signal }))
    expect(textOf(await server.request('tools/call', { name: 'echo', arguments: {} }))).toBe('{}')
    stop.abort()
    expect((await slow).code).toBe('CANCELLED')
    await expect.poll(() => server.stderr()).toContain('cancelled')
  })
})
