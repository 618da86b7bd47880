// No call bypasses the judge: every place of the table, through each dialect and through the gateway.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '@tollgate/evidence'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { Garbled, type Dialect, type Judge, type ProposedCall } from '../../src/llm/dialect.ts'
import { geminiStream } from '../../src/llm/gemini/gemini.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import { pump } from '../../src/llm/pump.ts'
import { LlmUpstreamFault } from '../../src/llm/upstream.ts'
import { createLog } from '../../src/log.ts'
import { leaksIn as leaksOf, piecesOf } from './fuzz.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import {
  ARGS,
  BLOCKS,
  CANARY,
  INPUT,
  ITEM_EVENTS,
  ITEMS,
  OTHER_EVENTS,
  PLACES as OTHER_PLACES,
  wireOf,
  type DialectName,
  type Row,
} from './places.ts'
import { GEMINI_PLACES } from './places-gemini.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  chat: openaiChat,
  responses: openaiResponses,
  messages: anthropicMessages,
  gemini: geminiStream,
}

const PLACES: readonly Row[] = [...OTHER_PLACES, ...GEMINI_PLACES]

const MARK = piecesOf(CANARY)
const leaksIn = (text: string): string[] => leaksOf(text, MARK)

/** Denies everything, and records its proposals. */
function denying(): Judge & { readonly asked: ProposedCall[] } {
  const asked: ProposedCall[] = []
  return {
    asked,
    judge(proposals) {
      asked.push(...proposals)
      return Promise.resolve(
        proposals.map(() => ({ allowed: false, code: 'POLICY_VIOLATION', text: 'Refused.', receipt: 'rc' })),
      )
    },
    ran: () => false,
  }
}

interface Outcome {
  readonly left: string
  readonly asked: readonly ProposedCall[]
  readonly fault: unknown
}

async function take(row: Row, size = Infinity): Promise<Outcome> {
  const judge = denying()
  const dialect = DIALECTS[row.dialect]
  let left = ''
  let fault: unknown
  try {
    if (!row.streamed) left = JSON.stringify(await dialect.governReply(bodyOf(row.reply), judge))
    else {
      const write = (text: string): void => void (left += text)
      const bytes = Buffer.from(wireOf(row.dialect, row.reply))
      await pump(chunksOf(bytes, size), dialect.openStream(judge), {
        write,
        drained: () => Promise.resolve(),
      })
    }
  } catch (thrown) {
    fault = thrown
  }
  return { left, asked: judge.asked, fault }
}

/** As the gateway reads it: a text is the JSON on the wire. */
function bodyOf(reply: Json): Json {
  // Sound: JSON.parse returns JSON.
  return typeof reply === 'string' ? (JSON.parse(reply) as Json) : reply
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  await Promise.resolve()
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, Math.min(from + size, bytes.length))
  }
}

function check(row: Row, { left, asked, fault }: Outcome): void {
  if (row.expect === 'words') {
    expect(fault).toBeUndefined()
    expect(left).toContain(CANARY)
    return
  }
  expect(leaksIn(left)).toEqual([])
  switch (row.expect) {
    case 'denied':
      expect(fault).toBeUndefined()
      expect(asked.length).toBeGreaterThan(0)
      expect(left).toContain('Refused.')
      break
    case 'left out':
      expect(fault).toBeUndefined()
      expect(asked).toEqual([])
      expect(left).not.toBe('')
      break
    case 'garbled':
      expect(fault).toBeInstanceOf(Garbled)
      expect(leaksIn(String(fault))).toEqual([])
      break
    case 'cut':
      expect(fault).toBeInstanceOf(LlmUpstreamFault)
      break
  }
}

const NAMES = ['chat', 'responses', 'messages', 'gemini'] as const

describe.each(NAMES)('every place of %s in which a call can appear', (name) => {
  const rows = PLACES.filter(({ dialect }) => dialect === name)
  const named = (list: readonly Row[]): [string, Row][] =>
    list.map((row) => [`${row.place}: ${row.expect}`, row])

  it.each(named(rows.filter(({ streamed }) => !streamed)))('whole, %s', async (_, row) => {
    check(row, await take(row))
  })

  it.each(named(rows.filter(({ streamed }) => streamed)))('streamed, %s', async (_, row) => {
    const whole = await take(row)
    check(row, whole)
    const byBytes = await take(row, 1)
    check(row, byBytes)
    expect(byBytes.asked).toEqual(whole.asked)
  })

  it('has each place once, with the canary in it', () => {
    const places = rows.map(({ streamed, place }) => `${streamed ? 'streamed' : 'whole'}: ${place}`)
    expect(new Set(places).size).toBe(places.length)
    for (const { place, reply } of rows)
      expect([place, leaksIn(JSON.stringify(reply))]).not.toEqual([place, []])
  })
})

describe('a judge that fails', () => {
  const rows = PLACES.filter(({ streamed, expect: expected }) => streamed && expected === 'denied')

  it.each(NAMES)('forwards no call of %s, and leaves no stream looking whole', async (name) => {
    const failing: Judge = { judge: () => Promise.reject(new Error('broken')), ran: () => false }
    const own = rows.filter(({ dialect }) => dialect === name)
    const looksWhole: string[] = []
    for (const { place, reply } of own) {
      const rewriter = DIALECTS[name].openStream(failing)
      let left = ''
      const write = (text: string): void => void (left += text)
      // Sound: the rows are streams.
      const bytes = Buffer.from(wireOf(name, reply as readonly JsonObject[]))
      const pumped = pump(chunksOf(bytes, Infinity), rewriter, { write, drained: () => Promise.resolve() })
      await expect(pumped).rejects.toThrow('broken')
      expect([place, leaksIn(left)]).toEqual([place, []])
      if (rewriter.ended) looksWhole.push(place)
    }
    expect(own.length).toBeGreaterThan(20)
    expect(looksWhole).toEqual([])
  })
})

// The types of the official clients, as source text. A new kind of call in them needs a row.

const require = createRequire(import.meta.url)

function declarations(of: string): string {
  const entry = require.resolve(of.startsWith('openai') ? 'openai' : '@anthropic-ai/sdk')
  const [, root = ''] = /^(.*\/node_modules\/(?:openai|@anthropic-ai\/sdk)\/)/.exec(entry) ?? []
  return readFileSync(`${root}resources/${of.split(':')[1] ?? ''}.d.ts`, 'utf8')
}

/** The `type` of each member of a union. */
function typesOf(text: string, union: string): string[] {
  const [, members = ''] = new RegExp(`export type ${union} = ([^;]+);`).exec(text) ?? []
  return members.split('|').flatMap((member) => {
    const [first = '', second] = member.trim().split('.')
    return second === undefined ? typeIn(text, first, '') : typeIn(spaceOf(text, first), second, '    ')
  })
}

function spaceOf(text: string, name: string): string {
  return new RegExp(`export declare namespace ${name} \\{\\n([^]*?)\\n\\}`).exec(text)?.[1] ?? ''
}

function typeIn(text: string, name: string, indent: string): string[] {
  const head = `^${indent}(?:export )?interface ${name} (?:extends (\\w+) )?`
  const [, base, body = ''] = new RegExp(`${head}\\{\\n([^]*?)\\n${indent}\\}`, 'm').exec(text) ?? []
  const type = new RegExp(`^${indent}    type: ([^;]+);`, 'm').exec(body)?.[1]
  if (type !== undefined) return type.split('|').map((each) => each.trim().slice(1, -1))
  if (base !== undefined) return typeIn(text, base, indent)
  throw new Error(`the type of ${name} cannot be found`)
}

function covered(dialect: DialectName, streamed: boolean): ReadonlySet<string | undefined> {
  const rows = PLACES.filter((row) => row.dialect === dialect && row.streamed === streamed)
  return new Set(rows.map(({ covers }) => covers))
}

const UNIONS = [
  ['responses', 'openai:responses/responses', 'ResponseOutputItem', ['message', 'reasoning', 'compaction']],
  ['messages', 'anthropic:messages/messages', 'ContentBlock', ['text', 'thinking', 'redacted_thinking']],
  [
    'messages',
    'anthropic:beta/messages/messages',
    'BetaContentBlock',
    ['text', 'thinking', 'redacted_thinking', 'compaction', 'fallback'],
  ],
  ['chat', 'openai:chat/completions/completions', 'ChatCompletionMessageToolCall', []],
] as const

describe('the official clients', () => {
  it.each(UNIONS)('have no item of %s without a row (%s, %s)', (dialect, file, union, words) => {
    const types = typesOf(declarations(file), union)
    const calls = types.filter((type) => !words.some((word) => word === type))
    expect(calls.length).toBeGreaterThan(1)
    for (const word of words) expect(types).toContain(word)
    for (const streamed of [false, true]) {
      const rows = covered(dialect, streamed)
      expect(calls.filter((type) => !rows.has(type))).toEqual([])
    }
  })

  it('have no call that is taken for text', () => {
    const words: readonly string[] = UNIONS.flatMap(([, , , each]) => each)
    expect(words.filter((type) => /(call|use|approval_request)$/.test(type))).toEqual([])
    const rows = Object.keys({ ...ITEMS, ...BLOCKS })
    expect(rows.filter((type) => /(call|use|approval_request)$/.test(type)).length).toBeGreaterThan(12)
  })

  it('have no response event without a row', () => {
    const types = typesOf(declarations('openai:responses/responses'), 'ResponseStreamEvent')
    expect(types.length).toBeGreaterThan(40)
    expect(types.filter((type) => !(type in ITEM_EVENTS) && !OTHER_EVENTS.includes(type))).toEqual([])
  })
})

/** The members of an interface of Google's client. */
function membersOf(name: string): string[] {
  const entry = require.resolve('@google/genai')
  const text = readFileSync(entry.replace(/dist\/.*$/, 'dist/genai.d.ts'), 'utf8').replaceAll('\r', '')
  const [, body = ''] =
    new RegExp(`^export declare interface ${name} \\{\n([^]*?)\n\\}`, 'm').exec(text) ?? []
  return [...body.matchAll(/^    (\w+)\??: /gm)].map(([, member = '']) => member)
}

describe('the client of Google', () => {
  it.each([false, true])('has no member of a part without a row (streamed: %s)', (streamed) => {
    const members = membersOf('Part')
    const rows = covered('gemini', streamed)
    expect(members.length).toBeGreaterThan(10)
    expect(members.filter((member) => !rows.has(member))).toEqual([])
  })
})

// The same through the gateway: the surroundings of a reply must not hold the canary either.

const ROUTES: Readonly<Record<DialectName, string>> = {
  chat: '/openai/v1/chat/completions',
  responses: '/openai/v1/responses',
  messages: '/anthropic/v1/messages',
  gemini: '/gemini/v1beta/models/m:generateContent',
}

const SCHEMA = { type: 'object', properties: { to: { type: 'string' } } }
const TOLD = [{ role: 'user', content: 'Send it.' }]

/** Declares `send_mail`, which the policy denies, and `write`, which it does not know. */
function askedOf(dialect: DialectName, stream: boolean): JsonObject {
  const functions = ['send_mail', 'write'].map((name) => ({ name, parameters: SCHEMA }))
  if (dialect === 'chat') {
    return {
      model: 'm',
      stream,
      messages: TOLD,
      tools: functions.map((each) => ({ type: 'function', function: each })),
    }
  }
  if (dialect === 'responses') {
    return {
      model: 'm',
      stream,
      input: TOLD,
      tools: functions.map((each) => ({ type: 'function', ...each })),
    }
  }
  if (dialect === 'gemini') {
    return {
      stream,
      contents: [{ parts: [{ text: 'Send it.' }] }],
      tools: [{ functionDeclarations: functions }],
    }
  }
  const tools = functions.map(({ name }) => ({ name, input_schema: SCHEMA }))
  return { model: 'm', stream, max_tokens: 100, messages: TOLD, tools }
}

function stepOf(row: Row): Step {
  const type = row.streamed ? 'text/event-stream' : 'application/json'
  const body = row.streamed
    ? wireOf(row.dialect, row.reply)
    : typeof row.reply === 'string'
      ? row.reply
      : JSON.stringify(row.reply)
  return {
    raw: {
      status: 200,
      headers: {
        'content-type': type,
        'x-call-arguments': CANARY,
        'set-cookie': `call=${CANARY}`,
        'openai-tool-calls': CANARY,
        trailer: CANARY,
      },
      body,
    },
  }
}

/** The rows that also run through the gateway. */
const THROUGH: Readonly<Record<DialectName, readonly string[]>> = {
  chat: [
    'message.tool_calls[].function',
    'message.tool_calls[].function of an undeclared tool',
    'message.tool_calls[], two of one id',
    'message.tool_calls[].id that holds them',
    'message.tool_calls that is a text',
    'message.function_call',
    'the second choice',
    'delta.tool_calls[], in pieces',
    'delta.tool_calls[] without an index',
    'delta, and then nothing',
    'a comment',
    'error.failed_generation, while a call is held',
  ],
  responses: [
    'output[], function_call',
    'output[], two of one id',
    'output[], mcp_call',
    'output[] that is a text',
    'function_call_arguments, a letter at a time',
    'response.completed alone, function_call',
    'a call, and then nothing',
    'a comment',
  ],
  messages: [
    'content[], tool_use',
    'content[], two of one id',
    'content[], server_tool_use',
    'content that is a text',
    'input_json_delta, at once',
    'input_json_delta of a text',
    'a call, and then nothing',
    'a comment',
  ],
  gemini: [
    'functionCall',
    'two calls of one id',
    'executableCode',
    'finishMessage of a call that is broken',
    'content that is a text',
    'a call after the end',
    'a call, and then nothing',
    'a comment',
  ],
}

describe('through the gateway', () => {
  let gate: LlmGate
  let upstream: Upstream
  let agents = 0
  const lines: string[] = []

  beforeAll(async () => {
    upstream = await startUpstream()
    gate = await openLlmGate({ upstream: upstream.url, log: createLog('debug', (line) => lines.push(line)) })
  })
  afterAll(async () => {
    await gate.close()
    await upstream.close()
  })

  async function ask(step: Step, dialect: DialectName, stream: boolean, headers = {}): Promise<Seen> {
    upstream.script(step)
    const agent = await gate.as(`agent:b${agents++}`)
    const response = await agent.post(ROUTES[dialect], askedOf(dialect, stream), headers)
    const { text, isBroken } = await bodyThatMayBreak(response)
    expect(upstream.left).toBe(0)
    const verdicts = (await agent.decisions()).map(({ verdict }) => verdict)
    return {
      status: response.status,
      headers: JSON.stringify([...response.headers]),
      text,
      isBroken,
      verdicts,
    }
  }

  const rows = NAMES.flatMap((dialect) =>
    THROUGH[dialect].flatMap((place) =>
      PLACES.filter((row) => row.dialect === dialect && row.place === place),
    ),
  )

  it('knows the selected rows', () => {
    for (const dialect of NAMES) {
      const places = PLACES.filter((row) => row.dialect === dialect).map(({ place }) => place)
      expect(THROUGH[dialect].filter((place) => !places.includes(place))).toEqual([])
    }
  })

  it.each(rows.map((row): [string, Row] => [`${row.dialect}, ${row.place}: ${row.expect}`, row]))(
    '%s',
    async (_, row) => {
      const { status, headers, text, isBroken, verdicts } = await ask(stepOf(row), row.dialect, row.streamed)
      expect(leaksIn(text)).toEqual([])
      expect(leaksIn(headers)).toEqual([])
      expect(leaksIn(lines.join(''))).toEqual([])
      expect(status).toBe(row.expect === 'garbled' && !row.streamed ? 502 : 200)
      expect(isBroken).toBe(row.streamed && (row.expect === 'garbled' || row.expect === 'cut'))
      // There is a receipt for each denial and each unreadable reply.
      const isOnRecord = row.expect === 'denied' || row.expect === 'garbled'
      expect(verdicts.length > 0).toBe(isOnRecord)
      expect(verdicts.filter((verdict) => verdict !== 'DENY')).toEqual([])
    },
  )

  const FAILED = {
    message: 'Failed to call a function.',
    type: 'invalid_request_error',
    code: 'tool_use_failed',
  }
  const faults = NAMES.flatMap((dialect) =>
    [400, 422, 500, 503].flatMap((status) =>
      [false, true].map((stream): [DialectName, number, boolean] => [dialect, status, stream]),
    ),
  )

  it.each(faults)('an error body of %s, %i, streamed: %s', async (dialect, status, stream) => {
    const error = {
      ...FAILED,
      failed_generation: ARGS,
      param: ARGS,
      input: INPUT,
      details: { arguments: ARGS },
    }
    const body = JSON.stringify({ type: 'error', error, tool_calls: [ARGS], failed_generation: ARGS })
    const headers = { 'content-type': 'application/json', 'x-call-arguments': CANARY }
    const seen = await ask({ raw: { status, headers, body } }, dialect, stream)
    expect(seen.status).toBe(status)
    expect(seen.text).toContain('Failed to call a function.')
    expect(leaksIn(seen.text)).toEqual([])
    expect(leaksIn(seen.headers)).toEqual([])
  })

  it.each(NAMES)('a page in place of an error of %s', async (dialect) => {
    const headers = { 'content-type': 'text/html' }
    const seen = await ask({ raw: { status: 500, headers, body: `<p>${ARGS}</p>` } }, dialect, false)
    expect(seen.status).toBe(500)
    expect(leaksIn(seen.text + seen.headers)).toEqual([])
  })

  const DEEP = `${'{"x":'.repeat(20_000)}${ARGS}${'}'.repeat(20_000)}`
  const CALL = `{"index":0,"id":"call_1","type":"function","function":{"name":"send_mail","arguments":${DEEP}}}`

  it.each([
    ['whole', false, {}],
    ['whole, with a key to ask again', false, { 'idempotency-key': 'deep-whole' }],
    ['streamed', true, {}],
    ['streamed, with a key to ask again', true, { 'idempotency-key': 'deep-streamed' }],
  ])('a call that is nested out of all reason, %s', async (_, stream, headers) => {
    const [member, type] = stream ? ['delta', 'text/event-stream'] : ['message', 'application/json']
    const choice = `{"index":0,"${member}":{"tool_calls":[${CALL}]},"finish_reason":"tool_calls"}`
    const body = `{"id":"c","choices":[${choice}]}`
    const sent = stream ? `data: ${body}\n\ndata: [DONE]\n\n` : body
    const step = { raw: { status: 200, headers: { 'content-type': type }, body: sent } }
    const { status, text, isBroken, verdicts } = await ask(step, 'chat', stream, headers)
    expect(leaksIn(text)).toEqual([])
    expect({ status, isBroken, verdicts }).toEqual({ status: 200, isBroken: false, verdicts: ['DENY'] })
    expect(text).toContain('[Tollgate]')
  })

  it('leaves no trace of it in the log or in a receipt', async () => {
    const receipts = await gate.receipts()
    expect(receipts.length).toBeGreaterThan(rows.length / 2)
    expect(receipts.filter((receipt) => leaksIn(JSON.stringify(receipt)).length > 0)).toEqual([])
    expect(leaksIn(lines.join(''))).toEqual([])
  })
})

/** The text of an answer. The gateway cuts the connection of an incomplete stream. */
async function bodyThatMayBreak({ body }: Response): Promise<{ text: string; isBroken: boolean }> {
  const pieces: Uint8Array[] = []
  let isBroken = false
  try {
    for await (const piece of body ?? []) pieces.push(piece)
  } catch {
    isBroken = true
  }
  return { text: Buffer.concat(pieces).toString(), isBroken }
}

interface Seen {
  readonly isBroken: boolean
  readonly status: number
  readonly headers: string
  readonly text: string
  readonly verdicts: readonly string[]
}
