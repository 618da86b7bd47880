import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchJson } from '../../src/sign-in/fetch-json.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/good': (_, response) => response.writeHead(200, JSON_TYPE).end('{"a":1}'),
  '/redirect': (_, response) => response.writeHead(302, { location: '/good' }).end('{"a":1}'),
  '/error': (_, response) => response.writeHead(500).end('secret text'),
  '/html': (_, response) => response.writeHead(200).end('<html>secret text</html>'),
  '/list': (_, response) => response.writeHead(200).end('[]'),
  '/twice': (_, response) => response.writeHead(200).end('{"a":1,"a":2}'),
  '/huge': (_, response) => response.writeHead(200).end(`{"a":"${'x'.repeat(1 << 18)}"}`),
  '/half': (_, response) =>
    void response.writeHead(200, { 'content-length': 99 }).write('{"a', () => response.destroy()),
  '/silent': () => undefined,
  '/slow': (_, response) => void response.writeHead(200).write('{"a":'),
}

let server: Server
let base: string

beforeAll(async () => {
  server = createServer((request, response) => ANSWERS[request.url ?? '']?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Sound: the server listens on TCP.
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('a document of the issuer', () => {
  it('is fetched with the clock of its server', async () => {
    const { json, date } = await fetchJson(`${base}/good`)
    expect(json).toEqual({ a: 1 })
    expect(Math.abs((date ?? 0) - Date.now())).toBeLessThan(3_600_000)
  })

  it.each([
    ['/redirect', 'status 302'],
    ['/error', 'status 500'],
    ['/html', 'not strict JSON'],
    ['/list', 'not an object'],
    ['/twice', 'not strict JSON'],
    ['/huge', 'more than 262144 bytes'],
    ['/half', 'cannot be reached'],
  ])('is refused: %s', async (path, why) => {
    const fault = await fetchJson(base + path).catch((cause: unknown) => cause)
    expect(String(fault)).toContain(why)
    expect(String(fault)).not.toContain('secret')
  })

  it.each(['/silent', '/slow'])('is awaited for a limited time: %s', async (path) => {
    await expect(fetchJson(base + path, 50)).rejects.toThrow('did not answer in time')
  })

  it('says why the server is not reachable', async () => {
    await expect(fetchJson('http://127.0.0.1:1/x')).rejects.toThrow('cannot be reached: ECONNREFUSED')
  })
})
