// Whole replies of Chat Completions: every place of a call, and what is forwarded besides.

import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import type { Json, JsonObject } from '@tollgate/evidence'
import { generateText, jsonSchema, tool } from 'ai'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { Garbled, type Judge } from '../../src/llm/dialect.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import { called, judgeThatAllows, refusal, scriptedFetch, SECRET } from './openai-chat-rig.ts'

const ARGS = JSON.stringify({ path: SECRET })

function reply(message: Json, finish: Json = 'tool_calls', more: JsonObject = {}): JsonObject {
  return replyOf([{ index: 0, message, finish_reason: finish, logprobs: null, ...more }])
}

function replyOf(choices: Json, more: JsonObject = {}): JsonObject {
  const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'm' }
  return { ...head, choices, usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }, ...more }
}

function assistant(more: JsonObject): JsonObject {
  return { role: 'assistant', content: null, refusal: null, ...more }
}

const govern = (value: Json, judge: Judge): Promise<JsonObject> => openaiChat.governReply(value, judge)

describe('a call in a reply', () => {
  test('that is allowed is forwarded with the judged arguments', async () => {
    const judge = judgeThatAllows('read')
    const governed = await govern(
      reply(assistant({ tool_calls: [called('read', '{ "b": 1.0, "a": "x" }')] })),
      judge,
    )
    expect(governed).toEqual(reply(assistant({ tool_calls: [called('read', '{"a":"x","b":1}')] })))
    expect(judge.asked).toEqual([
      [{ tool: 'read', declared: 'read', form: 'json', args: '{ "b": 1.0, "a": "x" }', ref: 'call_read' }],
    ])
  })

  test('that is denied becomes text, and the finish reason changes', async () => {
    const governed = await govern(reply(assistant({ tool_calls: [called('wipe', ARGS)] })), judgeThatAllows())
    expect(governed).toEqual(reply(assistant({ content: refusal('wipe') }), 'stop'))
  })

  test('that is denied is removed alone, and the text stays', async () => {
    const judge = judgeThatAllows('read', 'list')
    const tool_calls = [
      called('read', '{}'),
      called('wipe', ARGS),
      called('list', '{}'),
      called('drop', ARGS),
    ]
    const governed = await govern(reply(assistant({ content: 'Let me see.', tool_calls })), judge)
    expect(governed).toEqual(
      reply(
        assistant({
          content: `Let me see.\n\n${refusal('wipe')}\n\n${refusal('drop')}`,
          tool_calls: [called('read', '{}'), called('list', '{}')],
        }),
      ),
    )
    expect(judge.asked.map((asked) => asked.map((proposal) => proposal.tool))).toEqual([
      ['read', 'wipe', 'list', 'drop'],
    ])
  })

  test('with free text is forwarded as judged', async () => {
    const judge = judgeThatAllows('shell')
    const custom = { id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls -l "x"\n' } }
    const message = assistant({ tool_calls: [custom] })
    expect(await govern(reply(message), judge)).toEqual(reply(message))
    expect(judge.asked).toEqual([
      [{ tool: 'shell', declared: 'shell', form: 'text', args: { input: 'ls -l "x"\n' }, ref: 'c1' }],
    ])
  })

  test('with free text that is denied becomes text', async () => {
    const custom = { id: 'c1', type: 'custom', custom: { name: 'shell', input: SECRET } }
    const governed = await govern(reply(assistant({ tool_calls: [custom] })), judgeThatAllows())
    expect(governed).toEqual(reply(assistant({ content: refusal('shell') }), 'stop'))
  })

  test.each<[Json]>([['length'], ['content_filter'], [null]])(
    'with free text is denied in a reply that ended with %j, because it may be incomplete',
    async (finish) => {
      const judge = judgeThatAllows('shell')
      const custom = { id: 'c1', type: 'custom', custom: { name: 'shell', input: `rm -rf /${SECRET}` } }
      const governed = await govern(reply(assistant({ tool_calls: [custom] }), finish), judge)
      expect(governed).toEqual(reply(assistant({ content: refusal() }), finish))
      expect(judge.asked[0]?.[0]).toMatchObject({ tool: undefined, declared: undefined, ref: 'c1' })
    },
  )

  test('that is incomplete is denied, and the finish reason stays', async () => {
    const half = called('read', `{"path":"${SECRET}`)
    const governed = await govern(reply(assistant({ tool_calls: [half] }), 'length'), judgeThatAllows('read'))
    expect(governed).toEqual(reply(assistant({ content: refusal('read') }), 'length'))
  })

  test('in `function_call` is judged alike', async () => {
    const judge = judgeThatAllows('read')
    const allowed = assistant({ function_call: { name: 'read', arguments: ' {}' } })
    expect(await govern(reply(allowed, 'function_call'), judge)).toEqual(
      reply(assistant({ function_call: { name: 'read', arguments: '{}' } }), 'function_call'),
    )
    expect(judge.asked).toEqual([
      [{ tool: 'read', declared: 'read', form: 'json', args: ' {}', ref: 'function:read' }],
    ])
    const refused = assistant({ content: '', function_call: { name: 'wipe', arguments: ARGS } })
    expect(await govern(reply(refused, 'function_call'), judge)).toEqual(
      reply(assistant({ content: refusal('wipe') }), 'stop'),
    )
  })

  test('in `function_call` of several choices has no reference', async () => {
    const judge = judgeThatAllows('read')
    const choice = (index: number, more: JsonObject): JsonObject => ({
      index,
      message: assistant(more),
      finish_reason: 'function_call',
    })
    const read = { function_call: { name: 'read', arguments: '{}' } }
    await govern({ choices: [choice(0, read), choice(1, read)] }, judge)
    await govern({ choices: [choice(0, { content: 'x' }), choice(1, read)] }, judge)
    await govern({ choices: [choice(0, { function_call: { name: 'read it', arguments: '{}' } })] }, judge)
    expect(judge.asked.map((asked) => asked.map(({ ref }) => ref))).toEqual([
      [undefined, undefined],
      ['function:read'],
      [undefined],
    ])
  })

  test('without a type is a function if it has one', async () => {
    const judge = judgeThatAllows('read')
    const entry = { id: 'c1', function: { name: 'read', arguments: '{}' } }
    const governed = await govern(reply(assistant({ tool_calls: [entry] })), judge)
    expect(governed).toEqual(reply(assistant({ tool_calls: [called('read', '{}', 'c1')] })))
  })

  test('without an id is forwarded without one', async () => {
    const entry = { type: 'function', function: { name: 'read', arguments: '{}' } }
    const judge = judgeThatAllows('read')
    const governed = await govern(reply(assistant({ tool_calls: [entry] })), judge)
    expect(governed).toEqual(reply(assistant({ tool_calls: [entry] })))
    expect(judge.asked[0]?.[0]?.ref).toBeUndefined()
  })

  test.each<[string, JsonObject]>([
    ['of an unknown type', { id: 'c1', type: 'computer', computer: { action: SECRET } }],
    [
      'with a function and a custom tool',
      { ...called('read', ARGS), custom: { name: 'read', input: SECRET } },
    ],
    ['with a type that is not its own', { type: 'custom', function: { name: 'read', arguments: ARGS } }],
    ['with a custom tool and no type', { custom: { name: 'read', input: SECRET } }],
    ['with a type that is no text', { type: ['function'], function: { name: 'read', arguments: ARGS } }],
    [
      'with arguments that are no text',
      { type: 'function', function: { name: 'read', arguments: { a: SECRET } } },
    ],
    ['with an input that is no text', { type: 'custom', custom: { name: 'read', input: [SECRET] } }],
    ['with a function that is no object', { type: 'function', function: SECRET }],
    ['with nothing', {}],
    ['with a name that is no text', { type: 'function', function: { name: 7, arguments: ARGS } }],
    ['with no name', { type: 'function', function: { arguments: ARGS } }],
  ])('%s has no name, and is refused with a receipt', async (_what, entry) => {
    const judge = judgeThatAllows('read')
    const governed = await govern(reply(assistant({ tool_calls: [entry] })), judge)
    expect(governed).toEqual(reply(assistant({ content: refusal() }), 'stop'))
    expect(judge.asked[0]?.[0]).toMatchObject({ tool: undefined, declared: undefined })
  })

  test('with `function_call` arguments that are no string is denied', async () => {
    const message = assistant({ function_call: { name: 'read', arguments: { a: SECRET } } })
    const governed = await govern(reply(message, 'function_call'), judgeThatAllows('read'))
    expect(governed).toEqual(reply(assistant({ content: refusal() }), 'stop'))
  })

  test('without a name is not forwarded even if it is allowed', async () => {
    const careless: Judge = {
      judge: (proposals) => Promise.resolve(proposals.map(() => ({ allowed: true, args: '{}' }))),
      ran: () => true,
    }
    for (const entry of [
      { type: 'novel', novel: SECRET },
      { type: 'function', function: { arguments: ARGS } },
    ]) {
      await expect(govern(reply(assistant({ tool_calls: [entry] })), careless)).rejects.toThrow(Garbled)
    }
    const custom = { type: 'custom', custom: { name: 'shell', input: SECRET } }
    await expect(govern(reply(assistant({ tool_calls: [custom] })), careless)).rejects.toThrow(Garbled)
  })

  test('without a ruling is not forwarded', async () => {
    const silent: Judge = { judge: () => Promise.resolve([]), ran: () => true }
    const message = assistant({ tool_calls: [called('read', ARGS)] })
    await expect(govern(reply(message), silent)).rejects.toThrow(Garbled)
  })

  test('of each choice is separate', async () => {
    const choice = (index: number, name: string): JsonObject => ({
      index,
      message: assistant({ content: `choice ${index}`, tool_calls: [called(name, '{}')] }),
      finish_reason: 'tool_calls',
    })
    const judge = judgeThatAllows('read')
    const governed = await govern(replyOf([choice(0, 'wipe'), choice(1, 'read')]), judge)
    expect(governed).toEqual(
      replyOf([
        {
          index: 0,
          message: assistant({ content: `choice 0\n\n${refusal('wipe')}` }),
          finish_reason: 'stop',
        },
        choice(1, 'read'),
      ]),
    )
    expect(judge.asked).toHaveLength(1)
  })

  test('a finish reason for calls is adjusted if there are none', async () => {
    const governed = await govern(reply(assistant({ content: 'hi', tool_calls: [] })), judgeThatAllows())
    expect(governed).toEqual(reply(assistant({ content: 'hi' }), 'stop'))
  })
})

describe('a call at an unknown place', () => {
  const hidden = [called('read', ARGS)]

  test.each<[string, JsonObject]>([
    [
      'the reply',
      replyOf([{ index: 0, message: assistant({ content: 'hi' }), finish_reason: 'stop' }], {
        tool_calls: hidden,
      }),
    ],
    ['the choice', reply(assistant({ content: 'hi' }), 'stop', { tool_calls: hidden })],
    ['a delta', reply(assistant({ content: 'hi' }), 'stop', { delta: { tool_calls: hidden } })],
    ['the message', reply(assistant({ content: 'hi', tools: hidden, executed_tools: hidden }), 'stop')],
    ['the reasoning', reply(assistant({ content: 'hi', reasoning: { tool_calls: hidden } }), 'stop')],
    ['details of the reasoning', reply(assistant({ content: 'hi', reasoning_details: hidden }), 'stop')],
    ['the audio', reply(assistant({ content: 'hi', audio: { tool_calls: hidden } }), 'stop')],
    [
      'an annotation',
      reply(assistant({ content: 'hi', annotations: [{ type: 'call', call: hidden }] }), 'stop'),
    ],
    [
      'the usage',
      replyOf([{ index: 0, message: assistant({ content: 'hi' }), finish_reason: 'stop' }], {
        usage: { total_tokens: 1, hidden, input: SECRET, details: { input: SECRET } },
      }),
    ],
    ['the refusal', reply(assistant({ content: 'hi', refusal: hidden }), 'stop')],
    [
      'the kind',
      { ...reply(assistant({ content: 'hi' }), 'stop'), object: `chat.completion.chunk.message:${ARGS}` },
    ],
  ])('is left out: %s', async (_where, value) => {
    const governed = await govern(value, judgeThatAllows('read', 'openai/web_search'))
    expect(JSON.stringify(governed)).not.toContain(SECRET)
    expect(governed).toMatchObject({ object: 'chat.completion', choices: [{ message: { content: 'hi' } }] })
  })

  test('is denied if it is a part of the content', async () => {
    const judge = judgeThatAllows('read')
    const content = [
      { type: 'text', text: 'one', extra: SECRET },
      { type: 'tool_use', id: 'c1', name: 'read', input: { path: SECRET } },
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
      { type: 'thinking', thinking: [{ type: 'tool_use', input: SECRET }] },
      { type: 'thinking', thinking: 'hm' },
      { type: 'thinking', thinking: { input: SECRET } },
      { type: 'refusal', refusal: 'no' },
    ]
    const governed = await govern(reply(assistant({ content, tool_calls: [called('wipe', ARGS)] })), judge)
    const text = { type: 'text', text: refusal() }
    expect(governed).toEqual(
      reply(
        assistant({
          content: [
            { type: 'text', text: 'one' },
            text,
            { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }], closed: true },
            text,
            { type: 'thinking', thinking: 'hm' },
            text,
            { type: 'refusal', refusal: 'no' },
            { type: 'text', text: `\n\n${refusal('wipe')}` },
          ],
        }),
        'stop',
      ),
    )
    expect(judge.asked[0]?.map((proposal) => proposal.tool)).toEqual([
      undefined,
      undefined,
      undefined,
      'wipe',
    ])
  })

  test('is denied if the content holds nothing else', async () => {
    const governed = await govern(
      reply(assistant({ content: [], tool_calls: [called('wipe', ARGS)] })),
      judgeThatAllows(),
    )
    expect(governed).toEqual(reply(assistant({ content: [{ type: 'text', text: refusal('wipe') }] }), 'stop'))
  })
})

describe('other members', () => {
  test('are forwarded if known', async () => {
    const value = replyOf(
      [
        {
          index: 0,
          message: assistant({
            content: 'hi',
            audio: { id: 'a', data: 'AAAA', expires_at: 9, transcript: 'hi' },
            reasoning: 'hm',
            reasoning_content: 'hm hm',
          }),
          finish_reason: 'stop',
          logprobs: {
            content: [{ token: 'hi', logprob: -0.1, bytes: [104, 105], top_logprobs: [] }],
            refusal: null,
          },
        },
      ],
      { service_tier: 'default', system_fingerprint: 'fp' },
    )
    expect(await govern(value, judgeThatAllows())).toEqual(value)
  })

  test('have the role of the assistant', async () => {
    const governed = await govern(reply({ role: 'tool', content: 'hi' }, 'stop'), judgeThatAllows())
    expect(governed).toEqual(reply({ role: 'assistant', content: 'hi' }, 'stop'))
  })

  test('have citations only of an allowed search', async () => {
    const citation = { start_index: 0, end_index: 2, url: 'https://x.test', title: 'X' }
    const annotations = [
      { type: 'url_citation', url_citation: { ...citation, arguments: SECRET } },
      { type: 'novel', novel: SECRET },
    ]
    const known = [{ type: 'url_citation', url_citation: citation }]
    const value = reply(assistant({ content: 'hi', annotations }), 'stop')
    const judge = judgeThatAllows('openai/web_search')
    expect(await govern(value, judge)).toEqual(
      reply(assistant({ content: 'hi', annotations: known }), 'stop'),
    )
    expect(judge.noted).toEqual([['openai/web_search', { annotations: known }]])
    expect(await govern(value, judgeThatAllows())).toEqual(reply(assistant({ content: 'hi' }), 'stop'))
  })

  test.each<[string, string | null]>([
    ['other words', 'hi'],
    ['no words', null],
    ['empty words', ''],
  ])('has no probabilities of a call: %s', async (_what, content) => {
    const token = {
      token: content === '' ? '' : SECRET,
      logprob: -1,
      bytes: [1],
      top_logprobs: [{ token: SECRET }],
    }
    const value = reply(assistant({ content, tool_calls: [called('wipe', ARGS)] }), 'tool_calls', {
      logprobs: { content: [token], refusal: [token], tool_calls: [token] },
    })
    const governed = await govern(value, judgeThatAllows())
    expect(governed).toMatchObject({ choices: [{ logprobs: { content: null, refusal: null } }] })
    expect(JSON.stringify(governed)).not.toContain(SECRET)
  })
})

describe('a violation of the dialect', () => {
  const choice = { index: 0, message: assistant({ content: 'hi' }), finish_reason: 'stop' }
  const many = Array.from({ length: 257 }, (_, at) => called('read', '{}', `c${at}`))

  test.each<[string, Json]>([
    ['a list', []],
    ['a text', SECRET],
    ['without choices', { error: { message: SECRET } }],
    ['with choices that are no list', replyOf({ 0: choice })],
    ['with a choice that is no object', replyOf([SECRET])],
    ['with a choice without a message', replyOf([{ index: 0, delta: {}, finish_reason: 'stop' }])],
    ['with a choice without an index', replyOf([{ message: assistant({ content: SECRET }) }])],
    ['with an index below zero', replyOf([{ ...choice, index: -1 }])],
    ['with half an index', replyOf([{ ...choice, index: 0.5 }])],
    ['with a content that is an object', reply(assistant({ content: { type: 'tool_use', input: SECRET } }))],
    ['with a part that is a text', reply(assistant({ content: [SECRET] }))],
    ['with calls that are no list', reply(assistant({ tool_calls: { 0: called('read', ARGS) } }))],
    ['with calls that are a text', reply(assistant({ tool_calls: ARGS }))],
    ['with a call that is no object', reply(assistant({ tool_calls: [ARGS] }))],
    ['with a call that is a list', reply(assistant({ tool_calls: [[called('read', ARGS)]] }))],
    ['with a legacy call that is a list', reply(assistant({ function_call: [ARGS] }))],
    ['with a reason that is an object', reply(assistant({ content: 'hi' }), { call: SECRET })],
    ['with a reason that is no word', reply(assistant({ content: 'hi' }), `{"${SECRET}"`)],
    ['with too many calls', reply(assistant({ tool_calls: many }))],
    ['with too many choices', replyOf(Array.from({ length: 1025 }, () => choice))],
    [
      'with too many parts',
      reply(assistant({ content: Array.from({ length: 1025 }, () => ({ type: 'text', text: '' })) })),
    ],
    [
      'with arguments without end',
      reply(assistant({ tool_calls: [called('read', ' '.repeat(4 * 1024 * 1024 + 1))] })),
    ],
  ])('is an error, with nothing of it: %s', async (_what, value) => {
    const judge = judgeThatAllows('read')
    const error: unknown = await govern(value, judge).catch((fault: unknown) => fault)
    expect(error).toBeInstanceOf(Garbled)
    expect(String(error)).not.toContain(SECRET)
    expect(judge.asked).toEqual([])
  })

  test('the maximum number of calls is judged', async () => {
    const governed = await govern(reply(assistant({ tool_calls: many.slice(1) })), judgeThatAllows('read'))
    expect(governed).toEqual(reply(assistant({ tool_calls: many.slice(1) })))
  })
})

describe('the clients accept the output', () => {
  const mixed = reply(
    assistant({ content: 'Let me see.', tool_calls: [called('read', '{"path":"a"}'), called('wipe', ARGS)] }),
  )
  const whole = async (): Promise<string> => JSON.stringify(await govern(mixed, judgeThatAllows('read')))
  const content = `Let me see.\n\n${refusal('wipe')}`
  const done = JSON.stringify(reply(assistant({ content: 'Done.' }), 'stop'))
  const schema = { type: 'object', properties: { path: { type: 'string' } } } as const

  test('openai', async () => {
    const ran: string[] = []
    const { fetch, sent } = scriptedFetch('whole', await whole(), done)
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://gate.test/v1', fetch, maxRetries: 0 })
    const run = (name: string) => ({
      type: 'function' as const,
      function: {
        name,
        description: name,
        parameters: schema,
        function: (text: string) => `${name} ${ran.push(`${name} ${text}`)}`,
      },
    })
    const runner = client.chat.completions.runTools({
      model: 'm',
      messages: [{ role: 'user', content: 'go' }],
      tools: [run('read'), run('wipe')],
    })
    expect(await runner.finalContent()).toBe('Done.')
    expect(ran).toEqual(['read {"path":"a"}'])
    expect(sent[1]).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content },
        { role: 'tool', tool_call_id: 'call_read' },
      ],
    })
  })

  test('the AI SDK', async () => {
    const { fetch } = scriptedFetch('whole', await whole())
    const inputSchema = jsonSchema<{ path: string }>(schema)
    const result = await generateText({
      model: createOpenAI({ apiKey: 'k', fetch }).chat('m'),
      prompt: 'go',
      tools: { read: tool({ inputSchema }), wipe: tool({ inputSchema }) },
    })
    expect(result.text).toBe(content)
    expect(result.toolCalls).toMatchObject([
      { toolName: 'read', toolCallId: 'call_read', input: { path: 'a' } },
    ])
    expect(result.finishReason).toBe('tool-calls')
    expect(result.usage).toMatchObject({ inputTokens: 3, outputTokens: 5 })
  })

  test('LangChain', async () => {
    const { fetch } = scriptedFetch('whole', await whole())
    const model = new ChatOpenAI({ model: 'm', apiKey: 'k', configuration: { fetch }, maxRetries: 0 })
    const message = await model.invoke('go')
    expect(message.content).toBe(content)
    expect(message.tool_calls).toMatchObject([{ name: 'read', id: 'call_read', args: { path: 'a' } }])
    expect(message.invalid_tool_calls).toEqual([])
  })
})
