// Streams of Chat Completions: text is forwarded at once, calls after judgement, and the clients accept the output.

import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import type { AIMessageChunk } from '@langchain/core/messages'
import { canonicalize, isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { jsonSchema, streamText, tool } from 'ai'
import fc from 'fast-check'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { Garbled, type Judge, type Ruling } from '../../src/llm/dialect.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'
import {
  called,
  chunk,
  chunkOf,
  chunksIn,
  eventOf,
  judgeThatAllows,
  piece,
  refusal,
  rewrite,
  scriptedFetch,
  SECRET,
} from './openai-chat-rig.ts'
import { runs } from '../../../evidence/test/runs.ts'

const DONE = '[DONE]'
const ROLE = chunk({ role: 'assistant', content: null })
const ARGS = JSON.stringify({ path: SECRET })
const END = chunk({}, 'tool_calls')

/** A chunk with a whole call, as forwarded. */
function whole(index: number, entry: JsonObject): JsonObject {
  return chunk({ tool_calls: [{ index, ...entry }] })
}

async function faultOf(
  events: readonly (JsonObject | string)[],
  judge: Judge = judgeThatAllows('read'),
): Promise<unknown> {
  try {
    await rewrite(events, judge)
  } catch (error) {
    return error
  }
  return undefined
}

describe('text', () => {
  test('is forwarded at once, unchanged', () => {
    const rewriter = openaiChat.openStream(judgeThatAllows())
    const said = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo\n\n' }),
      chunk({ reasoning_content: 'hm' }),
      chunk({ reasoning: 'hm' }),
      chunk({ refusal: 'no' }),
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunk({ audio: { id: 'a', data: 'AA', transcript: 't' } }),
      chunk({ audio: { expires_at: 9 } }),
    ]
    for (const event of said) {
      expect(rewriter.take(eventOf(event))).toBe(`data: ${JSON.stringify(event)}\n\n`)
    }
    expect(rewriter.ended).toBe(false)
    expect(rewriter.take(eventOf(chunk({}, 'stop')))).toBe(`data: ${JSON.stringify(chunk({}, 'stop'))}\n\n`)
    expect(rewriter.ended).toBe(true)
    expect(rewriter.take(eventOf(DONE))).toBe('data: [DONE]\n\n')
    expect(rewriter.ended).toBe(true)
  })

  test('is forwarded while a call is held, also from the same chunk', () => {
    const rewriter = openaiChat.openStream(judgeThatAllows())
    expect(rewriter.take(eventOf(chunk({ content: 'a', ...piece(0, ARGS, { name: 'wipe' }) })))).toBe(
      `data: ${JSON.stringify(chunk({ content: 'a' }))}\n\n`,
    )
    expect(rewriter.take(eventOf(chunk(piece(0, '{'))))).toBe('')
    expect(rewriter.take(eventOf(chunk({ content: 'b' })))).toBe(
      `data: ${JSON.stringify(chunk({ content: 'b' }))}\n\n`,
    )
    expect(rewriter.ended).toBe(false)
  })

  test('that is empty does not reveal the length of a held call', async () => {
    const delta = { content: '', reasoning_content: null, ...piece(0, SECRET, { name: 'wipe' }) }
    const { parts } = await rewrite([chunk(delta), chunk(delta)], judgeThatAllows())
    expect(parts).toEqual(['', ''])
  })

  test('keeps its log probabilities, and calls have none', async () => {
    const token = (text: string): JsonObject => ({ token: text, logprob: -1, bytes: null, top_logprobs: [] })
    const said = chunk({ content: 'hi' }, null, { logprobs: { content: [token('hi')], refusal: null } })
    const { chunks, text } = await rewrite(
      [
        said,
        chunk({ content: 'hi', ...piece(0, ARGS, { name: 'wipe' }) }, null, {
          logprobs: { content: [token('hi'), token(SECRET)], refusal: [token(SECRET)] },
        }),
        chunk(piece(0, ''), null, { logprobs: { content: [token(SECRET)] } }),
        chunk({}, 'tool_calls', { logprobs: { content: [token(SECRET)], tool_calls: [token(SECRET)] } }),
      ],
      judgeThatAllows(),
    )
    expect(chunks[0]).toEqual(said)
    expect(chunks[1]).toEqual(chunk({ content: 'hi' }, null, { logprobs: { content: null, refusal: null } }))
    expect(text).not.toContain(SECRET)
  })

  test('has the role of the assistant, and no unknown members', async () => {
    const { chunks } = await rewrite(
      [
        chunkOf(
          [
            {
              index: 0,
              delta: { role: 'tool', content: 'x', tools: SECRET, reasoning_details: [SECRET] },
              finish_reason: null,
              tool_calls: [called('read', ARGS)],
              message: { tool_calls: [called('read', ARGS)] },
            },
          ],
          { obfuscation: SECRET, tool_calls: [SECRET], object: `chat.completion.chunk.message:${SECRET}` },
        ),
      ],
      judgeThatAllows('read'),
    )
    expect(chunks).toEqual([chunk({ role: 'assistant', content: 'x' })])
  })

  test('with citations is forwarded only if the search was allowed', async () => {
    const citation = { type: 'url_citation', url_citation: { url: 'https://x.test', title: 'X' } }
    const event = chunk({ content: 'x', annotations: [citation] })
    expect((await rewrite([event], judgeThatAllows('openai/web_search'))).chunks).toEqual([event])
    expect((await rewrite([event], judgeThatAllows())).chunks).toEqual([chunk({ content: 'x' })])
  })

  test('is not needed for usage', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    const events = [chunk({ content: 'x' }), chunk({}, 'stop'), chunkOf([], { usage })]
    expect((await rewrite([...events, DONE], judgeThatAllows())).chunks).toEqual(events)
    const held = chunkOf([{ index: 0, delta: piece(0, ARGS, { name: 'read' }), finish_reason: null }], {
      usage,
    })
    expect((await rewrite([held], judgeThatAllows())).chunks).toEqual([
      chunkOf([{ index: 0, delta: {}, finish_reason: null }], { usage }),
    ])
  })

  test('may follow the end of its choice, such as usage', async () => {
    const usage = { total_tokens: 3 }
    const late = chunkOf([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], {
      usage,
    })
    const { chunks, ended } = await rewrite(
      [chunk({ content: 'x' }), chunk({}, 'stop'), late],
      judgeThatAllows(),
    )
    expect(chunks.at(-1)).toEqual(late)
    expect(ended).toBe(true)
  })
})

describe('calls', () => {
  test('that are allowed are forwarded whole, as judged', async () => {
    const judge = judgeThatAllows('read')
    const { chunks, parts } = await rewrite(
      [
        chunk({ role: 'assistant', content: null, ...piece(0, '', { name: 'read' }) }),
        chunk(piece(0, '{ "b": 2,')),
        chunk(piece(0, '"a": 1 }')),
        END,
        DONE,
      ],
      judge,
    )
    expect(chunks).toEqual([ROLE, whole(0, called('read', '{"a":1,"b":2}')), END])
    expect(parts[1]).toBe('')
    expect(judge.asked).toEqual([
      [{ tool: 'read', declared: 'read', form: 'json', args: '{ "b": 2,"a": 1 }', ref: 'call_read' }],
    ])
  })

  test('keep a valid signature, and only if they are allowed', async () => {
    const signed = (signature: Json, name: string): JsonObject => {
      const google = { thought_signature: signature, more: SECRET }
      return chunk({
        tool_calls: [{ index: 0, ...called(name, '{}'), extra_content: { google, more: SECRET } }],
      })
    }
    const sent = async (signature: Json, name = 'read'): Promise<string> =>
      (await rewrite([signed(signature, name), END, DONE], judgeThatAllows('read'))).text
    expect(await sent('c2lnbmVk')).toContain('"extra_content":{"google":{"thought_signature":"c2lnbmVk"}}')
    expect(await sent('c2lnbmVk')).not.toContain(SECRET)
    expect(await sent('c2lnbmVk', 'send')).not.toContain('c2lnbmVk')
    for (const odd of ['', 'a b', 7, null]) expect(await sent(odd)).not.toContain('extra_content')
  })

  test('that are denied become text, and the finish reason changes', async () => {
    const { chunks } = await rewrite(
      [ROLE, chunk(piece(0, ARGS, { name: 'wipe' })), END, DONE],
      judgeThatAllows(),
    )
    expect(chunks).toEqual([ROLE, chunk({ content: refusal('wipe') }), chunk({}, 'stop')])
  })

  test('that are denied after an empty text begin without a separator', async () => {
    const opening = chunk({ role: 'assistant', content: '' })
    const { chunks } = await rewrite(
      [opening, chunk(piece(0, ARGS, { name: 'wipe' })), END],
      judgeThatAllows(),
    )
    expect(chunks).toEqual([opening, chunk({ content: refusal('wipe') }), chunk({}, 'stop')])
  })

  test('that are denied after text have a separator', async () => {
    const { chunks } = await rewrite(
      [
        chunk({ content: 'Well.' }),
        chunk(piece(0, ARGS, { name: 'wipe' })),
        chunk(piece(1, ARGS, { name: 'drop' })),
        chunk({}, 'tool_calls'),
      ],
      judgeThatAllows(),
    )
    expect(chunks).toEqual([
      chunk({ content: 'Well.' }),
      chunk({ content: `\n\n${refusal('wipe')}` }),
      chunk({ content: `\n\n${refusal('drop')}` }),
      chunk({}, 'stop'),
    ])
  })

  test('may arrive in any order, are judged together, and are numbered again', async () => {
    const judge = judgeThatAllows('read', 'list')
    const { chunks } = await rewrite(
      [
        chunk(piece(2, '', { name: 'list' })),
        chunk(piece(0, '{"path":', { name: 'wipe' })),
        chunk({ tool_calls: [{ index: 7, id: 'c7', type: 'function', function: { name: 'read' } }] }),
        chunk(piece(2, '{"n":')),
        chunk({ tool_calls: [...entriesOf(piece(0, `"${SECRET}"}`)), ...entriesOf(piece(2, '1}'))] }),
        chunk(piece(7, '{}')),
        END,
      ],
      judge,
    )
    expect(chunks).toEqual([
      chunk({ content: refusal('wipe') }),
      whole(0, called('list', '{"n":1}')),
      whole(1, called('read', '{}', 'c7')),
      END,
    ])
    expect(judge.asked.map((asked) => asked.map((proposal) => proposal.tool))).toEqual([
      ['wipe', 'list', 'read'],
    ])
  })

  test('may come with the end, with text and with usage', async () => {
    const usage = { total_tokens: 3 }
    const last = {
      index: 0,
      delta: { content: 'x', ...piece(0, '{}', { name: 'read' }) },
      finish_reason: 'tool_calls',
    }
    const { chunks } = await rewrite([chunkOf([last], { usage })], judgeThatAllows('read'))
    expect(chunks).toEqual([
      chunk({ content: 'x' }),
      whole(0, called('read', '{}')),
      chunkOf([{ index: 0, delta: {}, finish_reason: 'tool_calls' }], { usage }),
    ])
  })

  test('in `function_call` are judged alike', async () => {
    const events = (name: string): JsonObject[] => [
      chunk({ role: 'assistant', function_call: { name, arguments: '' } }),
      chunk({ function_call: { arguments: '{ "a":' } }),
      chunk({ function_call: { arguments: '1}' }, content: null }),
      chunk({}, 'function_call'),
    ]
    const judge = judgeThatAllows('read')
    expect((await rewrite(events('read'), judge)).chunks.slice(-2)).toEqual([
      chunk({ function_call: { name: 'read', arguments: '{"a":1}' } }),
      chunk({}, 'function_call'),
    ])
    expect(judge.asked[0]?.[0]?.ref).toBe('function:read')
    expect((await rewrite(events('wipe'), judge)).chunks.slice(-2)).toEqual([
      chunk({ content: refusal('wipe') }),
      chunk({}, 'stop'),
    ])
  })

  test('in `function_call` of several choices have no reference', async () => {
    const read = (index: number, finish: string | null): JsonObject => ({
      index,
      delta: { function_call: { name: 'read', arguments: '{}' } },
      finish_reason: finish,
    })
    const end = (index: number): JsonObject => ({ index, delta: {}, finish_reason: 'function_call' })
    const refsOf = async (...chunks: JsonObject[][]): Promise<unknown> => {
      const judge = judgeThatAllows('read')
      await rewrite(
        chunks.map((choices) => chunkOf(choices)),
        judge,
      )
      return judge.asked.flat().map(({ ref }) => ref)
    }
    expect(await refsOf([read(0, 'function_call'), read(1, 'function_call')])).toEqual([undefined, undefined])
    expect(await refsOf([read(0, null)], [read(1, null)], [end(0)], [end(1)])).toEqual([undefined, undefined])
    // The second was not known when the first was judged.
    expect(await refsOf([read(0, 'function_call')], [read(1, 'function_call')])).toEqual([
      'function:read',
      undefined,
    ])
  })

  test('with free text are forwarded as judged', async () => {
    const judge = judgeThatAllows('shell')
    const { chunks } = await rewrite(
      [
        chunk({ tool_calls: [{ index: 0, id: 'c1', type: 'custom', custom: { name: 'shell', input: '' } }] }),
        chunk({ tool_calls: [{ index: 0, custom: { input: 'ls "' } }] }),
        chunk({ tool_calls: [{ index: 0, custom: { input: 'x"\n' } }] }),
        END,
      ],
      judge,
    )
    expect(chunks).toEqual([
      whole(0, { id: 'c1', type: 'custom', custom: { name: 'shell', input: 'ls "x"\n' } }),
      END,
    ])
    expect(judge.asked[0]).toEqual([
      { tool: 'shell', declared: 'shell', form: 'text', args: { input: 'ls "x"\n' }, ref: 'c1' },
    ])
  })

  test.each(['length', 'content_filter', 'error'])(
    'with free text that may be incomplete are denied: %s',
    async (reason) => {
      const entry = {
        index: 0,
        id: 'c1',
        type: 'custom',
        custom: { name: 'shell', input: `rm -rf /${SECRET}` },
      }
      const { chunks } = await rewrite(
        [chunk({ tool_calls: [entry] }), chunk({}, reason)],
        judgeThatAllows('shell'),
      )
      expect(chunks).toEqual([chunk({ content: refusal() }), chunk({}, reason)])
    },
  )

  test('that are cut by length are denied, and the finish reason stays', async () => {
    const { chunks } = await rewrite(
      [chunk(piece(0, `{"path":"${SECRET}`, { name: 'read' })), chunk({}, 'length')],
      judgeThatAllows('read'),
    )
    expect(chunks).toEqual([chunk({ content: refusal('read') }), chunk({}, 'length')])
  })

  test('whose stream just stops are never sent', async () => {
    const { text, ended } = await rewrite(
      [ROLE, chunk(piece(0, ARGS, { name: 'read' }))],
      judgeThatAllows('read'),
    )
    expect(ended).toBe(false)
    expect(text).toBe(`data: ${JSON.stringify(ROLE)}\n\n`)
  })

  test('may have a name in pieces, a late or repeated id, and no type', async () => {
    const { chunks } = await rewrite(
      [
        chunk({ tool_calls: [{ index: 0, id: null, type: '', function: { name: 're' } }] }),
        chunk({ tool_calls: [{ index: 0, id: 'c1', type: null, function: { name: 'ad', arguments: '{' } }] }),
        chunk({
          tool_calls: [{ index: 0, id: 'c1', function: { name: null, arguments: '}' }, custom: null }],
        }),
        chunk({ tool_calls: [{ index: 0, id: '' }] }),
        END,
      ],
      judgeThatAllows('read'),
    )
    expect(chunks).toEqual([whole(0, called('read', '{}', 'c1')), END])
  })

  test.each<[string, JsonObject[]]>([
    ['a type that is not known', [{ index: 0, id: 'c', type: 'computer', computer: { action: SECRET } }]],
    ['no member that is known', [{ index: 0, id: 'c', novel: SECRET }]],
    [
      'a function and a custom tool',
      [
        { index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } },
        { index: 0, custom: { input: SECRET } },
      ],
    ],
    [
      'two types',
      [
        { index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } },
        { index: 0, type: 'custom' },
      ],
    ],
    [
      'arguments that are no text',
      [{ index: 0, id: 'c', function: { name: 'read', arguments: { path: SECRET } } }],
    ],
    ['a name that is no text', [{ index: 0, id: 'c', function: { name: ['read'], arguments: '{}' } }]],
    ['a function that is no object', [{ index: 0, id: 'c', type: 'function', function: SECRET }]],
    ['a custom tool without a type', [{ index: 0, id: 'c', custom: { name: 'read', input: SECRET } }]],
  ])('with %s are refused with a receipt', async (_what, entries) => {
    const judge = judgeThatAllows('read')
    const { chunks } = await rewrite([...entries.map((entry) => chunk({ tool_calls: [entry] })), END], judge)
    expect(chunks).toEqual([chunk({ content: refusal() }), chunk({}, 'stop')])
    expect(judge.asked[0]).toMatchObject([{ tool: undefined, declared: undefined, ref: 'c' }])
  })

  test('without a name are denied', async () => {
    const { chunks } = await rewrite([chunk(piece(0, ARGS)), END], judgeThatAllows('read'))
    expect(chunks).toEqual([chunk({ content: refusal() }), chunk({}, 'stop')])
  })

  test('in parts of the content are denied, and known parts are forwarded', async () => {
    const judge = judgeThatAllows('read')
    const { chunks } = await rewrite(
      [
        chunk({
          content: [
            { type: 'tool_use', id: 't', name: 'read', input: SECRET },
            { type: 'text', text: 'x' },
          ],
        }),
        chunk({ content: [{ type: 'tool_use', input: SECRET }] }),
        chunk({}, 'stop'),
      ],
      judge,
    )
    expect(chunks).toEqual([
      chunk({ content: [{ type: 'text', text: 'x' }] }),
      chunk({ content: `\n\n${refusal()}` }),
      chunk({ content: `\n\n${refusal()}` }),
      chunk({}, 'stop'),
    ])
    expect(judge.asked[0]?.map((proposal) => proposal.ref)).toEqual(['t', undefined])
  })

  test('of several choices are separate', async () => {
    const judge = judgeThatAllows('read')
    const of = (index: number, delta: Json, finish: string | null = null): JsonObject => ({
      index,
      delta,
      finish_reason: finish,
    })
    const rewriter = openaiChat.openStream(judge)
    const take = async (...choices: JsonObject[]): Promise<Json> => {
      const chunks = chunksIn(await rewriter.take(eventOf(chunkOf(choices))))
      return chunks.flatMap((each) => listOf(each.choices))
    }
    await take(of(0, piece(0, '{}', { name: 'read' })), of(1, piece(0, ARGS, { name: 'wipe' })))
    expect(await take(of(1, {}, 'tool_calls'), of(0, { content: 'x' }))).toEqual([
      of(1, {}),
      of(0, { content: 'x' }),
      of(1, { content: refusal('wipe') }),
      of(1, {}, 'stop'),
    ])
    expect(rewriter.ended).toBe(false)
    expect(await take(of(0, {}, 'tool_calls'))).toEqual([
      of(0, { tool_calls: [{ index: 0, ...called('read', '{}') }] }),
      of(0, {}, 'tool_calls'),
    ])
    expect(rewriter.ended).toBe(true)
    expect(judge.asked.map((asked) => asked.length)).toEqual([1, 1])
  })

  test('that finish together are judged together', async () => {
    const judge = judgeThatAllows('read')
    const of = (index: number, name: string): JsonObject => ({
      index,
      delta: piece(0, '{}', { name }),
      finish_reason: 'tool_calls',
    })
    const { chunks } = await rewrite([chunkOf([of(0, 'wipe'), of(1, 'read')])], judge)
    expect(judge.asked).toHaveLength(1)
    expect(chunks.at(-1)).toEqual(
      chunkOf([
        { index: 0, delta: {}, finish_reason: 'stop' },
        { index: 1, delta: {}, finish_reason: 'tool_calls' },
      ]),
    )
  })

  test('a repeated finish reason is adjusted each time', async () => {
    const { chunks } = await rewrite([chunk(piece(0, ARGS, { name: 'wipe' })), END, END], judgeThatAllows())
    expect(chunks.slice(-2)).toEqual([chunk({}, 'stop'), chunk({}, 'stop')])
  })

  test('nothing is forwarded before the ruling', async () => {
    let settle: (rulings: Ruling[]) => void = () => undefined
    const slow: Judge = { judge: () => new Promise((resolve) => (settle = resolve)), ran: () => false }
    const rewriter = openaiChat.openStream(slow)
    expect(rewriter.take(eventOf(chunk(piece(0, ARGS, { name: 'read' }))))).toBe('')
    const last = rewriter.take(eventOf(END))
    expect(last).toBeInstanceOf(Promise)
    settle([{ allowed: false, code: 'POLICY_VIOLATION', text: 'no', receipt: undefined }])
    expect(await last).not.toContain(SECRET)
  })

  test('without a ruling are not forwarded', async () => {
    const silent: Judge = { judge: () => Promise.resolve([]), ran: () => true }
    const careless: Judge = {
      judge: (proposals) => Promise.resolve(proposals.map(() => ({ allowed: true, args: '{}' }))),
      ran: () => true,
    }
    expect(await faultOf([chunk(piece(0, ARGS, { name: 'read' })), END], silent)).toBeInstanceOf(Garbled)
    expect(await faultOf([chunk(piece(0, ARGS)), END], careless)).toBeInstanceOf(Garbled)
    const custom = { index: 0, type: 'custom', custom: { name: 'shell', input: SECRET } }
    expect(await faultOf([chunk({ tool_calls: [custom] }), END], careless)).toBeInstanceOf(Garbled)
  })
})

describe('for every order of the pieces', () => {
  const NAMES = ['read', 'list', 'wipe', 'drop'] as const
  const call = fc.record({
    name: fc.constantFrom(...NAMES),
    args: fc.dictionary(fc.string({ maxLength: 6 }), fc.string(), { maxKeys: 3 }),
    cuts: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
  })
  const script = fc.record({
    calls: fc.array(call, { minLength: 1, maxLength: 5 }),
    // The next call to continue; without one, text.
    turns: fc.array(fc.nat({ max: 6 }), { maxLength: 40 }),
    endsWithPiece: fc.boolean(),
  })

  test('the output is the same, without denied calls', async () => {
    await fc.assert(
      fc.asyncProperty(script, async ({ calls, turns, endsWithPiece }) => {
        const queues = calls.map(({ name, args, cuts }, index) => {
          const text = JSON.stringify(
            name === 'read' || name === 'list' ? args : { ...args, [SECRET]: SECRET },
          )
          const ends = [...new Set([...cuts.map((cut) => cut % text.length), text.length])].sort(
            (a, b) => a - b,
          )
          const start = { name, id: `c${index}` }
          return ends.map((end, at) =>
            piece(index, text.slice(ends[at - 1] ?? 0, end), at === 0 ? start : undefined),
          )
        })
        const ordered = turns.map((turn) => queues[turn]?.shift() ?? { content: 'x' })
        const deltas = [...ordered, ...queues.flat()]
        const last = endsWithPiece ? (deltas.pop() ?? {}) : {}
        const events = [...deltas.map((delta) => chunk(delta)), chunk(last, 'tool_calls'), DONE]
        const { text, chunks } = await rewrite(events, judgeThatAllows('read', 'list'))
        expect(text).not.toContain(SECRET)
        const went = chunks.flatMap((each) => listOf(each.choices)).flatMap((choice) => toolCallsIn(choice))
        const allowed = calls.flatMap(({ name, args }, index) =>
          name === 'read' || name === 'list' ? [called(name, canonicalize(args), `c${index}`)] : [],
        )
        expect(went).toEqual(allowed.map((entry, index) => ({ index, ...entry })))
      }),
      { numRuns: runs(300) },
    )
  })
})

function toolCallsIn(choice: Json): readonly Json[] {
  const delta = isObject(choice) ? choice.delta : undefined
  return isObject(delta) && delta.tool_calls !== undefined ? listOf(delta.tool_calls) : []
}

describe('an error in a stream', () => {
  test('is forwarded with its known members, shortened, and ends the stream', async () => {
    const error = {
      message: 'x'.repeat(600),
      type: 'server_error',
      code: 502,
      param: null,
      failed_generation: SECRET,
    }
    const { chunks, ended } = await rewrite(
      [chunk(piece(0, ARGS, { name: 'read' })), { error, choices: [] }, DONE],
      judgeThatAllows('read'),
    )
    expect(chunks).toEqual([{ error: { message: 'x'.repeat(500), type: 'server_error', code: 502 } }])
    expect(ended).toBe(true)
  })

  test.each<[Json, JsonObject]>([
    ['overloaded', { message: 'overloaded' }],
    [{ message: { call: SECRET } }, { message: 'the provider gives no reason' }],
    [[SECRET], { message: 'the provider gives no reason' }],
  ])('that is %j is still one', async (error, known) => {
    const { chunks, ended } = await rewrite([{ error }], judgeThatAllows())
    expect(chunks).toEqual([{ error: known }])
    expect(ended).toBe(true)
  })

  test('that is null is ignored', async () => {
    const { chunks, ended } = await rewrite([{ ...chunk({ content: 'x' }), error: null }], judgeThatAllows())
    expect(chunks).toEqual([chunk({ content: 'x' })])
    expect(ended).toBe(false)
  })
})

describe('a violation of the dialect', () => {
  const start = chunk(piece(0, ARGS, { name: 'read' }))
  const pieces = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, choice) =>
      chunkOf([{ index: choice, delta: piece(0, '', { name: 'read' }), finish_reason: null }]),
    )

  test.each<[string, (JsonObject | string)[]]>([
    ['no JSON', [`{"choices":[${SECRET}`]],
    ['a list', ['[]']],
    ['a text', [`"${SECRET}"`]],
    ['no choices', [{ id: 'x', tool_calls: [SECRET] }]],
    ['choices that are null', [chunkOf(null)]],
    ['a choice that is no object', [chunkOf([SECRET])]],
    ['a choice without an index', [chunkOf([{ delta: { content: SECRET } }])]],
    ['a choice with an index that is a text', [chunkOf([{ index: '0', delta: {} }])]],
    ['a choice with an index far away', [chunkOf([{ index: 1024, delta: {} }])]],
    [
      'a choice twice',
      [
        chunkOf([
          { index: 0, delta: {} },
          { index: 0, delta: {} },
        ]),
      ],
    ],
    ['a delta that is a list', [chunk([SECRET])]],
    ['a content that is an object', [chunk({ content: { type: 'tool_use', input: SECRET } })]],
    ['a content part that is a text', [chunk({ content: [SECRET] })]],
    ['calls that are no list', [chunk({ tool_calls: { index: 0, arguments: SECRET } })]],
    ['a call that is a text', [chunk({ tool_calls: [SECRET] })]],
    ['a call without an index', [chunk({ tool_calls: [called('read', ARGS)] })]],
    ['a call with an index below zero', [chunk(piece(-1, ARGS))]],
    ['a call with an index far away', [chunk(piece(256, ARGS))]],
    ['a call with another id', [start, chunk({ tool_calls: [{ index: 0, id: SECRET }] })]],
    ['an id that is no text', [chunk({ tool_calls: [{ index: 0, id: { a: SECRET } }] })]],
    ['a type that is no text', [chunk({ tool_calls: [{ index: 0, type: [SECRET] }] })]],
    ['a legacy call that is a text', [chunk({ function_call: SECRET })]],
    ['a reason that is no word', [start, chunk({}, `{"${SECRET}"}`)]],
    ['a call after the end of its choice', [chunk({}, 'stop'), start]],
    ['more of a call after the end', [start, END, chunk(piece(0, SECRET))]],
    ['a legacy call after the end', [chunk({}, 'stop'), chunk({ function_call: { arguments: SECRET } })]],
    [
      'a strange part after the end',
      [chunk({}, 'stop'), chunk({ content: [{ type: 'tool_use', input: SECRET }] })],
    ],
    ['something after the last event', [chunk({}, 'stop'), DONE, start]],
    ['a second last event', [chunk({}, 'stop'), DONE, DONE]],
    ['something after an error', [{ error: 'x' }, start]],
    ['an end without the ends of its calls', [start, DONE]],
    ['too many calls', pieces(257)],
    ['too many strange parts', [chunk({ content: Array.from({ length: 257 }, () => ({ type: SECRET })) })]],
    ['arguments without end', Array.from({ length: 5 }, () => chunk(piece(0, SECRET.repeat(65_536))))],
    [
      'names without end',
      Array.from({ length: 5 }, () => chunk(piece(0, '', { name: SECRET.repeat(65_536), id: 'c' }))),
    ],
    [
      'strange pieces without end',
      Array.from({ length: 5 }, () =>
        chunk({ tool_calls: [{ index: 0, type: 'x', x: SECRET.repeat(65_536) }] }),
      ),
    ],
  ])('is an error, with nothing of it: %s', async (_what, events) => {
    const error = await faultOf(events)
    expect(error).toBeInstanceOf(Garbled)
    expect(String(error)).not.toContain(SECRET)
  })

  test('the maximum number of calls is held', async () => {
    expect(await faultOf(pieces(256))).toBeUndefined()
  })

  test('an event of white space is ignored', async () => {
    expect((await rewrite([' \n', chunk({}, 'stop'), DONE, ' '], judgeThatAllows())).chunks).toHaveLength(1)
  })
})

/** The expected result of a client. */
interface Scene {
  readonly name: string
  readonly events: readonly (JsonObject | string)[]
  readonly content: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: JsonObject }[]
  readonly finish: string
}

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const tail = (finish: string): (JsonObject | string)[] => [chunk({}, finish), chunkOf([], { usage }), DONE]
const READ = { id: 'call_read', name: 'read', args: { path: 'a' } }
const LIST = { id: 'call_list', name: 'list', args: { path: 'b' } }

const SCENES: readonly Scene[] = [
  {
    name: 'words alone',
    events: [ROLE, chunk({ content: 'Hel' }), chunk({ content: 'lo' }), ...tail('stop')],
    content: 'Hello',
    calls: [],
    finish: 'stop',
  },
  {
    name: 'allowed',
    events: [
      ROLE,
      chunk(piece(0, '', { name: 'read' })),
      chunk(piece(0, '{"path":')),
      chunk(piece(0, '"a"}')),
      ...tail('tool_calls'),
    ],
    content: '',
    calls: [READ],
    finish: 'tool_calls',
  },
  {
    name: 'denied',
    events: [ROLE, chunk(piece(0, '', { name: 'wipe' })), chunk(piece(0, ARGS)), ...tail('tool_calls')],
    content: refusal('wipe'),
    calls: [],
    finish: 'stop',
  },
  {
    name: 'mixed, after words',
    events: [
      chunk({ role: 'assistant', content: 'Well.' }),
      chunk(piece(0, '{"path":"a"}', { name: 'read' })),
      chunk(piece(1, ARGS, { name: 'wipe' })),
      ...tail('tool_calls'),
    ],
    content: `Well.\n\n${refusal('wipe')}`,
    calls: [READ],
    finish: 'tool_calls',
  },
  {
    name: 'parallel, the first denied',
    events: [
      ROLE,
      chunk(piece(0, ARGS, { name: 'wipe' })),
      chunk(piece(1, '{"path":"a"}', { name: 'read' })),
      chunk(piece(2, '{"path":"b"}', { name: 'list' })),
      ...tail('tool_calls'),
    ],
    content: refusal('wipe'),
    calls: [READ, LIST],
    finish: 'tool_calls',
  },
  {
    name: 'interleaved',
    events: [
      ROLE,
      chunk(piece(0, '{"pa', { name: 'read' })),
      chunk(piece(1, '{"path"', { name: 'list' })),
      chunk(piece(0, 'th":"a"')),
      chunk({ content: 'Two things.' }),
      chunk({ tool_calls: [...entriesOf(piece(1, ':"b"}')), ...entriesOf(piece(0, '}'))] }),
      ...tail('tool_calls'),
    ],
    content: 'Two things.',
    calls: [READ, LIST],
    finish: 'tool_calls',
  },
  {
    name: 'cut by the length',
    events: [
      chunk({ role: 'assistant', content: 'Well.' }),
      chunk(piece(0, '{"path":"a"}', { name: 'read' })),
      chunk(piece(1, `{"path":"${SECRET}`, { name: 'list' })),
      ...tail('length'),
    ],
    content: `Well.\n\n${refusal('list')}`,
    calls: [READ],
    finish: 'length',
  },
]

function entriesOf({ tool_calls: entries }: JsonObject): readonly Json[] {
  return listOf(entries)
}

function listOf(value: Json | undefined): readonly Json[] {
  if (!isList(value)) throw new Error('not a list')
  return value
}

describe.each(SCENES)('the clients accept a stream: $name', ({ events, content, calls, finish }) => {
  let text = ''
  beforeAll(async () => {
    text = (await rewrite(events, judgeThatAllows('read', 'list'))).text
    expect(text).not.toContain(SECRET)
  })
  const parameters = { type: 'object', properties: { path: { type: 'string' } } } as const
  const client = (): OpenAI =>
    new OpenAI({
      apiKey: 'k',
      baseURL: 'http://gate.test/v1',
      fetch: scriptedFetch('stream', text).fetch,
      maxRetries: 0,
    })
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'go' }] }

  test('openai, accumulated', async () => {
    const stream = client().chat.completions.stream({
      ...request,
      tools: ['read', 'list', 'wipe'].map((name) => ({ type: 'function', function: { name, parameters } })),
    })
    const finished: string[] = []
    stream.on('tool_calls.function.arguments.done', ({ name, arguments: args }) =>
      finished.push(`${name} ${args}`),
    )
    const contents: string[] = []
    stream.on('content.done', (done) => contents.push(done.content))
    const completion = await stream.finalChatCompletion()
    const [choice] = completion.choices
    expect(choice?.message.content ?? '').toBe(content)
    expect(choice?.finish_reason).toBe(finish)
    expect(completion.usage).toEqual(usage)
    expect(callsOf(choice?.message.tool_calls)).toEqual(calls)
    expect(finished).toEqual(calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`))
    expect(contents).toEqual(content === '' ? [] : [content])
  })

  test('openai, chunk by chunk', async () => {
    const seen: { content: string; finish: (string | null)[]; indices: number[] } = {
      content: '',
      finish: [],
      indices: [],
    }
    for await (const { choices } of await client().chat.completions.create({ ...request, stream: true })) {
      for (const { delta, finish_reason: reason } of choices) {
        seen.content += delta.content ?? ''
        if (reason !== null) seen.finish.push(reason)
        seen.indices.push(...(delta.tool_calls ?? []).map(({ index }) => index))
      }
    }
    expect(seen).toEqual({ content, finish: [finish], indices: calls.map((_, at) => at) })
  })

  test('the AI SDK', async () => {
    const faults: unknown[] = []
    const inputSchema = jsonSchema<{ path: string }>(parameters)
    const result = streamText({
      model: createOpenAI({ apiKey: 'k', fetch: scriptedFetch('stream', text).fetch }).chat('m'),
      prompt: 'go',
      tools: { read: tool({ inputSchema }), list: tool({ inputSchema }), wipe: tool({ inputSchema }) },
      onError: ({ error }) => void faults.push(error),
    })
    expect(await result.text).toBe(content)
    const proposed = await result.toolCalls
    expect(proposed.map(({ toolCallId: id, toolName: name, input: args }) => ({ id, name, args }))).toEqual(
      calls,
    )
    expect(await result.finishReason).toBe(finish.replace('_', '-'))
    expect(await result.usage).toMatchObject({ inputTokens: 3, outputTokens: 5 })
    expect(faults).toEqual([])
  })

  test('LangChain', async () => {
    const { fetch } = scriptedFetch('stream', text)
    const model = new ChatOpenAI({ model: 'm', apiKey: 'k', configuration: { fetch }, maxRetries: 0 })
    let message: AIMessageChunk | undefined
    for await (const part of await model.stream('go')) message = message?.concat(part) ?? part
    expect(message?.content).toBe(content)
    expect(message?.tool_calls?.map(({ id, name, args }) => ({ id, name, args }))).toEqual(calls)
    expect(message?.invalid_tool_calls).toEqual([])
    expect(message?.response_metadata.finish_reason).toBe(finish)
  })
})

/** The calls of a message of the official client. */
function callsOf(calls: readonly OpenAI.ChatCompletionMessageToolCall[] = []): Scene['calls'] {
  return calls.map((call) => {
    if (call.type !== 'function') throw new Error('not a function')
    // Sound: the arguments in these cases are objects.
    const args = JSON.parse(call.function.arguments) as JsonObject
    return { id: call.id, name: call.function.name, args }
  })
}

test('the official runner runs the allowed calls, and sees the denials', async () => {
  const scene = SCENES.find(({ name }) => name === 'mixed, after words')
  const { text } = await rewrite(scene?.events ?? [], judgeThatAllows('read'))
  const { text: done } = await rewrite(
    [chunk({ role: 'assistant', content: 'Done.' }), chunk({}, 'stop'), DONE],
    judgeThatAllows(),
  )
  const { fetch, sent } = scriptedFetch('stream', text, done)
  const ran: string[] = []
  const run = (name: string) => ({
    type: 'function' as const,
    function: {
      name,
      description: name,
      parameters: { type: 'object' },
      function: (args: string) => `${name} ${ran.push(`${name} ${args}`)}`,
    },
  })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://gate.test/v1', fetch, maxRetries: 0 })
  const runner = client.chat.completions.runTools({
    model: 'm',
    messages: [{ role: 'user', content: 'go' }],
    stream: true,
    tools: [run('read'), run('wipe')],
  })
  expect(await runner.finalContent()).toBe('Done.')
  expect(ran).toEqual(['read {"path":"a"}'])
  expect(sent[1]).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant', content: scene?.content, tool_calls: [{ id: 'call_read' }] },
      { role: 'tool', tool_call_id: 'call_read' },
    ],
  })
})

test('the official client reports an error in a stream', async () => {
  const { text } = await rewrite(
    [ROLE, { error: { message: 'overloaded', code: 'busy' } }],
    judgeThatAllows(),
  )
  const { fetch } = scriptedFetch('stream', text)
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://gate.test/v1', fetch, maxRetries: 0 })
  const stream = client.chat.completions.stream({ model: 'm', messages: [] })
  await expect(stream.finalMessage()).rejects.toThrow('overloaded')
})

describe('chunks with text only', () => {
  const head = { id: 'chatcmpl-1', created: 1, model: 'm', service_tier: null, system_fingerprint: 'fp' }
  const entry = { index: 0, delta: { content: 'x' }, finish_reason: null }

  test.each<[string, JsonObject]>([
    ['bare', { choices: [entry] }],
    ['with a head', { ...head, choices: [entry] }],
    ['with a head of other types', { id: 7, created: '1', model: {}, choices: [entry] }],
    ['with letters of all kinds', { choices: [{ ...entry, delta: { content: '"\\\n\r\u2028\ud800é' } }] }],
    ['with a role', { choices: [{ ...entry, delta: { role: 'user', content: 'x' } }] }],
    ['without a finish', { choices: [{ index: 3, delta: { content: 'x' } }] }],
    ['with no log probabilities', { choices: [{ ...entry, logprobs: null }] }],
    ['with log probabilities that are none', { choices: [{ ...entry, logprobs: SECRET }] }],
    ['with no usage', { choices: [entry], usage: null }],
    ['with a usage that is none', { choices: [entry], usage: SECRET }],
    ['with members that are not known', { choices: [{ ...entry, x: SECRET }], x: SECRET }],
  ])('leave as they would with anything else: %s', async (_what, one) => {
    // Sound: the table has one choice with a delta.
    const [choice] = one.choices as [{ delta: JsonObject }]
    const longer = { ...one, choices: [{ ...choice, delta: { ...choice.delta, unknown: SECRET } }] }
    const short = await rewrite([one, one], judgeThatAllows())
    const long = await rewrite([longer, longer], judgeThatAllows())
    expect(short.parts).toEqual(long.parts)
    expect(short.chunks).toHaveLength(2)
    expect(short.text).not.toContain(SECRET)
  })

  test.each(['id', 'created', 'model', 'service_tier', 'system_fingerprint'])(
    'have the %s that each of them has',
    async (name) => {
      const object = 'chat.completion.chunk'
      const events = [name === 'created' ? 2 : 'other', null, 'again', SECRET.length].map((value) => ({
        ...head,
        [name]: value,
        choices: [entry],
      }))
      const { chunks } = await rewrite([{ ...head, choices: [entry] }, ...events], judgeThatAllows())
      const isKept = (value: unknown): boolean =>
        name === 'created' ? typeof value === 'number' : typeof value !== 'number'
      const expected = [{ ...head, object, choices: [entry] }, ...events].map((event) => {
        const whole: Record<string, unknown> = { ...event, object }
        if (!isKept(whole[name])) Reflect.deleteProperty(whole, name)
        return whole
      })
      expect(chunks).toEqual(expected)
    },
  )

  test('hide no piece of a call', async () => {
    const delta = { content: 'x', ...piece(0, `{"a":"${SECRET}"}`, { name: 'wipe' }) }
    const { text, chunks } = await rewrite(
      [chunk(delta), chunk({ content: 'y' }), chunk({}, 'tool_calls')],
      judgeThatAllows(),
    )
    expect(text).not.toContain(SECRET)
    expect(chunks).toEqual([
      chunk({ content: 'x' }),
      chunk({ content: 'y' }),
      chunk({ content: `\n\n${refusal('wipe')}` }),
      chunk({}, 'stop'),
    ])
  })

  test('separate a later denial', async () => {
    const events = [chunk({ content: 'x' }), chunk(piece(0, '{}', { name: 'wipe' })), chunk({}, 'tool_calls')]
    const { chunks } = await rewrite(events, judgeThatAllows())
    expect(chunks[1]).toEqual(chunk({ content: `\n\n${refusal('wipe')}` }))
  })

  test.each([-1, 1.5, 1024, '0', null])('with the index %j are garbled', async (index) => {
    await expect(rewrite([chunkOf([{ ...entry, index }])], judgeThatAllows())).rejects.toThrow(Garbled)
  })
})
