// Requests of Responses: files and images in results and user messages, unknown members, and limits.

import type { Json, JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { readBody, type ReadBody } from '../../src/llm/body.ts'
import { Refused, type Result } from '../../src/llm/dialect.ts'
import { readRequest, type ResponsesReading } from '../../src/llm/openai-responses/request.ts'
import { SECRET } from './openai-responses-rig.ts'
import { withoutPlaces } from './hosted-facts.ts'

const NONE: ReadonlySet<string> = new Set()
const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
const dataUrl = (media: string, text: string | Uint8Array): string => `data:${media};base64,${base64(text)}`

function read(body: JsonObject): ResponsesReading {
  return withoutPlaces(readRequest({ model: 'm', ...body }, NONE))
}

function refusalOf(body: JsonObject): Refused {
  try {
    read(body)
  } catch (fault) {
    if (fault instanceof Refused) return fault
    throw fault
  }
  throw new Error('it was not refused')
}

const outputOf = (...parts: Json[]): JsonObject => ({
  type: 'function_call_output',
  call_id: 'c',
  output: parts,
})
const file = (file_data: Json, more: JsonObject = {}): JsonObject => ({
  type: 'input_file',
  file_data,
  ...more,
})
const image = (image_url: Json, more: JsonObject = {}): JsonObject => ({
  type: 'input_image',
  image_url,
  ...more,
})

const restoring =
  (body: ReadBody) =>
  (text: string): string => {
    const whole = body.restored(text)
    return typeof whole === 'string' ? whole : ''
  }

function resultIn({ turns }: ResponsesReading): Result {
  const result = turns.find((turn) => turn.kind === 'result')
  if (!result) throw new Error('there is no result')
  return result
}

describe('files in results', () => {
  const PIECE = 'Straße "a"\n, %41'
  const FORMS: Readonly<Record<string, (text: string) => string>> = {
    'plain text': (text) => dataUrl('text/plain', text),
    'text in UTF-8': (text) => dataUrl('text/plain;charset=utf-8', text),
    'a page': (text) => dataUrl('text/html', text),
    JSON: (text) => dataUrl('application/json', text),
    'a problem in JSON': (text) => dataUrl('application/problem+json', text),
    XML: (text) => dataUrl('application/xml', text),
    'another case': (text) => `DATA:Text/CSV;BASE64,${base64(text)}`,
    'bare base64': (text) => base64(text),
    'bare base64 for addresses': (text) => Buffer.from(`${text}???>>>`).toString('base64url'),
    'text as such': (text) => `data:text/plain,${encodeURIComponent(text)}`,
    'no media type': (text) => `data:;base64,${base64(text)}`,
    'text that calls itself bytes': (text) => dataUrl('application/octet-stream', text),
    'text that calls itself a document': (text) => dataUrl('application/pdf', text),
  }
  test.each(Object.entries(FORMS))('that are text are read and rewritten: %s', (name, form) => {
    const more = name.endsWith('addresses') ? '???>>>' : ''
    const item = outputOf({ type: 'input_text', text: 'x' }, file(form(PIECE), { filename: 'f.txt' }))
    const reading = read({ input: [item] })
    const result = resultIn(reading)
    expect(result.texts).toEqual(['x', 'f.txt', PIECE + more])
    expect(reading.changed).toBe(false)
    result.rewrite(result.texts)
    expect(item).toEqual(
      outputOf({ type: 'input_text', text: 'x' }, file(form(PIECE), { filename: 'f.txt' })),
    )
    result.rewrite(['y', 'g.txt', `Redacted ß${more}`])
    expect(item).toEqual(
      outputOf({ type: 'input_text', text: 'y' }, file(form('Redacted ß'), { filename: 'g.txt' })),
    )
  })

  test('with line breaks are read whole', () => {
    const lines = base64('a long text in base64').replaceAll(/.{8}/g, '$&\r\n')
    expect(resultIn(read({ input: [outputOf(file(`data:text/plain;base64,${lines}`))] })).texts).toEqual([
      'a long text in base64',
    ])
  })

  test.each([
    dataUrl('application/pdf', '%PDF-1.7 text'),
    base64(Uint8Array.of(0x50, 0x4b, 3, 4, 0xff, 0)),
    dataUrl('application/vnd.openxmlformats-officedocument.wordprocessingml.document', Uint8Array.of(0xff)),
    dataUrl('image/png', Uint8Array.of(0x89, 0x50)),
    null,
  ])('that are documents pass unread: %s', (data) => {
    const item = outputOf(file(data))
    const before = structuredClone(item)
    const result = resultIn(read({ input: [item] }))
    expect(result.texts).toEqual([])
    result.rewrite([])
    expect(item).toEqual(before)
  })

  test('of any size are read, and forwarded in full if nothing is rewritten', () => {
    const long = `${SECRET} `.repeat(10_000)
    const picture = `data:image/png;base64,${'A'.repeat(100_000)}`
    const asked = {
      model: 'm',
      input: [
        outputOf(file(dataUrl('text/plain', long)), file(base64(long)), image(picture)),
        { role: 'user', content: [file(dataUrl('text/plain', long))] },
      ],
    }
    const body = readBody(Buffer.from(JSON.stringify(asked)))
    expect(JSON.stringify(body.value).length).toBeLessThan(2000)
    const reading = readRequest(body.value, NONE, restoring(body))
    const result = resultIn(reading)
    expect(result.texts).toEqual([long, long])
    expect(reading.turns.at(-1)).toEqual({ kind: 'said', channel: 'TOOL_OUTPUT', text: long })
    result.rewrite([long, 'short'])
    const written: unknown = JSON.parse(Buffer.concat(body.written(true)).toString())
    const expected = structuredClone(asked)
    expected.input[0] = outputOf(file(dataUrl('text/plain', long)), file(base64('short')), image(picture))
    expect(written).toEqual(expected)
  })

  test('that hide text behind their size are refused like any other', () => {
    const odd = `data:text/plain;base64,${'A'.repeat(100_000)}`
    const body = readBody(Buffer.from(JSON.stringify({ model: 'm', input: [outputOf(image(odd))] })))
    expect(() => readRequest(body.value, NONE, restoring(body))).toThrow(Refused)
  })

  const REFUSED: Readonly<Record<string, JsonObject>> = {
    'a file elsewhere': { type: 'input_file', file_url: `https://a.test/${SECRET}` },
    'a file at the provider': { type: 'input_file', file_id: SECRET },
    'a file here and elsewhere': file(base64('a'), { file_url: `https://a.test/${SECRET}` }),
    'text that is not UTF-8': file(dataUrl('text/plain', Uint8Array.of(0xff, 0xfe, 0x41, 0))),
    'text in another alphabet': file(dataUrl('text/plain;charset=utf-7', SECRET)),
    'what is no base64': file(`data:text/plain;base64,${base64(SECRET)}!`),
    'base64 that continues after its end': file(`data:text/plain;base64,YQ==${base64(SECRET)}`),
    'text as such that is broken': file(`data:text/plain,${SECRET}%`),
    'bare words': file(`${SECRET} and more`),
    'bare text': file(`${SECRET}, and more`),
    'data that is no text': file([SECRET]),
    'a name that is no text': file(base64('a'), { filename: [SECRET] }),
    'a picture at the provider': { type: 'input_image', file_id: SECRET },
    'a picture that is text': image(dataUrl('text/plain', SECRET)),
    'a picture of no kind': image(`data:,${SECRET}`),
    'a picture in a file': image(`file:///${SECRET}`),
    'a picture that is an object': image({ url: SECRET }),
  }
  test.each(Object.entries(REFUSED))('that are unreadable are refused: %s', (_, part) => {
    const refused = refusalOf({ input: [outputOf(part)] })
    expect(refused).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'input' })
    expect(refused.message).toMatch(/; send /)
    expect(refused.message).not.toContain(SECRET)
  })
})

describe('images in results', () => {
  test('are forwarded if inline, and a link is read as text', () => {
    const item = outputOf(
      image('data:image/png;base64,iVBORw0KGgo=', { detail: 'low' }),
      image('https://a.test/p'),
    )
    const result = resultIn(read({ input: [item] }))
    expect(result.texts).toEqual(['https://a.test/p'])
    result.rewrite(['https://b.test'])
    expect(item).toEqual(
      outputOf(image('data:image/png;base64,iVBORw0KGgo=', { detail: 'low' }), image('https://b.test')),
    )
  })

  test('as SVG are read', () => {
    const item = outputOf(image(dataUrl('image/svg+xml', '<svg>a</svg>')))
    expect(resultIn(read({ input: [item] })).texts).toEqual(['<svg>a</svg>'])
  })

  test('of a screen follow the same rules', () => {
    const screen = (output: JsonObject): JsonObject => ({
      input: [
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', ...output } },
      ],
    })
    expect(resultIn(read(screen({ image_url: 'https://a.test/p' }))).texts).toEqual(['https://a.test/p'])
    expect(refusalOf(screen({ file_id: 'f' })).code).toBe('AMBIGUOUS_INPUT')
    expect(refusalOf(screen({ image_url: dataUrl('text/plain', SECRET) })).code).toBe('AMBIGUOUS_INPUT')
  })
})

describe('unknown members of results', () => {
  const CASES: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
    'of a text': [
      outputOf({ type: 'input_text', text: 'a', annotations: [{ text: SECRET }] }),
      outputOf({ type: 'input_text', text: 'a' }),
    ],
    'of a file': [outputOf(file('YQ==', { text: SECRET })), outputOf(file('YQ=='))],
    'of a picture': [
      outputOf(image('https://a.test', { alt: SECRET, detail: `${SECRET} and more` })),
      outputOf(image('https://a.test')),
    ],
    'of where a cache ends': [
      outputOf({ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit', x: SECRET } }),
      outputOf({ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }),
    ],
    'of an item': [{ ...outputOf(), summary: SECRET, id: [SECRET], status: `a ${SECRET}` }, outputOf()],
    'of a caller': [
      { ...outputOf(), caller: { type: 'program', caller_id: 'p', note: SECRET } },
      { ...outputOf(), caller: { type: 'program', caller_id: 'p' } },
    ],
    'of a command': [
      {
        type: 'shell_call_output',
        call_id: 'c',
        output: [
          { stdout: '', stderr: '', log: SECRET, outcome: { type: 'exit', exit_code: 0, why: SECRET } },
        ],
      },
      {
        type: 'shell_call_output',
        call_id: 'c',
        output: [{ stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    'of a check': [
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: 'https://a.test', caption: SECRET },
        acknowledged_safety_checks: [{ id: 'i', code: 'x', message: SECRET }, SECRET],
      },
      {
        type: 'computer_call_output',
        call_id: 'c',
        output: { type: 'computer_screenshot', image_url: 'https://a.test' },
        acknowledged_safety_checks: [{ id: 'i', code: 'x' }],
      },
    ],
  }
  test.each(Object.entries(CASES))('are removed: %s', (_, [came, left]) => {
    const item = structuredClone(came)
    const reading = read({ input: [item] })
    expect(item).toEqual(left)
    expect(reading.changed).toBe(true)
    expect(JSON.stringify(resultIn(reading).content)).not.toContain(SECRET)
    expect(read({ input: [item] }).changed).toBe(false)
  })

  test('do not include any known member', () => {
    const item = {
      ...outputOf({ type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }),
      id: null,
      status: 'completed',
      caller: { type: 'direct' },
    }
    const before = structuredClone(item)
    expect(read({ input: [item] }).changed).toBe(false)
    expect(item).toEqual(before)
  })

  test('of found tools include names that are not plain', () => {
    const odd = `do ${SECRET} now`
    const tools = [{ type: 'function', name: 'f', parameters: { properties: { [odd]: { type: 'string' } } } }]
    const item = { type: 'tool_search_output', call_id: 'c', execution: 'client', tools }
    const result = resultIn(read({ input: [item] }))
    expect(result.texts).toEqual(['function', 'f', odd, 'string'])
    result.rewrite(['function', 'f', 'gone', 'string'])
    expect(JSON.stringify(item)).toContain('{"properties":{"gone":{"type":"string"}}}')
  })
})

describe('files of users', () => {
  const said = (part: JsonObject): unknown[] => [
    ...read({ input: [{ role: 'user', content: [part] }] }).turns,
  ]
  test.each([dataUrl('text/plain', 'hello'), base64('hello'), dataUrl('application/json', 'hello')])(
    'that are text count as tool output: %s',
    (data) => {
      expect(said(file(data))).toEqual([{ kind: 'said', channel: 'TOOL_OUTPUT', text: 'hello' }])
    },
  )

  test('that are unreadable text count as received', () => {
    expect(said(file('a text'))).toEqual([{ kind: 'said', channel: 'TOOL_OUTPUT', text: 'a text' }])
  })

  test('of other kinds or at other places are forwarded unread', () => {
    expect(said(file(dataUrl('application/pdf', '%PDF-1.7')))).toEqual([])
    expect(said({ type: 'input_file', file_url: 'https://a.test' })).toEqual([])
    expect(said({ type: 'input_file', file_id: 'f' })).toEqual([])
    expect(said(image(dataUrl('image/png', 'x')))).toEqual([])
  })
})

describe('models that search the web', () => {
  test.each(['gpt-4o-search-preview', 'openai/gpt-4o:online', 'perplexity/sonar', 'GPT-5-Search-API'])(
    '%s',
    (model) => {
      expect(read({ model, input: 'hi' }).hosted).toEqual([
        { tool: 'openai/web_search', args: {}, known: true },
      ])
    },
  )

  test('do not include others', () => {
    expect(read({ model: 'gpt-5', input: 'hi' }).hosted).toEqual([])
  })

  test('include fallback models', () => {
    const body = { model: 'gpt-5', models: ['gpt-5', 'x:online'], input: 'hi' }
    expect(readRequest(body, new Set(['models'])).hosted).toMatchObject([{ tool: 'openai/web_search' }])
  })
})

describe('limits', () => {
  const many = (count: number, make: (index: number) => JsonObject): JsonObject[] =>
    Array.from({ length: count }, (_, index) => make(index))
  const named = (index: number): JsonObject => ({ type: 'function', name: `f${index}` })
  const result = (): JsonObject => ({ type: 'function_call_output', call_id: 'c', output: '' })
  const spread = (last: number): JsonObject => ({
    tools: many(2000, named),
    input: [
      { type: 'additional_tools', tools: [{ type: 'namespace', name: 'n', tools: many(1999, named) }] },
      { type: 'tool_search_output', execution: 'server', tools: many(last, named) },
    ],
  })

  const CASES: Readonly<Record<string, readonly [within: JsonObject, beyond: JsonObject, param: string]>> = {
    'tools that run at the provider': [
      { tools: many(128, () => ({ type: 'web_search' })) },
      { tools: many(129, () => ({ type: 'web_search' })) },
      'tools',
    ],
    'unknown tools': [
      { tools: many(128, () => ({ type: 'odd' })) },
      { tools: many(129, () => ({ type: 'odd' })) },
      'tools',
    ],
    tools: [{ tools: many(4096, named) }, { tools: many(4097, named) }, 'tools'],
    'tools in several places': [spread(96), spread(97), 'input'],
    items: [
      { input: many(20_000, () => ({ role: 'user', content: 'a' })) },
      { input: many(20_001, () => ({ role: 'user', content: 'a' })) },
      'input',
    ],
    results: [{ input: many(10_000, result) }, { input: many(10_001, result) }, 'input'],
  }
  test.each(Object.entries(CASES))('%s', (_, [within, beyond, param]) => {
    expect(read(within).stream).toBe(false)
    const refused = refusalOf(beyond)
    expect(refused).toMatchObject({ status: 400, code: 'REQUEST_TOO_LARGE', param })
    expect(refused.message).toContain('; leave out ')
  })

  test('a result with very many texts is read and rewritten in linear time', () => {
    const words = Array.from({ length: 1_000_000 }, () => 'a')
    const tools = [{ type: 'function', name: 'f', parameters: { enum: words } }]
    const found = resultIn(read({ input: [{ type: 'tool_search_output', execution: 'client', tools }] }))
    const began = performance.now()
    found.rewrite(found.texts)
    // Quadratic time would take minutes.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(found.texts).toHaveLength(1_000_002)
  })

  test('very many results can be withheld, each with its note', () => {
    const input: Json[] = many(10_000, (index) => ({
      type: 'tool_search_output',
      call_id: `c${index}`,
      tools: [],
    }))
    const { turns } = read({ input })
    for (const turn of turns.toReversed())
      if (turn.kind === 'result') turn.withhold(`note ${String(turn.ref)}`)
    expect(input).toHaveLength(20_000)
    expect(input.slice(-2)).toMatchObject([{ call_id: 'c9999' }, { role: 'user', content: 'note c9999' }])
    expect(input.slice(0, 2)).toMatchObject([{ call_id: 'c0' }, { role: 'user', content: 'note c0' }])
  })
})
