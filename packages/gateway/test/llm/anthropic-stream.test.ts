// Streams of Messages: their output, its timing and its order.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { Garbled, type Judge, type Ruling } from '../../src/llm/dialect.ts'
import {
  bad,
  block,
  call,
  deltas,
  eventsIn,
  indexIn,
  objectIn,
  textIn,
  MESSAGE_START,
  MESSAGE_STOP,
  messageDelta,
  PING,
  refusal,
  reply,
  replyOf,
  rewritten,
  ScriptedJudge,
  SECRET,
  sse,
  start,
  stop,
  thought,
  weather,
  words,
  type Scripted,
} from './anthropic-rig.ts'

const judge = (): ScriptedJudge => new ScriptedJudge('weather', 'anthropic/web_search')

/** The blocks in the events of a stream, in order. Inputs are texts. */
function blocksIn(text: string): readonly JsonObject[] {
  const blocks: Record<string, Json>[] = []
  const open = new Set<number>()
  for (const event of eventsIn(text)) {
    const index = indexIn(event)
    if (event.type === 'content_block_start') {
      expect(index).toBe(blocks.length)
      blocks.push({ ...objectIn(event, 'content_block') })
      open.add(index)
    }
    if (event.type === 'content_block_stop') expect(open.delete(index)).toBe(true)
    if (event.type !== 'content_block_delta') continue
    expect(open.has(index)).toBe(true)
    const target = blocks[index] ?? {}
    const delta = objectIn(event, 'delta')
    for (const from of Object.keys(delta).filter((name) => name !== 'type')) {
      const name = from === 'partial_json' ? 'input' : from
      target[name] = textIn(target, name) + textIn(delta, from)
    }
  }
  expect(open.size).toBe(0)
  return blocks
}

async function check(
  events: readonly JsonObject[],
  expected: readonly JsonObject[],
  stopReason: string,
  ruling: Judge = judge(),
): Promise<void> {
  const { text, ended } = await rewritten(events, ruling)
  expect(ended).toBe(true)
  expect(text).not.toContain(SECRET)
  expect(blocksIn(text)).toEqual(expected)
  const last = eventsIn(text).findLast(({ type }) => type === 'message_delta')
  expect(last).toMatchObject({ delta: { stop_reason: stopReason }, usage: { output_tokens: 34 } })
}

async function checkGarbled(...events: readonly JsonObject[]): Promise<void> {
  let text = ''
  const rewriter = anthropicMessages.openStream(judge())
  await expect(
    (async () => {
      for (const event of events) text += await rewriter.take(sse(event))
    })(),
  ).rejects.toThrow(Garbled)
  expect(text).not.toContain(SECRET)
  expect(rewriter.ended).toBe(false)
  // It stays broken, whatever follows.
  expect(() => rewriter.take(sse(MESSAGE_STOP))).toThrow(Garbled)
}

const said = (text: string): JsonObject => ({ type: 'text', text })
const called = (id: string, city = 'Oslo'): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'weather',
  input: `{"city":"${city}"}`,
})

describe('calls', () => {
  test('an allowed call is forwarded with the canonical text of its arguments', () =>
    check(
      replyOf('tool_use', words('Let me see.'), weather('a')),
      [said('Let me see.'), called('a')],
      'tool_use',
    ))

  test('a denied call becomes a text, and the stop reason changes', () =>
    check(replyOf('tool_use', words('Ha. '), bad('a')), [said('Ha. '), said(refusal('shell'))], 'end_turn'))

  test('each of several calls is judged separately', () =>
    check(
      replyOf('tool_use', weather('a'), bad('b'), words('and'), weather('c', 'Rome')),
      [called('a'), said(refusal('shell')), said('and'), called('c', 'Rome')],
      'tool_use',
    ))

  test('calls interleaved with text leave in the order in which they are complete', async () => {
    const [a, b, c] = [words('one ', 'two'), weather('a'), bad('b')]
    const mixed = [start(0, b), start(1, c), start(2, a), ...deltas(1, c), ...deltas(2, a), stop(1), stop(2)]
    await check(
      reply('tool_use', ...mixed, ...deltas(0, b), stop(0)),
      [said('one two'), said(refusal('shell')), called('a')],
      'tool_use',
    )
  })

  test('the arguments may come with the start', () =>
    check(
      replyOf('tool_use', {
        start: { type: 'tool_use', id: 'a', name: 'weather', input: { z: 1, b: 2 } },
        deltas: [],
      }),
      [{ type: 'tool_use', id: 'a', name: 'weather', input: '{"b":2,"z":1}' }],
      'tool_use',
    ))

  test('a call without arguments is forwarded when something follows it', async () => {
    const bare = call('a', 'weather', '')
    const expected = { type: 'tool_use', id: 'a', name: 'weather', input: '{}' }
    await check(replyOf('tool_use', bare), [expected], 'tool_use')
    await check(replyOf('max_tokens', bare, words('so')), [expected, said('so')], 'max_tokens')
  })

  test('a call that was cut before its arguments is denied', async () => {
    const cut = [said(refusal(undefined))]
    await check(replyOf('max_tokens', call('a', 'weather', '')), cut, 'max_tokens')
    await check(reply('max_tokens', start(0, call('a', 'weather'))), cut, 'max_tokens')
    await check(replyOf('refusal', call('a', 'weather')), cut, 'refusal')
  })

  test('a call that was cut in its arguments is denied, stopped or not', async () => {
    const cut = call('a', 'weather', '{"city":"', SECRET)
    await check(replyOf('max_tokens', cut), [said(refusal('weather'))], 'max_tokens')
    await check(
      reply('max_tokens', start(0, cut), ...deltas(0, cut)),
      [said(refusal(undefined))],
      'max_tokens',
    )
    const ruling = judge()
    const whole = reply('tool_use', start(0, weather('a')), ...deltas(0, weather('a')))
    await check(whole, [said(refusal(undefined))], 'end_turn', ruling)
    expect(ruling.asked).toMatchObject([{ tool: undefined, declared: undefined, args: '{"city": "Oslo"}' }])
  })

  test('open blocks are closed at an end without a reason, and open calls are denied', async () => {
    const events = [
      MESSAGE_START,
      start(0, words()),
      start(1, weather('a')),
      ...deltas(1, weather('a')),
      MESSAGE_STOP,
    ]
    const { text, ended } = await rewritten(events, judge())
    expect(ended).toBe(true)
    expect(blocksIn(text)).toEqual([said(''), said(refusal(undefined))])
    expect(eventsIn(text).at(-1)).toEqual({ type: 'message_stop' })
  })

  test('a stream that just stops has not ended, and nothing held was sent', async () => {
    const { text, ended } = await rewritten(
      [MESSAGE_START, start(0, bad('a')), ...deltas(0, bad('a'))],
      judge(),
    )
    expect(ended).toBe(false)
    expect(eventsIn(text).map(({ type }) => type)).toEqual(['message_start'])
  })

  test('the second of two calls with one id is denied', () =>
    check(
      replyOf('tool_use', weather('a'), weather('a', SECRET)),
      [called('a'), said(refusal(undefined))],
      'tool_use',
    ))

  test('a call without a readable id or name is denied', async () => {
    const of = (more: JsonObject): Scripted => ({
      start: { type: 'tool_use', input: { a: SECRET }, ...more },
      deltas: [],
    })
    for (const odd of [
      { name: 'weather' },
      { id: 'a' },
      { id: '', name: 'weather' },
      { id: 7, name: 'weather' },
      { id: 'a', name: ['weather'] },
      { id: 'a', name: 'w'.repeat(300) },
      { id: 'a', name: 'weather', toolset_name: 'elsewhere' },
    ]) {
      await check(replyOf('tool_use', of(odd)), [said(refusal(undefined))], 'end_turn')
    }
  })

  test('a call of a toolset has both names', async () => {
    const ruling = new ScriptedJudge('browser/navigate')
    const navigate = { type: 'tool_use', id: 'a', name: 'navigate', toolset_name: 'browser', input: {} }
    const script = { start: navigate, deltas: [{ type: 'input_json_delta', partial_json: '{"url":"x"}' }] }
    await check(replyOf('tool_use', script), [{ ...navigate, input: '{"url":"x"}' }], 'tool_use', ruling)
    await check(
      replyOf('tool_use', call('a', 'navigate', '{"url":"x"}')),
      [said(refusal('navigate'))],
      'end_turn',
      ruling,
    )
  })

  test('the caller is forwarded in short words, other members are not', async () => {
    const base = { type: 'tool_use', id: 'a', name: 'weather', input: {} }
    const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
    const script = { start: { ...base, caller: { ...caller, more: SECRET }, input_text: SECRET }, deltas: [] }
    await check(replyOf('tool_use', script), [{ ...base, caller, input: '{}' }], 'tool_use')
  })

  test('a call without a ruling is not forwarded', async () => {
    const none: Judge = { judge: () => Promise.resolve([]), ran: () => false }
    await expect(rewritten(replyOf('tool_use', weather('a')), none)).rejects.toThrow(Garbled)
    const all: Judge = {
      judge: (asked) => Promise.resolve(asked.map((): Ruling => ({ allowed: true, args: '{}' }))),
      ran: () => false,
    }
    await expect(
      rewritten(replyOf('tool_use', { start: { type: 'new_call' }, deltas: [] }), all),
    ).rejects.toThrow(Garbled)
  })
})

describe('timing', () => {
  test('text leaves in the same turn, also while a call is held', () => {
    const rewriter = anthropicMessages.openStream(judge())
    const take = (event: JsonObject): unknown => rewriter.take(sse(event))
    take(MESSAGE_START)
    expect(take(start(0, bad('a')))).toBe('')
    expect(deltas(0, bad('a')).map(take)).toEqual(['', '', ''])
    expect(take(start(1, thought('', '')))).toContain('"index":0')
    const [thinking, signature] = deltas(1, thought('hm', 'sig'))
    expect(take(thinking ?? {})).toBe(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}\n\n',
    )
    expect(take(signature ?? {})).toContain('"signature":"sig"')
    expect(take(stop(1))).toContain('"index":0')
    expect(take(PING)).toBe('event: ping\ndata: {"type":"ping"}\n\n')
    expect(take(stop(0))).toBeInstanceOf(Promise)
  })

  test('no event is taken while a ruling is awaited', () => {
    const rewriter = anthropicMessages.openStream(judge())
    for (const event of [MESSAGE_START, ...block(0, bad('a'))]) void rewriter.take(sse(event))
    expect(() => rewriter.take(sse(stop(0)))).toThrow(Garbled)
  })

  test('no event after the end is forwarded', async () => {
    const rewriter = anthropicMessages.openStream(judge())
    for (const event of replyOf('end_turn', words('a'))) await rewriter.take(sse(event))
    expect(rewriter.take({ type: 'message', data: new TextEncoder().encode('[DONE]') })).toBe('')
    expect(rewriter.take(sse(start(1, bad('a'))))).toBe('')
    expect(rewriter.ended).toBe(true)
  })
})

describe('other members', () => {
  test('are forwarded only if known', async () => {
    const mark = (_: string, value: Json): Json =>
      isObject(value) ? { ...value, extra: `${SECRET} and more` } : value
    // Sound: an object stays an object.
    const marked = JSON.parse(JSON.stringify(replyOf('end_turn', words('a')), mark)) as readonly JsonObject[]
    await check(marked, [said('a')], 'end_turn')
  })

  test('citations, compactions, fallbacks and redacted thoughts', async () => {
    const citation = { type: 'page_location', cited_text: 'x', document_index: 0, document_title: null }
    const kinds: Scripted[] = [
      { start: { type: 'redacted_thinking', data: 'AAA' }, deltas: [] },
      {
        start: { type: 'compaction', content: null },
        deltas: [{ type: 'compaction_delta', content: 'sum' }],
      },
      {
        start: {
          type: 'fallback',
          from: { model: 'a' },
          to: { model: 'b' },
          trigger: { type: 'refusal', category: null },
        },
        deltas: [],
      },
      { start: { type: 'text', text: 'q', citations: [] }, deltas: [{ type: 'citations_delta', citation }] },
    ]
    const { text } = await rewritten(replyOf('end_turn', ...kinds), judge())
    const out = eventsIn(text)
    const starts = out
      .filter(({ type }) => type === 'content_block_start')
      .map((event) => event.content_block)
    expect(starts).toEqual(kinds.map((kind) => kind.start))
    expect(out.filter(({ type }) => type === 'content_block_delta').map((event) => event.delta)).toEqual([
      { type: 'compaction_delta', content: 'sum' },
      { type: 'citations_delta', citation },
    ])
  })

  test('deltas of text are rebuilt, to the byte', async () => {
    const at = (type: string, members: JsonObject): JsonObject => ({
      type: 'content_block_delta',
      index: 7,
      hidden: SECRET,
      delta: { hidden: SECRET, ...members, partial_json: SECRET, type },
    })
    const odd = 'a "b"\n\u2028\ud800 \\ \u{1f30b}\r\n\r\nevent: x'
    const lines = (index: number, delta: JsonObject): string =>
      `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index, delta })}\n\n`
    for (const [given, type, members] of [
      [words(), 'text_delta', { text: odd }],
      [words(), 'text_delta', { text: '' }],
      [thought('', ''), 'thinking_delta', { thinking: odd, estimated_tokens: 3 }],
      [thought('', ''), 'signature_delta', { signature: odd }],
    ] as const) {
      const before = await rewritten([MESSAGE_START, ...block(0, words()), start(7, given)], judge())
      const { text } = await rewritten(
        [MESSAGE_START, ...block(0, words()), start(7, given), at(type, members)],
        judge(),
      )
      expect(text.slice(before.text.length)).toBe(lines(1, { type, ...members }))
    }
  })

  test('an error is forwarded, shortened, and ends the stream', async () => {
    const error = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'x'.repeat(900) },
      more: SECRET,
    }
    const { text, ended } = await rewritten([MESSAGE_START, start(0, bad('a')), error], judge())
    expect(ended).toBe(true)
    expect(eventsIn(text).at(-1)).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'x'.repeat(500) },
    })
    const odd = await rewritten([{ type: 'error', error: [SECRET] }], judge())
    expect(eventsIn(odd.text)).toEqual([
      { type: 'error', error: { type: 'api_error', message: 'the upstream reported an error' } },
    ])
  })

  test('unknown events are dropped, unless they may hold a call', async () => {
    const harmless = { type: 'billing', figures: { cost: 3, note: SECRET } }
    await check(reply('end_turn', harmless, ...block(0, words('a'))), [said('a')], 'end_turn')
    for (const odd of [
      { type: 'tool_proposal', id: 'a' },
      { type: 'news', items: [{ type: 'tool_use', id: 'a', name: 'shell' }] },
      { type: 'news', item: { input: { a: SECRET } } },
      { type: 'news', call: 'x' },
      { type: 'content_block_replace', index: 0 },
    ]) {
      await checkGarbled(MESSAGE_START, odd)
    }
    let deep: Json = {}
    for (let depth = 0; depth < 40; depth++) deep = { a: deep }
    await checkGarbled(MESSAGE_START, { type: 'news', deep })
  })
})

describe('items that the provider ran', () => {
  const search: Scripted = {
    start: { type: 'server_tool_use', id: 's', name: 'web_search', input: {}, extra: SECRET },
    deltas: [
      { type: 'input_json_delta', partial_json: '{"query":' },
      { type: 'input_json_delta', partial_json: '"fjords"}' },
    ],
  }
  const found = {
    type: 'web_search_result',
    url: 'https://a.test',
    title: 'A',
    encrypted_content: 'E',
    page_age: null,
  }
  const result: Scripted = {
    start: { type: 'web_search_tool_result', tool_use_id: 's', content: [{ ...found, extra: SECRET }] },
    deltas: [],
  }

  test('are forwarded whole if they were allowed', async () => {
    const ruling = judge()
    await check(
      replyOf('end_turn', search, result, words('so')),
      [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: '{"query":"fjords"}' },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [found] },
        said('so'),
      ],
      'end_turn',
      ruling,
    )
    expect(ruling.noted).toEqual([
      [
        'anthropic/web_search',
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'fjords' } },
      ],
      ['anthropic/web_search', { type: 'web_search_tool_result', tool_use_id: 's', content: [found] }],
    ])
    expect(ruling.asked).toEqual([])
  })

  test('are replaced if they were not', async () => {
    const ruling = new ScriptedJudge()
    const unknown = said(refusal(undefined))
    await check(replyOf('end_turn', search, result), [unknown, unknown], 'end_turn', ruling)
    expect(ruling.asked).toMatchObject([{ tool: undefined }, { tool: undefined }])
  })

  test('are replaced if their input is incomplete, or their name is unknown', async () => {
    const unknown = said(refusal(undefined))
    const half = { ...search, deltas: search.deltas.slice(0, 1) }
    await check(replyOf('max_tokens', half), [unknown], 'max_tokens')
    await check(reply('max_tokens', start(0, half)), [unknown], 'max_tokens')
    const other = { ...search, start: { ...search.start, name: 'rocket' } }
    await check(replyOf('end_turn', other), [unknown], 'end_turn')
    const odd = { start: { ...result.start, content: { type: 'tool_use', input: SECRET } }, deltas: [] }
    await check(replyOf('end_turn', odd), [unknown], 'end_turn')
  })

  test('a block of an unknown kind is treated as a call, with any deltas', () =>
    check(
      replyOf('tool_use', {
        start: { type: 'robot_use', input: { a: SECRET } },
        deltas: [
          { type: 'robot_delta', text: SECRET },
          { type: 'text_delta', text: SECRET },
        ],
      }),
      [said(refusal(undefined))],
      'end_turn',
    ))
})

describe('violations of the dialect', () => {
  const open = [MESSAGE_START, start(0, words('a'))]
  const delta = (index: Json, of: Json): JsonObject => ({ type: 'content_block_delta', index, delta: of })
  const input = { type: 'input_json_delta', partial_json: SECRET }
  const message = MESSAGE_START.message as JsonObject

  test.each<[string, readonly JsonObject[]]>([
    ['events before the message', [start(0, words('a'))]],
    ['two messages', [MESSAGE_START, MESSAGE_START]],
    [
      'a message with content',
      [{ type: 'message_start', message: { ...message, content: [bad('a').start] } }],
    ],
    [
      'a message whose content is no list',
      [{ type: 'message_start', message: { ...message, content: SECRET } }],
    ],
    ['a start without a message', [{ type: 'message_start' }]],
    ['a message of another role', [{ type: 'message_start', message: { ...message, role: 'user' } }]],
    ['a block that starts twice', [...open, start(0, words('b'))]],
    ['a block that starts again', [...open, stop(0), start(0, bad('b'))]],
    [
      'a block that is none',
      [MESSAGE_START, { type: 'content_block_start', index: 0, content_block: SECRET }],
    ],
    ['a text without text', [MESSAGE_START, start(0, { start: { type: 'text' }, deltas: [] })]],
    ['a number below zero', [MESSAGE_START, start(-1, words('a'))]],
    ['a number that is a text', [MESSAGE_START, delta('0', input)]],
    ['a delta of no block', [MESSAGE_START, delta(0, input)]],
    ['a delta of a block that has stopped', [...open, stop(0), delta(0, { type: 'text_delta', text: 'b' })]],
    ['a delta that is none', [...open, delta(0, SECRET)]],
    ['arguments in a text', [...open, delta(0, input)]],
    ['a text in a call', [MESSAGE_START, start(0, bad('a')), delta(0, { type: 'text_delta', text: SECRET })]],
    ['a thought in a text', [...open, delta(0, { type: 'thinking_delta', thinking: SECRET })]],
    ['a delta of an unknown type', [...open, delta(0, { type: 'tool_delta', text: SECRET })]],
    ['a text that is none', [...open, delta(0, { type: 'text_delta', text: [SECRET] })]],
    [
      'a text in a thought',
      [MESSAGE_START, start(0, thought('', '')), delta(0, { type: 'text_delta', text: SECRET })],
    ],
    ['a delta without what it is for', [...open, delta(0, { type: 'text_delta', partial_json: SECRET })]],
    [
      'arguments that are no text',
      [MESSAGE_START, start(0, bad('a')), delta(0, { ...input, partial_json: { a: 1 } })],
    ],
    [
      'arguments twice',
      [MESSAGE_START, ...block(0, { ...bad('a'), start: { ...bad('a').start, input: { a: 1 } } })],
    ],
    ['a stop of no block', [...open, stop(1)]],
    ['a stop that comes twice', [...open, stop(0), stop(0)]],
    ['a block after the end', [...open, stop(0), messageDelta('end_turn'), start(1, bad('a'))]],
    [
      'a delta after the end',
      [...open, messageDelta('end_turn'), delta(0, { type: 'text_delta', text: 'b' })],
    ],
    ['a reason that is no word', [...open, messageDelta(`${SECRET} and more`)]],
    ['an end that is none', [...open, { type: 'message_delta', delta: null }]],
    ['an end before the start', [MESSAGE_STOP]],
    [
      'a delta in what comes whole',
      [
        MESSAGE_START,
        start(0, { start: { type: 'web_search_tool_result', tool_use_id: 's', content: [] }, deltas: [] }),
        delta(0, input),
      ],
    ],
  ])('%s', (_, events) => checkGarbled(...events))

  test('an event that is not a JSON object', () => {
    for (const data of ['', '[]', '"a"', 'null', '{', '[DONE]', '{"type":"ping"}{}']) {
      const rewriter = anthropicMessages.openStream(judge())
      expect(() => rewriter.take({ type: 'message', data: new TextEncoder().encode(data) })).toThrow(Garbled)
    }
  })

  test('an event with two types', () => {
    const rewriter = anthropicMessages.openStream(judge())
    expect(() => rewriter.take(sse(PING, 'content_block_start'))).toThrow(Garbled)
    expect(anthropicMessages.openStream(judge()).take(sse(PING, 'message'))).toContain('event: ping')
  })

  test('too many blocks, too many calls, too much in one', async () => {
    const many = (count: number, of: (index: number) => Scripted): readonly JsonObject[] =>
      Array.from({ length: count }, (_, index) => block(index, of(index))).flat()
    await check(
      reply('end_turn', ...many(1024, () => words())),
      Array.from({ length: 1024 }, () => said('')),
      'end_turn',
    )
    await checkGarbled(MESSAGE_START, ...many(1025, () => words('a')))
    await checkGarbled(MESSAGE_START, ...many(257, (index) => bad(`a${index}`)))
    const mebibyte = 'x'.repeat(1 << 20)
    const full = (count: number): Scripted =>
      call('a', 'shell', ...Array.from({ length: count }, () => mebibyte))
    await checkGarbled(MESSAGE_START, start(0, full(4)), ...deltas(0, full(4)))
    // A judged call is no longer held.
    const twice = [...block(0, full(3)), ...block(1, { ...full(3), start: { ...full(3).start, id: 'b' } })]
    await check(reply('tool_use', ...twice), [said(refusal('shell')), said(refusal('shell'))], 'end_turn')
  })

  test('too deep nesting', async () => {
    const depth = 200_000
    const text = `{"type":"content_block_start","index":0,"content_block":{"type":"mcp_tool_use","id":"a","name":"b","server_name":"c","input":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}}`
    const rewriter = anthropicMessages.openStream(new ScriptedJudge('anthropic/mcp'))
    await rewriter.take(sse(MESSAGE_START))
    const taken = (async () => {
      await rewriter.take({ type: 'content_block_start', data: new TextEncoder().encode(text) })
      await rewriter.take(sse(stop(0)))
    })()
    await expect(taken).rejects.toThrow(Garbled)
  })
})

describe('for any sequence of events', () => {
  const events = replyOf('tool_use', words('a', 'b'), weather('w'), bad('x'), bad('y'), words('c'))

  /** The output before the stream turns out to be garbled, or ends. */
  async function leaves(mutated: readonly JsonObject[]): Promise<string> {
    const rewriter = anthropicMessages.openStream(judge())
    let text = ''
    try {
      for (const event of mutated) text += await rewriter.take(sse(event))
    } catch (fault) {
      expect(fault).toBeInstanceOf(Garbled)
    }
    return text
  }

  function* mutations(): Generator<readonly JsonObject[]> {
    for (const [at, event] of events.entries()) {
      yield events.toSpliced(at, 1)
      yield events.toSpliced(at, 0, event)
      yield events.slice(0, at)
      for (const index of [0, 1, 2, 3, 4, 5]) yield events.with(at, { ...event, index })
      for (const [other, swapped] of events.entries()) yield events.with(at, swapped).with(other, event)
      for (const [other] of events.entries()) yield events.toSpliced(at, 1).toSpliced(other, 0, event)
    }
  }

  test('nothing of a denied call leaves, and no incomplete call leaves', async () => {
    let count = 0
    for (const mutated of mutations()) {
      const text = await leaves(mutated)
      expect(text).not.toContain(SECRET)
      expect(text).not.toContain('"name":"shell"')
      const starts = eventsIn(text).filter(({ type }) => type === 'content_block_start')
      expect(starts.map(indexIn)).toEqual(starts.map((_, index) => index))
      const pieces = eventsIn(text).map((event) => textIn(objectIn(event, 'delta'), 'partial_json'))
      for (const piece of pieces) expect(['', '{}', '{"city":"Oslo"}']).toContain(piece)
      count++
    }
    expect(count).toBeGreaterThan(1000)
  })
})
