// The LLM door against hostile agents and model servers.

import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { setFreeze } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openLlmGate, UPSTREAM_KEY, type LlmGate } from './gate.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const CHAT = '/openai/v1/chat/completions'
const TOOLS = ['read_note', 'send_mail'].map((name) => ({ type: 'function', function: { name } }))
const ASKED = { model: 'm', messages: [{ role: 'user', content: 'Read the list.' }], tools: TOOLS }
const READ = { id: 'call_read', name: 'read_note', args: { name: 'list' } }
const STREAM = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }

let upstream: Upstream
let shared: LlmGate
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  shared = await openLlmGate({ upstream: upstream.url })
})
afterAll(async () => {
  await shared.close()
  await upstream.close()
})

/** A new agent, with scripted answers. */
function agent(...steps: readonly Step[]): Promise<LlmGate> {
  upstream.script(...steps)
  return shared.as(`agent:h${agents++}`)
}

const raw = (headers: Record<string, string>, body: string, status = 200): Step => ({
  raw: { status, headers, body },
})
const events = (...data: readonly unknown[]): string =>
  data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')
const named = (...data: readonly { type: string }[]): string =>
  data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')

/** The whole answer, also if it was cut. */
async function read(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of response.body ?? []) pieces.push(piece)
  } catch {
    // The connection was cut. The text before counts.
  }
  return Buffer.concat(pieces).toString()
}

describe('the items that a provider claims to have run', () => {
  const search = (title: string): string =>
    named(
      { type: 'message_start', message: MESSAGE } as { type: string },
      block(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      { type: 'content_block_stop', index: 0 } as { type: string },
      block(1, {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: [
          {
            type: 'web_search_result',
            title,
            url: 'https://a.example',
            encrypted_content: 'x',
            page_age: null,
          },
        ],
      }),
      { type: 'content_block_stop', index: 1 } as { type: string },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 1 },
      } as {
        type: string
      },
      { type: 'message_stop' },
    )
  const MESSAGE = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const block = (index: number, content_block: object): { type: string } =>
    ({ type: 'content_block_start', index, content_block }) as { type: string }
  const asked = {
    model: 'm',
    max_tokens: 10,
    stream: true,
    messages: [{ role: 'user', content: 'Search.' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  }

  it.each([
    ['half of a character', 'caf\ud83d'],
    ['megabytes', 'x'.repeat(5 << 20)],
  ])('closes its call, though it holds %s', async (_, title) => {
    const gate = await agent(raw(STREAM, search(title)))
    expect(await read(await gate.post('/anthropic/v1/messages', asked))).toContain('message_stop')
    expect(await gate.effects()).toMatchObject([{ status: 'COMPLETED' }])
  })

  it('are UNKNOWN if the provider then fails', async () => {
    const failure = named(
      { type: 'message_start', message: MESSAGE } as { type: string },
      {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
      } as { type: string },
    )
    const gate = await agent(raw(STREAM, failure))
    expect(await read(await gate.post('/anthropic/v1/messages', asked))).toContain('Overloaded')
    expect(await gate.effects()).toMatchObject([{ status: 'UNKNOWN' }])
  })
})

describe('an idempotency key', () => {
  const headers = { 'idempotency-key': 'k' }

  it('does not return a call after a freeze', async () => {
    const gate = await agent({ calls: [READ] })
    expect(await read(await gate.post(CHAT, ASKED, headers))).toContain('call_read')
    const { kernel } = gate.running.gateway
    const [{ principal } = { principal: '' }] = await gate.decisions()
    const freeze = { scope: 'principal', tenant: 'default', target: principal, by: 'user:olga' } as const
    await setFreeze(kernel, { ...freeze, frozen: true, because: 'odd' })
    const again = await read(await gate.post(CHAT, ASKED, headers))
    await setFreeze(kernel, { ...freeze, frozen: false, because: 'fine' })
    expect(again).not.toContain('"call_read"')
    expect(again).toContain('AGENT_KILLED')
  })

  it('does not return a call that was already run', async () => {
    const gate = await agent({ calls: [READ] }, { text: 'Milk.' })
    await read(await gate.post(CHAT, ASKED, headers))
    const call = {
      id: 'call_read',
      type: 'function',
      function: { name: 'read_note', arguments: '{"name":"list"}' },
    }
    const messages = [
      ...ASKED.messages,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_read', content: 'milk' },
    ]
    await read(await gate.post(CHAT, { ...ASKED, messages }))
    expect(await gate.effects()).toHaveLength(1)
    const again = await gate.post(CHAT, ASKED, headers)
    expect(again.status).toBe(422)
    expect(await again.text()).toContain('have been run or have expired')
  })

  it('keeps a reply, not a failure of the model server', async () => {
    const failure = raw(STREAM, events({ error: { message: 'Overloaded', type: 'server_error' } }, '[DONE]'))
    const gate = await agent(failure, { text: 'Hello.' })
    const asked = { ...ASKED, stream: true }
    expect(await read(await gate.post(CHAT, asked, headers))).toContain('Overloaded')
    expect(await read(await gate.post(CHAT, asked, headers))).toContain('Hel')
  })

  it('does not merge several calls into one decision', async () => {
    const choice = (index: number): object => ({
      index,
      finish_reason: 'function_call',
      message: {
        role: 'assistant',
        content: null,
        function_call: { name: 'read_note', arguments: '{"name":"list"}' },
      },
    })
    const body = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [0, 1, 2].map(choice),
    }
    const gate = await agent(raw(JSON_TYPE, JSON.stringify(body)))
    const asked = { model: 'm', n: 3, messages: ASKED.messages, functions: [{ name: 'read_note' }] }
    await read(await gate.post(CHAT, asked, headers))
    expect(await gate.decisions()).toHaveLength(3)
  })
})

describe('the key of the gateway', () => {
  const said = `Incorrect API key provided: ${UPSTREAM_KEY}.`
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'failed',
    output: [],
    error: { code: 'x', message: said },
  }

  it.each([
    ['Chat Completions', CHAT, { ...ASKED, stream: true }, raw(STREAM, events({ error: { message: said } }))],
    [
      'Messages',
      '/anthropic/v1/messages',
      { model: 'm', max_tokens: 1, stream: true, messages: ASKED.messages },
      raw(
        STREAM,
        named({ type: 'error', error: { type: 'authentication_error', message: said } } as { type: string }),
      ),
    ],
    [
      'Responses',
      '/openai/v1/responses',
      { model: 'm', stream: true, input: 'Hi' },
      raw(STREAM, named({ type: 'response.failed', sequence_number: 0, response } as { type: string })),
    ],
    [
      'Responses, whole',
      '/openai/v1/responses',
      { model: 'm', input: 'Hi' },
      raw(JSON_TYPE, JSON.stringify(response)),
    ],
  ] as const)('is not in the errors of %s', async (_, path, asked, step) => {
    const gate = await agent(step)
    const text = await read(await gate.post(path, asked))
    expect(text).toContain('Incorrect API key provided')
    expect(text).not.toContain(UPSTREAM_KEY)
  })
})

describe('an unreadable reply', () => {
  it.each([
    ['JSON in place of a stream', true, raw(JSON_TYPE, '{}')],
    ['a page in place of JSON', false, raw({ 'content-type': 'text/html' }, '<p>')],
    ['more values than any JSON may hold', false, raw(JSON_TYPE, `{"choices":[${'[],'.repeat(250_000)}0]}`)],
    ['an unknown encoding', false, raw({ ...JSON_TYPE, 'content-encoding': 'zstd' }, 'x')],
    ['what is not packed as it says', false, raw({ ...JSON_TYPE, 'content-encoding': 'gzip' }, 'x')],
    ['a status that means nothing here', false, raw(JSON_TYPE, '{}', 201)],
  ])('leaves a receipt: %s', async (_, stream, step) => {
    const gate = await agent(step)
    const response = await gate.post(CHAT, { ...ASKED, stream })
    expect(response.status).toBe(502)
    expect(response.headers.get('tollgate-verdicts')).toBe('allow=0 deny=1 escalate=0')
    await read(response)
    await vi.waitFor(async () => expect(await upstream.requests.at(-1)?.ended).toBeDefined())
  })
})

describe('a stream that just ends', () => {
  const piece = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const call = {
    index: 0,
    id: 'call_read',
    type: 'function',
    function: { name: 'read_note', arguments: '{}' },
  }

  it.each([
    ['amid its words', { content: 'Let me' }],
    ['behind a call that looks complete', { tool_calls: [call] }],
  ])('is reported as cut: %s', async (_, delta) => {
    const gate = await agent(
      raw(STREAM, events({ ...piece, choices: [{ index: 0, delta, finish_reason: null }] })),
    )
    const text = await read(await gate.post(CHAT, { ...ASKED, stream: true }))
    expect(text).toContain('UPSTREAM_LOST')
    expect(text).not.toContain('call_read')
    expect(await gate.decisions()).toHaveLength(0)
  })
})

describe('repeated ids', () => {
  const said = (content: string): object => {
    const call = {
      id: 'call_read',
      type: 'function',
      function: { name: 'read_note', arguments: '{"name":"list"}' },
    }
    const answered = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_read', content },
    ]
    return { ...ASKED, messages: [...ASKED.messages, ...answered] }
  }

  it('close the right call, also if tools give the same result', async () => {
    const gate = await agent({ calls: [READ] }, { calls: [READ] }, { text: 'Milk.' })
    await read(await gate.post(CHAT, ASKED))
    await read(await gate.post(CHAT, said('milk')))
    await read(await gate.post(CHAT, said('milk')))
    expect((await gate.decisions()).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'ALLOW'])
    expect(await gate.effects()).toHaveLength(2)
  })

  it('are denied while another call of the session is open under them', async () => {
    const gate = await agent({ calls: [READ] }, { calls: [READ] })
    await read(await gate.post(CHAT, ASKED))
    await read(await gate.post(CHAT, ASKED))
    expect((await gate.decisions()).map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY'])
  })
})

describe('the resources of one agent', () => {
  it('are limited by the number of values in a body, compressed or not', async () => {
    const gate = await agent()
    const body = JSON.stringify({ ...ASKED, metadata: { x: Array.from({ length: 300_000 }, () => 0) } })
    expect((await gate.post(CHAT, body)).status).toBe(413)
    const packed = await fetch(`${gate.url}${CHAT}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip', authorization: `Bearer ${gate.token}` },
      body: gzipSync(body),
    })
    expect(packed.status).toBe(413)
  })

  it('leave capacity for others, even without declared lengths', async () => {
    const held = await agent()
    const { hostname: host, port } = new URL(held.url)
    const headers = { ...JSON_TYPE, authorization: `Bearer ${held.token}`, 'transfer-encoding': 'chunked' }
    const open = Array.from({ length: 12 }, () => {
      const sent = request({ host, port, method: 'POST', path: CHAT, headers })
      sent.on('error', () => undefined)
      sent.on('response', (response) => response.resume())
      sent.write('{')
      return sent
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    const other = await agent({ text: 'Hello.' })
    expect((await other.post(CHAT, ASKED)).status).toBe(200)
    for (const each of open) each.destroy()
  })

  it('do not reach servers through token counting', async () => {
    const gate = await agent()
    const before = upstream.requests.length
    const mcp_servers = [{ type: 'url', name: 'e', url: 'https://evil.example/?d=secret' }]
    const asked = { model: 'm', messages: ASKED.messages, mcp_servers }
    const response = await gate.post('/anthropic/v1/messages/count_tokens', asked)
    expect(response.status).toBe(403)
    expect(upstream.requests).toHaveLength(before)
  })
})

it('the headers of a stream are sent before its first text', async () => {
  const gate = await agent({ text: 'Hello there, this takes a while.', delayMs: 300 })
  const start = performance.now()
  const response = await gate.post(CHAT, { ...ASKED, stream: true })
  const headersAfter = performance.now() - start
  await read(response)
  // Not a speed test: it compares with the rest of the same stream.
  expect(headersAfter).toBeLessThan((performance.now() - start) / 2)
})
