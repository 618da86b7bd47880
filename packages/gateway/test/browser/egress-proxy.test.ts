// The proxy itself against clients and servers that break the rules of HTTP, and names that resolve to forbidden addresses.

import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { policyOf } from '../../../kernel/test/rig.ts'
import { dial, type Resolve } from '../../src/browser/egress/dial.ts'
import { startProxy, type Proxy, type ProxyLimits } from '../../src/browser/egress/proxy.ts'

const LIMITS: ProxyLimits = { connections: 8, headers: 300, idle: 400 }
const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0)) await end()
})

interface Origin {
  readonly port: number
  /** Everything that arrived, by connection. */
  readonly received: readonly string[]
}

/** A server that answers each connection with the same bytes. */
async function startOrigin(answer: string | ((socket: Socket) => void)): Promise<Origin> {
  const received: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const index = received.push('') - 1
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const first = received[index] === ''
      received[index] = (received[index] ?? '') + chunk.toString('latin1')
      if (!first) return
      if (typeof answer === 'string') socket.end(answer, 'latin1')
      else answer(socket)
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  ending.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, received }
}

const LOOPBACK: Resolve = () => Promise.resolve(['127.0.0.1'])

/** A proxy that allows one host and its address. */
async function startFor(origin: Origin, resolve: Resolve = LOOPBACK): Promise<Proxy & { asked: string[] }> {
  const rules = policyOf(`
rules: []
gates: { egress: { allow: ['a.test:${origin.port}', '127.0.0.1:${origin.port}'] } }
`)
  const asked: string[] = []
  const proxy = await startProxy(
    {
      isOwn: () => Promise.resolve(true),
      connect: async (to) => {
        asked.push(`${to.scheme}://${to.host}:${to.port}`)
        return to.host === 'a.test' && to.port === origin.port ? dial(to, rules, resolve) : 'refused'
      },
    },
    LIMITS,
  )
  ending.push(() => proxy.close())
  return { ...proxy, asked }
}

/** Sends bytes and returns everything that comes back until the connection ends. */
function exchange(port: number, ...parts: readonly string[]): Promise<string> {
  return new Promise((done) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part, 'latin1')
    })
    socket.on('data', (chunk) => void (text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => done(text))
  })
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('a request', () => {
  test('arrives with its own host, without headers for the proxy, on a connection of its own', async () => {
    const origin = await startOrigin(OK)
    const proxy = await startFor(origin)
    const at = `http://a.test:${origin.port}`
    const text = await exchange(
      proxy.port,
      `POST ${at}/p?q HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: x\r\nProxy-Connection: keep-alive\r\n` +
        'Connection: close, X-Hop\r\nX-Hop: 1\r\nUpgrade: h2c\r\nTE: trailers\r\nX-End: 2\r\nContent-Length: 4\r\n\r\nbody',
    )
    expect(text).toContain('200 OK')
    expect(origin.received).toEqual([
      `POST /p?q HTTP/1.1\r\nHost: a.test:${origin.port}\r\nX-End: 2\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`,
    ])
  })

  test('that is pipelined is judged like the first', async () => {
    const origin = await startOrigin(OK)
    const proxy = await startFor(origin)
    const text = await exchange(
      proxy.port,
      `GET http://a.test:${origin.port}/1 HTTP/1.1\r\nHost: a\r\n\r\nGET http://evil.test/2 HTTP/1.1\r\nHost: a\r\n\r\n`,
    )
    expect(text).not.toContain('/2')
    expect(origin.received.join()).not.toContain('/2')
    expect(proxy.asked).toContain('http://evil.test:80')
  })

  const at = 'http://a.test:PORT'
  test.each<[string, string]>([
    ['two lengths', `POST ${at}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbodyx`],
    [
      'a length and chunks',
      `POST ${at}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown coding', `POST ${at}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a space in a header name', `GET ${at}/ HTTP/1.1\r\nHost : a\r\n\r\n`],
    ['a folded header', `GET ${at}/ HTTP/1.1\r\nHost: a\r\nX: 1\r\n  2\r\n\r\n`],
    ['a bare line feed', `GET ${at}/ HTTP/1.1\nHost: a\n\n`],
    ['HTTP/0.9', `GET ${at}/\r\n\r\n`],
    ['headers of 100 KB', `GET ${at}/ HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a path without a host', 'GET /etc HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['https in clear', 'GET https://a.test:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another scheme', 'GET ftp://a.test:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a user', 'GET http://evil.test@a.test:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a fragment', `GET ${at}/#x HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a backslash', 'GET http://a.test:PORT\\@evil.test/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a percent in the host', 'GET http://a%2etest:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT of HTTP/1.0', 'CONNECT a.test:PORT HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['CONNECT without a port', 'CONNECT a.test HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT with a URL', 'CONNECT http://a.test:PORT HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT with a user', 'CONNECT x@a.test:PORT HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT to a padded port', 'CONNECT a.test:0PORT HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'an upgrade of a path',
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('with %s reaches no server', async (_, bytes) => {
    const origin = await startOrigin(OK)
    const proxy = await startFor(origin)
    expect(await exchange(proxy.port, bytes.replaceAll('PORT', String(origin.port)))).not.toMatch(
      /^HTTP\/1.1 2/,
    )
    expect(origin.received).toEqual([])
  })

  test('whose headers drip is ended, and so is a tunnel or an answer that stays silent', async () => {
    const origin = await startOrigin(() => undefined)
    const proxy = await startFor(origin)
    const at = `a.test:${origin.port}`
    const drip = exchange(proxy.port, `GET http://${at}/ HTTP/1.1\r\nX: `)
    const silent = exchange(proxy.port, `GET http://${at}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
    const tunnel = exchange(proxy.port, `CONNECT ${at} HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(await drip).not.toContain('200')
    expect(await silent).toBe('')
    expect(await tunnel).toBe('HTTP/1.1 200 Connection established\r\n\r\n')
  })

  test('above the number of connections is not accepted', async () => {
    const origin = await startOrigin(() => undefined)
    const proxy = await startFor(origin)
    const all = Array.from({ length: 20 }, () =>
      exchange(proxy.port, `CONNECT a.test:${origin.port} HTTP/1.1\r\nHost: a\r\n\r\n`),
    )
    const opened = (await Promise.all(all)).filter((text) => text.includes('200'))
    expect(opened.length).toBeLessThanOrEqual(LIMITS.connections)
    expect(origin.received.length).toBeLessThanOrEqual(LIMITS.connections)
  })
})

describe('a tunnel', () => {
  test('carries bytes both ways, also those that came with CONNECT, and ends with either side', async () => {
    const origin = await startOrigin('pong')
    const proxy = await startFor(origin)
    const text = await exchange(proxy.port, `CONNECT a.test:${origin.port} HTTP/1.1\r\nHost: a\r\n\r\nping`)
    expect(text).toBe('HTTP/1.1 200 Connection established\r\n\r\npong')
    expect(origin.received).toEqual(['ping'])
  })

  test('delivers a large answer completely', async () => {
    const size = 4 << 20
    const origin = await startOrigin('x'.repeat(size))
    const proxy = await startFor(origin)
    const text = await exchange(proxy.port, `CONNECT a.test:${origin.port} HTTP/1.1\r\nHost: a\r\n\r\nping`)
    expect(text.length).toBe('HTTP/1.1 200 Connection established\r\n\r\n'.length + size)
  })

  test('ends at once when everything is cut', async () => {
    const origin = await startOrigin(() => undefined)
    const proxy = await startFor(origin)
    let opened = (): void => undefined
    const open = new Promise<void>((resolve) => (opened = resolve))
    const text = new Promise((done) => {
      const socket = connect(proxy.port, '127.0.0.1', () =>
        socket.write(`CONNECT a.test:${origin.port} HTTP/1.1\r\nHost: a\r\n\r\n`),
      )
      socket.on('data', () => opened())
      socket.on('error', () => undefined)
      socket.on('close', () => done('closed'))
    })
    await open
    proxy.cut()
    expect(await text).toBe('closed')
  })
})

describe('an answer', () => {
  test.each<[string, string]>([
    [
      'that asks for the password of the proxy',
      'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\ncontent-length: 0\r\n\r\n',
    ],
    ['that changes the protocol', 'HTTP/1.1 101 No\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['that is not HTTP', 'hello\r\n\r\n'],
    ['with two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nokx'],
    [
      'with a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['with headers of 300 KB', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(300_000)}\r\n\r\n`],
  ])('%s does not reach the browser', async (_, bytes) => {
    const origin = await startOrigin(bytes)
    const proxy = await startFor(origin)
    expect(await exchange(proxy.port, `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)).toBe(
      '',
    )
  })

  test('that breaks off does not look complete', async () => {
    const origin = await startOrigin('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
    const proxy = await startFor(origin)
    const text = await exchange(proxy.port, `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(text).not.toContain('\r\n0\r\n\r\n')
  })

  test('keeps headers that repeat, and loses those for a proxy', async () => {
    const origin = await startOrigin(
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nProxy-Authenticate: Basic\r\nKeep-Alive: 9\r\ncontent-length: 2\r\n\r\nok',
    )
    const proxy = await startFor(origin)
    const text = await exchange(
      proxy.port,
      `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    )
    expect(text).toContain('Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n')
    expect(text).not.toMatch(/proxy-|keep-alive: 9/i)
  })
})

describe('a name', () => {
  const get = (origin: Origin, proxy: Proxy): Promise<string> =>
    exchange(proxy.port, `GET http://a.test:${origin.port}/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)

  test.each<[string, readonly string[]]>([
    ['of another loopback address', ['127.0.0.2']],
    ['of IPv6 loopback', ['::1']],
    ['of an allowed and a forbidden address', ['127.0.0.1', '169.254.169.254']],
    ['of nothing', []],
    ['of nonsense', ['evil.test']],
    ['of too many addresses', Array.from({ length: 40 }, () => '127.0.0.1')],
  ])('%s is not connected to', async (_, addresses) => {
    const origin = await startOrigin(OK)
    const proxy = await startFor(origin, () => Promise.resolve(addresses))
    expect(await get(origin, proxy)).toBe('')
    expect(origin.received).toEqual([])
  })

  test('is resolved once for a connection, so that it cannot change between check and use', async () => {
    const origin = await startOrigin(OK)
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    let asked = 0
    const proxy = await startFor(origin, () => Promise.resolve(answers[asked++] ?? []))
    expect(await get(origin, proxy)).toContain('200 OK')
    expect(asked).toBe(1)
    expect(await get(origin, proxy)).toBe('')
    expect(origin.received).toHaveLength(1)
  })

  test('that cannot be resolved is not connected to', async () => {
    const origin = await startOrigin(OK)
    const proxy = await startFor(origin, () => Promise.reject(new Error('no such name')))
    expect(await get(origin, proxy)).toBe('')
  })
})
