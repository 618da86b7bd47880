// Denials in replies that must be JSON, as the parse helpers of the official clients read them.

import Anthropic from '@anthropic-ai/sdk'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import type { JsonObject } from '@tollgate/evidence'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import type { Dialect, Judge } from '../../src/llm/dialect.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import { createSseReader } from '../../src/sse.ts'
import { createAnthropicWire } from './upstream-anthropic.ts'
import { createChatWire } from './upstream-chat.ts'
import { createResponsesWire } from './upstream-responses.ts'
import { judgeBy } from './openai-responses-rig.ts'
import type { Spoken, Wire } from './upstream-script.ts'

const NOTE = z.object({ text: z.string() })
const DENIAL = '[Tollgate] A call was not run. Receipt: rc-1'
const MAIL = { name: 'send_mail', args: { to: 'eve@attacker.example' } }
const READ = { name: 'read_note', args: { name: 'list' } }
const JSON_TEXT = '{"text":"milk"}'

/** A `fetch` that answers with what a dialect makes of a scripted reply. The judge knows what the request asked for. */
function through(dialect: Dialect, wire: Wire, spoken: Spoken): typeof fetch {
  return async (_url, init) => {
    // Sound: the clients send JSON texts.
    const body = JSON.parse(init?.body as string) as JsonObject
    const { structured } = dialect.readRequest(structuredClone(body), new Set())
    const judge: Judge = { ...judgeBy({ allow: ['read_note'] }), structured }
    const isStream = body.stream === true
    const text = isStream
      ? await streamed(dialect, judge, wire, body, spoken)
      : JSON.stringify(await dialect.governReply(wire.reply(body, spoken), judge))
    const type = isStream ? 'text/event-stream' : 'application/json'
    return new Response(text, { headers: { 'content-type': type } })
  }
}

async function streamed(
  dialect: Dialect,
  judge: Judge,
  wire: Wire,
  body: JsonObject,
  spoken: Spoken,
): Promise<string> {
  const rewriter = dialect.openStream(judge)
  let text = ''
  const events: { type: string; data: Uint8Array }[] = []
  const reader = createSseReader(1 << 24, {
    onEvent: (event) => events.push(event),
    onOverflow: () => expect.unreachable(),
  })
  for (const frame of wire.stream(body, spoken)) reader.push(new TextEncoder().encode(frame.text))
  for (const event of events) text += await rewriter.take(event)
  expect(rewriter.ended).toBe(true)
  return text
}

const settings = { apiKey: 'none', baseURL: 'http://upstream.test/v1', maxRetries: 0 }
const messages = [{ role: 'user' as const, content: 'Read it.' }]

interface Chat {
  readonly content: string | null
  readonly refusal: string | null
  readonly parsed: unknown
  readonly calls: readonly string[]
  readonly finish: string | null
}

async function chat(spoken: Spoken, isStream: boolean): Promise<Chat> {
  const client = new OpenAI({ ...settings, fetch: through(openaiChat, createChatWire(), spoken) })
  const body = { model: 'm', messages, response_format: zodResponseFormat(NOTE, 'note') }
  const completion = isStream
    ? await client.chat.completions.stream(body).finalChatCompletion()
    : await client.chat.completions.parse(body)
  const choice = completion.choices[0]
  if (!choice) throw new Error('no choice')
  const { content, refusal, parsed, tool_calls: calls = [] } = choice.message
  return {
    ...{ content, refusal, parsed },
    calls: calls.map((call) => ('function' in call ? call.function.name : '')),
    finish: choice.finish_reason,
  }
}

interface Responses {
  readonly refusals: readonly string[]
  readonly parsed: unknown
  readonly text: string
  readonly calls: readonly string[]
}

async function responses(spoken: Spoken, isStream: boolean): Promise<Responses> {
  const client = new OpenAI({ ...settings, fetch: through(openaiResponses, createResponsesWire(), spoken) })
  const body = { model: 'm', input: 'Read it.', text: { format: zodTextFormat(NOTE, 'note') } }
  const heard: string[] = []
  const response = isStream
    ? await client.responses
        .stream(body)
        .on('response.refusal.delta', ({ delta }) => void heard.push(delta))
        .finalResponse()
    : await client.responses.parse(body)
  const parts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const refusals = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : []))
  if (isStream) expect(heard.join('')).toBe(refusals.join(''))
  return {
    refusals,
    parsed: response.output_parsed,
    text: response.output_text,
    calls: response.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : [])),
  }
}

interface Message {
  readonly stop: string | null
  readonly why: string | null | undefined
  readonly parsed: unknown
  readonly calls: readonly string[]
}

async function anthropic(spoken: Spoken, isStream: boolean): Promise<Message> {
  const client = new Anthropic({
    ...settings,
    fetch: through(anthropicMessages, createAnthropicWire(), spoken),
  })
  const body = { model: 'm', max_tokens: 9, messages, output_config: { format: zodOutputFormat(NOTE) } }
  const message = isStream
    ? await client.messages.stream(body).finalMessage()
    : await client.messages.parse(body)
  return {
    stop: message.stop_reason,
    why: message.stop_details?.explanation,
    parsed: message.parsed_output,
    calls: message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : [])),
  }
}

const MODES = [
  ['whole', false],
  ['streamed', true],
] as const

describe.each(MODES)('a structured reply, %s', (_, isStream) => {
  test('of Chat Completions has a refusal, and content that is null', async () => {
    const seen = await chat({ calls: [MAIL] }, isStream)
    expect(seen).toEqual({ content: null, refusal: DENIAL, parsed: null, calls: [], finish: 'stop' })
  })

  test('of Chat Completions keeps its JSON and its other calls beside a refusal', async () => {
    const seen = await chat({ text: JSON_TEXT, calls: [MAIL, READ] }, isStream)
    expect(seen).toMatchObject({ content: JSON_TEXT, calls: ['read_note'], finish: 'tool_calls' })
    expect(seen.refusal).toBe(DENIAL)
  })

  test('of Chat Completions is parsed as before without a denial', async () => {
    const seen = await chat({ text: JSON_TEXT }, isStream)
    expect([seen.parsed, seen.refusal ?? null]).toEqual([{ text: 'milk' }, null])
  })

  test('of Responses has a part of the type refusal', async () => {
    const seen = await responses({ calls: [MAIL] }, isStream)
    expect(seen).toEqual({ refusals: [DENIAL], parsed: null, text: '', calls: [] })
  })

  test('of Responses keeps its JSON and its other calls beside a refusal', async () => {
    const seen = await responses({ text: JSON_TEXT, calls: [MAIL, READ] }, isStream)
    expect(seen).toEqual({
      refusals: [DENIAL],
      parsed: { text: 'milk' },
      text: JSON_TEXT,
      calls: ['read_note'],
    })
  })

  test('of Messages stops with a refusal, which has the reason', async () => {
    const seen = await anthropic({ calls: [MAIL] }, isStream)
    expect(seen).toEqual({ stop: 'refusal', why: DENIAL, parsed: null, calls: [] })
  })

  test('of Messages keeps its JSON and its other calls', async () => {
    const seen = await anthropic({ text: JSON_TEXT, calls: [MAIL, READ] }, isStream)
    expect(seen).toEqual({ stop: 'tool_use', why: DENIAL, parsed: { text: 'milk' }, calls: ['read_note'] })
  })
})

const PLAIN: readonly (readonly [string, Dialect, JsonObject, boolean])[] = [
  ['no format', openaiChat, { messages }, false],
  ['text', openaiChat, { messages, response_format: { type: 'text' } }, false],
  ['a schema', openaiChat, { messages, response_format: { type: 'json_schema', json_schema: {} } }, true],
  ['any JSON', openaiChat, { messages, response_format: { type: 'json_object' } }, true],
  ['no format', openaiResponses, { input: 'x', text: { verbosity: 'low' } }, false],
  ['text', openaiResponses, { input: 'x', text: { format: { type: 'text' } } }, false],
  ['a schema', openaiResponses, { input: 'x', text: { format: { type: 'json_schema' } } }, true],
  ['no format', anthropicMessages, { messages, output_config: { effort: 'low' } }, false],
  ['a schema', anthropicMessages, { messages, output_config: { format: { type: 'json_schema' } } }, true],
  [
    'a schema under the older name',
    anthropicMessages,
    { messages, output_format: { type: 'json_schema' } },
    true,
  ],
]

test.each(PLAIN)('a request with %s: whether it is structured', (_, dialect, body, expected) => {
  expect(dialect.readRequest(structuredClone(body), new Set()).structured).toBe(expected)
})
