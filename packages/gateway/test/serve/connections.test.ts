// Which connection is dropped at the limit, on real sockets. Every step waits for an event.

import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { REFUSAL_PAUSE_MS } from '../../src/budget.ts'
import { serve, type Served } from '../../src/serve.ts'
import { createApiRig, type ApiRig, type Person } from '../api/rig.ts'
import { tlsFiles } from './serve-rig.ts'

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end()
})

interface Rig extends ApiRig, Served {
  readonly port: number
  /** A connection that the server has accepted. */
  connect(): Promise<Socket>
}

async function openRig(connections: number, tls = false): Promise<Rig> {
  const api = await createApiRig()
  const files = tls ? { tls: tlsFiles() } : {}
  const served = await serve(api.options, { host: '127.0.0.1', port: 0, grace: 200, connections, ...files })
  open.push(() => served.close())
  const port = Number(new URL(served.url).port)
  return {
    ...api,
    ...served,
    port,
    async connect() {
      const socket = tls
        ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
        : createConnection({ host: '127.0.0.1', port })
      open.push(() => socket.destroy())
      socket.on('error', () => undefined)
      await once(socket, tls ? 'secureConnect' : 'connect')
      return socket
    },
  }
}

/** The status of the next answer on a connection; 0 if it is closed. */
function answerOn(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1])))
    socket.once('close', () => resolve(0))
  })
}

function requestOf(rig: Rig, person: Person | undefined, path: string, more: readonly string[] = []): string {
  const token = person === undefined ? [] : [`authorization: Bearer ${rig.token(person)}`]
  return [`GET ${path} HTTP/1.1`, 'host: localhost', ...token, ...more, '', ''].join('\r\n')
}

async function ask(rig: Rig, socket: Socket, person: Person | undefined, path = PATH): Promise<number> {
  const answer = answerOn(socket)
  socket.write(requestOf(rig, person, path))
  return answer
}

const closed = (socket: Socket): Promise<unknown> =>
  socket.destroyed ? Promise.resolve() : once(socket, 'close')

const PATH = '/v1/checkpoint'

describe.each([
  ['in the clear', false],
  ['under TLS', true],
])('one connection more than there may be, %s', (_, tls) => {
  test('drops the oldest connection without a token, and serves the new one', async () => {
    const rig = await openRig(3, tls)
    const silent = [await rig.connect(), await rig.connect(), await rig.connect()]
    const dropped = silent.map((socket) => closed(socket))
    const newest = await rig.connect()
    expect(await ask(rig, newest, 'operator', PATH)).toBe(200)
    await dropped[0]
    expect(silent.map((socket) => socket.destroyed)).toEqual([true, false, false])
    const another = await rig.connect()
    expect(await ask(rig, another, 'operator', PATH)).toBe(200)
    await dropped[1]
    expect([newest.destroyed, silent[2]?.destroyed]).toEqual([false, false])
  })

  test('keeps connections with a token, also while they are idle', async () => {
    const rig = await openRig(3, tls)
    const known = await rig.connect()
    expect(await ask(rig, known, 'agent', PATH)).toBe(200)
    const silent = [await rig.connect(), await rig.connect()]
    const newest = await rig.connect()
    await closed(silent[0] ?? newest)
    expect(await ask(rig, known, 'agent', PATH)).toBe(200)
    expect(await ask(rig, newest, 'agent', PATH)).toBe(200)
  })
})

test('half a header, an unknown token and a public route count as no token', async () => {
  const rig = await openRig(3)
  const [half, stranger, visitor] = [await rig.connect(), await rig.connect(), await rig.connect()]
  half.write('GET /v1/checkpoint HTTP/1.1\r\nhost: localh')
  expect(await ask(rig, visitor, undefined, '/healthz')).toBe(200)
  const unknown = answerOn(stranger)
  stranger.write('GET /v1/checkpoint HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer tg_admin_x\r\n\r\n')
  expect(await unknown).toBe(401)
  const newcomers: Socket[] = []
  for (const each of [half, stranger, visitor]) {
    const socket = await rig.connect()
    newcomers.push(socket)
    expect(await ask(rig, socket, 'operator', PATH)).toBe(200)
    await closed(each)
  }
  expect(newcomers.map((socket) => socket.destroyed)).toEqual([false, false, false])
})

test('among connections with a token, the longest idle one is dropped', async () => {
  const rig = await openRig(2)
  const [first, second] = [await rig.connect(), await rig.connect()]
  for (const socket of [first, second, first]) expect(await ask(rig, socket, 'agent', PATH)).toBe(200)
  const newest = await rig.connect()
  await closed(second)
  expect(await ask(rig, newest, 'agent', PATH)).toBe(200)
  expect(first.destroyed).toBe(false)
})

test('a busy connection is never dropped: the new one is', async () => {
  const rig = await openRig(2)
  const streams = [await rig.connect(), await rig.connect()]
  for (const socket of streams) expect(await ask(rig, socket, 'operator', '/v1/receipts/stream')).toBe(200)
  const newest = await rig.connect()
  await closed(newest)
  expect(streams.map((socket) => socket.destroyed)).toEqual([false, false])
})

test('a new connection with a token is refused and dropped while all others are busy', async () => {
  const rig = await openRig(2)
  for (let i = 0; i < 2; i++) {
    expect(await ask(rig, await rig.connect(), 'operator', '/v1/receipts/stream')).toBe(200)
  }
  const newest = createConnection({ host: '127.0.0.1', port: rig.port })
  newest.on('error', () => undefined)
  newest.write(requestOf(rig, 'operator', PATH))
  expect([0, 429]).toContain(await answerOn(newest))
  await closed(newest)
})

test('above the reserve each new connection drops one at once, so that the number is bounded', async () => {
  const rig = await openRig(1)
  let dropped = 0
  const connect = (): Promise<unknown> => {
    const socket = createConnection({ host: '127.0.0.1', port: rig.port })
    socket
      .on('error', () => undefined)
      .once('close', () => dropped++)
      .resume()
    open.push(() => socket.destroy())
    return once(socket, 'connect')
  }
  // Not all at once: the kernel silently loses connections that its queue has no space for.
  for (let i = 0; i < 11; i++) await Promise.all(Array.from({ length: 100 }, connect))
  await expect.poll(() => dropped, { timeout: 200_000 }).toBe(1099)
  expect(await ask(rig, await rig.connect(), 'operator', PATH)).toBe(200)
})

test('an operator gets a connection despite many connections without a token', async () => {
  const rig = await openRig(20)
  const early = await rig.connect()
  for (let i = 0; i < 100; i++) await rig.connect()
  await closed(early)
  expect(await ask(rig, await rig.connect(), 'operator', PATH)).toBe(200)
})

test('one principal has at most its share of concurrent requests, and others are served', async () => {
  const rig = await openRig(64)
  const slow = ['content-type: application/json', 'content-length: 10']
  const held: Socket[] = []
  for (let i = 0; i < 16; i++) {
    const socket = await rig.connect()
    socket.write(requestOf(rig, 'agent', '/v1/evaluate', slow).replace('GET', 'POST'))
    held.push(socket)
  }
  // Answered in order: the earlier ones were accepted.
  const more = await rig.connect()
  const refused = answerOn(more)
  const asked = performance.now()
  more.write(requestOf(rig, 'agent', '/v1/evaluate', slow).replace('GET', 'POST'))
  expect(await refused).toBe(429)
  // A timer may fire a millisecond early.
  expect(performance.now() - asked).toBeGreaterThanOrEqual(REFUSAL_PAUSE_MS - 1)
  expect(await ask(rig, await rig.connect(), 'other', PATH)).toBe(200)
  expect(await ask(rig, await rig.connect(), 'operator', PATH)).toBe(200)
  // The end of one request makes space for another.
  held[0]?.destroy()
  let status = 429
  while (status === 429) status = await ask(rig, await rig.connect(), 'agent', PATH)
  expect(status).toBe(200)
})
