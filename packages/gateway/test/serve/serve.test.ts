// Listening: addresses, callers and shutdown.

import { createServer } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/api/app.ts'
import { listener } from '../../src/api/node.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { serve } from '../../src/serve.ts'
import { createApiRig, described } from '../api/rig.ts'
import type { LedgerView } from '../../src/view.ts'
import { closeAll, createServedRig, request, textOf, tlsFiles, type ServedRig } from './serve-rig.ts'

afterEach(closeAll)

async function ask(
  rig: ServedRig,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(rig.url + path, {
    method,
    headers: {
      authorization: `Bearer ${rig.token('agent')}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await described(method, path, response)).json
}

describe('over a socket', () => {
  test('a call is decided as in process', async () => {
    const rig = await createServedRig()
    const call = { tool: 'fs/read_file', arguments: { path: 'a' } }
    const there = await ask(rig, 'POST', '/v1/evaluate', call)
    const here = await rig.ask('agent', 'POST', '/v1/evaluate', call)
    expect({ ...there, receipt: '' }).toEqual({ ...here.json, receipt: '' })
    expect(
      await ask(rig, 'POST', '/v1/effects', { decision: String(there.receipt), status: 'COMPLETED' }),
    ).toEqual({
      receipt: rig.store.entries.at(-1)?.id,
      delivery: 'full',
      labels: [],
      findings: [],
    })
  })

  test('many calls at once each get their own receipt', async () => {
    const rig = await createServedRig()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        ask(rig, 'POST', '/v1/evaluate', { tool: 'fs/read_file', arguments: { i } }),
      ),
    )
    expect(answers.every(({ verdict }) => verdict === 'ALLOW')).toBe(true)
    expect(new Set(answers.map(({ receipt }) => receipt)).size).toBe(100)
  })

  test('every answer has headers against misuse by web pages', async () => {
    const rig = await createServedRig()
    for (const path of ['/healthz', '/nowhere', '/v1/evaluate']) {
      const { headers } = await fetch(rig.url + path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(headers.get('x-powered-by')).toBeNull()
      expect(headers.get('server')).toBeNull()
    }
  })

  test('a stream shows receipts, and a reader that disconnects is released', async () => {
    const rig = await createServedRig()
    const abort = new AbortController()
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const response = await fetch(`${rig.url}/v1/receipts/stream`, { headers, signal: abort.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    const { receipt } = await ask(rig, 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain(String(receipt))
    abort.abort()
    await expect
      .poll(async () => (await rig.ask('auditor', 'GET', '/metrics')).text)
      .toContain('streams_open')
    const open = async (): Promise<string> => {
      const response = await fetch(`${rig.url}/metrics`, {
        headers: { authorization: `Bearer ${rig.token('auditor')}` },
      })
      return response.text()
    }
    await expect.poll(open).toContain('tollgate_streams_open 0')
  })

  test('the gateway does not buffer for a reader that stops reading', async () => {
    const rig = await createServedRig()
    const socket = await rig.connect()
    socket.pause()
    socket.write(
      request([
        'GET /v1/receipts/stream?from=0 HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${rig.token('auditor')}`,
      ]),
    )
    for (let i = 0; i < 200; i++) await rig.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    socket.resume()
    const count = rig.receipts().filter(({ tenant }) => tenant === 'default').length
    const events = (text: string): number => text.match(/event: receipt/g)?.length ?? 0
    // The reader loses nothing: the gateway reads the ledger again when the reader continues.
    expect(events(await textOf(socket, (text) => events(text) >= count))).toBe(count)
  })

  test('a reader that reads nothing stops the reads of the ledger', async () => {
    const plain = await createApiRig()
    const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(65_536) }))
    let shown = 0
    const endless: LedgerView = {
      ...plain.view,
      size: () => Promise.resolve(1_000_000),
      page({ from = 0, limit }) {
        shown += limit
        const entries = Array.from({ length: limit }, (_, i) => ({
          ...{ index: from + i, id: '', payload, envelope: payload },
        }))
        return Promise.resolve({ entries, next: from + limit })
      },
    }
    const rig = await createServedRig({}, { api: { view: endless } })
    const socket = await rig.connect()
    socket.pause()
    const token = `Authorization: Bearer ${rig.token('auditor')}`
    socket.write(request(['GET /v1/receipts/stream?from=0 HTTP/1.1', 'Host: localhost', token]))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const soon = shown
    await new Promise((resolve) => setTimeout(resolve, 300))
    // What fits into the buffers, and then nothing more.
    expect([soon > 0, shown - soon, shown < 1000]).toEqual([true, 0, true])
    socket.destroy()
  })

  test('an export is complete', async () => {
    const rig = await createServedRig()
    const headers = { authorization: `Bearer ${rig.token('auditor')}` }
    const there = await (await fetch(`${rig.url}/v1/evidence/export`, { headers })).arrayBuffer()
    expect(there.byteLength).toBeGreaterThan(1024)
    expect(there.byteLength % 512).toBe(0)
  })

  test('an export that fails halfway is aborted, not completed', async () => {
    const plain = await createApiRig()
    let asked = 0
    const view = {
      ...plain.view,
      envelopes: (start: number, end: number) =>
        end - start > 1 && asked++ > 0 ? Promise.reject(new Error('disk')) : plain.view.envelopes(start, end),
    }
    const rig = await createServedRig({}, { api: { view, checkpoint: () => plain.options.checkpoint() } })
    const headers = { authorization: `Bearer ${rig.token('auditor')}` }
    const reading = fetch(`${rig.url}/v1/evidence/export`, { headers }).then((response) =>
      response.arrayBuffer(),
    )
    await expect(reading).rejects.toThrow()
    expect(asked).toBeGreaterThan(1)
  })
})

test('an error while answering closes the connection, and the gateway continues', async () => {
  const lines: string[] = []
  const app = { answer: () => Promise.reject(new Error('secret')) } as unknown as App
  const names = { hosts: new Set(['127.0.0.1']), scheme: 'http', origins: new Set<string>() } as const
  const answer = listener(app, {
    names,
    log: (_, message, fields) => void lines.push(message, JSON.stringify(fields)),
    metrics: createMetrics(),
  })
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 2; i++) await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
  expect(lines).toEqual(
    Array.from({ length: 2 }, () => ['an answer was interrupted', '{"fault":"Error"}']).flat(),
  )
  server.close()
})

describe('listening', () => {
  const exposed: readonly (readonly [string, object])[] = [
    ['0.0.0.0', {}],
    ['::', {}],
    ['192.0.2.1', {}],
    ['gateway.test', {}],
  ]
  test.each(exposed)('on %s without TLS is refused', async (host, more) => {
    const { options } = await createApiRig()
    await expect(serve(options, { host, port: 0, ...more })).rejects.toMatchObject({
      code: 'LISTEN_REFUSED',
      message: `\`${host}\` is not loopback, and there is no TLS`,
    })
  })

  test('beyond loopback without a token is refused, with TLS too', async () => {
    const rig = await createApiRig()
    for (const { hash } of rig.tokens.list()) await rig.tokens.revoke(hash, 'test')
    const listening = serve(rig.options, { host: '0.0.0.0', port: 0, tls: tlsFiles() })
    await expect(listening).rejects.toMatchObject({
      code: 'LISTEN_REFUSED',
      message: '`0.0.0.0` is not loopback, and there is no token',
    })
  })

  test('without authentication is refused', async () => {
    const rig = await createApiRig()
    const identity = { role: 'admin', tenant: 'default', principal: 'user:x', groups: [] } as const
    const listening = serve({ ...rig.options, identity }, { host: '127.0.0.1', port: 0 })
    await expect(listening).rejects.toMatchObject({ code: 'LISTEN_REFUSED' })
  })

  test('beyond loopback with TLS and tokens answers over TLS', async () => {
    const rig = await createServedRig({ host: '0.0.0.0', tls: tlsFiles(), hosts: ['gateway.test'] })
    expect(rig.url).toMatch(/^https:\/\/0\.0\.0\.0:/)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${rig.token('agent')}`, host: 'gateway.test' }
      const options = {
        host: '127.0.0.1',
        port: rig.port,
        path: '/v1/status',
        rejectUnauthorized: false,
        headers,
      }
      httpsRequest(options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
  })

  test('on a port in use prints a hint', async () => {
    const rig = await createServedRig()
    const again = serve(rig.options, { host: '127.0.0.1', port: rig.port })
    await expect(again).rejects.toMatchObject({
      code: 'LISTEN_REFUSED',
      hints: [expect.stringContaining('listen.port')],
    })
  })

  test('with a certificate that cannot be read is refused', async () => {
    const { options } = await createApiRig()
    const tls = { cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' }
    await expect(serve(options, { host: '127.0.0.1', port: 0, tls })).rejects.toMatchObject({
      code: 'LISTEN_REFUSED',
    })
  })

  test('on IPv6 loopback has a valid URL', async () => {
    const rig = await createServedRig({ host: '::1' })
    expect((await fetch(`${rig.url}/healthz`)).status).toBe(200)
  })
})

describe('closing', () => {
  test('waits for a running request', async () => {
    let release: (() => void) | undefined
    const rig = await createServedRig(
      { grace: 5000 },
      {
        between: (store) => ({
          ...store,
          async write(batch) {
            const judged = batch.entries.some(({ encoded }) => encoded.receipt.kind === 'decision')
            if (judged) await new Promise<void>((resolve) => (release = resolve))
            return store.write(batch)
          },
        }),
      },
    )
    const judged = ask(rig, 'POST', '/v1/evaluate', { tool: 'fs/read_file' })
    await expect.poll(() => release).toBeDefined()
    const closing = rig.close()
    await expect(fetch(`${rig.url}/healthz`)).rejects.toThrow()
    release?.()
    expect((await judged).verdict).toBe('ALLOW')
    await closing
  })

  test('ends streams and waits at once', async () => {
    const rig = await createServedRig({ grace: 5000 })
    const { approval } = await ask(rig, 'POST', '/v1/evaluate', {
      tool: 'mail/send',
      arguments: { to: 'a@example.com' },
    })
    const headers = { authorization: `Bearer ${rig.token('agent')}` }
    const stream = (await fetch(`${rig.url}/v1/receipts/stream`, { headers })).text()
    const waiting = ask(rig, 'GET', `/v1/approvals/${String(approval)}?wait=60`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const start = performance.now()
    await rig.close()
    expect(performance.now() - start).toBeLessThan(30_000)
    expect(await stream).toBe(': tollgate\n\n')
    expect((await waiting).status).toBe('waiting')
  })

  test('does not wait forever for a request that never ends', async () => {
    const rig = await createServedRig({ grace: 200 })
    const socket = await rig.connect()
    const auth = `Authorization: Bearer ${rig.token('agent')}`
    const type = 'Content-Type: application/json'
    socket.write(
      request(['POST /v1/evaluate HTTP/1.1', 'Host: localhost', auth, type, 'Content-Length: 10'], '{'),
    )
    await new Promise((resolve) => setTimeout(resolve, 50))
    const start = performance.now()
    await rig.close()
    expect(performance.now() - start).toBeLessThan(30_000)
  })
})
