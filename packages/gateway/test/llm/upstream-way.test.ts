// The connection to a model server: through a proxy, compressed, slow, or failing.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Garbled } from '../../src/llm/dialect.ts'
import {
  createUpstream,
  LlmUpstreamFault,
  type LlmUpstream,
  type UpstreamReply,
} from '../../src/llm/upstream.ts'

const open: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of open.splice(0).reverse()) await close()
})

async function serverFor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  // Sound: a listening server has an address with a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function upstreamTo(url: string, patience = 60_000): LlmUpstream {
  const upstream = createUpstream({ url: `${url}/v1`, key: 'k', parameters: new Set(), patience })
  open.push(() => upstream.close())
  return upstream
}

const ASKED = { method: 'POST', path: '/x', headers: {}, body: [Buffer.from('{}')] } as const

function ask(
  upstream: LlmUpstream,
  signal: AbortSignal = new AbortController().signal,
): Promise<UpstreamReply> {
  return upstream.send({ ...ASKED, signal })
}

async function textIn({ body }: UpstreamReply): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

describe('a model server', () => {
  it('is reached through the proxy of the environment, unless it is excluded', async () => {
    const url = await serverFor((request, response) => response.end(`path ${request.url}`))
    const asked: string[] = []
    const tunnel = createServer()
    tunnel.on('connect', (request: IncomingMessage, socket) => {
      asked.push(request.url ?? '')
      const [host = '', port = ''] = (request.url ?? '').split(':')
      const there = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        there.pipe(socket).pipe(there)
      })
    })
    tunnel.listen(0, '127.0.0.1')
    await once(tunnel, 'listening')
    open.push(
      () => tunnel.closeAllConnections(),
      () => tunnel.close(),
    )
    vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(tunnel.address() as AddressInfo).port}`)
    vi.stubEnv('NO_PROXY', '')
    expect(await textIn(await ask(upstreamTo(url)))).toBe('path /v1/x')
    expect(asked).toEqual([new URL(url).host])
    vi.stubEnv('NO_PROXY', '127.0.0.1')
    expect(await textIn(await ask(upstreamTo(url)))).toBe('path /v1/x')
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('may pack its answer as %s', async (encoding, pack) => {
    const url = await serverFor((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      response.end(pack('hello'))
    })
    expect(await textIn(await ask(upstreamTo(url)))).toBe('hello')
  })

  it('with an unknown or wrong content encoding is not read', async () => {
    const url = await serverFor((request, response) => {
      response.writeHead(200, { 'content-encoding': String(request.headers['x-as']) })
      response.end('hello')
    })
    const upstream = upstreamTo(url)
    const { signal } = new AbortController()
    for (const encoding of ['zstd', 'gzip, gzip', 'rot13']) {
      await expect(upstream.send({ ...ASKED, headers: { 'x-as': encoding }, signal })).rejects.toThrow(
        Garbled,
      )
    }
    for (const encoding of ['gzip', 'br', 'deflate']) {
      const reply = await upstream.send({ ...ASKED, headers: { 'x-as': encoding }, signal })
      await expect(textIn(reply)).rejects.toThrow(Garbled)
    }
  })

  it('that does not begin in time, or pauses too long, times out', async () => {
    const url = await serverFor((request, response) => {
      if (request.url === '/v1/x') return
      response.writeHead(200)
      response.write('half')
    })
    const upstream = upstreamTo(url, 300)
    await expect(ask(upstream)).rejects.toMatchObject({ status: 504 })
    const { signal } = new AbortController()
    const reply = await upstream.send({ ...ASKED, path: '/y', signal })
    await expect(textIn(reply)).rejects.toMatchObject({ status: 504 })
  })

  it('that disconnects or does not exist is distinguished from a slow one', async () => {
    const url = await serverFor((_, response) => {
      response.writeHead(200)
      response.write('half', () => response.destroy())
    })
    await expect(textIn(await ask(upstreamTo(url)))).rejects.toMatchObject({ status: 502 })
    await expect(ask(upstreamTo('http://127.0.0.1:1'))).rejects.toThrow(LlmUpstreamFault)
  })

  it('is aborted when the client disconnects', async () => {
    let gone = false
    const url = await serverFor((_, response) => {
      response.on('close', () => (gone = true))
      response.write('half')
    })
    const leaving = new AbortController()
    const reply = await ask(upstreamTo(url), leaving.signal)
    leaving.abort()
    await expect(textIn(reply)).rejects.toThrow(LlmUpstreamFault)
    await vi.waitFor(() => expect(gone).toBe(true))
  })

  it('that redirects is not followed', async () => {
    const url = await serverFor((_, response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    )
    expect((await ask(upstreamTo(url))).status).toBe(302)
  })
})
