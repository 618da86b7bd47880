// Options, errors, receipts, streams and approvals of the client.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { createClient, TollgateError, type ClientOptions } from '../src/index.ts'
import type { Fault } from './stand-in-faults.ts'
import {
  AGENT_TOKEN,
  OPERATOR_TOKEN,
  startStandIn,
  type Asked,
  type StandIn,
  type StandInOptions,
} from './stand-in.ts'

let standIn: StandIn | undefined

async function start(
  options: StandInOptions = {},
  more: Partial<ClientOptions> = {},
): Promise<{ gateway: StandIn; client: ReturnType<typeof createClient> }> {
  const gateway = await startStandIn(options)
  standIn = gateway
  return { gateway, client: createClient({ url: gateway.url, token: OPERATOR_TOKEN, retries: 2, ...more }) }
}

afterEach(async () => {
  await standIn?.close()
  standIn = undefined
})

describe('a client', () => {
  it.each([
    ['a token with characters that a header does not allow', { url: 'https://a', token: 'tg_secret\n' }],
    ['an empty token', { url: 'https://a', token: '' }],
    ['an invalid URL', { url: 'gateway', token: 't' }],
    ['a URL of another scheme', { url: 'file:///etc/passwd', token: 't' }],
    ['a URL with a password', { url: 'https://user:secret@a', token: 't' }],
    ['a URL that would send the token unencrypted', { url: 'http://gateway.example', token: 't' }],
    ['a hostname that only looks local', { url: 'http://127.evil.example', token: 't' }],
    ['a timeout of 0', { url: 'https://a', token: 't', timeout: 0 }],
  ])('is not made with %s, and the message does not repeat it', (_, options) => {
    expect(() => createClient(options)).toThrow(TypeError)
    expect(() => createClient(options)).not.toThrow('secret')
  })

  it.each(['http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1', 'https://gateway.example'])(
    'is made for %s',
    (url) => {
      expect(typeof createClient({ url, token: 't' }).guard).toBe('function')
    },
  )

  it('refuses a tool without a name or a function', () => {
    const client = createClient({ url: 'https://a', token: 't' })
    expect(() => client.guard('', () => 1)).toThrow(TypeError)
    // Sound: a caller without types can pass this.
    expect(() => client.guard('a', 'b' as unknown as () => void)).toThrow(TypeError)
    expect(() => client.guard('a', () => 1, { skew: -1 })).toThrow(TypeError)
    expect(() => client.guard('a', () => 1, { skew: NaN })).toThrow(TypeError)
  })

  it('sends the token only in its header', async () => {
    let seen: RequestInit | undefined
    let asked = ''
    const fetch: ClientOptions['fetch'] = (url, init) => {
      seen = init
      asked = url
      return Promise.reject(new TypeError('no network'))
    }
    const client = createClient({ url: 'https://a/base/?q#f', token: AGENT_TOKEN, retries: 0, fetch })
    const thrown: unknown = await client.status().catch((fault: unknown) => fault)
    expect(asked).toBe('https://a/base/v1/status')
    expect(seen).toMatchObject({
      headers: { authorization: `Bearer ${AGENT_TOKEN}` },
      redirect: 'error',
      credentials: 'omit',
    })
    expect(thrown).toBeInstanceOf(TollgateError)
    const fault = thrown as TollgateError
    expect([fault.message, fault.stack, JSON.stringify(fault)].join()).not.toContain(AGENT_TOKEN)
  })

  it('throws a typed error with the whole problem document', async () => {
    const { client } = await start()
    await expect(client.policy.activate('nonsense')).rejects.toMatchObject({
      code: 'policy-invalid',
      status: 422,
      message: 'the policy has a mistake',
      remedy: 'Try.',
      problem: { mistakes: [{ line: 1, column: 1, message: 'no' }] },
    })
  })

  it('throws `http-error` for an error without a problem document', async () => {
    const { client } = await start({ fault: () => ({ kind: 'status', status: 418 }) })
    await expect(client.status()).rejects.toMatchObject({ code: 'http-error', status: 418 })
  })

  it('reads the status and the checkpoint, and freezes', async () => {
    const { gateway, client } = await start()
    expect(await client.status()).toMatchObject({ version: '0.1.0', size: 2, poisoned: null, role: 'agent' })
    expect(await client.checkpoint()).toBe(await gateway.ledger.checkpointAt())
    expect(await client.freeze({ scope: 'tool', target: 'fs/delete', frozen: true })).toEqual({
      receipt: gateway.ledger.entries[2]?.id,
    })
    expect(await client.freezes()).toEqual([])
  })

  it('does not retry changes', async () => {
    const { gateway, client } = await start({
      fault: ({ path }) => (path === '/v1/freeze' ? { kind: 'drop-after' } : undefined),
    })
    await expect(client.freeze({ scope: 'all', frozen: true })).rejects.toMatchObject({
      code: 'gateway-unreachable',
    })
    expect(gateway.receipts('freeze')).toHaveLength(1)
  })
})

describe('receipts', () => {
  it('come in pages', async () => {
    const { client } = await start()
    for (let i = 0; i < 5; i++) await client.evaluate({ tool: 'fs/read_file', arguments: { i } })
    const first = await client.receipts.list({ kind: 'decision', limit: 2 })
    expect(first.receipts.map(({ index }) => index)).toEqual([6, 5])
    const { receipts, next } = await client.receipts.list({
      kind: 'decision',
      limit: 3,
      from: first.next ?? 0,
    })
    expect(receipts.map(({ index }) => index)).toEqual([4, 3, 2])
    expect(next).toBeNull()
    expect(receipts[0]?.receipt).toMatchObject({ kind: 'decision', tool: 'fs/read_file' })
  })

  it('can be fetched with their exact envelope and a proof', async () => {
    const { gateway, client } = await start()
    const id = gateway.ledger.entries[1]?.id ?? ''
    const { envelope, index } = await client.receipts.get(id)
    expect([index, envelope]).toEqual([1, Buffer.from(gateway.ledger.entries[1]?.envelope ?? '').toString()])
    expect(await client.receipts.proof(id)).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex 1\n/)
    await expect(client.receipts.get('0'.repeat(64))).rejects.toMatchObject({
      code: 'not-found',
      status: 404,
    })
  })
})

/** The indexes of the next receipts of a stream. */
async function follow(stream: AsyncIterable<{ index: number }>, many: number): Promise<number[]> {
  const seen: number[] = []
  for await (const { index } of stream) {
    seen.push(index)
    if (seen.length === many) break
  }
  return seen
}

describe('a stream', () => {
  it('yields new receipts as they are recorded', async () => {
    const { gateway, client } = await start()
    await client.evaluate({ tool: 'fs/read_file' })
    const following = follow(client.receipts.stream(), 2)
    await connected(gateway)
    await client.evaluate({ tool: 'fs/read_file' })
    await client.evaluate({ tool: 'fs/read_file' })
    expect(await following).toEqual([3, 4])
  })

  it('continues after a lost connection, each receipt once', async () => {
    const fault = ({ path }: Asked): Fault | undefined =>
      path === '/v1/receipts/stream' ? { kind: 'drop-after' } : undefined
    const { gateway, client } = await start({ fault })
    for (let i = 0; i < 3; i++) await client.evaluate({ tool: 'fs/read_file', arguments: { i } })
    // Each connection breaks after one receipt.
    expect(await follow(client.receipts.stream({ from: 1 }), 4)).toEqual([1, 2, 3, 4])
    expect(gateway.asked.filter((each) => each.endsWith('stream'))).toHaveLength(4)
  })

  it('misses nothing if the first connection fails', async () => {
    let tries = 0
    const fault = ({ path }: Asked): Fault | undefined =>
      path === '/v1/receipts/stream' && tries++ === 0 ? { kind: 'status', status: 503 } : undefined
    const { client } = await start({ fault })
    const following = follow(client.receipts.stream(), 1)
    await vi.waitFor(() => expect(tries).toBeGreaterThan(0))
    await client.evaluate({ tool: 'fs/read_file' })
    expect(await following).toEqual([2])
    expect(tries).toBe(2)
  })

  it('yields no receipt twice, even if the gateway sends it twice', async () => {
    const { gateway, client } = await start()
    await client.evaluate({ tool: 'fs/read_file' })
    const repeating = createClient({
      url: gateway.url,
      token: OPERATOR_TOKEN,
      // Every connection starts at index 0 and ends after all receipts.
      async fetch(url) {
        const { receipts } = await client.receipts.list({ direction: 'on' })
        const events = receipts.map(
          (entry) => `id: ${entry.index}\nevent: receipt\ndata: ${JSON.stringify(entry)}\n\n`,
        )
        if (url.includes('from=1')) await client.evaluate({ tool: 'fs/read_file' })
        return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    expect(await follow(repeating.receipts.stream({ from: 1 }), 3)).toEqual([1, 2, 3])
  })

  it('yields only matching receipts', async () => {
    const { client } = await start()
    const following = follow(client.receipts.stream({ from: 0, verdict: 'DENY' }), 1)
    await client.evaluate({ tool: 'fs/read_file' })
    await client.evaluate({ tool: 'fs/delete' })
    expect(await following).toEqual([3])
  })

  it('ends if the gateway refuses, and after too many lost connections', async () => {
    const { gateway, client } = await start({}, { retries: 0 })
    const stranger = createClient({ url: gateway.url, token: 'tg_nobody' })
    await expect(follow(stranger.receipts.stream({ from: 0 }), 1)).rejects.toMatchObject({ status: 401 })
    await gateway.close()
    await expect(follow(client.receipts.stream({ from: 0, reconnects: 1 }), 1)).rejects.toMatchObject({
      code: 'gateway-unreachable',
    })
  })

  it('ends when the caller aborts, and closes the connection', async () => {
    const { gateway, client } = await start()
    const controller = new AbortController()
    const following = follow(client.receipts.stream({ signal: controller.signal }), 1).catch(
      (fault: unknown) => fault,
    )
    await connected(gateway)
    controller.abort(new Error('enough'))
    expect(await following).toMatchObject({ message: 'enough' })
  })

  it.each([
    ['is not JSON', 'id: 5\nevent: receipt\ndata: nonsense\n\n'],
    [
      'has another id than its receipt',
      `id: 9\nevent: receipt\ndata: {"index":5,"id":"${'0'.repeat(64)}","receipt":{"kind":"effect"}}\n\n`,
    ],
  ])('ends if an event %s', async (_, text) => {
    const fetch: ClientOptions['fetch'] = () =>
      Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
    const client = createClient({ url: 'https://a', token: 't', fetch })
    await expect(follow(client.receipts.stream({ from: 0 }), 1)).rejects.toMatchObject({
      code: 'answer-invalid',
    })
  })

  it('reconnects after a silent connection', async () => {
    let connections = 0
    const fetch: ClientOptions['fetch'] = () => {
      connections++
      const body = new ReadableStream()
      return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    }
    const after = (milliseconds: number, run: () => void): (() => void) => {
      const timer = setTimeout(run, milliseconds / 1000)
      return () => clearTimeout(timer)
    }
    const client = createClient({ url: 'https://a', token: 't', fetch, after })
    await expect(follow(client.receipts.stream({ from: 0, reconnects: 2 }), 1)).rejects.toMatchObject({
      code: 'gateway-timeout',
    })
    expect(connections).toBe(3)
  })
})

/** Waits until a stream is connected. */
function connected({ asked }: StandIn): Promise<void> {
  return vi.waitFor(() => expect(asked).toContain('GET /v1/receipts/stream'))
}

describe('an approval', () => {
  async function escalated(
    options: StandInOptions = {},
  ): Promise<Awaited<ReturnType<typeof start>> & { id: string }> {
    const world = await start(options)
    const { approval } = await world.client.evaluate({ tool: 'mail/send' })
    return { ...world, id: approval ?? '' }
  }

  it('is listed while it is open, and answered once', async () => {
    const { client, id } = await escalated()
    expect(await client.approvals.list()).toMatchObject([
      { id, tool: 'mail/send', status: 'waiting', approver: null },
    ])
    expect(await client.approvals.approve(id)).toMatchObject({ answer: 'GRANTED' })
    expect(await client.approvals.get(id)).toMatchObject({ status: 'granted', approver: 'user:olga' })
    expect(await client.approvals.list()).toEqual([])
    await expect(client.approvals.deny(id)).rejects.toMatchObject({ code: 'approval-refused', status: 409 })
  })

  it('is waited for, also while the gateway is unreachable for a while', async () => {
    let lost = 3
    const fault = ({ path, query }: Asked): Fault | undefined =>
      path.startsWith('/v1/approvals/') && query.has('wait') && lost-- > 0
        ? { kind: 'drop-before' }
        : undefined
    const { client, id } = await escalated({ fault })
    const waiting = client.approvals.wait(id)
    setTimeout(() => void client.approvals.deny(id), 30)
    expect(await waiting).toMatchObject({ id, status: 'refused' })
    expect(lost).toBeLessThan(1)
  })

  it('is waited for only until the timeout', async () => {
    const { client, id } = await escalated()
    const begun = performance.now()
    await expect(client.approvals.wait(id, { timeout: 100 })).rejects.toMatchObject({
      code: 'approval-timed-out',
      approval: id,
    })
    expect(performance.now() - begun).toBeLessThan(1_000)
  })

  it('is polled at most once a second if the gateway answers at once', async () => {
    const { gateway, client, id } = await escalated()
    const impatient = createClient({
      url: gateway.url,
      token: OPERATOR_TOKEN,
      fetch: (url, init) => fetch(url.split('?')[0] ?? '', init),
    })
    await expect(impatient.approvals.wait(id, { timeout: 1_500 })).rejects.toMatchObject({
      code: 'approval-timed-out',
    })
    expect(gateway.asked.filter((each) => each === `GET /v1/approvals/${id}`).length).toBeLessThan(4)
    expect(await client.approvals.get(id)).toMatchObject({ status: 'waiting' })
  })

  it('that does not exist is not waited for', async () => {
    const { client } = await start()
    await expect(client.approvals.wait('0'.repeat(64))).rejects.toMatchObject({ code: 'not-found' })
  })

  it('for another call is refused', async () => {
    const { gateway, client, id } = await escalated()
    const other = (await client.evaluate({ tool: 'mail/send', arguments: { b: 1 } })).approval ?? ''
    const misled = createClient({
      url: gateway.url,
      token: OPERATOR_TOKEN,
      fetch: (url, init) => fetch(url.replace(id, other), init),
    })
    await expect(misled.approvals.get(id)).rejects.toMatchObject({ code: 'answer-invalid' })
  })
})
