// Whole replies of Messages: every kind of block, and what is forwarded of it.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { Garbled, type Judge } from '../../src/llm/dialect.ts'
import { refusal, ScriptedJudge, SECRET } from './anthropic-rig.ts'

const ALLOWED = [
  'weather',
  'computer/key',
  'anthropic/web_search',
  'anthropic/web_fetch',
  'anthropic/code_execution',
  'anthropic/tool_search',
  'anthropic/advisor',
  'anthropic/mcp',
]

const messageOf = (content: Json, stop_reason: Json = 'tool_use'): JsonObject => ({
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 2, cache_creation: { ephemeral_5m_input_tokens: 0 } },
})

const call = (id: string, name: string, input: Json): JsonObject => ({ type: 'tool_use', id, name, input })
const said = (text: string): JsonObject => ({ type: 'text', text })
const UNKNOWN = said(refusal(undefined))

async function govern(message: Json, judge: Judge = new ScriptedJudge(...ALLOWED)): Promise<JsonObject> {
  const governed = await anthropicMessages.governReply(message, judge)
  expect(JSON.stringify(governed)).not.toContain(SECRET)
  return governed
}

async function check(
  content: readonly Json[],
  expected: readonly Json[],
  stopReason = 'tool_use',
): Promise<void> {
  const governed = await govern(messageOf(content))
  expect(governed).toEqual({ ...messageOf(expected), stop_reason: stopReason })
}

/** The same with an unknown member in every object. */
function marked(value: Json): Json {
  if (Array.isArray(value)) return value.map(marked)
  if (!isObject(value)) return value
  const members = Object.entries(value).map(([name, member]) => [name, marked(member)] as const)
  return { ...Object.fromEntries(members), unheard_of: SECRET }
}

describe('calls', () => {
  test('allowed calls keep the judged arguments, denied ones become texts', () =>
    check(
      [said('a'), call('1', 'weather', { z: 1, a: { c: 1, b: 2 } }), call('2', 'shell', { command: SECRET })],
      [said('a'), call('1', 'weather', { a: { b: 2, c: 1 }, z: 1 }), said(refusal('shell'))],
    ))

  test('the stop reason changes if no call is left', () =>
    check([call('2', 'shell', { command: SECRET })], [said(refusal('shell'))], 'end_turn'))

  test('all calls of a reply are judged together, in order', async () => {
    const judge = new ScriptedJudge(...ALLOWED)
    const member = { ...call('3', 'key', { text: 'a' }), toolset_name: 'computer' }
    await govern(messageOf([call('1', 'shell', { a: 1 }), said('x'), { type: 'robot' }, member]), judge)
    expect(judge.batches).toEqual([3])
    expect(judge.asked).toEqual([
      { tool: 'shell', declared: 'shell', form: 'json', args: { a: 1 }, ref: '1' },
      { tool: undefined, declared: undefined, form: 'json', args: { type: 'robot' }, ref: undefined },
      { tool: 'computer/key', declared: 'computer/key', form: 'json', args: { text: 'a' }, ref: '3' },
    ])
  })

  test('a reply without calls is not judged', async () => {
    const judge = new ScriptedJudge()
    expect(await govern(messageOf([said('a')], 'end_turn'), judge)).toEqual(
      messageOf([said('a')], 'end_turn'),
    )
    expect(judge.batches).toEqual([])
  })

  test.each<[string, Json]>([
    ['a text', `{"city":"${SECRET}"}`],
    ['a list', [SECRET]],
    ['a number', 7],
    ['nothing', null],
  ])('arguments that are %s are refused', (_, input) =>
    check([call('1', 'weather', input)], [said(refusal('weather'))], 'end_turn'),
  )

  test('an empty call at the end of a cut reply is denied', async () => {
    const bare = call('1', 'weather', {})
    expect(await govern(messageOf([bare], 'max_tokens'))).toEqual(messageOf([UNKNOWN], 'max_tokens'))
    expect(await govern(messageOf([bare], null))).toEqual(messageOf([UNKNOWN], null))
    const more = [bare, said('a')]
    expect(await govern(messageOf(more, 'max_tokens'))).toEqual(messageOf(more, 'max_tokens'))
    expect(await govern(messageOf([bare]))).toEqual(messageOf([bare]))
  })

  test('two calls of one id, or without a readable id, are denied', async () => {
    await check(
      [call('1', 'weather', { a: 1 }), call('1', 'weather', { b: SECRET })],
      [call('1', 'weather', { a: 1 }), UNKNOWN],
    )
    for (const odd of [
      { id: null },
      { id: 'i'.repeat(300) },
      { name: 3 },
      { name: '' },
      { toolset_name: 'elsewhere' },
      { toolset_name: '' },
    ]) {
      await check([{ ...call('1', 'weather', { a: SECRET }), ...odd }], [UNKNOWN], 'end_turn')
    }
  })

  test('a ruling with invalid arguments is refused', async () => {
    const judge: Judge = { judge: () => Promise.resolve([{ allowed: true, args: '[]' }]), ran: () => true }
    await expect(govern(messageOf([call('1', 'weather', {})]), judge)).rejects.toThrow(Garbled)
  })
})

const FETCHED = {
  type: 'document',
  title: 'T',
  citations: { enabled: true },
  source: { type: 'text', media_type: 'text/plain', data: 'D' },
}
const FILES = [{ type: 'bash_code_execution_output', file_id: 'f' }]
const RUN = { stdout: 'o', stderr: '', return_code: 0 }
const result = (type: string, content: Json): JsonObject => ({ type, tool_use_id: 's', content })
const ran = (name: string): JsonObject => ({ type: 'server_tool_use', id: 's', name, input: { a: 1 } })

const RAN: readonly [string, JsonObject][] = [
  ['web_search', ran('web_search')],
  ['web_fetch', ran('web_fetch')],
  ['code_execution', ran('code_execution')],
  ['code_execution', ran('bash_code_execution')],
  ['code_execution', ran('text_editor_code_execution')],
  ['tool_search', ran('tool_search_tool_regex')],
  ['tool_search', ran('tool_search_tool_bm25')],
  ['advisor', ran('advisor')],
  ['mcp', { type: 'mcp_tool_use', id: 's', name: 'n', server_name: 'srv', input: {} }],
  ['mcp', { type: 'mcp_tool_result', tool_use_id: 's', is_error: false, content: [said('x')] }],
  ['mcp', { type: 'mcp_tool_result', tool_use_id: 's', is_error: true, content: 'x' }],
  ['mcp', { type: 'mcp_tool_listing', mcp_server_name: 'srv', tools: [] }],
  ['web_search', result('web_search_tool_result', [])],
  [
    'web_search',
    result('web_search_tool_result', { type: 'web_search_tool_result_error', error_code: 'unavailable' }),
  ],
  ['web_fetch', result('web_fetch_tool_result', { type: 'web_fetch_result', url: 'u', content: FETCHED })],
  [
    'web_fetch',
    result('web_fetch_tool_result', { type: 'web_fetch_tool_result_error', error_code: 'url_too_long' }),
  ],
  [
    'code_execution',
    result('code_execution_tool_result', { type: 'code_execution_result', ...RUN, content: [] }),
  ],
  [
    'code_execution',
    result('code_execution_tool_result', {
      type: 'encrypted_code_execution_result',
      encrypted_stdout: 'E',
      stderr: '',
      return_code: 1,
    }),
  ],
  [
    'code_execution',
    result('bash_code_execution_tool_result', { type: 'bash_code_execution_result', ...RUN, content: FILES }),
  ],
  [
    'code_execution',
    result('text_editor_code_execution_tool_result', {
      type: 'text_editor_code_execution_view_result',
      content: 'c',
      file_type: 'text',
      num_lines: 1,
    }),
  ],
  [
    'code_execution',
    result('text_editor_code_execution_tool_result', {
      type: 'text_editor_code_execution_str_replace_result',
      lines: ['a'],
      new_lines: 1,
      old_start: null,
    }),
  ],
  [
    'tool_search',
    result('tool_search_tool_result', {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'n' }],
    }),
  ],
  ['advisor', result('advisor_tool_result', { type: 'advisor_result', text: 'a', stop_reason: 'end_turn' })],
  ['code_execution', { type: 'container_upload', file_id: 'f' }],
]

describe('items that the provider ran', () => {
  test.each(RAN)('%s: %j', async (name, block) => {
    const judge = new ScriptedJudge(`anthropic/${name}`)
    // Arguments of the provider are forwarded unchanged.
    const members = Object.entries(block).map(
      ([at, value]) => [at, at === 'input' ? value : marked(value)] as const,
    )
    const given = { ...Object.fromEntries(members), unheard_of: SECRET }
    const governed = await govern(messageOf([given], 'end_turn'), judge)
    expect(governed).toEqual(messageOf([block], 'end_turn'))
    expect(judge.noted).toEqual([[`anthropic/${name}`, block]])
    expect(judge.asked).toEqual([])

    const stern = new ScriptedJudge()
    expect(await govern(messageOf([block], 'end_turn'), stern)).toEqual(messageOf([UNKNOWN], 'end_turn'))
    expect(stern.noted).toEqual([[`anthropic/${name}`, block]])
    expect(stern.asked).toMatchObject([{ tool: undefined, declared: undefined }])
  })

  test('a block that does not match its type is treated as unknown', async () => {
    for (const odd of [
      ran('rocket'),
      { ...ran('web_search'), input: SECRET },
      { ...ran('web_search'), id: 7 },
      { type: 'mcp_tool_use', id: 's', name: 'n', input: {} },
      result('web_search_tool_result', { type: 'tool_use', input: SECRET }),
      result('code_execution_tool_result', { type: 'code_execution_result', stdout: [SECRET] }),
      result('rocket_tool_result', SECRET),
      { type: 'constructor', text: SECRET },
      { type: '__proto__' },
      { type: ['tool_use'], input: SECRET },
      {},
    ]) {
      await check([odd], [UNKNOWN], 'end_turn')
    }
  })
})

describe('text', () => {
  const citation = {
    type: 'char_location',
    cited_text: 'c',
    document_index: 0,
    document_title: null,
    start_char_index: 0,
  }
  const definition = { name: 'n', description: 'd', input_schema: { type: 'object' } }
  const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition } }
  test.each<[string, JsonObject]>([
    ['text', { type: 'text', text: 't', citations: [citation] }],
    ['text without citations', { type: 'text', text: 't', citations: null }],
    ['thinking', { type: 'thinking', thinking: 't', signature: 's' }],
    ['redacted_thinking', { type: 'redacted_thinking', data: 'd' }],
    ['compaction', { type: 'compaction', content: 'c', encrypted_content: null, signature: 's' }],
    ['fallback', { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }],
  ])('%s is forwarded with its known members', async (_, block) => {
    expect(await govern(messageOf([marked(block)], 'end_turn'))).toEqual(messageOf([block], 'end_turn'))
  })

  test('a compaction keeps the changes of tools', async () => {
    const block = { type: 'compaction', content: 'c', tool_changes: [addition] }
    const strange = { type: 'tool_use', id: 'a', name: 'shell', input: { a: SECRET } }
    const given = { ...block, tool_changes: [addition, strange] }
    expect(await govern(messageOf([given], 'end_turn'))).toEqual(messageOf([block], 'end_turn'))
  })

  test('a citation of an unknown kind is dropped', () =>
    check(
      [{ type: 'text', text: 't', citations: [{ type: 'x', cited_text: SECRET }] }],
      [{ type: 'text', text: 't', citations: [] }],
      'end_turn',
    ))

  test('invalid text blocks are garbled', async () => {
    for (const odd of [
      { type: 'text' },
      { type: 'text', text: [SECRET] },
      { type: 'thinking', signature: 's' },
      { type: 'redacted_thinking' },
      { type: 'fallback', from: { model: 'a' } },
    ]) {
      await expect(govern(messageOf([odd]))).rejects.toThrow(Garbled)
    }
  })
})

describe('the message', () => {
  test('is forwarded with its known members', async () => {
    const more = {
      container: {
        id: 'c',
        expires_at: '2026-01-01T00:00:00Z',
        skills: [{ type: 'custom', skill_id: 's', version: '1' }],
      },
      context_management: { applied_edits: [{ type: 'clear_thinking_20251015', cleared_input_tokens: 3 }] },
      diagnostics: { cache_miss_reason: null },
      stop_details: { type: 'refusal', category: null, explanation: 'it may not be' },
    }
    const governed = await govern({
      ...messageOf([said('a')], 'refusal'),
      ...more,
      container: { ...more.container, secret: SECRET },
      stop_details: { ...more.stop_details, secret: SECRET },
      tool_calls: [{ function: { arguments: SECRET } }],
      output: SECRET,
    })
    expect(governed).toEqual({ ...messageOf([said('a')], 'refusal'), ...more })
  })

  test('usage has numbers only, and is always present', async () => {
    const usage = { output_tokens: 3, note: `a long text with ${SECRET} in it`, service_tier: 'standard' }
    const governed = await govern({ ...messageOf([said('a')]), usage })
    expect(governed.usage).toEqual({ output_tokens: 3, service_tier: 'standard' })
    expect((await govern({ ...messageOf([said('a')]), usage: 'none' })).usage).toEqual({})
  })

  test.each<[string, Json]>([
    ['nothing', null],
    ['a list', [SECRET]],
    ['an error', { type: 'error', error: { type: 'a', message: SECRET } }],
    ['a message of a user', { ...messageOf([]), role: 'user' }],
    ['a message without content', { ...messageOf([]), content: null }],
    ['content that is a text', messageOf(SECRET)],
    ['a block that is a text', messageOf([SECRET])],
    ['a block that is a list', messageOf([[SECRET]])],
    ['a reason that is no text', messageOf([], { a: SECRET })],
    ['a reason that is no word', messageOf([], `${SECRET} and more`)],
    ['too many blocks', messageOf(Array.from({ length: 1025 }, () => said('a')))],
    [
      'too many calls',
      messageOf(Array.from({ length: 257 }, (_, index) => call(`${index}`, 'shell', { a: SECRET }))),
    ],
  ])('%s is not the dialect', async (_, reply) => {
    const fault: unknown = await anthropicMessages
      .governReply(reply, new ScriptedJudge(...ALLOWED))
      .catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(Garbled)
    expect(String(fault)).not.toContain(SECRET)
  })
})
