// The official clients with rewritten replies: their accumulators accept all of them, and they run only allowed calls.

import Anthropic from '@anthropic-ai/sdk'
import { createAnthropic } from '@ai-sdk/anthropic'
import { ChatAnthropic } from '@langchain/anthropic'
import type { AIMessageChunk } from '@langchain/core/messages'
import type { JsonObject } from '@tollgate/evidence'
import { jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import {
  bad,
  call,
  deltas,
  refusal,
  reply,
  replyOf,
  ScriptedJudge,
  SECRET,
  start,
  stop,
  thought,
  upstream,
  weather,
  words,
  type Upstream,
} from './anthropic-rig.ts'

/** A reply, with the texts and the cities of calls that a client must find in it. */
interface Case {
  readonly name: string
  readonly events: readonly JsonObject[]
  readonly texts: readonly string[]
  readonly cities: readonly string[]
  /** Agents do not run the calls of a cut reply. */
  readonly cut?: boolean
}

const INTERLEAVED = ((): readonly JsonObject[] => {
  const [a, b, c] = [words('one ', 'two'), weather('a'), bad('b')]
  return reply(
    'tool_use',
    ...[start(0, a), start(1, b), start(2, c)],
    ...[...deltas(0, a).slice(0, 1), ...deltas(1, b), ...deltas(2, c), stop(1), stop(2)],
    ...[...deltas(0, a).slice(1), stop(0)],
  )
})()

const CASES: readonly Case[] = [
  {
    name: 'words only',
    events: replyOf('end_turn', words('Good ', 'day.')),
    texts: ['Good day.'],
    cities: [],
  },
  {
    name: 'allowed',
    events: replyOf('tool_use', words('Well. '), weather('a')),
    texts: ['Well. '],
    cities: ['Oslo'],
  },
  { name: 'denied', events: replyOf('tool_use', bad('a')), texts: [refusal('shell')], cities: [] },
  {
    name: 'mixed',
    events: replyOf('tool_use', words('Well. '), bad('a'), weather('b')),
    texts: ['Well. ', refusal('shell')],
    cities: ['Oslo'],
  },
  {
    name: 'parallel',
    events: replyOf('tool_use', weather('a'), weather('b', 'Rome')),
    texts: [],
    cities: ['Oslo', 'Rome'],
  },
  { name: 'interleaved', events: INTERLEAVED, texts: ['one two', refusal('shell')], cities: ['Oslo'] },
  {
    name: 'cut by max_tokens',
    events: replyOf('max_tokens', words('Well. '), weather('a'), call('b', 'weather', '{"city":"', SECRET)),
    texts: ['Well. ', refusal('weather')],
    cities: ['Oslo'],
    cut: true,
  },
  {
    name: 'with thoughts',
    events: replyOf('tool_use', thought('hm', 'sig'), weather('a')),
    texts: [],
    cities: ['Oslo'],
  },
  {
    name: 'unknown kind',
    events: replyOf('tool_use', { start: { type: 'robot_use', input: { a: SECRET } }, deltas: [] }),
    texts: [refusal(undefined)],
    cities: [],
  },
]

const TOOLS = [
  {
    name: 'weather',
    description: 'w',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  },
  { name: 'shell', description: 's', input_schema: { type: 'object' } },
] as const
const BASE = 'http://gate.test'
const MODEL = 'claude-test'

const asked = (): Asked => ({
  model: MODEL,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
  tools: TOOLS.map((one) => ({ ...one, input_schema: { ...one.input_schema } })),
})
interface Asked {
  model: string
  max_tokens: number
  messages: Anthropic.MessageParam[]
  tools: Anthropic.Tool[]
}

/** Tools that record their runs. */
function recorder(): { ran: unknown[]; run: (name: string) => (input: unknown) => string } {
  const ran: unknown[] = []
  return {
    ran,
    run: (name) => (input) => {
      ran.push([name, input])
      return 'sunny'
    },
  }
}

const runsOf = ({ cities, cut = false }: Case): unknown[] =>
  cut ? [] : cities.map((city) => ['weather', { city }])

const officialClient = ({ fetch }: Upstream): Anthropic =>
  new Anthropic({ apiKey: 'key', baseURL: BASE, fetch, maxRetries: 0 })

function behind(...replies: readonly (readonly JsonObject[])[]): Upstream {
  return upstream(new ScriptedJudge('weather'), ...replies)
}

function checkContent(
  content: readonly (Anthropic.ContentBlock | Anthropic.Beta.BetaContentBlock)[],
  { texts, cities }: Case,
): void {
  expect(content.flatMap((block) => (block.type === 'text' ? [block.text] : []))).toEqual(texts)
  const inputs = content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []))
  expect(inputs).toEqual(cities.map((city) => ({ city })))
}

describe.each(CASES)('$name', (each) => {
  const { events, texts, cities, cut = false } = each

  test('the official client accumulates it', async () => {
    const server = behind(events, events)
    const message = await officialClient(server).messages.stream(asked()).finalMessage()
    checkContent(message.content, each)
    expect(message.usage).toMatchObject({ input_tokens: 12, output_tokens: 34 })
    expect(message.stop_reason).toBe(cut ? 'max_tokens' : cities.length > 0 ? 'tool_use' : 'end_turn')
    const beta = await officialClient(server).beta.messages.stream(asked()).finalMessage()
    checkContent(beta.content, each)
    expect(server.sent.join('')).not.toContain(SECRET)
  })

  test('the official client iterates over it, and takes it whole', async () => {
    const server = behind(events, events)
    const stream = await officialClient(server).messages.create({ ...asked(), stream: true })
    const types: string[] = []
    for await (const event of stream) types.push(event.type)
    expect(types.at(0)).toBe('message_start')
    expect(types.at(-1)).toBe('message_stop')
    const whole = await officialClient(server).messages.create(asked())
    expect(whole.content.length).toBe(types.filter((type) => type === 'content_block_start').length)
    expect(server.sent.join('')).not.toContain(SECRET)
  })

  test.each([false, true])('its tool runner runs the allowed calls (stream: %s)', async (stream) => {
    const server = behind(events, replyOf('end_turn', words('Done.')))
    const { ran, run } = recorder()
    const tools = asked().tools.map((one) => {
      const parse = (input: unknown): unknown => input
      return { ...one, type: 'custom' as const, run: run(one.name), parse }
    })
    const { messages } = officialClient(server).beta
    const runner = stream
      ? messages.toolRunner({ ...asked(), tools, stream: true })
      : messages.toolRunner({ ...asked(), tools })
    await runner.runUntilDone()
    expect(ran).toEqual(runsOf(each))
    expect(server.requests.length).toBe(ran.length > 0 ? 2 : 1)
    expect(server.sent.join('')).not.toContain(SECRET)
  })

  test('the Vercel AI SDK runs the allowed calls', async () => {
    const server = behind(events, replyOf('end_turn', words('Done.')))
    const { ran, run } = recorder()
    const errors: unknown[] = []
    const provider = createAnthropic({ apiKey: 'key', baseURL: `${BASE}/v1`, fetch: server.fetch })
    const tools = TOOLS.map(({ name, input_schema: schema }) => {
      const inputSchema = jsonSchema({ ...schema })
      return [name, tool({ description: name, inputSchema, execute: run(name) })] as const
    })
    const { steps } = streamText({
      model: provider(MODEL),
      maxOutputTokens: 100,
      prompt: 'hi',
      tools: Object.fromEntries(tools),
      stopWhen: stepCountIs(2),
      onError: ({ error }) => void errors.push(error),
    })
    const parts = (await steps)[0]?.content ?? []
    expect(errors).toEqual([])
    expect(ran).toEqual(runsOf(each))
    expect(parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))).toEqual(texts)
    expect(server.sent.join('')).not.toContain(SECRET)
  })

  test('LangChain finds the allowed calls', async () => {
    const server = behind(events, events)
    const clientOptions = { baseURL: BASE, fetch: server.fetch }
    const model = new ChatAnthropic({ apiKey: 'key', model: MODEL, maxRetries: 0, clientOptions })
    const agent = model.bindTools(asked().tools)
    const calls = cities.map((city) => ({ name: 'weather', args: { city } }))
    let whole: AIMessageChunk | undefined
    for await (const chunk of await agent.stream('hi')) whole = whole?.concat(chunk) ?? chunk
    expect(whole?.tool_calls?.map(({ name, args }) => ({ name, args }))).toEqual(calls)
    expect(whole?.text).toBe(texts.join(''))
    const invoked = await agent.invoke('hi')
    expect(invoked.tool_calls?.map(({ name, args }) => ({ name, args }))).toEqual(calls)
    expect(server.sent.join('')).not.toContain(SECRET)
  })
})

test('items that the provider ran reach the official client whole', async () => {
  const results = [{ type: 'web_search_result', url: 'https://a.test', title: 'A', encrypted_content: 'E' }]
  const script = replyOf(
    'end_turn',
    {
      start: { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: '{"query":"fjords"}' }],
    },
    { start: { type: 'web_search_tool_result', tool_use_id: 's', content: results }, deltas: [] },
    words('so'),
  )
  const server = upstream(new ScriptedJudge('anthropic/web_search'), script)
  const message = await officialClient(server).messages.stream(asked()).finalMessage()
  expect(message.content).toEqual([
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'fjords' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: results },
    { type: 'text', text: 'so' },
  ])
})

test('an error in a stream is an error for the official client', async () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const server = behind([...replyOf('end_turn', words('a')).slice(0, 3), overloaded])
  const fault: unknown = await officialClient(server)
    .messages.stream(asked())
    .finalMessage()
    .catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(Anthropic.APIError)
  expect(fault instanceof Anthropic.APIError && fault.error).toEqual(overloaded)
})
