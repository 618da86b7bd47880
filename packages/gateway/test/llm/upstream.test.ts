// Tests of the scripted upstream: rare forms, records, and refusals like those of real providers.

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const open: Upstream[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((upstream) => upstream.close()))
})

async function start(
  ...steps: readonly Step[]
): Promise<{ upstream: Upstream; openai: OpenAI; anthropic: Anthropic }> {
  const upstream = await startUpstream(...steps)
  open.push(upstream)
  const settings = { apiKey: 'sk-control', maxRetries: 0 }
  return {
    upstream,
    openai: new OpenAI({ ...settings, baseURL: `${upstream.url}/v1` }),
    anthropic: new Anthropic({ ...settings, baseURL: upstream.url }),
  }
}

const asked = { model: 'gpt-4.1', messages: [{ role: 'user' as const, content: 'Hello' }] }
const LEGACY: Step = { calls: [{ name: 'read_note', args: { name: 'list' }, form: 'legacy' }] }
const CUSTOM: Step = { calls: [{ id: 'call_1', name: 'run_code', args: 'print("ß")', form: 'custom' }] }

describe('formats of the clients', () => {
  it('gives a legacy function call, buffered and streamed', async () => {
    const { openai } = await start(LEGACY, LEGACY)
    const whole = await openai.chat.completions.create(asked)
    const streamed = await openai.chat.completions.stream(asked).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe('function_call')
      expect(choices[0]?.message).toMatchObject({
        function_call: { name: 'read_note', arguments: '{"name":"list"}' },
      })
    }
  })

  it('gives a custom call in Chat Completions, buffered and as deltas', async () => {
    const { openai } = await start(CUSTOM, CUSTOM)
    const whole = await openai.chat.completions.create(asked)
    expect(whole.choices[0]?.message.tool_calls).toEqual([
      { id: 'call_1', type: 'custom', custom: { name: 'run_code', input: 'print("ß")' } },
    ])
    let input = ''
    for await (const chunk of await openai.chat.completions.create({ ...asked, stream: true })) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) input += customInput(call)
    }
    expect(input).toBe('print("ß")')
  })

  it('gives a custom call in Responses, buffered and streamed', async () => {
    const { openai } = await start(CUSTOM, CUSTOM)
    const body = { model: 'gpt-4.1', input: 'Hello' }
    const whole = await openai.responses.create(body)
    const streamed = await openai.responses.stream(body).finalResponse()
    for (const { output } of [whole, streamed]) {
      expect(output).toMatchObject([{ type: 'custom_tool_call', call_id: 'call_1', input: 'print("ß")' }])
    }
  })

  it('sends usage at the end of a stream only on request, and logprobs of text', async () => {
    const { openai } = await start({ text: 'Hello you' }, { text: 'Hello you' })
    const plain = await openai.chat.completions.stream({ ...asked, logprobs: true }).finalChatCompletion()
    expect(plain.usage).toBeUndefined()
    expect(plain.choices[0]?.logprobs?.content?.map(({ token }) => token).join('')).toBe('Hello you')
    const options = { stream_options: { include_usage: true } }
    const counted = await openai.chat.completions.stream({ ...asked, ...options }).finalChatCompletion()
    expect(counted.usage?.total_tokens).toBe(99)
  })
})

function customInput(call: object): string {
  const custom: unknown = 'custom' in call ? call.custom : undefined
  const isInput = typeof custom === 'object' && custom !== null && 'input' in custom
  return isInput && typeof custom.input === 'string' ? custom.input : ''
}

describe('its records', () => {
  it('have the path, headers and body of a request, and that everything was sent', async () => {
    const { upstream, openai } = await start({ text: 'Hello' })
    await openai.chat.completions.create(asked)
    const [request] = upstream.requests
    expect(request).toMatchObject({
      verb: 'POST',
      path: '/v1/chat/completions',
      body: asked,
      hungUpAt: undefined,
    })
    expect(request?.headers.authorization).toBe('Bearer sk-control')
    expect(await request?.ended).toBe('sent')
  })

  it('show when a client disconnects during a stream', async () => {
    const { upstream, openai } = await start({ text: 'word '.repeat(500), delayMs: 5 })
    const before = performance.now()
    const stream = await openai.chat.completions.create({ ...asked, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'word') break
    expect(await upstream.requests[0]?.ended).toBe('hung up')
    expect(upstream.requests[0]?.hungUpAt).toBeGreaterThan(before)
  })

  it('show a socket that ends after exactly so many bytes', async () => {
    const { upstream } = await start({ text: 'Hello', dieAfter: 7 })
    const response = await fetch(`${upstream.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(asked),
    })
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value).toHaveLength(7)
    await expect(reader?.read()).rejects.toThrow('terminated')
    expect(await upstream.requests[0]?.ended).toBe('died')
  })

  it('keep raw bytes unchanged', async () => {
    const raw = { status: 218, headers: { 'content-type': 'text/odd' }, body: Buffer.of(0, 255, 10) }
    const { upstream } = await start({ raw })
    const response = await fetch(`${upstream.url}/v1/responses`, { method: 'POST', body: '{}' })
    expect([response.status, response.headers.get('content-type')]).toEqual([218, 'text/odd'])
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([0, 255, 10])
  })

  it('show answers without calls outside the script, and nothing beyond the script', async () => {
    const { upstream, openai, anthropic } = await start()
    expect((await openai.models.list()).data[0]?.id).toBe('gpt-4.1')
    expect((await anthropic.models.list()).data[0]?.id).toBe('claude-opus-5')
    const embeddings = await openai.embeddings.create({ model: 'text-embedding-3-small', input: 'Hello' })
    expect(embeddings.data[0]?.embedding).toEqual([0.25, -0.5, 1])
    expect((await openai.moderations.create({ input: 'Hello' })).results[0]?.flagged).toBe(false)
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    expect((await anthropic.messages.countTokens({ model: 'claude-opus-5', messages })).input_tokens).toBe(82)
    await expect(openai.chat.completions.create(asked)).rejects.toThrow('no more replies')
    await expect(openai.batches.list()).rejects.toMatchObject({ status: 404 })
    expect(upstream.requests).toHaveLength(7)
  })
})

describe('errors of providers', () => {
  it.each([401, 429, 500, 503])('answers %i in the format of OpenAI', async (status) => {
    const { openai } = await start({ status, retryAfterMs: 2500 })
    const error: unknown = await openai.chat.completions.create(asked).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error).toMatchObject({ status, error: { type: expect.any(String) as string, param: null } })
  })

  it.each([401, 429, 500, 529])('answers %i in the format of Anthropic', async (status) => {
    const { upstream, anthropic } = await start(
      { status, retryAfterMs: 2500 },
      { status, retryAfterMs: 2500 },
    )
    const body = { ...asked, model: 'claude-opus-5', max_tokens: 10 }
    const error: unknown = await anthropic.messages.create(body).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Anthropic.APIError)
    expect(error).toMatchObject({
      status,
      error: { type: 'error', request_id: expect.any(String) as string },
    })
    const again = await fetch(`${upstream.url}/v1/messages`, { method: 'POST', body: JSON.stringify(body) })
    expect([again.headers.get('retry-after'), again.headers.get('retry-after-ms')]).toEqual(['3', '2500'])
  })
})

describe('inconsistent conversations', () => {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read_note', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'milk' }
  const toolCall = { id: 'call_1', type: 'function', function: { name: 'read_note', arguments: '{}' } }
  const assistant = { role: 'assistant', tool_calls: [toolCall] }
  const use = {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_note', input: {} }],
  }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'milk' }] }
  const user = { role: 'user', content: 'Hello' }

  it.each([
    [
      'a call without its result',
      'chat/completions',
      { messages: [user, assistant] },
      'did not have response',
    ],
    [
      'a result without its call',
      'chat/completions',
      { messages: [{ role: 'tool', tool_call_id: 'call_1' }] },
      'preceding',
    ],
    ['a call without its output', 'responses', { input: [call] }, 'No tool output found'],
    ['an output without its call', 'responses', { input: [output] }, 'No tool call found'],
    ['an unknown item', 'responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }, 'not found'],
    [
      'an id of another kind',
      'responses',
      { input: [{ ...call, id: 'call_1' }, output] },
      "begins with 'fc'",
    ],
    [
      'a thought that led to nothing',
      'responses',
      { input: [{ type: 'reasoning', id: 'rs_1' }] },
      'following item',
    ],
    [
      'a use without its result',
      'messages',
      { max_tokens: 1, messages: [use, user] },
      'without `tool_result`',
    ],
    [
      'a result without its use',
      'messages',
      { max_tokens: 1, messages: [result] },
      'unexpected `tool_use_id`',
    ],
    [
      'empty words',
      'messages',
      { max_tokens: 1, messages: [{ ...user, content: [{ type: 'text', text: '' }] }] },
      'non-empty',
    ],
    ['no end', 'messages', { messages: [user] }, 'max_tokens'],
    [
      'an unknown thread',
      'messages',
      { max_tokens: 1, messages: [user], thread: { type: 'continue', previous_message_id: 'msg_1' } },
      'No thread was found',
    ],
  ])('refuses %s (%s)', async (_, path, body, told) => {
    const { upstream } = await start({ text: 'Hello' })
    const response = await fetch(`${upstream.url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.ok).toBe(false)
    expect(await response.text()).toContain(told)
    expect(upstream.requests[0]?.objection).toContain(told)
    expect(upstream.left).toBe(1)
  })

  it.each([
    [
      'chat/completions',
      { messages: [user, assistant, { role: 'tool', tool_call_id: 'call_1', content: 'milk' }] },
    ],
    ['responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, call, output] }],
    ['messages', { max_tokens: 1, messages: [user, use, result] }],
  ])('takes one that does (%s)', async (path, body) => {
    const { upstream } = await start({ text: 'Hello' })
    const response = await fetch(`${upstream.url}/v1/${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(200)
    expect(upstream.requests[0]?.objection).toBeUndefined()
  })
})
