// Streamed replies of Responses.

import type { AIMessageChunk } from '@langchain/core/messages'
import type { Json, JsonObject } from '@tollgate/evidence'
import { jsonSchema, streamText, tool } from 'ai'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Garbled } from '../../src/llm/dialect.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import {
  aiSdk,
  bytesOf,
  callEvents,
  completed,
  created,
  denial,
  eventsIn,
  functionCall,
  judgeBy,
  langChain,
  message,
  messageEvents,
  numbered,
  officialClient,
  refusal,
  rewrite,
  SECRET,
  streaming,
  wholeEvents,
  type Event,
  type JudgeScript,
} from './openai-responses-rig.ts'

const WEATHER = functionCall('weather', '{"city":"Bern"}', 'fc_1')
const PAY = functionCall('pay', `{"to":"${SECRET}"}`, 'fc_2')
const TIME = functionCall('time', '{ "zone": "CET" }', 'fc_3')
const TEXT = message('I look.', 'msg_1')
const pieces = (item: JsonObject): string[] => textIn(item, 'arguments').split('')
const callOf = (index: number, item: JsonObject): Event[] => callEvents(index, item, pieces(item))

interface Scripted {
  readonly events: readonly Event[]
  readonly text: string
  readonly calls: readonly (readonly [string, JsonObject])[]
  readonly status?: string
}

const ALLOW: JudgeScript = { allow: ['weather', 'time'] }

const weatherEvents = callOf(0, WEATHER)
const cutCall = callOf(1, PAY).slice(0, 6)

const STREAMS: Readonly<Record<string, Scripted>> = {
  allowed: {
    events: [
      ...created(),
      ...messageEvents(0, TEXT, ['I ', 'look.']),
      ...callOf(1, WEATHER),
      completed([TEXT, WEATHER]),
    ],
    text: 'I look.',
    calls: [['weather', { city: 'Bern' }]],
  },
  denied: {
    events: [...created(), ...callOf(0, PAY), completed([PAY])],
    text: denial('rc-1'),
    calls: [],
  },
  mixed: {
    events: [
      ...created(),
      ...messageEvents(0, TEXT, ['I ', 'look.']),
      ...callOf(1, PAY),
      ...callOf(2, WEATHER),
      completed([TEXT, PAY, WEATHER]),
    ],
    text: `I look.${denial('rc-1')}`,
    calls: [['weather', { city: 'Bern' }]],
  },
  parallel: {
    events: [
      ...created(),
      ...callOf(0, WEATHER),
      ...callOf(1, PAY),
      ...callOf(2, TIME),
      completed([WEATHER, PAY, TIME]),
    ],
    text: denial('rc-2'),
    calls: [
      ['weather', { city: 'Bern' }],
      ['time', { zone: 'CET' }],
    ],
  },
  interleaved: {
    events: [
      ...created(),
      ...weatherEvents.slice(0, 4),
      ...callOf(2, PAY).slice(0, 5),
      ...messageEvents(1, TEXT, ['I ', 'look.']),
      ...callOf(2, PAY).slice(5),
      ...weatherEvents.slice(4),
      completed([WEATHER, TEXT, PAY]),
    ],
    text: `I look.${denial('rc-1')}`,
    calls: [['weather', { city: 'Bern' }]],
  },
  incomplete: {
    events: [
      ...created(),
      ...messageEvents(0, TEXT, ['I ', 'look.']),
      ...cutCall,
      {
        ...completed([TEXT, { ...PAY, status: 'incomplete' }], {
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
        }),
        type: 'response.incomplete',
      },
    ],
    text: `I look.${denial('rc-1')}`,
    calls: [],
    status: 'incomplete',
  },
}
const CASES = Object.entries(STREAMS)

const inputSchema = jsonSchema<JsonObject>({ type: 'object', additionalProperties: true })

describe.each(CASES)('a stream that is %s', (_, { events, text, calls, status = 'completed' }) => {
  test('is well formed: numbers and places are consecutive, and nothing denied leaves', async () => {
    const { text: out, events: told, rewriter, ids } = await rewrite(events, judgeBy(ALLOW))
    expect(out).not.toContain(SECRET)
    expect(out).not.toContain('obfuscation')
    expect(rewriter.ended).toBe(true)
    expect(told.map(({ sequence_number: number }) => number)).toEqual(told.map((__, at) => at))
    const added = told.filter(({ type }) => type === 'response.output_item.added')
    expect(added.map(({ output_index: index }) => index)).toEqual(added.map((__, at) => at))
    const final = told.at(-1)?.response as JsonObject
    const done = told.filter(({ type }) => type === 'response.output_item.done')
    expect(final.output).toEqual(
      done.toSorted((a, b) => Number(a.output_index) - Number(b.output_index)).map(({ item }) => item),
    )
    expect(ids).toEqual(added.map(({ item }) => (item as JsonObject).id))
  })

  test('is accepted by the openai accumulator', async () => {
    const { text: out } = await rewrite(events, judgeBy(ALLOW))
    const stream = officialClient(streaming(out)).responses.stream({ model: 'm', input: 'hi' })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    const final = await stream.finalResponse()
    expect(deltas.join('')).toBe(text)
    expect(final.output_text).toBe(text)
    expect(final.status).toBe(status)
    const called = final.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
    expect(called.map(({ name, arguments: args }) => [name, JSON.parse(args) as Json])).toEqual(calls)
    expect(final.usage?.total_tokens).toBe(15)
  })

  test('is accepted by the openai accumulator also without its last event', async () => {
    const { events: told, text: out } = await rewrite(events, judgeBy(ALLOW))
    const final = told.at(-1)?.response as JsonObject
    const cut = out.slice(0, out.lastIndexOf('event: '))
    const stream = officialClient(streaming(cut)).responses.stream({ model: 'm', input: 'hi' })
    const { output } = await stream.finalResponse()
    expect(JSON.parse(JSON.stringify(output))).toMatchObject(final.output as object)
  })

  test('is accepted by openai as plain events', async () => {
    const { text: out, events: told } = await rewrite(events, judgeBy(ALLOW))
    const stream = await officialClient(streaming(out)).responses.create({
      model: 'm',
      input: 'hi',
      stream: true,
    })
    const seen: unknown[] = []
    for await (const event of stream) seen.push(event)
    expect(seen).toEqual(told)
  })

  test('is accepted by ai', async () => {
    const { text: out } = await rewrite(events, judgeBy(ALLOW))
    const errors: unknown[] = []
    const result = streamText({
      model: aiSdk(streaming(out))('gpt-4o'),
      prompt: 'hi',
      tools: { weather: tool({ inputSchema }), pay: tool({ inputSchema }), time: tool({ inputSchema }) },
      onError: ({ error }) => void errors.push(error),
    })
    expect(await result.text).toBe(text)
    expect((await result.toolCalls).map(({ toolName, input }) => [toolName, input])).toEqual(calls)
    expect((await result.usage).totalTokens).toBe(15)
    expect(errors).toEqual([])
    if (status === 'incomplete') expect(await result.finishReason).toBe('length')
    else expect(await result.finishReason).toBe(calls.length > 0 ? 'tool-calls' : 'stop')
  })

  test('is accepted by langchain', async () => {
    const { text: out } = await rewrite(events, judgeBy(ALLOW))
    const stream = await langChain(streaming(out)).stream('hi')
    let whole: AIMessageChunk | undefined
    for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk
    expect(whole?.text).toBe(text)
    expect(whole?.tool_calls?.map(({ name, args }) => [name, args])).toEqual(calls)
    expect(whole).toMatchObject({ usage_metadata: { total_tokens: 15 } })
  })
})

describe('a stream in progress', () => {
  test('forwards text at once, also while a call is held, and a call only after judgement', async () => {
    const rewriter = openaiResponses.openStream(judgeBy(ALLOW))
    const take = (event: Event): string | Promise<string> =>
      rewriter.take(bytesOf({ ...event, sequence_number: 7 }))
    for (const event of created()) expect(take(event)).toContain(`event: ${event.type}\n`)
    const call = callOf(0, WEATHER)
    for (const event of call.slice(0, -1)) expect(take(event)).toBe('')
    for (const event of messageEvents(1, TEXT, ['I ', 'look.'])) {
      const out = take(event)
      if (typeof out !== 'string') throw new Error('words had to wait')
      expect(eventsIn(out)).toMatchObject([{ type: event.type, output_index: 0 }])
    }
    const released = take(call.at(-1) as Event)
    expect(released).toBeInstanceOf(Promise)
    const told = eventsIn(await released)
    expect(told).toMatchObject([
      { type: 'response.output_item.added', output_index: 1, item: { arguments: '', status: 'in_progress' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"city":"Bern"}' },
      { type: 'response.function_call_arguments.done', name: 'weather', arguments: '{"city":"Bern"}' },
      { type: 'response.output_item.done', output_index: 1, item: WEATHER },
    ])
    expect(told[0]?.sequence_number).toBe(7 + 2 + 7)
    expect(rewriter.ended).toBe(false)
    expect(take(completed([WEATHER, TEXT]))).toContain('response.completed')
    expect(rewriter.ended).toBe(true)
  })

  test('shows a denied call as a message', async () => {
    const { events } = await rewrite([...created(), ...callOf(0, PAY), completed([PAY])], judgeBy())
    const at = { item_id: 'msg_tollgate_rc-1', output_index: 0, content_index: 0 }
    const part = { type: 'output_text', text: denial('rc-1'), annotations: [], logprobs: [] }
    expect(events.slice(2)).toMatchObject([
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...refusal('rc-1'), status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: denial('rc-1') },
      { type: 'response.output_text.done', ...at, text: denial('rc-1') },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item: refusal('rc-1') },
      { type: 'response.completed', response: { output: [refusal('rc-1')] } },
    ])
  })

  test('that just stops has sent nothing held', async () => {
    const events = [...created(), ...callOf(0, WEATHER).slice(0, -1)]
    const { events: told, rewriter } = await rewrite(events, judgeBy(ALLOW))
    expect(told.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
    expect(rewriter.ended).toBe(false)
  })

  test('forwards text, reasoning, refusals and citations', async () => {
    const reasoning = {
      id: 'rs_1',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'ab' }],
      content: [{ type: 'reasoning_text', text: 'cd' }],
      encrypted_content: 'e',
    }
    const no = {
      id: 'msg_9',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'refusal', refusal: 'no' }],
    }
    const cited = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }
    const summary = { item_id: 'rs_1', output_index: 0, summary_index: 0 }
    const content = { item_id: 'rs_1', output_index: 0, content_index: 0 }
    const refused = { item_id: 'msg_9', output_index: 1, content_index: 0 }
    const said = messageEvents(2, TEXT, ['I look.'])
    const events: Event[] = [
      ...created(),
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'rs_1', type: 'reasoning', summary: [] },
      },
      { type: 'response.reasoning_summary_part.added', ...summary, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...summary, delta: 'ab' },
      { type: 'response.reasoning_summary_text.done', ...summary, text: 'ab' },
      {
        type: 'response.reasoning_summary_part.done',
        ...summary,
        part: { type: 'summary_text', text: 'ab' },
      },
      { type: 'response.content_part.added', ...content, part: { type: 'reasoning_text', text: '' } },
      { type: 'response.reasoning_text.delta', ...content, delta: 'cd' },
      { type: 'response.reasoning_text.done', ...content, text: 'cd' },
      { type: 'response.content_part.done', ...content, part: { type: 'reasoning_text', text: 'cd' } },
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...no, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...refused, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...refused, delta: 'no' },
      { type: 'response.refusal.done', ...refused, refusal: 'no' },
      { type: 'response.content_part.done', ...refused, part: { type: 'refusal', refusal: 'no' } },
      { type: 'response.output_item.done', output_index: 1, item: no },
      ...said.slice(0, 3),
      {
        type: 'response.output_text.annotation.added',
        item_id: 'msg_1',
        output_index: 2,
        content_index: 0,
        annotation_index: 0,
        annotation: cited,
      },
      ...said.slice(3),
      completed([reasoning, no, TEXT]),
    ]
    const judge = judgeBy()
    const { events: told, text } = await rewrite(events, judge)
    const plain = numbered(events).map((event) => without(event, 'obfuscation'))
    expect(told.slice(2, -1)).toEqual(
      plain.slice(2, -1).map((event) => expect.objectContaining(without(event, 'item')) as Json),
    )
    expect(judge.asked).toEqual([])
    const stream = officialClient(streaming(text)).responses.stream({ model: 'm', input: 'hi' })
    const final = await stream.finalResponse()
    expect(final.output).toMatchObject([reasoning, no, TEXT])
    const result = streamText({ model: aiSdk(streaming(text))('gpt-4o'), prompt: 'hi' })
    expect(await result.text).toBe('noI look.')
  })

  test('has unfinished text in the last event, under its earlier id', async () => {
    const open = messageEvents(0, TEXT, ['I look.']).slice(0, 3)
    const { events } = await rewrite([...created(), ...open, completed([TEXT])], judgeBy())
    expect(events.at(-1)).toMatchObject({ response: { output: [TEXT] } })
    const { events: without } = await rewrite([...created(), ...open, completed([])], judgeBy())
    expect(without.at(-1)).toMatchObject({ response: { output: [{ id: 'msg_1', status: 'incomplete' }] } })
  })

  test('writes custom and built-in tools so that the clients understand them', async () => {
    const custom = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'c1',
      name: 'sql',
      input: 'select 1',
    }
    const patch = {
      id: 'ap_1',
      type: 'apply_patch_call',
      status: 'completed',
      call_id: 'c2',
      operation: { type: 'create_file', path: 'a', diff: '+b' },
    }
    const shell = {
      id: 'sh_1',
      type: 'shell_call',
      status: 'completed',
      call_id: 'c3',
      action: { commands: ['ls'] },
      environment: { type: 'local' },
    }
    const items = [custom, patch, shell]
    const diff = {
      type: 'response.apply_patch_call_operation_diff.delta',
      item_id: 'ap_1',
      output_index: 1,
      delta: '+b',
    }
    const [added, done] = wholeEvents(1, patch)
    const events: Event[] = [
      ...created(),
      ...callEvents(0, custom, ['select', ' 1']),
      ...(added ? [added] : []),
      diff,
      ...(done ? [done] : []),
      ...wholeEvents(2, shell),
      completed(items),
    ]
    const { text } = await rewrite(events, judgeBy({ allow: ['sql', 'apply_patch', 'shell'] }))
    const stream = officialClient(streaming(text)).responses.stream({ model: 'm', input: 'hi' })
    expect((await stream.finalResponse()).output).toMatchObject(items)
    const provider = aiSdk(streaming(text))
    const result = streamText({
      model: provider('gpt-4o'),
      prompt: 'hi',
      tools: {
        sql: provider.tools.customTool({ name: 'sql', description: 'd' }),
        apply_patch: provider.tools.applyPatch({}),
        shell: provider.tools.shell({}),
      },
    })
    expect(await result.toolCalls).toMatchObject([
      { toolName: 'sql', input: 'select 1' },
      { toolName: 'apply_patch', input: { callId: 'c2', operation: patch.operation } },
      { toolName: 'shell', input: { action: { commands: ['ls'] } } },
    ])
  })
})

function without(event: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(event).filter(([member]) => member !== name))
}

function textIn(item: JsonObject, name: string): string {
  const value = item[name]
  return typeof value === 'string' ? value : ''
}

describe('items that the provider ran', () => {
  const search = {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  }
  const code = {
    id: 'ci_1',
    type: 'code_interpreter_call',
    status: 'completed',
    code: 'print(1)',
    container_id: 'cntr_1',
    outputs: [{ type: 'logs', logs: '1' }],
  }
  const mcp = {
    id: 'mcp_1',
    type: 'mcp_call',
    status: 'completed',
    server_label: 's',
    name: 'n',
    arguments: '{"a":1}',
    output: 'o',
    error: null,
  }
  const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGk=' }
  const files = { id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['q'], results: null }
  const items: JsonObject[] = [search, code, mcp, image, files]
  const events = [
    ...created(),
    ...items.flatMap((item, index) => {
      const [added, done] = wholeEvents(index, item)
      const family = `response.${textIn(item, 'type')}`
      const at = { item_id: item.id ?? null, output_index: index }
      return [
        ...(added ? [added] : []),
        { type: `${family}.in_progress`, ...at },
        { type: `${family}.completed`, ...at },
        ...(done ? [done] : []),
      ]
    }),
    completed(items),
  ]
  const hosted = [
    'openai/web_search',
    'openai/code_interpreter',
    'openai/mcp',
    'openai/image_generation',
    'openai/file_search',
  ]

  test('are written out if they were allowed with the request', async () => {
    const judge = judgeBy({ hosted })
    const { text } = await rewrite(events, judge)
    expect(judge.ranItems.map(([name]) => name)).toEqual(hosted)
    const stream = officialClient(streaming(text)).responses.stream({ model: 'm', input: 'hi' })
    expect((await stream.finalResponse()).output).toMatchObject(items)
    const withoutLast = text.slice(0, text.lastIndexOf('event: '))
    const accumulated = officialClient(streaming(withoutLast)).responses.stream({ model: 'm', input: 'hi' })
    expect((await accumulated.finalResponse()).output).toMatchObject(items)
    const provider = aiSdk(streaming(text))
    const result = streamText({
      model: provider('gpt-4o'),
      prompt: 'hi',
      tools: {
        web_search: provider.tools.webSearch({}),
        code_interpreter: provider.tools.codeInterpreter({}),
        image_generation: provider.tools.imageGeneration({}),
        file_search: provider.tools.fileSearch({ vectorStoreIds: ['v'] }),
      },
    })
    const parts = await result.content
    expect(parts.filter(({ type }) => type === 'tool-result')).toHaveLength(5)
    expect(parts.filter(({ type }) => type === 'tool-error')).toEqual([])
  })

  test('are denied if they were not, without any of their events', async () => {
    const { text, events: told } = await rewrite(events, judgeBy())
    expect(text).not.toMatch(/_call"|_call\.|print|aGk=/)
    expect(told.at(-1)).toMatchObject({
      response: { output: items.map((_, index) => refusal(`rc-${index + 1}`)) },
    })
  })

  test('of a failed server are reported as failed', async () => {
    const failed = { ...mcp, status: 'failed', output: null, error: 'no' }
    const script = [...created(), ...wholeEvents(0, failed), completed([failed])]
    const { events: told } = await rewrite(script, judgeBy({ hosted }))
    expect(told.map(({ type }) => type)).toContain('response.mcp_call.failed')
    expect(told.map(({ type }) => type)).not.toContain('response.mcp_call.completed')
  })
})

describe('unknown items and events', () => {
  test('an item of an unknown kind is held and denied', async () => {
    const odd = { id: 'x_1', type: 'teleport_call', call_id: 'c', target: SECRET }
    const piece = {
      type: 'response.teleport_call_target.delta',
      output_index: 0,
      delta: SECRET,
      item_id: 'x_1',
    }
    const [added, done] = wholeEvents(0, odd)
    const events = [...created(), ...(added ? [added] : []), piece, ...(done ? [done] : []), completed([odd])]
    const judge = judgeBy({ allow: ['teleport'] })
    const { text, events: told } = await rewrite(events, judge)
    expect(text).not.toContain(SECRET)
    expect(told.at(-1)).toMatchObject({ response: { output: [refusal('rc-1')] } })
    expect(judge.asked).toMatchObject([{ tool: undefined, ref: 'c' }])
  })

  test('a part of an unknown kind is denied within its message, without its events', async () => {
    const part = { type: 'tool_use', input: SECRET }
    const item = {
      ...TEXT,
      content: [part, { type: 'output_text', text: 'hi', annotations: [], logprobs: [] }],
    }
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const events: Event[] = [
      ...created(),
      { type: 'response.output_item.added', output_index: 0, item: { ...TEXT, content: [] } },
      { type: 'response.content_part.added', ...at, part },
      { type: 'response.output_text.delta', ...at, delta: SECRET },
      { type: 'response.content_part.done', ...at, part },
      {
        type: 'response.content_part.added',
        ...at,
        content_index: 1,
        part: { type: 'output_text', text: '' },
      },
      { type: 'response.output_text.delta', ...at, content_index: 1, delta: 'hi' },
      { type: 'response.output_item.done', output_index: 0, item },
      completed([item]),
    ]
    const { text } = await rewrite(events, judgeBy())
    expect(text).not.toContain(SECRET)
    const stream = officialClient(streaming(text)).responses.stream({ model: 'm', input: 'hi' })
    expect((await stream.finalResponse()).output_text).toBe(`${denial('rc-1')}hi`)
  })

  test('an event of an unknown kind is dropped', async () => {
    const odd = { type: 'response.mood.changed', mood: SECRET }
    const { text, events } = await rewrite([...created(), odd, completed([])], judgeBy())
    expect(text).not.toContain(SECRET)
    expect(events).toHaveLength(3)
  })

  test('a keep-alive becomes a comment, and `[DONE]` is ignored', async () => {
    const rewriter = openaiResponses.openStream(judgeBy())
    expect(await rewriter.take(bytesOf({ type: 'keepalive', sequence_number: 1 }))).toBe(':\n\n')
    expect(await rewriter.take({ type: 'message', data: Buffer.from('[DONE]') })).toBe('')
    expect(rewriter.ended).toBe(false)
  })
})

describe('errors', () => {
  test('are forwarded with known members, shortened, and end the stream', async () => {
    const error = { type: 'error', code: 'c', message: 'm'.repeat(900), param: null, extra: SECRET }
    const { events, rewriter, text } = await rewrite(
      [...created(), ...callOf(0, PAY).slice(0, 4), error],
      judgeBy(ALLOW),
    )
    expect(events.at(-1)).toEqual({
      type: 'error',
      code: 'c',
      message: 'm'.repeat(500),
      param: null,
      sequence_number: 2,
    })
    expect(text).not.toContain(SECRET)
    expect(rewriter.ended).toBe(true)
  })

  test('inside an `error` member stay inside it, so that the official client throws', async () => {
    const nested = {
      type: 'error',
      error: { type: 't', code: 'quota', message: 'none left', param: null, x: SECRET },
    }
    const { text } = await rewrite([nested], judgeBy())
    expect(text).not.toContain(SECRET)
    const stream = await officialClient(streaming(text)).responses.create({
      model: 'm',
      input: 'hi',
      stream: true,
    })
    const read = async (): Promise<void> => {
      for await (const event of stream) expect(event).toBeUndefined()
    }
    await expect(read()).rejects.toThrow('none left')
  })

  test('may be followed by a failed response, whose calls are denied', async () => {
    const failed = {
      ...completed([PAY], { status: 'failed', error: { code: 'server_error', message: 'oops' } }),
      type: 'response.failed',
    }
    const error = { type: 'error', code: 'server_error', message: 'oops', param: null }
    const { events, text } = await rewrite(
      [...created(), ...callOf(0, PAY).slice(0, 4), error, failed],
      judgeBy({ allow: ['pay'] }),
    )
    expect(text).not.toContain(SECRET)
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message: 'oops' },
        output: [refusal('rc-1')],
      },
    })
  })
})

describe('a call that was cut', () => {
  test('names no tool, even if its text is whole JSON', async () => {
    const custom = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'c1',
      name: 'sql',
      input: 'drop',
    }
    const judge = judgeBy({ allow: ['weather', 'sql'] })
    const events = [
      ...created(),
      ...callOf(0, WEATHER).slice(0, -1),
      ...callEvents(1, custom, ['drop']).slice(0, -1),
      completed([WEATHER, custom]),
    ]
    const { events: told } = await rewrite(events, judge)
    expect(judge.asked).toEqual([
      { tool: undefined, declared: undefined, form: 'json', args: '{"city":"Bern"}', ref: 'call_fc_1' },
      { tool: undefined, declared: undefined, form: 'text', args: { input: 'drop' }, ref: 'c1' },
    ])
    expect(told.at(-1)).toMatchObject({ response: { output: [refusal('rc-1'), refusal('rc-2')] } })
  })

  test('is denied if its end says that it is incomplete', async () => {
    const cut = { ...WEATHER, status: 'incomplete' }
    const { events } = await rewrite([...created(), ...callOf(0, cut), completed([cut])], judgeBy(ALLOW))
    expect(events.at(-1)).toMatchObject({ response: { output: [refusal('rc-1')] } })
  })
})

describe('an invalid stream', () => {
  const added = (index: Json, item: Json): Event => ({
    type: 'response.output_item.added',
    output_index: index,
    item,
  })
  const done = (index: Json, item: Json): Event => ({
    type: 'response.output_item.done',
    output_index: index,
    item,
  })
  const piece = (index: Json, delta: Json = 'x'): Event => ({
    type: 'response.function_call_arguments.delta',
    output_index: index,
    item_id: 'fc_1',
    delta,
  })
  const words = (index: Json): Event => ({
    type: 'response.output_text.delta',
    output_index: index,
    content_index: 0,
    item_id: 'm',
    delta: 'x',
  })
  const open = added(0, { ...TEXT, content: [] })
  const long = 'x'.repeat(3 << 20)
  const BAD: Readonly<Record<string, readonly Event[]>> = {
    'a response that begins with items': [{ type: 'response.created', response: { id: 'r', output: [PAY] } }],
    'a response that is no object': [{ type: 'response.created', response: 'r' }],
    'an end without a response': [{ type: 'response.completed' }],
    'an end whose items are no list': [{ type: 'response.completed', response: { id: 'r', output: {} } }],
    'a call that is only in the last event': [completed([PAY])],
    'a second call that is only in the last event': [...callOf(0, WEATHER), completed([WEATHER, PAY])],
    'an item of a new kind that is only in the last event': [completed([{ type: 'odd' }])],
    'two items in one place': [added(0, WEATHER), added(0, PAY)],
    'a place below zero': [added(-1, WEATHER)],
    'a place that is no number': [added('0', WEATHER)],
    'a place between others': [added(0.5, WEATHER)],
    'a place beyond all': [added(1024, WEATHER)],
    'an item that is no object': [added(0, null)],
    'a piece without a call': [piece(0)],
    'a piece of a message': [open, piece(0)],
    'a piece that is no text': [added(0, WEATHER), piece(0, { a: 1 })],
    'a piece behind its end': [...callOf(0, WEATHER), piece(0)],
    'a piece behind all of them': [...callOf(0, WEATHER).slice(0, -1), piece(0)],
    'a piece of another kind of call': [
      added(0, WEATHER),
      { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: 'x' },
    ],
    'an item that ends twice': [...callOf(0, WEATHER), done(0, WEATHER)],
    'an item that ends as another kind': [open, done(0, PAY)],
    'a call that ends as a message': [added(0, WEATHER), done(0, TEXT)],
    'a call that ends under another name': [added(0, WEATHER), done(0, { ...WEATHER, name: 'time' })],
    'a call that ends with another id': [added(0, WEATHER), done(0, { ...WEATHER, id: 'fc_9' })],
    'a call that ends for another result': [added(0, WEATHER), done(0, { ...WEATHER, call_id: 'c' })],
    'a call whose pieces are another one': [added(0, WEATHER), piece(0, '{}'), done(0, WEATHER)],
    'a call whose end is another one': [
      added(0, WEATHER),
      { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{}' },
      done(0, WEATHER),
    ],
    'words without an item': [words(0)],
    'words of a call': [added(0, WEATHER), words(0)],
    'words behind their end': [...messageEvents(0, TEXT, ['x']), words(0)],
    'words of another kind than their item': [
      open,
      { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'x' },
    ],
    'words that are no text': [open, { ...words(0), delta: { a: 1 } }],
    'the end of a message that never began': [done(0, TEXT)],
    'a message that begins with a part of a new kind': [
      added(0, { ...TEXT, content: [{ type: 'tool_use' }] }),
    ],
    'a message that ends with a part of a new kind': [
      open,
      done(0, { ...TEXT, content: [{ type: 'tool_use' }] }),
    ],
    'an event of a new kind that holds a call': [{ type: 'response.odd', arguments: '{}' }],
    'an event of a new kind that holds an item': [{ type: 'response.odd', item: PAY }],
    'an event behind the end': [completed([]), added(0, WEATHER)],
    'a second end': [completed([]), completed([])],
    'calls that are too long': [added(0, WEATHER), piece(0, long), added(1, PAY), piece(1, long)],
    'too many calls': Array.from({ length: 257 }, (_, index) =>
      added(index, functionCall('a', '', `f${index}`)),
    ),
  }

  test.each(Object.entries(BAD))('%s', async (_, events) => {
    const work = rewrite(events, judgeBy({ allow: ['weather', 'time'] }))
    await expect(work).rejects.toBeInstanceOf(Garbled)
  })

  test.each(['nonsense', '{"type":', '7', '[]', '{}', '{"type":7}'])('%s', (data) => {
    const rewriter = openaiResponses.openStream(judgeBy())
    expect(() => rewriter.take({ type: 'message', data: Buffer.from(data) })).toThrow(Garbled)
  })

  test('a fault never quotes content', async () => {
    for (const events of Object.values(BAD)) {
      const fault: unknown = await rewrite(events, judgeBy()).catch((caught: unknown) => caught)
      expect(String(fault)).not.toMatch(/Bern|SeCrEt|teleport|weather/)
    }
  })
})

describe('for every broken stream', () => {
  const all = CASES.flatMap(([, { events }]) => events)
  const shuffled = fc.array(fc.nat(all.length - 1), { minLength: 1, maxLength: 40 })
  const places = fc.array(fc.option(fc.nat(3), { nil: undefined }), { minLength: 40, maxLength: 40 })

  test('no argument of a denied call leaves, and the output is well formed', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        shuffled,
        places,
        fc.constantFrom(...CASES),
        async (fromOne, picks, moved, [, one]) => {
          const source = fromOne ? one.events : all
          const events = picks
            .map((pick) => source[pick % source.length] as Event)
            .toSorted((a, b) => (fromOne ? source.indexOf(a) - source.indexOf(b) : 0))
            .map((event, at) => {
              const place = moved[at]
              return place === undefined || fromOne ? event : { ...event, output_index: place }
            })
          const judge = judgeBy(ALLOW)
          const rewriter = openaiResponses.openStream(judge)
          let out = ''
          try {
            for (const event of numbered(events)) out += await rewriter.take(bytesOf(event))
            accepted++
          } catch (fault) {
            expect(fault).toBeInstanceOf(Garbled)
          }
          expect(out).not.toContain(SECRET)
          const added = eventsIn(out).filter(({ type }) => type === 'response.output_item.added')
          expect(added.map(({ output_index: index }) => index)).toEqual(added.map((_, at) => at))
        },
      ),
      { numRuns: 600 },
    )
    expect(accepted).toBeGreaterThan(0)
  })

  test('a missing or repeated event leaks nothing', async () => {
    for (const [, { events }] of CASES) {
      for (const [at, event] of events.entries()) {
        for (const broken of [events.toSpliced(at, 1), events.toSpliced(at, 0, event)]) {
          const rewriter = openaiResponses.openStream(judgeBy(ALLOW))
          let out = ''
          try {
            for (const each of numbered(broken)) out += await rewriter.take(bytesOf(each))
          } catch (fault) {
            expect(fault).toBeInstanceOf(Garbled)
          }
          expect(out).not.toContain(SECRET)
        }
      }
    }
  })
})

describe('the bytes of text events', () => {
  const ID = 'msg_"1\\\n'
  const DELTA = 'Grüß "x"\n\r\u2028\\ \ud800'
  const taken = (more: JsonObject, bytes = (data: Uint8Array): Uint8Array => data): string => {
    const rewriter = openaiResponses.openStream(judgeBy(ALLOW))
    const item = { ...message('', ID), content: [] }
    const at = { item_id: ID, output_index: 4, content_index: 1 }
    const added = { type: 'response.output_item.added', output_index: 4, item, sequence_number: 7 }
    const words = { type: 'response.output_text.delta', ...at, delta: DELTA, obfuscation: SECRET, ...more }
    expect(rewriter.take(bytesOf(added))).toContain('output_item.added')
    const { type, data } = bytesOf(words)
    const text = rewriter.take({ type, data: bytes(data) })
    if (typeof text !== 'string') throw new Error('words were held')
    return text
  }
  const expected = (logprobs: Json): string => {
    const at = { item_id: ID, output_index: 0, content_index: 1 }
    const event = { type: 'response.output_text.delta', ...at, delta: DELTA, logprobs, sequence_number: 8 }
    return `event: response.output_text.delta\ndata: ${JSON.stringify(event)}\n\n`
  }

  test.each([[{}], [{ logprobs: null }], [{ logprobs: [] }], [{ logprobs: [{ token: SECRET }] }]])(
    'are those of known members, in their order: %j',
    (more) => {
      expect(taken(more)).toBe(expected([]))
    },
  )

  test('are the same with log probabilities', () => {
    const token = { token: DELTA, logprob: -1, bytes: null }
    expect(taken({ logprobs: [token] })).toBe(expected([{ ...token, top_logprobs: [] }]))
  })

  test('are the same from any kind of byte array, and after a byte order mark', () => {
    const within = (data: Uint8Array): Uint8Array => {
      const around = new Uint8Array(data.length + 5)
      around.set(data, 3)
      return around.subarray(3, 3 + data.length)
    }
    const marked = (data: Uint8Array): Uint8Array => Uint8Array.of(0xef, 0xbb, 0xbf, ...data)
    for (const bytes of [(data: Uint8Array) => new Uint8Array(data), within, marked]) {
      expect(taken({}, bytes)).toBe(expected([]))
    }
  })

  test('without a text are garbled', () => {
    expect(() => taken({ delta: 7 })).toThrow(Garbled)
    expect(() => taken({ delta: null })).toThrow(Garbled)
  })
})
