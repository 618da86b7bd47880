// Requests of Messages: known and refused members, tools, texts with their channels, and results.

import type Anthropic from '@anthropic-ai/sdk'
import {
  BROWSER_MEMBER_NAME_VALUES,
  COMPUTER_MEMBER_NAME_VALUES,
} from '@anthropic-ai/sdk/resources/messages/messages'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { readBody } from '../../src/llm/body.ts'
import { Refused, type RequestReading, type Result, type TurnText } from '../../src/llm/dialect.ts'
import { SECRET } from './anthropic-rig.ts'
import { withoutPlaces } from './hosted-facts.ts'

const ASKED = { model: 'claude-test', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } }

/** A copy, as it would arrive on the wire. */
function copyOf(value: object): JsonObject {
  // Sound: the copy of an object is an object.
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

/** A body that may be changed, and its reading. */
function read(
  more: JsonObject,
  further: readonly string[] = [],
): { body: JsonObject; reading: RequestReading } {
  const body = copyOf({ ...ASKED, ...more })
  return { body, reading: withoutPlaces(anthropicMessages.readRequest(body, new Set(further))) }
}

function checkRefused(
  more: JsonObject,
  code: string,
  param: string | undefined,
  further: readonly string[] = [],
): void {
  let fault: unknown
  try {
    read(more, further)
  } catch (error) {
    fault = error
  }
  expect(fault).toBeInstanceOf(Refused)
  expect(fault).toMatchObject({ status: 400, code, param })
  expect(String(fault)).not.toContain(SECRET)
}

const toolNames = (tools: readonly Json[]): readonly string[] => [...read({ tools }).reading.tools.keys()]
const turnsOf = (messages: readonly Json[], more: JsonObject = {}): RequestReading['turns'] =>
  read({ messages, ...more }).reading.turns
const user = (...content: readonly Json[]): JsonObject => ({ role: 'user', content })
const assistant = (...content: readonly Json[]): JsonObject => ({ role: 'assistant', content })
const byUser = (text: string): TurnText => ({ kind: 'said', channel: 'USER', text })
const byTool = (text: string): TurnText => ({ kind: 'said', channel: 'TOOL_OUTPUT', text })
const text = (words: string): JsonObject => ({ type: 'text', text: words })

describe('parameters', () => {
  test('of the official client are known', () => {
    const params: Required<
      Omit<
        Anthropic.Beta.MessageCreateParamsStreaming,
        'thread' | 'betas' | 'fallbacks' | 'tools' | 'messages'
      >
    > = {
      model: 'claude-test',
      max_tokens: 1,
      cache_control: null,
      compaction: { type: 'summarize' },
      container: null,
      context_management: null,
      diagnostics: null,
      fallback_credit_token: null,
      inference_geo: 'us',
      mcp_servers: [],
      metadata: { user_id: 'u' },
      output_config: {},
      output_format: null,
      service_tier: 'auto',
      speed: null,
      stop_sequences: [],
      stream: true,
      system: 's',
      thinking: { type: 'disabled' },
      tool_choice: { type: 'auto' },
      user_profile_id: 'p',
      workspace_id: 'w',
    }
    const { reading } = read({
      ...copyOf(params),
      temperature: 1,
      top_p: 1,
      top_k: 1,
      thread: null,
    })
    expect(reading).toMatchObject({ stream: true, hosted: [] })
  })

  test('that are unknown are refused, unless configured', () => {
    checkRefused({ run_tools: SECRET }, 'ROUTE_NOT_GOVERNED', 'run_tools')
    checkRefused({ [`${SECRET} a name`]: 1 }, 'ROUTE_NOT_GOVERNED', undefined)
    checkRefused({ constructor: 1 }, 'ROUTE_NOT_GOVERNED', 'constructor')
    expect(read({ min_p: 1 }, ['min_p']).reading.stream).toBe(false)
  })

  test('that leave the conversation at the provider are refused', () => {
    checkRefused({ thread: { type: 'create' } }, 'ROUTE_NOT_GOVERNED', 'thread')
    checkRefused(
      { thread: { type: 'continue', previous_message_id: SECRET } },
      'ROUTE_NOT_GOVERNED',
      'thread',
      ['thread'],
    )
  })

  test('of a fallback cannot bring tools', () => {
    expect(read({ fallbacks: 'default' }).reading.hosted).toEqual([])
    expect(read({ fallbacks: [{ model: 'a', max_tokens: 3, thinking: null }] }).reading.hosted).toEqual([])
    checkRefused({ fallbacks: [{ model: 'a', tools: [SECRET] }] }, 'ROUTE_NOT_GOVERNED', 'fallbacks')
    checkRefused({ fallbacks: [SECRET] }, 'ROUTE_NOT_GOVERNED', 'fallbacks')
  })

  test.each<[Json, boolean]>([
    [true, true],
    [false, false],
    [null, false],
  ])('stream: %s', (stream, expected) => expect(read({ stream }).reading.stream).toBe(expected))

  test('a stream flag must be true or false', () => {
    for (const stream of ['true', 1, 0, {}, []]) checkRefused({ stream }, 'AMBIGUOUS_INPUT', 'stream')
  })
})

describe('tools of the client', () => {
  test('functions are declared with their schemas', () => {
    const tools = [
      { name: 'weather', input_schema: SCHEMA, cache_control: { type: 'ephemeral' }, defer_loading: true },
      { name: 'mail', type: 'custom', input_schema: SCHEMA, allowed_callers: ['direct'], strict: true },
      { name: 'note', type: null, input_schema: {} },
    ]
    const { reading } = read({ tools })
    expect([...reading.tools]).toEqual([
      ['weather', { form: 'json', schema: SCHEMA }],
      ['mail', { form: 'json', schema: SCHEMA }],
      ['note', { form: 'json', schema: {} }],
    ])
    expect(reading.hosted).toEqual([])
  })

  test('built-ins are declared by name', () => {
    const { reading } = read({
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
        { type: 'computer_20251124', name: 'computer', display_width_px: 1, display_height_px: 1 },
        { type: 'memory_20250818', name: 'memory' },
      ],
    })
    expect([...reading.tools.keys()]).toEqual(['bash', 'str_replace_based_edit_tool', 'computer', 'memory'])
    expect(reading.tools.get('bash')).toEqual({ form: 'json', schema: undefined })
    expect(reading.hosted).toEqual([])
  })

  test('toolsets declare all their enabled members', () => {
    const off = { navigate: { enabled: false }, wait: { enabled: null } }
    const names = toolNames([
      { type: 'browser_toolset_20260801', configs: off },
      { type: 'computer_toolset_20260801' },
    ])
    const all = [
      ...BROWSER_MEMBER_NAME_VALUES.map((name) => `browser/${name}`),
      ...COMPUTER_MEMBER_NAME_VALUES.map((name) => `computer/${name}`),
    ]
    expect([...names].sort()).toEqual(all.filter((name) => name !== 'browser/navigate').sort())
    checkRefused({ tools: [{ name: 'browser/wait', input_schema: {} }] }, 'AMBIGUOUS_INPUT', 'tools')
    const twice = [{ type: 'browser_toolset_20260801' }, { type: 'browser_toolset_20270101' }]
    checkRefused({ tools: twice }, 'AMBIGUOUS_INPUT', 'tools')
  })

  test.each<[string, Json]>([
    ['a list that is none', { name: SECRET }],
    ['a tool that is none', [SECRET]],
    ['no name', [{ input_schema: {} }]],
    ['an empty name', [{ name: '', input_schema: {} }]],
    ['a long name', [{ name: 'n'.repeat(300), input_schema: {} }]],
    ['a name that is no text', [{ name: [SECRET], input_schema: {} }]],
    ['no schema', [{ name: 'a' }]],
    ['a schema that is none', [{ name: 'a', input_schema: SECRET }]],
    ['a type that is no text', [{ name: 'a', type: 7, input_schema: {} }]],
    ['a built-in without a name', [{ type: 'bash_20250124' }]],
    [
      'two of one name',
      [
        { name: 'a', input_schema: {} },
        { name: 'a', input_schema: {} },
      ],
    ],
    [
      'one that is also run elsewhere',
      [
        { name: 'web_search', input_schema: {} },
        { name: 'web_search', type: 'web_search_20250305' },
      ],
    ],
  ])('%s is refused', (_, tools) => checkRefused({ tools }, 'AMBIGUOUS_INPUT', 'tools'))

  test('no tools are none', () => {
    expect(toolNames([])).toEqual([])
    expect(read({ tools: null }).reading.tools.size).toBe(0)
  })

  test('tools in the conversation are declared too', () => {
    const added = (definition: Json): JsonObject => ({
      type: 'tool_addition',
      tool: { type: 'tool_definition', definition },
    })
    const mail = { name: 'mail', input_schema: SCHEMA }
    const { reading } = read({
      tools: [mail],
      messages: [
        { role: 'system', content: [added({ name: 'b', input_schema: {} }), added(mail)] },
        user(added({ type: 'web_search_20250305', name: 'web_search' })),
        assistant({
          type: 'compaction',
          content: 'c',
          tool_changes: [added({ name: 'c', input_schema: {} }), { type: 'tool_removal' }],
        }),
        user({ type: 'tool_addition', tool: { type: 'tool_reference', name: 'mail' } }),
      ],
    })
    expect([...reading.tools.keys()]).toEqual(['mail', 'b', 'c'])
    expect(reading.hosted).toEqual([
      { tool: 'anthropic/web_search', args: { name: 'web_search' }, known: true },
    ])
    const other = user(added({ name: 'mail', input_schema: {} }))
    checkRefused({ tools: [mail], messages: [other] }, 'AMBIGUOUS_INPUT', 'tools')
    const strange = user({ type: 'tool_addition', tool: { type: 'rocket', definition: SECRET } })
    checkRefused({ messages: [strange] }, 'ROUTE_NOT_GOVERNED', 'messages')
    const changed = assistant({ type: 'compaction', tool_changes: [{ type: 'rocket' }] })
    checkRefused({ messages: [changed] }, 'ROUTE_NOT_GOVERNED', 'messages')
    checkRefused(
      { messages: [assistant({ type: 'compaction', tool_changes: SECRET })] },
      'AMBIGUOUS_INPUT',
      'messages',
    )
    checkRefused({ messages: [user(added(SECRET))] }, 'AMBIGUOUS_INPUT', 'tools')
  })
})

describe('tools of the provider', () => {
  const hosted = (...tools: readonly JsonObject[]): RequestReading['hosted'] => read({ tools }).reading.hosted

  test.each([
    ['web_search_20250305', 'anthropic/web_search'],
    ['web_fetch_20250910', 'anthropic/web_fetch'],
    ['code_execution_20250522', 'anthropic/code_execution'],
    ['code_execution_20260521', 'anthropic/code_execution'],
    ['tool_search_tool_regex_20251119', 'anthropic/tool_search'],
    ['tool_search_tool_bm25', 'anthropic/tool_search'],
    ['advisor_20260301', 'anthropic/advisor'],
    ['mcp_toolset', 'anthropic/mcp'],
  ])('%s is judged as %s', (type, tool) => {
    expect(hosted({ type, name: 'n', max_uses: 3 })).toEqual([
      { tool, args: { name: 'n', max_uses: 3 }, known: true },
    ])
    expect(toolNames([{ type, name: 'n' }])).toEqual([])
  })

  test('a search that runs code is judged as both', () => {
    const code = { tool: 'anthropic/code_execution', args: { for: 'web_search' }, known: true }
    const search = { type: 'web_search_20260209', name: 'web_search' }
    expect(hosted(search)).toMatchObject([{ tool: 'anthropic/web_search' }, code])
    expect(hosted({ ...search, allowed_callers: ['direct'] })).toMatchObject([
      { tool: 'anthropic/web_search' },
    ])
    expect(hosted({ ...search, allowed_callers: ['direct'] }).length).toBe(1)
    expect(hosted({ ...search, allowed_callers: [] }).length).toBe(2)
  })

  test('secrets are not shown', () => {
    const given = {
      type: 'mcp_toolset',
      mcp_server_name: 's',
      authorization_token: SECRET,
      headers: { 'X-Key': SECRET },
    }
    expect(hosted(given)).toEqual([
      { tool: 'anthropic/mcp', args: { mcp_server_name: 's', headers: ['X-Key'] }, known: true },
    ])
  })

  test('an unknown type is marked as unknown', () => {
    expect(hosted({ type: 'rocket_20270101', name: 'rocket', secret: SECRET })).toEqual([
      { tool: 'anthropic/rocket_20270101', args: {}, known: false },
    ])
    expect(hosted({ type: `a type of ${SECRET}` })).toEqual([{ tool: undefined, args: {}, known: false }])
    // Without the version date it is an unknown type.
    expect(hosted({ type: 'bash', name: 'bash' })).toEqual([
      { tool: 'anthropic/bash', args: {}, known: false },
    ])
    expect(hosted({ type: 'rocket_toolset_20260801' })).toMatchObject([{ known: false }])
  })

  test('servers are judged by their settings, without keys', () => {
    const server = { type: 'url', name: 'srv', url: 'https://mcp.test', authorization_token: SECRET }
    const configured = { ...server, tool_configuration: { enabled: true, allowed_tools: ['a'] } }
    const of = (...servers: readonly Json[]): RequestReading['hosted'] =>
      read({ mcp_servers: servers }).reading.hosted
    const args = { name: 'srv', url: 'https://mcp.test' }
    expect(of(server, configured)).toEqual([
      { tool: 'anthropic/mcp', args, known: true },
      {
        tool: 'anthropic/mcp',
        args: { ...args, tool_configuration: configured.tool_configuration },
        known: true,
      },
    ])
    expect(of({ ...server, type: 'stdio' })).toEqual([{ tool: 'anthropic/mcp', args, known: false }])
    expect(of({ ...server, proxy: SECRET })).toEqual([{ tool: 'anthropic/mcp', args, known: false }])
    checkRefused({ mcp_servers: SECRET }, 'AMBIGUOUS_INPUT', 'mcp_servers')
    checkRefused({ mcp_servers: [SECRET] }, 'AMBIGUOUS_INPUT', 'mcp_servers')
  })

  test('skills are judged one by one', () => {
    const skill = { type: 'custom', skill_id: 's', version: 'latest' }
    const of = (container: Json): RequestReading['hosted'] => read({ container }).reading.hosted
    expect(of({ id: 'c', skills: [skill] })).toEqual([{ tool: 'anthropic/skills', args: skill, known: true }])
    expect([of('c'), of(null), of({ id: 'c' }), of({ skills: null })]).toEqual([[], [], [], []])
    checkRefused({ container: 7 }, 'AMBIGUOUS_INPUT', 'container')
    checkRefused({ container: { skills: SECRET } }, 'AMBIGUOUS_INPUT', 'container')
    checkRefused({ container: { id: 'c', tools: SECRET } }, 'ROUTE_NOT_GOVERNED', 'container')
  })
})

describe('texts', () => {
  test('of the system and the user are taken in order', () => {
    const messages = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'not this' },
      user(
        text('two'),
        { type: 'image', source: { type: 'url', url: 'https://a.test' } },
        text('three'),
        text(''),
      ),
      assistant(text('nor this'), { type: 'thinking', thinking: 'nor this', signature: 's' }),
      { role: 'system', content: 'four' },
      { role: 'system', output_config: { effort: 'low' } },
      { role: 'system', content: [text('five')] },
    ]
    expect(turnsOf(messages, { system: 'zero' })).toEqual(
      ['zero', 'one', 'two', 'three', 'four', 'five'].map(byUser),
    )
    expect(turnsOf([], { system: [text('a'), text('b')] })).toEqual([byUser('a'), byUser('b')])
  })

  test('in documents count as tool output', () => {
    const document = (source: Json): JsonObject => ({ type: 'document', title: 'T', context: 'C', source })
    const search = { type: 'search_result', title: 'S', source: 'https://s.test', content: [text('found')] }
    expect(
      turnsOf([
        user(
          document({ type: 'text', media_type: 'text/plain', data: 'D' }),
          document({ type: 'base64', media_type: 'application/pdf', data: 'QUJD' }),
          document({ type: 'content', content: [text('E')] }),
          document({ type: 'content', content: 'F' }),
          search,
        ),
      ]),
    ).toEqual(
      ['T', 'C', 'D', 'T', 'C', 'T', 'C', 'E', 'T', 'C', 'F', 'S', 'https://s.test', 'found'].map(byTool),
    )
  })

  test('in base64 documents are read', () => {
    const others = [
      base64('document', 'application/pdf', encoded(SECRET)),
      base64('document', 'application/msword', encoded(SECRET)),
      base64('image', 'image/png', encoded(SECRET)),
      { type: 'document', source: { type: 'file', file_id: 'f' } },
    ]
    const given = [
      base64('document', 'text/html', encoded('<p>é')),
      base64('document', 'application/json', encoded('{}')),
    ]
    expect(turnsOf([user(...others, ...given)])).toEqual([byTool('<p>é'), byTool('{}')])
    const page = { type: 'web_fetch_result', url: 'V', content: given[0] ?? null }
    expect(turnsOf([assistant({ type: 'web_fetch_tool_result', tool_use_id: 's', content: page })])).toEqual([
      byTool('V'),
      byTool('<p>é'),
    ])
    for (const unread of [
      base64('document', 'text/plain', '//8='),
      base64('document', 'text/plain', `${SECRET}!`),
      base64('document', 'text/plain;charset=utf-16', encoded(SECRET)),
      base64('document', ` text/plain;${'a'.repeat(300)}`, encoded(SECRET)),
      base64('document', `text/do ${SECRET}!`, encoded('a')),
    ]) {
      checkRefused({ messages: [user(unread)] }, 'AMBIGUOUS_INPUT', 'messages')
    }
  })

  test('of provider tools count as tool output', () => {
    const of = (type: string, content: Json): JsonObject => ({
      type: `${type}_tool_result`,
      tool_use_id: 's',
      content,
    })
    const page = {
      type: 'document',
      title: 'P',
      source: { type: 'text', media_type: 'text/plain', data: 'page' },
    }
    expect(
      turnsOf([
        assistant(
          { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'not this' } },
          of('web_search', [
            { type: 'web_search_result', url: 'U', title: 'W', encrypted_content: 'not this' },
          ]),
          of('web_fetch', { type: 'web_fetch_result', url: 'V', content: page }),
          of('code_execution', {
            type: 'code_execution_result',
            stdout: 'out',
            stderr: 'err',
            return_code: 0,
            content: [],
          }),
          of('bash_code_execution', {
            type: 'bash_code_execution_result',
            stdout: 'bout',
            stderr: '',
            return_code: 0,
          }),
          of('text_editor_code_execution', {
            type: 'text_editor_code_execution_view_result',
            content: 'file',
          }),
          of('text_editor_code_execution', { lines: ['l1', 'l2'] }),
          of('mcp', [text('m1')]),
          of('mcp', 'm2'),
          of('advisor', { type: 'advisor_result', text: 'adv' }),
          {
            type: 'mcp_tool_listing',
            mcp_server_name: 's',
            tools: [{ name: 'n', description: 'desc', input_schema: {} }],
          },
        ),
      ]),
    ).toEqual(
      ['U', 'W', 'V', 'P', 'page', 'out', 'err', 'bout', 'file', 'l1', 'l2', 'm1', 'm2', 'adv', 'desc'].map(
        byTool,
      ),
    )
  })

  test.each<[string, Json]>([
    ['no list', SECRET],
    ['a message that is none', [SECRET]],
    ['another role', [{ role: 'tool', content: SECRET }]],
    ['no role', [{ content: SECRET }]],
    ['no content', [{ role: 'user' }]],
    ['content that is an object', [{ role: 'user', content: { text: SECRET } }]],
    ['a block that is none', [user(SECRET)]],
    ['a text that is none', [user({ type: 'text', text: [SECRET] })]],
  ])('%s is refused', (_, messages) => checkRefused({ messages }, 'AMBIGUOUS_INPUT', 'messages'))

  test('in an invalid or too deeply nested system prompt are refused', () => {
    checkRefused({ system: { text: SECRET } }, 'AMBIGUOUS_INPUT', 'system')
    let deep: Json = SECRET
    for (let depth = 0; depth < 40; depth++) deep = { content: [deep] }
    checkRefused({ messages: [user({ type: 'document', source: deep })] }, 'AMBIGUOUS_INPUT', 'messages')
  })

  test('in unknown blocks are left to the upstream', () =>
    expect(turnsOf([user({ type: 'rocket', text: 'x' }, text('a'))])).toEqual([byUser('a')]))
})

const encoded = (words: string): string => Buffer.from(words).toString('base64')
const base64 = (type: string, media_type: Json, data: Json): JsonObject => ({
  type,
  source: { type: 'base64', media_type, data },
})

describe('results', () => {
  const result = (content?: Json, more: JsonObject = {}): JsonObject => ({
    type: 'tool_result',
    tool_use_id: 'a',
    ...(content !== undefined && { content }),
    ...more,
  })
  const used = (id: string, name: string, more: JsonObject = {}): JsonObject =>
    assistant({ type: 'tool_use', id, name, input: {}, ...more })

  function readResult(
    block: JsonObject,
    ...before: readonly JsonObject[]
  ): { result: Result; sent: () => Json } {
    const { body, reading } = read({ messages: [...before, user(block)] })
    const found = reading.turns.find((turn) => turn.kind === 'result')
    if (!found) throw new Error('there is no result')
    // Sound: the body was made here.
    const sent = (): Json => (body as { messages: { content: Json[] }[] }).messages.at(-1)?.content[0] ?? null
    return { result: found, sent }
  }

  test('have the name of the earlier call', () => {
    expect(readResult(result('r'), used('a', 'weather')).result).toMatchObject({
      ref: 'a',
      tool: 'weather',
      failed: false,
    })
    expect(readResult(result('r', { is_error: true }), used('b', 'weather')).result).toMatchObject({
      tool: undefined,
      failed: true,
    })
    const member = used('a', 'navigate', { toolset_name: 'browser' })
    expect(readResult(result('r', { toolset_name: 'browser' }), member).result.tool).toBe('browser/navigate')
    expect(readResult(result('r'), used('a', 'x'), used('a', 'y')).result.tool).toBeUndefined()
    expect(readResult(result('r', { tool_use_id: 7 })).result).toMatchObject({
      ref: undefined,
      tool: undefined,
    })
    // A later call does not count.
    const { reading } = read({ messages: [user(result('r')), used('a', 'late')] })
    expect(reading.turns).toMatchObject([{ kind: 'result', tool: undefined }])
  })

  const picture = { type: 'image', source: { type: 'base64', data: 'QUJD', media_type: 'image/png' } }

  test('are read with all their texts', () => {
    const { result: found } = readResult(
      result([
        text('t'),
        picture,
        { type: 'search_result', title: 'S', source: 'src', content: [text('found')] },
        {
          type: 'document',
          title: 'T',
          context: null,
          source: { type: 'text', data: 'D', media_type: 'text/plain' },
        },
        {
          type: 'document',
          source: { type: 'content', content: [text('E'), picture] },
        },
        { type: 'document', source: { type: 'base64', data: 'QUJD', media_type: 'application/pdf' } },
        { type: 'tool_reference', tool_name: 'n' },
        {
          type: 'browser_state',
          tabs: [{ tab_id: '1', title: 'tab', url: 'U' }],
          state_changes: [{ type: 'download_failed', download_id: 'd', url: 'V', error: 'oops' }],
        },
      ]),
    )
    expect(found.texts).toEqual(['t', 'S', 'src', 'found', 'T', 'D', 'E', 'tab', 'U', 'V', 'oops'])
  })

  test('can be rewritten in place', () => {
    const source = { type: 'text', media_type: 'text/plain', data: SECRET }
    const content = [text(SECRET), picture, { type: 'document', title: SECRET, source }]
    const { result: found, sent } = readResult(
      result(content, { is_error: true, cache_control: { type: 'ephemeral' } }),
    )
    found.rewrite(['one', 'two', 'three'])
    expect(sent()).toEqual(
      result(
        [text('one'), picture, { type: 'document', title: 'two', source: { ...source, data: 'three' } }],
        {
          is_error: true,
          cache_control: { type: 'ephemeral' },
        },
      ),
    )
    // The received content is unchanged.
    expect(found.content).toEqual(content)
    expect(() => found.rewrite(['one'])).toThrow(RangeError)
    const plain = readResult(result(SECRET))
    plain.result.rewrite(['x'])
    expect(plain.sent()).toEqual(result('x'))
  })

  test('can be withheld completely', () => {
    const more = { is_error: true, output: SECRET }
    const { result: found, sent } = readResult(
      result([{ ...text(SECRET), citations: [{ cited_text: SECRET }] }], more),
    )
    expect(found.texts).toEqual([SECRET])
    found.withhold('withheld')
    expect(sent()).toEqual(result('withheld', { is_error: true }))
  })

  test('without content stay so', () => {
    const { result: found, sent } = readResult(result())
    expect(found).toMatchObject({ texts: [], content: [] })
    expect(sent()).toEqual(result())
    found.withhold('note')
    expect(sent()).toEqual(result('note'))
  })

  test('lose everything that was not read', () => {
    const hidden = result([{ ...text('a'), citations: [{ type: 'x', cited_text: SECRET }] }], {
      output: SECRET,
    })
    expect(readResult(hidden).sent()).toEqual(result([text('a')]))
  })

  test.each([
    'text/plain',
    'text/html',
    'text/csv',
    'TEXT/Plain; charset=UTF-8',
    'application/json',
    'application/xml',
  ])('with a document in base64 of %s are read and rewritten', (media) => {
    const given = base64('document', media, encoded(`Grüße, ${SECRET}`))
    const { result: found, sent } = readResult(result([given, text('after')]))
    expect(found.texts).toEqual([`Grüße, ${SECRET}`, 'after'])
    expect(sent()).toEqual(result([given, text('after')]))
    found.rewrite(['— Grüße', 'b'])
    expect(sent()).toEqual(result([base64('document', media, encoded('— Grüße')), text('b')]))
    expect(found.content).toEqual([given, text('after')])
  })

  test('with an SVG image are read', () => {
    const given = base64('image', 'image/svg+xml', encoded(`<svg>${SECRET}</svg>`))
    const { result: found, sent } = readResult(result([given]))
    expect(found.texts).toEqual([`<svg>${SECRET}</svg>`])
    found.rewrite(['<svg/>'])
    expect(sent()).toEqual(result([base64('image', 'image/svg+xml', encoded('<svg/>'))]))
  })

  test('with the URL of an image are read and rewritten', () => {
    const address = (url: string): JsonObject => ({ type: 'image', source: { type: 'url', url } })
    const inside = (url: string): JsonObject => ({
      type: 'document',
      source: { type: 'content', content: [address(url)] },
    })
    const { result: found, sent } = readResult(
      result([address(`https://a.test/${SECRET}`), inside('https://b.test')]),
    )
    expect(found.texts).toEqual([`https://a.test/${SECRET}`, 'https://b.test'])
    found.rewrite(['https://c.test', 'https://d.test'])
    expect(sent()).toEqual(result([address('https://c.test'), inside('https://d.test')]))
  })

  test('may be a PDF, which is not read', () => {
    const content = [base64('document', 'application/pdf', 'QUJD')]
    const { result: found, sent } = readResult(result(content))
    expect(found.texts).toEqual([])
    expect(sent()).toEqual(result(content))
  })

  /** Everything that the official client has, and nothing else. */
  const whole: readonly JsonObject[] = [
    { ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' }, citations: null },
    { ...picture, transformations: { oversized_image: 'downsize' }, cache_control: null },
    {
      type: 'document',
      title: 't',
      context: 'c',
      citations: { enabled: true },
      source: { type: 'text', media_type: 'text/plain', data: 'd' },
    },
    { type: 'document', source: { type: 'content', content: [text('e')] } },
    base64('document', 'text/plain', encoded('f')),
    { type: 'image', source: { type: 'url', url: 'u' } },
    { type: 'search_result', title: 's', source: 'o', citations: { enabled: false }, content: [text('g')] },
    { type: 'tool_reference', tool_name: 'mcp/a.b:c-d' },
    {
      type: 'browser_state',
      tabs: [{ tab_id: '1', title: 'h', url: 'i', active: true }],
      state_changes: [
        { type: 'tab_opened', tab_id: '1' },
        { type: 'download_completed', download_id: 'd', url: 'j', path: 'k', size_bytes: 3 },
        { type: 'download_failed', download_id: 'd', url: 'l', error: null },
      ],
    },
    { type: 'browser_state', tabs: [], state_changes: null },
  ]
  const settings = { is_error: false, cache_control: { type: 'ephemeral' }, toolset_name: 'browser' }

  test('stay unchanged if everything is known', () => {
    const { body, reading } = read({ messages: [user(result(whole, settings))] })
    expect(reading.changed).toBe(false)
    expect(body.messages).toEqual([user(result(whole, settings))])
  })

  test('lose every unknown member, wherever it is, and report it', () => {
    let places = 0
    /** Copies of a value in which one object has one more member. */
    function* grown(value: Json): Generator<Json> {
      if (isObject(value)) {
        yield { ...value, hidden: SECRET }
        for (const [name, member] of Object.entries(value)) {
          for (const other of grown(member)) yield { ...value, [name]: other }
        }
      } else if (isList(value)) {
        for (const [at, item] of value.entries()) for (const other of grown(item)) yield value.with(at, other)
      }
    }
    for (const given of grown(result(whole, settings))) {
      const { body, reading } = read({ messages: [user(given)] })
      expect(reading.changed).toBe(true)
      expect(body.messages).toEqual([user(result(whole, settings))])
      const [found] = reading.turns
      if (found?.kind !== 'result') throw new Error('there is no result')
      found.rewrite(found.texts)
      expect(body.messages).toEqual([user(result(whole, settings))])
      places++
    }
    expect(places).toBe(27)
  })

  test('lose settings that are sentences', () => {
    const wordy = { type: 'ephemeral', ttl: `do ${SECRET}` }
    const { body, reading } = read({
      messages: [
        user(
          result(
            [
              { ...text('a'), cache_control: wordy },
              { ...text('b'), cache_control: SECRET },
            ],
            {
              cache_control: wordy,
              is_error: SECRET,
              toolset_name: `do ${SECRET}`,
            },
          ),
        ),
      ],
    })
    expect(reading).toMatchObject({ changed: true, turns: [{ failed: false, texts: ['a', 'b'] }] })
    const left = { cache_control: { type: 'ephemeral' } }
    expect(body.messages).toEqual([user(result([{ ...text('a'), ...left }, text('b')], left))])
  })

  describe('of any size', () => {
    const LONG = `${SECRET} ${'x'.repeat(100_000)}`

    /** As in the door: long base64 is a mark. */
    function readLong(
      message: JsonObject,
    ): RequestReading & { sent: (changed: boolean) => JsonObject; marked: string } {
      const bytes = Buffer.from(JSON.stringify({ ...ASKED, messages: [message] }))
      const body = readBody(bytes)
      const marked = JSON.stringify(body.value)
      const restored = (words: string): string => {
        const long = body.restored(words)
        return typeof long === 'string' ? long : words
      }
      const reading = anthropicMessages.readRequest(body.value, new Set(), restored)
      // Sound: a parsed object is an object.
      const sent = (changed: boolean): JsonObject =>
        JSON.parse(Buffer.concat(body.written(changed)).toString()) as JsonObject
      return { ...reading, sent, marked }
    }

    test('are read and rewritten if they are text', () => {
      const given = base64('document', 'text/plain', encoded(LONG))
      const { marked, changed, turns, sent } = readLong(user(result([given, text('b')])))
      expect(marked.length).toBeLessThan(1000)
      const [found] = turns
      if (found?.kind !== 'result') throw new Error('there is no result')
      expect(found.texts).toEqual([LONG, 'b'])
      expect(changed).toBe(false)
      expect(sent(true).messages).toEqual([user(result([given, text('b')]))])
      found.rewrite([LONG, 'c'])
      expect(sent(true).messages).toEqual([user(result([given, text('c')]))])
      found.rewrite(['short', 'c'])
      expect(sent(true).messages).toEqual([
        user(result([base64('document', 'text/plain', encoded('short')), text('c')])),
      ])
    })

    test('are not read if they are images', () => {
      const given = base64('image', 'image/png', encoded(LONG))
      const { turns, sent } = readLong(user(result([given])))
      expect(turns).toMatchObject([{ kind: 'result', texts: [] }])
      expect(sent(true).messages).toEqual([user(result([given]))])
    })

    test('are taken if they are documents of a user', () => {
      const given = base64('document', 'text/plain', encoded(LONG))
      expect(readLong(user(given)).turns).toEqual([byTool(LONG)])
    })

    test('are not accepted as names', () => {
      const long = `do_${SECRET}`.repeat(10_000)
      const named = user(result([{ type: 'tool_reference', tool_name: long }]))
      expect(() => readLong(named)).toThrow(Refused)
      const kept = { ...text('a'), cache_control: { type: 'ephemeral', ttl: long } }
      const { changed, sent } = readLong(user(result([kept], { toolset_name: long })))
      expect(changed).toBe(true)
      expect(JSON.stringify(sent(true))).not.toContain(SECRET)
    })
  })

  test.each<[string, Json]>([
    ['an object', { text: SECRET }],
    ['a number', 7],
    ['a text in a list', [SECRET]],
    ['a block of an unknown type', [{ type: 'rocket', text: SECRET }]],
    ['a block without a type', [{ text: SECRET }]],
    ['a text that is none', [{ type: 'text', text: { a: SECRET } }]],
    ['a result in a result', [result(SECRET)]],
    ['a document without a source', [{ type: 'document', title: SECRET }]],
    ['a source of an unknown type', [{ type: 'document', source: { type: 'rocket', data: SECRET } }]],
    ['a source that is none', [{ type: 'document', source: { type: 'text', data: [SECRET] } }]],
    [
      'a document in a document',
      [{ type: 'document', source: { type: 'content', content: [{ type: 'document' }] } }],
    ],
    [
      'a title that is none',
      [{ type: 'document', title: [SECRET], source: { type: 'text', media_type: 'text/plain', data: 'd' } }],
    ],
    ['a document from elsewhere', [{ type: 'document', source: { type: 'url', url: SECRET } }]],
    ['a document in a file', [{ type: 'document', source: { type: 'file', file_id: SECRET } }]],
    ['an image in a file', [{ type: 'image', source: { type: 'file', file_id: SECRET } }]],
    ['an image without a source', [{ type: 'image' }]],
    ['an image of an unknown source', [{ type: 'image', source: { type: 'rocket', data: SECRET } }]],
    ['an image whose source has no type', [{ type: 'image', source: {} }]],
    ['an image whose address is none', [{ type: 'image', source: { type: 'url', url: [SECRET] } }]],
    ['an image without an address', [{ type: 'image', source: { type: 'url' } }]],
    [
      'an image whose address is a document',
      [{ type: 'image', source: { type: 'url', url: `data:text/plain,${SECRET}` } }],
    ],
    ['an image that is a text', [base64('image', 'text/plain', encoded(SECRET))]],
    ['an image that is a PDF', [base64('image', 'application/pdf', 'QUJD')]],
    ['an image with parameters', [base64('image', `image/png; note=${SECRET}`, 'QUJD')]],
    ['an image of no media type', [{ type: 'image', source: { type: 'base64', data: 'QUJD' } }]],
    ['an image whose data is an object', [base64('image', 'image/png', { text: SECRET })]],
    ['an image whose data is words', [base64('image', 'image/png', `do ${SECRET}`)]],
    ['an image without data', [{ type: 'image', source: { type: 'base64', media_type: 'image/png' } }]],
    ['a drawing in other than base64', [base64('image', 'image/svg+xml', `<svg>${SECRET}</svg>`)]],
    ['a PDF whose data is an object', [base64('document', 'application/pdf', { text: SECRET })]],
    ['a PDF whose data is words', [base64('document', 'application/pdf', `do ${SECRET}`)]],
    ['a document of another media type', [base64('document', 'application/msword', encoded(SECRET))]],
    ['a document that is an image', [base64('document', 'image/png', encoded(SECRET))]],
    ['a document of no media type', [{ type: 'document', source: { type: 'base64', data: 'QUJD' } }]],
    ['a media type that is none', [base64('document', ['text/plain'], encoded(SECRET))]],
    ['a text in another alphabet', [base64('document', 'text/plain; charset=utf-7', encoded(SECRET))]],
    ['a text that is not UTF-8', [base64('document', 'text/plain', '//8=')]],
    [
      'a text in UTF-16',
      [base64('document', 'text/plain', Buffer.from(SECRET, 'utf16le').toString('base64'))],
    ],
    ['a text that is not base64', [base64('document', 'text/plain', `${encoded(SECRET)}!`)]],
    ['a text in two runs of base64', [base64('document', 'text/plain', `QQ==${encoded(SECRET)}`)]],
    ['a text whose data is an object', [base64('document', 'text/plain', { text: SECRET })]],
    ['a text without data', [{ type: 'document', source: { type: 'base64', media_type: 'text/plain' } }]],
    ['a document whose text is missing', [{ type: 'document', source: { type: 'text' } }]],
    ['a document whose content is missing', [{ type: 'document', source: { type: 'content' } }]],
    ['a text that is missing', [{ type: 'text' }]],
    ['a search result without content', [{ type: 'search_result', title: SECRET }]],
    ['a reference that is a sentence', [{ type: 'tool_reference', tool_name: `do ${SECRET}` }]],
    ['a reference that is long', [{ type: 'tool_reference', tool_name: 'n'.repeat(129) }]],
    ['a reference that is empty', [{ type: 'tool_reference', tool_name: '' }]],
    ['a reference that is none', [{ type: 'tool_reference', tool_name: [SECRET] }]],
    ['a reference to nothing', [{ type: 'tool_reference' }]],
    ['a tab whose id is a sentence', [{ type: 'browser_state', tabs: [{ tab_id: `do ${SECRET}` }] }]],
    ['no tabs', [{ type: 'browser_state' }]],
    [
      'a search result with a picture',
      [{ type: 'search_result', title: 't', source: 's', content: [{ type: 'image' }] }],
    ],
    ['tabs that are none', [{ type: 'browser_state', tabs: SECRET }]],
  ])('with %s are refused', (_, content) =>
    checkRefused({ messages: [user(result(content))] }, 'AMBIGUOUS_INPUT', 'messages'),
  )
})

describe('limits', () => {
  const many = <Item>(count: number, item: (at: number) => Item): Item[] =>
    Array.from({ length: count }, (_, at) => item(at))
  const tool = (at: number): JsonObject => ({ name: `n${at}`, input_schema: {} })
  const search = (at: number): JsonObject => ({ type: 'web_search_20250305', name: `s${at}` })
  const added = (definition: JsonObject): JsonObject => ({
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition },
  })
  const answer = (content: Json): JsonObject => ({ type: 'tool_result', tool_use_id: 'a', content })

  test('for tools that the provider runs', () => {
    expect(read({ tools: many(128, search) }).reading.hosted.length).toBe(128)
    const server = { type: 'url', name: 's', url: 'https://s.test' }
    const skill = { type: 'custom', skill_id: 's' }
    for (const more of [
      { tools: many(129, search) },
      { tools: many(129, () => ({ type: 'rocket' })) },
      { tools: many(65, (at) => ({ type: 'web_search_20260209', name: `s${at}` })) },
      { mcp_servers: many(129, () => server) },
      { container: { skills: many(129, () => skill) } },
      { tools: many(128, search), mcp_servers: [server] },
      { tools: many(128, search), messages: [user(added(search(128)))] },
    ]) {
      checkRefused(more, 'REQUEST_TOO_LARGE', 'tools')
    }
  })

  test('for declared tools', () => {
    expect(read({ tools: many(4096, tool) }).reading.tools.size).toBe(4096)
    checkRefused({ tools: many(4097, tool) }, 'REQUEST_TOO_LARGE', 'tools')
    const browser = { type: 'browser_toolset_20260801' }
    checkRefused({ tools: [...many(4090, tool), browser] }, 'REQUEST_TOO_LARGE', 'tools')
    const messages = [user(added(tool(0)), added(tool(4096)))]
    checkRefused({ tools: many(4096, tool), messages }, 'REQUEST_TOO_LARGE', 'tools')
    // A repeated definition does not count.
    expect(
      read({ tools: many(4096, tool), messages: [user(added(tool(7)), added(tool(7)))] }).reading.tools.size,
    ).toBe(4096)
  })

  test('for messages', () => {
    const messages = many(20_000, () => ({ role: 'user', content: 'a' }))
    expect(turnsOf(messages).length).toBe(20_000)
    checkRefused({ messages: [...messages, ...messages.slice(0, 1)] }, 'REQUEST_TOO_LARGE', 'messages')
  })

  test('for blocks, wherever they are', () => {
    const blocks = many(100_000, () => text('a'))
    expect(turnsOf([user(...blocks)]).length).toBe(100_000)
    for (const more of [
      { messages: [user(text('a')), user(...blocks)] },
      { system: [text('a')], messages: [assistant(...blocks)] },
      { messages: [user(answer(blocks))] },
      { messages: [user(answer([{ type: 'document', source: { type: 'content', content: blocks } }]))] },
      {
        messages: [
          assistant({ type: 'compaction', tool_changes: many(100_000, () => ({ type: 'tool_removal' })) }),
        ],
      },
    ]) {
      checkRefused(more, 'REQUEST_TOO_LARGE', 'messages')
    }
  })

  test('for results', () => {
    const results = many(10_000, () => answer('a'))
    expect(turnsOf([user(...results)]).length).toBe(10_000)
    checkRefused({ messages: [user(...results), user(answer('b'))] }, 'REQUEST_TOO_LARGE', 'messages')
  })
})
