// Requests of Chat Completions: tools, texts and results, and refusals.

import type { Json, JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { Refused, type RequestReading, type Restored, type Result } from '../../src/llm/dialect.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import { readBody, type ReadBody } from '../../src/llm/body.ts'
import { searchesWeb } from '../../src/llm/parameters.ts'
import { withoutPlaces } from './hosted-facts.ts'

const HELLO = [{ role: 'user', content: 'hello' }]

function read(body: JsonObject, ...further: string[]): RequestReading {
  return withoutPlaces(openaiChat.readRequest({ model: 'm', messages: HELLO, ...body }, new Set(further)))
}

function refusalOf(body: JsonObject): Refused {
  try {
    read(body)
  } catch (error) {
    if (error instanceof Refused) return error
    throw error
  }
  throw new Error('the request was taken')
}

function resultsOf(body: JsonObject): readonly Result[] {
  return read(body).turns.filter((turn) => turn.kind === 'result')
}

/** The single result of a request. */
function resultOf(body: JsonObject): Result {
  const [result, ...more] = resultsOf(body)
  if (!result || more.length > 0) throw new Error('not one result')
  return result
}

/** Restores texts of a body, like the door. */
function restoredBy(body: ReadBody): Restored {
  return (text) => {
    const restored = body.restored(text)
    return typeof restored === 'string' ? restored : text
  }
}

const functionTool = (name: string, parameters?: Json): JsonObject => ({
  type: 'function',
  function: { name, ...(parameters === undefined ? {} : { parameters }) },
})

describe('parameters', () => {
  test('of the official client are known, also all at once', () => {
    const official = {
      audio: { format: 'wav', voice: 'alloy' },
      frequency_penalty: 0,
      function_call: 'auto',
      logit_bias: {},
      logprobs: true,
      max_completion_tokens: 1,
      max_tokens: 1,
      metadata: {},
      modalities: ['text'],
      moderation: { model: 'm' },
      n: 2,
      parallel_tool_calls: true,
      prediction: { type: 'content', content: 'x' },
      presence_penalty: 0,
      prompt_cache_key: 'k',
      prompt_cache_options: {},
      prompt_cache_retention: '24h',
      reasoning_effort: 'low',
      response_format: { type: 'text' },
      safety_identifier: 's',
      seed: 1,
      service_tier: 'auto',
      stop: null,
      store: true,
      stream_options: { include_usage: true },
      temperature: 1,
      tool_choice: 'auto',
      top_logprobs: 1,
      top_p: 1,
      user: 'u',
      verbosity: 'low',
    }
    expect(read(official).turns).toEqual([{ kind: 'said', channel: 'USER', text: 'hello' }])
  })

  test.each(['top_k', 'min_p', 'repetition_penalty', 'reasoning', 'guided_json', 'thinking', 'safe_prompt'])(
    'of compatible servers that only shape text are known: %s',
    (name) => {
      expect(read({ [name]: 1 }).stream).toBe(false)
    },
  )

  test.each([
    'compound_custom',
    'search_settings',
    'plugins',
    'models',
    'transforms',
    'search_parameters',
    'deferred',
    'data_sources',
    'enable_search',
    'logits_processors',
    'background',
    'previous_response_id',
    'conversation',
    'prompt',
    '__proto__',
  ])('that are not known are refused: %s', (name) => {
    const body: unknown = JSON.parse(`{"model":"m","messages":[],${JSON.stringify(name)}:{}}`)
    // Sound: a parsed object is an object.
    expect(() => openaiChat.readRequest(body as JsonObject, new Set())).toThrow(
      expect.objectContaining({ status: 400, code: 'ROUTE_NOT_GOVERNED', param: name }),
    )
  })

  test('that are unknown are allowed if configured', () => {
    expect(read({ plugins: [] }, 'plugins').stream).toBe(false)
    expect(() => read({ plugins: [], models: [] }, 'plugins')).toThrow(
      expect.objectContaining({ param: 'models' }),
    )
  })

  test('with a strange name are refused without quoting it', () => {
    const error = refusalOf({ 'evil\nname': 1 })
    expect(error).toMatchObject({ code: 'ROUTE_NOT_GOVERNED', param: undefined })
    expect(error.message).not.toContain('evil')
    expect(error.message).toContain('llm.openai.parameters')
  })

  test.each([
    [true, true],
    [false, false],
    [null, false],
  ])('stream: %s', (stream, expected) => {
    expect(read({ stream }).stream).toBe(expected)
  })

  test.each<[Json]>([['true'], [1], [0], [{}], [[]]])('a stream that is %j is refused', (stream) => {
    expect(refusalOf({ stream })).toMatchObject({ code: 'AMBIGUOUS_INPUT', param: 'stream' })
  })
})

describe('tools', () => {
  test('are declared by the names in a reply', () => {
    const parameters = { type: 'object', properties: { path: { type: 'string' } } }
    const { tools, hosted } = read({
      tools: [
        functionTool('read', parameters),
        functionTool('now'),
        { type: 'custom', custom: { name: 'shell' } },
      ],
      functions: [{ name: 'old', parameters }],
    })
    expect([...tools]).toEqual([
      ['read', { form: 'json', schema: parameters }],
      ['now', { form: 'json', schema: undefined }],
      ['shell', { form: 'text', schema: undefined }],
      ['old', { form: 'json', schema: parameters }],
    ])
    expect(hosted).toEqual([])
  })

  test.each<[string, JsonObject]>([
    ['functions', { tools: [functionTool('a'), functionTool('a')] }],
    [
      'a function and a custom tool',
      { tools: [functionTool('a'), { type: 'custom', custom: { name: 'a' } }] },
    ],
    ['a tool and a legacy function', { tools: [functionTool('a')], functions: [{ name: 'a' }] }],
    ['legacy functions', { functions: [{ name: 'a' }, { name: 'a' }] }],
  ])('two %s of one name are refused', (_what, body) => {
    expect(refusalOf(body)).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT' })
  })

  test.each<[string, JsonObject]>([
    ['no list', { tools: {} }],
    ['a text', { tools: ['read'] }],
    ['null', { tools: [null] }],
    ['a function without a name', { tools: [{ type: 'function', function: {} }] }],
    ['a function that is no object', { tools: [{ type: 'function', function: 'read' }] }],
    ['a custom tool with an empty name', { tools: [{ type: 'custom', custom: { name: '' } }] }],
    ['functions that are no list', { functions: 'read' }],
  ])('that are %s are refused', (_what, body) => {
    expect(refusalOf(body)).toMatchObject({ code: 'AMBIGUOUS_INPUT' })
  })

  test.each<[Json | undefined, string | undefined]>([
    ['web_search', 'openai/web_search'],
    ['browser_search', 'openai/browser_search'],
    ['mcp', 'openai/mcp'],
    ['openrouter:web_search', undefined],
    ['', undefined],
    [7, undefined],
    [undefined, undefined],
  ])('of the type %j are unknown', (type, tool) => {
    const entry = {
      ...(type === undefined ? {} : { type }),
      function: { name: 'f' },
      server_url: 'https://x',
    }
    const { tools, hosted } = read({ tools: [entry] })
    expect(hosted).toEqual([{ tool, args: {}, known: false }])
    expect(tools.size).toBe(0)
  })

  test('include a search that the provider runs', () => {
    const options = {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { city: 'Bern' } },
    }
    expect(read({ web_search_options: options }).hosted).toEqual([
      { tool: 'openai/web_search', args: options, known: true },
    ])
    expect(read({ web_search_options: {} }).hosted).toHaveLength(1)
    expect(read({ web_search_options: null }).hosted).toEqual([])
    expect(refusalOf({ web_search_options: true })).toMatchObject({ code: 'AMBIGUOUS_INPUT' })
  })

  test.each([
    'gpt-4o-search-preview',
    'gpt-4o-mini-search-preview-2025-03-11',
    'gpt-5-search-api',
    'GPT-4o-Search-Preview',
    'a/b:online',
    'a/b:ONLINE',
    'a/b:online:nitro',
    'a/b:free:Online',
    'perplexity/sonar-pro',
    'perplexity/r1-1776',
    'openrouter/perplexity/r1-1776',
    'sonar',
    'Sonar-Deep-Research',
    'groq/compound',
    'groq/compound-mini',
    'compound-beta',
    'compound-beta-mini',
    'Compound',
    ' sonar',
  ])('include a search for the model %s', (model) => {
    expect(read({ model }).hosted).toEqual([{ tool: 'openai/web_search', args: {}, known: true }])
    expect(read({ model, web_search_options: {} }).hosted).toHaveLength(1)
  })

  test('do not include a search for other models', () => {
    expect(read({ model: 'research-previewer' }).hosted).toEqual([])
    expect(read({ model: 'acme/supersonar' }).hosted).toEqual([])
    expect(read({ model: 'a/b:nitro' }).hosted).toEqual([])
    expect(read({ model: 7 }).hosted).toEqual([])
    expect(searchesWeb(undefined)).toBe(false)
  })

  test('include a search if one fallback model searches', () => {
    expect(read({ models: ['a/b', 'a/b:online'] }, 'models').hosted).toHaveLength(1)
    expect(read({ models: ['a/b', null] }, 'models').hosted).toEqual([])
  })

  test.each<[string, number, (count: number) => JsonObject]>([
    ['tools', 4096, (count) => ({ tools: Array.from({ length: count }, (_, at) => functionTool(`f${at}`)) })],
    [
      'functions and tools',
      4096,
      (count) => ({
        tools: [functionTool('first')],
        functions: Array.from({ length: count - 1 }, (_, at) => ({ name: `f${at}` })),
      }),
    ],
    ['hosted tools', 128, (count) => ({ tools: Array.from({ length: count }, () => ({ type: 'mcp' })) })],
    [
      'hosted tools and a search',
      128,
      (count) => ({
        web_search_options: {},
        tools: Array.from({ length: count - 1 }, () => ({ type: 'mcp' })),
      }),
    ],
  ])('more %s than %i are refused', (_what, most, bodyOf) => {
    const { tools, hosted } = read(bodyOf(most))
    expect(tools.size + hosted.length).toBe(most)
    expect(refusalOf(bodyOf(most + 1))).toMatchObject({ status: 400, code: 'REQUEST_TOO_LARGE' })
  })
})

describe('messages', () => {
  test('are read in order, each with its channel', () => {
    const { turns } = read({
      messages: [
        { role: 'system', content: 'be kind' },
        { role: 'developer', content: [{ type: 'text', text: 'be brief' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this?' },
            { type: 'image_url', image_url: { url: 'https://x/y.png' } },
            { type: 'file', file: { file_data: `data:text/plain;base64,${btoa('a note')}` } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
            { type: 'file', file: { file_id: 'file-1' } },
            { type: 'something-new', text: 'the upstream judges it' },
          ],
        },
        { role: 'assistant', content: 'a picture', tool_calls: null },
        { role: 'user', content: null },
      ],
    })
    expect(turns).toEqual([
      { kind: 'said', channel: 'USER', text: 'be kind' },
      { kind: 'said', channel: 'USER', text: 'be brief' },
      { kind: 'said', channel: 'USER', text: 'what is this?' },
      { kind: 'said', channel: 'TOOL_OUTPUT', text: 'a note' },
    ])
  })

  test.each<[string, Json]>([
    ['no list', 'hello'],
    ['missing', null],
    ['texts', ['hello']],
    ['of an unknown role', [{ role: 'ipython', content: 'x' }]],
    ['without a role', [{ content: 'x' }]],
    ['with a content that is an object', [{ role: 'user', content: { type: 'text', text: 'x' } }]],
    ['with a content that is a number', [{ role: 'system', content: 7 }]],
    ['with a part that is a text', [{ role: 'user', content: ['x'] }]],
    ['with calls that are no list', [{ role: 'assistant', tool_calls: {} }]],
    ['with a call that is no object', [{ role: 'assistant', tool_calls: ['x'] }]],
  ])('that are %s are refused', (_what, messages) => {
    expect(refusalOf({ messages })).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'messages' })
  })
})

describe('many messages', () => {
  test('are refused beyond 20,000', () => {
    const messages = (count: number): JsonObject => ({
      messages: Array.from({ length: count }, () => HELLO[0] ?? {}),
    })
    expect(read(messages(20_000)).turns).toHaveLength(20_000)
    expect(refusalOf(messages(20_001))).toMatchObject({
      status: 400,
      code: 'REQUEST_TOO_LARGE',
      param: 'messages',
    })
  })

  test('are refused with more than 10,000 results', () => {
    const messages = (count: number): JsonObject => ({
      messages: Array.from({ length: count }, (_, at) =>
        at % 2 === 0
          ? { role: 'tool', tool_call_id: 'c', content: 'x' }
          : { role: 'function', name: 'f', content: 'x' },
      ),
    })
    expect(read(messages(10_000)).turns).toHaveLength(10_000)
    expect(refusalOf(messages(10_001))).toMatchObject({
      status: 400,
      code: 'REQUEST_TOO_LARGE',
      param: 'messages',
    })
  })
})

describe('files', () => {
  const NOTE = 'Überweise 5 EUR'
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const saidIn = (data: Json): readonly unknown[] => {
    const content = [{ type: 'file', file: { filename: 'a', file_data: data } }]
    return read({ messages: [{ role: 'user', content }] }).turns
  }

  test.each<[string, string]>([
    ['a text', `data:text/plain;base64,${base64(NOTE)}`],
    ['a text with a charset', `data:text/plain;charset=utf-8;base64,${base64(NOTE)}`],
    ['a text in other letters', `DATA:Text/CSV; BASE64,${base64(NOTE)}`],
    ['a text that is escaped', `data:text/plain,${encodeURIComponent(NOTE)}`],
    ['a text of another type', `data:application/octet-stream;base64,${base64(NOTE)}`],
    ['a text of no type', `data:,${encodeURIComponent(NOTE)}`],
    ['base64 of a text', base64(NOTE)],
    ['base64 in lines', `${base64(NOTE).slice(0, 8)}\r\n${base64(NOTE).slice(8)}\n`],
    ['a text as it is', NOTE],
  ])('that are %s count as tool output', (_what, data) => {
    expect(saidIn(data)).toEqual([{ kind: 'said', channel: 'TOOL_OUTPUT', text: NOTE }])
  })

  test('that are SVG are text, also with invalid bytes', () => {
    expect(saidIn(`data:image/svg+xml;base64,${base64('<svg/>')}`)).toMatchObject([{ text: '<svg/>' }])
    expect(saidIn('data:text/plain;base64,YWL/')).toMatchObject([{ text: 'ab\uFFFD' }])
    expect(saidIn('data:text/plain,a%ZZ')).toMatchObject([{ text: 'a%ZZ' }])
  })

  test.each<[string, Json]>([
    ['pictures', 'data:image/png;base64,iVBORw0KGgo='],
    ['PDFs', 'data:application/pdf;base64,JVBERi0='],
    ['bytes', Buffer.from([0, 1, 2]).toString('base64')],
    ['links', 'https://x/y.pdf'],
    ['empty', ''],
    ['no text', 7],
  ])('that are %s say nothing', (_what, data) => {
    expect(saidIn(data)).toEqual([])
  })

  test.each([
    ['a data URL', 'data:text/plain;base64,'],
    ['base64', ''],
  ])('as %s are read however long they are', (_what, prefix) => {
    const text = 'a note. '.repeat(20_000)
    const content = [{ type: 'file', file: { file_data: prefix + base64(text) } }]
    const body = readBody(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })))
    expect(JSON.stringify(body.value).length).toBeLessThan(1000)
    const { turns } = openaiChat.readRequest(body.value, new Set(), restoredBy(body))
    expect(turns).toEqual([{ kind: 'said', channel: 'TOOL_OUTPUT', text }])
  })
})

describe('results', () => {
  const calls = {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } },
      { id: 'c2', type: 'custom', custom: { name: 'shell', input: 'ls' } },
      { id: 'c3', type: 'novel' },
    ],
  }
  const answer = (id: string, content: Json): JsonObject => ({ role: 'tool', tool_call_id: id, content })

  test('name their call, and their tool if the request has the call', () => {
    const results = resultsOf({
      messages: [
        answer('c1', 'early'),
        calls,
        answer('c1', 'one'),
        answer('c2', 'two'),
        answer('c3', 'three'),
      ],
    })
    expect(results.map(({ ref, tool, texts, failed }) => [ref, tool, texts, failed])).toEqual([
      ['c1', undefined, ['early'], false],
      ['c1', 'read', ['one'], false],
      ['c2', 'shell', ['two'], false],
      ['c3', undefined, ['three'], false],
    ])
  })

  test('of a `function_call` refer to it by name', () => {
    const result = resultOf({ messages: [{ role: 'function', name: 'old', content: 'done' }] })
    expect(result).toMatchObject({ ref: 'function:old', tool: 'old', content: 'done', texts: ['done'] })
  })

  test.each<[string, Json]>([
    ['a text', 'do as I say'],
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['no text', { a: 1 }],
    ['null', null],
  ])('with a name that is %s are forwarded without it', (_what, name) => {
    const messages = [
      { role: 'function', name, content: 'done' },
      { ...answer('c1', 'x'), name },
    ]
    const { turns, changed } = read({ messages })
    expect(turns).toMatchObject([
      { ref: undefined, tool: undefined },
      { ref: 'c1', tool: undefined },
    ])
    expect(changed).toBe(true)
    expect(messages).toEqual([{ role: 'function', content: 'done' }, answer('c1', 'x')])
  })

  test('lose members that were not read', () => {
    const text = { type: 'text', text: 'one' }
    const picture = {
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
    }
    const messages = [
      calls,
      {
        ...answer('c1', 'x'),
        name: 'mcp/read.file:1-a',
        reasoning_content: 'hidden',
        artifact: { a: 'hidden' },
      },
      answer('c2', [
        { ...text, cache_control: { type: 'hidden' }, annotations: ['hidden'] },
        { ...picture, alt: 'hidden', image_url: { ...picture.image_url, caption: 'hidden' } },
        { type: 'image_url', image_url: { url: 'https://x/y', detail: 'hidden' } },
      ]),
      { role: 'function', name: 'f', tool_call_id: 'is hidden', content: 'x' },
    ]
    const { turns, changed } = read({ messages })
    expect(changed).toBe(true)
    expect(turns).toHaveLength(3)
    expect(messages).toEqual([
      calls,
      { ...answer('c1', 'x'), name: 'mcp/read.file:1-a' },
      answer('c2', [text, picture, { type: 'image_url', image_url: { url: 'https://x/y' } }]),
      { role: 'function', name: 'f', content: 'x' },
    ])
  })

  test('stay unchanged if everything is known', () => {
    const cached = {
      cache_control: { ttl: '1h', type: 'ephemeral' },
      prompt_cache_breakpoint: { mode: 'explicit' },
    }
    const messages = [
      { ...answer('c1', [{ type: 'text', text: 'one', ...cached }]), name: 'read' },
      answer('c1', [
        { type: 'image_url', image_url: { url: 'https://x/y', detail: 'high' }, ...cached },
        { type: 'image_url', image_url: 'data:image/jpeg;base64,/9j/' },
      ]),
      { role: 'function', name: 'f', tool_call_id: 'c9', content: null },
    ]
    const before = structuredClone(messages)
    const { changed, turns } = read({ messages })
    expect(changed).toBe(false)
    expect(messages).toEqual(before)
    expect(turns.map((turn) => turn.kind === 'result' && turn.texts)).toEqual([['one'], ['https://x/y'], []])
  })

  test('keep removed members removed after rewriting', () => {
    const messages = [answer('c1', [{ type: 'text', text: 'one', hidden: 'hidden' }])]
    const result = resultOf({ messages })
    result.rewrite(['1'])
    expect(messages).toEqual([answer('c1', [{ type: 'text', text: '1' }])])
  })

  test('keep a long image in place', () => {
    const url = `data:image/png;base64,${'iVBO'.repeat(20_000)}`
    const messages = [answer('c1', [{ type: 'image_url', image_url: { url }, alt: 'hidden' }])]
    const body = readBody(Buffer.from(JSON.stringify({ model: 'm', messages })))
    const reading = openaiChat.readRequest(body.value, new Set(), restoredBy(body))
    expect(reading).toMatchObject({ changed: true, turns: [{ texts: [] }] })
    expect(JSON.parse(Buffer.concat(body.written(true)).toString())).toEqual({
      model: 'm',
      messages: [answer('c1', [{ type: 'image_url', image_url: { url } }])],
    })
  })

  test('with a long text that claims to be an image are refused', () => {
    const url = `data:text/plain;base64,${'aGlkZGVu'.repeat(20_000)}`
    const messages = [answer('c1', [{ type: 'image_url', image_url: { url } }])]
    const body = readBody(Buffer.from(JSON.stringify({ model: 'm', messages })))
    expect(() => openaiChat.readRequest(body.value, new Set(), restoredBy(body))).toThrow(
      expect.objectContaining({ code: 'AMBIGUOUS_INPUT' }),
    )
  })

  test('have links to images read, and forwarded as text if rewritten', () => {
    const messages = [answer('c1', [{ type: 'image_url', image_url: { url: 'https://x/?q=secret' } }])]
    const result = resultOf({ messages })
    expect(result.texts).toEqual(['https://x/?q=secret'])
    result.rewrite(['https://x/?q=[cut]'])
    expect(messages).toEqual([answer('c1', [{ type: 'text', text: 'https://x/?q=[cut]' }])])
  })

  test.each<[string, Json]>([
    ['a text', { url: 'data:text/plain;base64,aGlkZGVu' }],
    ['JSON', { url: 'data:application/json,%22hidden%22' }],
    ['a page', { url: 'data:text/html,hidden' }],
    ['a drawing in XML', { url: 'data:image/svg+xml;base64,aGlkZGVu' }],
    ['a picture that is not in base64', { url: 'data:image/png,hidden' }],
    ['a picture with words in place of base64', { url: 'data:image/png;base64,this is hidden' }],
    ['a picture with words in its head', { url: 'data:image/png;name=hidden;base64,iVBORw0KGgo=' }],
    ['of no type', { url: 'data:,hidden' }],
    ['elsewhere', { url: 'file:///hidden' }],
    ['no URL', { url: 'hidden' }],
    ['no text', { url: { hidden: true } }],
    ['missing', null],
    ['a text as it is', 'hidden'],
  ])('with a picture that is %s are refused, without a word of it', (_what, image) => {
    const error = refusalOf({ messages: [answer('c1', [{ type: 'image_url', image_url: image }])] })
    expect(error).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'messages' })
    expect(error.message).not.toContain('hidden')
  })

  test('have a text rewritten in place', () => {
    const messages = [calls, answer('c1', 'secret')]
    const result = resultOf({ messages })
    expect(result.content).toBe('secret')
    result.rewrite(['[cut]'])
    expect(messages[1]).toEqual(answer('c1', '[cut]'))
  })

  test('have parts rewritten in place, and images kept', () => {
    const picture = { type: 'image_url', image_url: { url: 'https://x/y.png' } }
    const messages = [
      answer('c1', [
        { type: 'text', text: 'one' },
        picture,
        { type: 'text', text: 'two', cache_control: {} },
      ]),
    ]
    const result = resultOf({ messages })
    expect(result.texts).toEqual(['one', 'https://x/y.png', 'two'])
    result.rewrite(['1', 'https://x/y.png', '2'])
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: '1' },
      picture,
      { type: 'text', text: '2', cache_control: {} },
    ])
  })

  test('refuse rewriting with another number of texts', () => {
    const messages = [answer('c1', 'one')]
    const result = resultOf({ messages })
    expect(() => result.rewrite([])).toThrow(RangeError)
    expect(() => result.rewrite(['a', 'b'])).toThrow(RangeError)
    expect(messages).toEqual([answer('c1', 'one')])
  })

  test.each<[string, Json]>([
    ['a text', 'secret'],
    [
      'parts',
      [
        { type: 'text', text: 'secret' },
        { type: 'image_url', image_url: { url: 'https://x/secret' } },
      ],
    ],
    ['nothing', null],
  ])('of %s are withheld whole', (_what, content) => {
    const messages = [answer('c1', content)]
    resultOf({ messages }).withhold('withheld by Tollgate')
    expect(messages).toEqual([answer('c1', 'withheld by Tollgate')])
  })

  test('without content have no texts', () => {
    const result = resultOf({ messages: [{ role: 'tool', tool_call_id: 'c1' }] })
    expect(result).toMatchObject({ content: null, texts: [] })
    result.rewrite([])
    expect(result.content).toBeNull()
  })

  test.each<[string, JsonObject]>([
    ['a part of an unknown kind', answer('c1', [{ type: 'input_text', text: 'hidden' }])],
    ['a text that is no text', answer('c1', [{ type: 'text', text: { hidden: true } }])],
    ['a part without a type', answer('c1', [{ text: 'hidden' }])],
    ['a part that is no object', answer('c1', ['hidden'])],
    ['a content that is an object', answer('c1', { text: 'hidden' })],
    ['no id', { role: 'tool', content: 'x' }],
    ['an id that is no text', { role: 'tool', tool_call_id: 7, content: 'x' }],
    ['an unknown part in a legacy result', { role: 'function', name: 'f', content: [{ type: 'file' }] }],
  ])('with %s are refused, without a word of them', (_what, message) => {
    const error = refusalOf({ messages: [message] })
    expect(error).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'messages' })
    expect(error.message).not.toContain('hidden')
  })
})
