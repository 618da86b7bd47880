// Requests of Responses: their reading, refusals, and results.

import type { Json, JsonObject } from '@tollgate/evidence'
import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { Refused, type Result } from '../../src/llm/dialect.ts'
import { readRequest, type ResponsesReading } from '../../src/llm/openai-responses/request.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import {
  aiSdk,
  completed,
  created,
  functionCall,
  judgeBy,
  message,
  reply,
  rewrite,
  SECRET,
  whole,
  wholeEvents,
  type JudgeScript,
} from './openai-responses-rig.ts'
import { withoutPlaces } from './hosted-facts.ts'

const NONE: ReadonlySet<string> = new Set()
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const PDF = `data:application/pdf;base64,${base64('%PDF-1.7 a')}`
const PNG = 'data:image/png;base64,iVBORw0KGgo='

function read(body: JsonObject, further: ReadonlySet<string> = NONE): ResponsesReading {
  return withoutPlaces(readRequest({ model: 'm', ...body }, further))
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

function resultsOf(input: Json): Result[] {
  return read({ input }).turns.filter((turn) => turn.kind === 'result')
}

function resultOf(input: Json): Result {
  const [result] = resultsOf(input)
  if (!result) throw new Error('there is no result')
  return result
}

describe('parameters', () => {
  test('of the official types are known', () => {
    const body = {
      input: 'hi',
      instructions: null,
      include: ['reasoning.encrypted_content'],
      store: true,
      metadata: { a: 'b' },
      text: { format: { type: 'text' } },
      reasoning: { effort: 'low' },
      truncation: 'auto',
      service_tier: 'auto',
      stream_options: { include_obfuscation: false },
      max_tool_calls: 3,
      max_output_tokens: 3,
      moderation: null,
      parallel_tool_calls: true,
      prompt_cache_key: 'k',
      prompt_cache_options: {},
      prompt_cache_retention: '24h',
      safety_identifier: 's',
      temperature: 1,
      tool_choice: 'auto',
      top_logprobs: 1,
      top_p: 1,
      user: 'u',
      background: false,
      previous_response_id: null,
      conversation: null,
      prompt: null,
      context_management: [{ type: 'compaction', compact_threshold: 1000 }],
    }
    expect(read(body)).toMatchObject({ stream: false, hosted: [], references: [], changed: false })
  })

  const REFUSED: Readonly<Record<string, readonly [JsonObject, string]>> = {
    background: [{ background: true }, 'background'],
    'a background that is no boolean': [{ background: 'yes' }, 'background'],
    'a response before': [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    'a conversation': [{ conversation: 'conv_1' }, 'conversation'],
    'a conversation as an object': [{ conversation: { id: 'conv_1' } }, 'conversation'],
    'a stored prompt': [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    'another management of context': [{ context_management: [{ type: 'odd' }] }, 'context_management'],
    'a management of context that is no list': [{ context_management: {} }, 'context_management'],
    'a parameter that is not known': [{ plugins: [{ id: 'web' }] }, 'plugins'],
    'a parameter that is a name of objects': [{ constructor: 1 }, 'constructor'],
  }
  test.each(Object.entries(REFUSED))('%s is refused', (_, [body, param]) => {
    const { status, code, param: named, message: text } = refusalOf(body)
    expect([status, code, named]).toEqual([400, 'ROUTE_NOT_GOVERNED', param])
    expect(text).toContain(param === 'background' ? 'background' : `\`${param}\``)
  })

  test('with a strange name are not quoted', () => {
    const { message: text, param } = refusalOf({ [`x ${SECRET}`]: 1 })
    expect(text).not.toContain(SECRET)
    expect(param).toBeUndefined()
  })

  test('can be configured, except those that hide calls', () => {
    expect(read({ plugins: [] }, new Set(['plugins'])).stream).toBe(false)
    expect(() => read({ previous_response_id: 'r' }, new Set(['previous_response_id']))).toThrow(Refused)
  })

  test.each([
    [true, true],
    [false, false],
    [null, false],
  ])('stream: %s', (stream, expected) => {
    expect(read({ stream }).stream).toBe(expected)
  })

  test.each([1, 'true', {}])('stream: %s is refused', (stream) => {
    expect(refusalOf({ stream })).toMatchObject({ code: 'AMBIGUOUS_INPUT', param: 'stream' })
  })
})

describe('tools', () => {
  test('of the agent are declared under the names of their calls', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const { tools, hosted } = read({
      tools: [
        { type: 'function', name: 'pay', parameters: schema, strict: true },
        { type: 'function', name: 'ping', parameters: null },
        { type: 'custom', name: 'sql', format: { type: 'text' } },
        {
          type: 'namespace',
          name: 'crm',
          description: 'd',
          tools: [
            { type: 'function', name: 'list', parameters: schema },
            { type: 'custom', name: 'note' },
          ],
        },
        { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'linux' },
        { type: 'local_shell' },
        { type: 'shell', environment: { type: 'local' } },
        { type: 'apply_patch' },
        { type: 'tool_search', execution: 'client', parameters: schema },
      ],
    })
    expect(Object.fromEntries(tools)).toEqual({
      pay: { form: 'json', schema },
      ping: { form: 'json', schema: undefined },
      sql: { form: 'text', schema: undefined },
      'crm/list': { form: 'json', schema },
      'crm/note': { form: 'text', schema: undefined },
      computer: { form: 'built-in', schema: undefined },
      local_shell: { form: 'built-in', schema: undefined },
      shell: { form: 'built-in', schema: undefined },
      apply_patch: { form: 'built-in', schema: undefined },
      tool_search: { form: 'built-in', schema },
    })
    expect(hosted).toEqual([])
  })

  test('of the provider are listed with settings and without secrets', () => {
    const { hosted, tools } = read({
      tools: [
        { type: 'web_search', filters: { allowed_domains: ['a.test'] } },
        { type: 'web_search_2025_08_26' },
        { type: 'web_search_preview_2025_03_11', search_context_size: 'low' },
        { type: 'file_search', vector_store_ids: ['v'] },
        { type: 'image_generation', size: 'auto', authorization: SECRET, headers: { a: SECRET } },
        { type: 'tool_search' },
        { type: 'programmatic_tool_calling' },
        {
          type: 'code_interpreter',
          container: {
            type: 'auto',
            network_policy: {
              type: 'allowlist',
              allowed_domains: ['a.test'],
              domain_secrets: [{ domain: 'a.test', name: 'K', value: SECRET }],
            },
          },
        },
        { type: 'shell', environment: { type: 'container_auto' } },
        {
          type: 'mcp',
          server_label: 'github',
          server_url: 'https://mcp.test',
          authorization: SECRET,
          headers: { 'x-key': SECRET, authorization: SECRET },
          allowed_tools: ['read'],
          require_approval: 'never',
        },
      ],
    })
    expect(hosted).toEqual([
      { tool: 'openai/web_search', args: { filters: { allowed_domains: ['a.test'] } }, known: true },
      { tool: 'openai/web_search', args: {}, known: true },
      { tool: 'openai/web_search', args: { search_context_size: 'low' }, known: true },
      { tool: 'openai/file_search', args: { vector_store_ids: ['v'] }, known: true },
      { tool: 'openai/image_generation', args: { size: 'auto' }, known: true },
      { tool: 'openai/tool_search', args: {}, known: true },
      { tool: 'openai/programmatic_tool_calling', args: {}, known: true },
      {
        tool: 'openai/code_interpreter',
        args: {
          container: {
            type: 'auto',
            network_policy: {
              type: 'allowlist',
              allowed_domains: ['a.test'],
              domain_secrets: [{ domain: 'a.test', name: 'K' }],
            },
          },
        },
        known: true,
      },
      { tool: 'openai/shell', args: { environment: { type: 'container_auto' } }, known: true },
      {
        tool: 'openai/mcp',
        args: {
          server_label: 'github',
          server_url: 'https://mcp.test',
          allowed_tools: ['read'],
          require_approval: 'never',
          headers: ['authorization', 'x-key'],
        },
        known: true,
      },
    ])
    expect(Object.fromEntries(tools)).toEqual({ 'mcp:github': { form: 'json', schema: undefined } })
    expect(JSON.stringify(hosted)).not.toContain(SECRET)
  })

  test('of an unknown kind are listed as unknown', () => {
    const { hosted } = read({
      tools: [
        { type: 'teleport', target: SECRET },
        { type: `tele port ${SECRET}` },
        { name: 'x' },
        { type: 'constructor' },
        { type: 'namespace', name: 'n', tools: [{ type: 'mcp', server_label: 's' }] },
      ],
    })
    expect(hosted).toEqual([
      { tool: 'openai/teleport', args: {}, known: false },
      { tool: undefined, args: {}, known: false },
      { tool: undefined, args: {}, known: false },
      { tool: 'openai/constructor', args: {}, known: false },
      { tool: 'openai/mcp', args: {}, known: false },
    ])
  })

  const named = (name: string): JsonObject => ({ type: 'function', name })
  const AMBIGUOUS: Readonly<Record<string, Json>> = {
    'two functions of one name': [named('a'), named('a')],
    'a function and a custom tool of one name': [named('a'), { type: 'custom', name: 'a' }],
    'a function with the name of one in a namespace': [
      named('n/a'),
      { type: 'namespace', name: 'n', tools: [named('a')] },
    ],
    'a function with the name of a tool of the dialect': [named('shell'), { type: 'shell' }],
    'a shell here and a shell there': [
      { type: 'shell', environment: { type: 'local' } },
      { type: 'shell', environment: { type: 'container_auto' } },
    ],
    'two computers': [{ type: 'computer' }, { type: 'computer_use_preview' }],
    'two servers of one label': [
      { type: 'mcp', server_label: 's' },
      { type: 'mcp', server_label: 's' },
    ],
    'a function with the name of a server': [named('mcp:github')],
    'a server without a label': [{ type: 'mcp', server_url: 'u' }],
    'a function without a name': [{ type: 'function', function: { name: 'a' } }],
    'a namespace without a name': [{ type: 'namespace', tools: [named('a')] }],
    'a namespace without tools': [{ type: 'namespace', name: 'n' }],
    'tools that are no list': { a: 1 },
    'a tool that is no object': ['a'],
  }
  test.each(Object.entries(AMBIGUOUS))('%s', (_, tools) => {
    expect(refusalOf({ tools })).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'tools' })
  })

  test('in an item are declared like any other', () => {
    const { tools, hosted } = read({
      input: [
        { type: 'additional_tools', role: 'developer', tools: [named('a'), { type: 'web_search' }] },
        {
          type: 'tool_search_output',
          execution: 'client',
          call_id: 'c',
          tools: [named('b'), { type: 'teleport' }],
        },
      ],
    })
    expect([...tools.keys()]).toEqual(['a', 'b'])
    expect(hosted).toMatchObject([{ tool: 'openai/web_search' }, { tool: 'openai/teleport', known: false }])
  })

  test('in an item under a used name are refused, unless the provider found them', () => {
    const found = (execution: string): JsonObject => ({
      tools: [{ type: 'function', name: 'a', parameters: { type: 'object' } }],
      input: [{ type: 'tool_search_output', execution, call_id: null, tools: [named('a')] }],
    })
    expect(refusalOf(found('client'))).toMatchObject({ code: 'AMBIGUOUS_INPUT', param: 'input' })
    expect(read(found('server')).tools.get('a')).toEqual({ form: 'json', schema: { type: 'object' } })
    expect(() =>
      read({ tools: [named('a')], input: [{ type: 'additional_tools', tools: [named('a')] }] }),
    ).toThrow(Refused)
  })
})

describe('texts', () => {
  test('of users and developers are theirs, and those of the model are ignored', () => {
    const { turns } = read({
      instructions: 'be good',
      input: [
        { role: 'developer', content: 'one' },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'two' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'three' },
            { type: 'input_image', image_url: 'data:x' },
            { type: 'input_file', filename: 'f', file_data: PDF },
            { type: 'new_kind', blob: 'z' },
          ],
        },
        message('mine'),
        { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'mine' }] },
        { type: 'compaction', encrypted_content: 'e' },
        { type: 'mcp_approval_response', approval_request_id: 'm', approve: false, reason: 'four' },
      ],
    })
    expect(turns).toEqual(
      ['be good', 'one', 'two', 'three', 'four'].map((text) => ({ kind: 'said', channel: 'USER', text })),
    )
    expect(read({ input: 'hi' }).turns).toEqual([{ kind: 'said', channel: 'USER', text: 'hi' }])
  })

  test('of earlier provider items count as tool output', () => {
    const { turns } = read({
      input: [
        {
          type: 'mcp_call',
          id: 'm',
          name: 'n',
          server_label: 's',
          arguments: '{}',
          output: 'one',
          error: 'two',
        },
        { type: 'file_search_call', id: 'f', queries: ['q'], results: [{ text: 'three' }] },
        { type: 'code_interpreter_call', id: 'c', code: 'x', outputs: [{ type: 'logs', logs: 'four' }] },
        {
          type: 'mcp_list_tools',
          id: 'l',
          server_label: 's',
          tools: [{ name: 'n', input_schema: { title: 'five' } }],
        },
        { type: 'program_output', id: 'p', call_id: 'c', result: 'six' },
        {
          type: 'web_search_call',
          id: 'w',
          action: { type: 'search', sources: [{ type: 'url', url: 'seven' }] },
        },
        { type: 'image_generation_call', id: 'i', result: 'aGk=' },
      ],
    })
    expect(turns.every((turn) => turn.kind === 'said' && turn.channel === 'TOOL_OUTPUT')).toBe(true)
    const texts = turns.map((turn) => (turn.kind === 'said' ? turn.text : ''))
    expect(texts).toEqual(expect.arrayContaining(['one', 'two', 'three', 'four', 'five', 'six', 'seven']))
    expect(texts).not.toContain('aGk=')
  })

  const BAD: Readonly<Record<string, readonly [Json, string]>> = {
    'an input that is a number': [7, 'AMBIGUOUS_INPUT'],
    'an item that is no object': [['x'], 'AMBIGUOUS_INPUT'],
    'a message without a role': [[{ type: 'message', content: SECRET }], 'AMBIGUOUS_INPUT'],
    'a message of a tool': [[{ role: 'tool', content: SECRET }], 'AMBIGUOUS_INPUT'],
    'a type that is no text': [[{ type: 7 }], 'AMBIGUOUS_INPUT'],
    'an item of a new kind': [[{ type: 'teleport_output', output: SECRET }], 'ROUTE_NOT_GOVERNED'],
    'an item named like a member of objects': [[{ type: 'constructor' }], 'ROUTE_NOT_GOVERNED'],
    'an update of more than the effort': [
      [{ type: 'configuration_update', reasoning: { effort: 'low' }, tools: [] }],
      'ROUTE_NOT_GOVERNED',
    ],
    'a reference without an id': [[{ type: 'item_reference' }], 'AMBIGUOUS_INPUT'],
  }
  test.each(Object.entries(BAD))('%s is refused', (_, [input, code]) => {
    const refused = refusalOf({ input })
    expect(refused).toMatchObject({ status: 400, code, param: 'input' })
    expect(refused.message).not.toContain(SECRET)
  })

  test('in `instructions` must be strings', () => {
    expect(refusalOf({ instructions: [{ role: 'user' }] })).toMatchObject({ code: 'AMBIGUOUS_INPUT' })
  })

  test('of an effort update are allowed', () => {
    const input = [{ type: 'configuration_update', reasoning: { effort: 'low' } }]
    expect(read({ input }).turns).toEqual([])
  })
})

describe('references', () => {
  test('to items at the provider are listed, with and without a type', () => {
    const input = [{ type: 'item_reference', id: 'rs_1' }, { id: 'fc_1' }, { type: null, id: 'msg_1' }]
    expect(read({ input })).toMatchObject({ references: ['rs_1', 'fc_1', 'msg_1'], changed: false })
  })

  test('to messages of the gateway become those messages, because the provider does not know them', () => {
    const input = [{ type: 'item_reference', id: 'msg_tollgate_rc-7' }]
    expect(read({ input })).toMatchObject({ references: [], changed: true })
    const text = 'A tool call was denied by Tollgate. Receipt: rc-7'
    expect(input).toEqual([{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }])
  })

  test('in returned messages of the gateway are removed', () => {
    const input = [message('x', 'msg_tollgate_rc-7'), message('y', 'msg_1')]
    expect(read({ input }).changed).toBe(true)
    expect(input).toMatchObject([{ role: 'assistant', content: [{ text: 'x' }] }, { id: 'msg_1' }])
    expect(Object.keys(input[0] ?? {}).toSorted()).toEqual(['content', 'role', 'type'])
  })
})

describe('approvals', () => {
  const proposed = {
    id: 'mcpr_1',
    type: 'mcp_approval_request',
    server_label: 'github',
    name: 'push',
    arguments: '{"a":1}',
  }
  const answer = (approve: Json, id: Json = 'mcpr_1'): JsonObject => ({
    type: 'mcp_approval_response',
    approval_request_id: id,
    approve,
  })

  async function handedOut(script: JudgeScript): Promise<ReadonlySet<string>> {
    const names = new Set<string>()
    await openaiResponses.governReply(reply([proposed]), judgeBy(script), (name) => names.add(name))
    const { ids } = await rewrite([...created(), ...wholeEvents(0, proposed), completed([])], judgeBy(script))
    expect(new Set(ids)).toEqual(names)
    return names
  }

  const isKnown = (names: ReadonlySet<string>, input: Json): boolean =>
    read({ input }).references.every((name) => names.has(name))

  test('need the exact call that was issued', async () => {
    const names = await handedOut({ allow: ['github/push'] })
    expect(isKnown(names, [answer(true)])).toBe(true)
    expect(isKnown(names, [proposed, answer(true)])).toBe(true)
    expect(isKnown(names, [{ type: 'item_reference', id: 'mcpr_1' }, answer(true)])).toBe(true)
    expect(isKnown(names, [answer(true), { ...proposed, arguments: '{"a":2}' }])).toBe(false)
    expect(isKnown(names, [{ ...proposed, name: 'drop' }, answer(true)])).toBe(false)
    expect(isKnown(names, [proposed, { ...proposed, name: 'drop' }, answer(true)])).toBe(false)
    expect(isKnown(names, [{ ...proposed, server_label: 'other' }, answer(true)])).toBe(false)
    expect(isKnown(names, [{ ...proposed, id: 'mcpr_2' }, answer(true, 'mcpr_2')])).toBe(false)
    expect(isKnown(names, [proposed, answer(true, 7)])).toBe(false)
    expect(isKnown(names, [proposed, answer('yes', 'mcpr_2')])).toBe(false)
  })

  test('of a denied call are refused', async () => {
    const names = await handedOut({})
    expect(isKnown(names, [proposed, answer(true)])).toBe(false)
    expect(isKnown(names, [answer(true)])).toBe(false)
  })

  /** Like the door: every name must have been issued, and a used one is removed. */
  function door(names: ReadonlySet<string>): (input: Json) => boolean {
    const left = new Set(names)
    return (input) => {
      const { references, spends } = read({ input })
      if (![...references, ...spends].every((name) => left.has(name))) return false
      for (const name of spends) left.delete(name)
      return true
    }
  }
  const reference = { type: 'item_reference', id: 'mcpr_1' }
  const ran = {
    type: 'mcp_call',
    id: 'mcp_1',
    server_label: 'github',
    name: 'push',
    arguments: '{"a":1}',
    approval_request_id: 'mcpr_1',
    output: 'done',
  }

  test.each([
    ['repeated', [proposed, answer(true)], [proposed, answer(true)]],
    ['referred to', [reference, answer(true)], [reference, answer(true)]],
    ['repeated, and then referred to', [proposed, answer(true)], [reference, answer(true)]],
    ['referred to, and then not told of', [reference, answer(true)], [answer(true)]],
    ['said in another way', [proposed, answer(true)], [proposed, answer('yes')]],
    ['with a call that ran before it', [proposed, answer(true)], [ran, proposed, answer(true)]],
    [
      'with a call that another approval let run',
      [proposed, answer(true)],
      [proposed, answer(true), { ...ran, approval_request_id: 'mcpr_2' }],
    ],
  ])('are good for one use: %s', async (_, once, twice) => {
    const isLetOn = door(await handedOut({ allow: ['github/push'] }))
    expect([isLetOn(once), isLetOn(twice), isLetOn(once)]).toEqual([true, false, false])
  })

  test('whose call has run are not used again by a later conversation', async () => {
    const isLetOn = door(await handedOut({ allow: ['github/push'] }))
    const told = [proposed, answer(true), ran, message('done')]
    expect([isLetOn([proposed, answer(true)]), isLetOn(told), isLetOn(told)]).toEqual([true, true, true])
    expect(read({ input: told }).spends).toEqual([])
    expect(isLetOn([{ ...proposed, name: 'drop' }, answer(true), ran])).toBe(false)
  })

  test('of one call cannot be repeated in a request', () => {
    for (const second of [true, false]) {
      const refused = refusalOf({ input: [proposed, answer(true), answer(second)] })
      expect(refused).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'input' })
    }
  })

  test('that deny need nothing', () => {
    expect(read({ input: [proposed, answer(false)] }).spends).toEqual([])
    expect(read({ input: [proposed, answer(false)] }).references).toEqual([])
    expect(read({ input: [proposed] }).references).toEqual([])
  })
})

describe('results', () => {
  interface ResultCase {
    readonly call: JsonObject
    readonly item: JsonObject
    readonly tool: string
    readonly texts: readonly string[]
    /** With other texts in place of the texts. */
    readonly rewritten: JsonObject
    readonly withheld: readonly JsonObject[]
  }
  const note = 'withheld'
  const call = (type: string, more: JsonObject): JsonObject => ({ type, id: 'i1', call_id: 'c1', ...more })
  const noted = { type: 'message', role: 'user', content: note }
  const CASES: Readonly<Record<string, ResultCase>> = {
    'of a function': {
      call: functionCall('pay', '{}', 'x'),
      item: { type: 'function_call_output', call_id: 'call_x', output: 'a' },
      tool: 'pay',
      texts: ['a'],
      rewritten: { type: 'function_call_output', call_id: 'call_x', output: 'A' },
      withheld: [{ type: 'function_call_output', call_id: 'call_x', output: note }],
    },
    'of a function in a namespace, in parts': {
      call: { ...functionCall('list', '{}', 'x'), namespace: 'crm' },
      item: {
        type: 'function_call_output',
        call_id: 'call_x',
        status: 'completed',
        output: [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: PNG },
          { type: 'input_file', filename: 'b', file_data: PDF },
        ],
      },
      tool: 'crm/list',
      texts: ['a', 'b'],
      rewritten: {
        type: 'function_call_output',
        call_id: 'call_x',
        status: 'completed',
        output: [
          { type: 'input_text', text: 'A' },
          { type: 'input_image', image_url: PNG },
          { type: 'input_file', filename: 'B', file_data: PDF },
        ],
      },
      withheld: [{ type: 'function_call_output', call_id: 'call_x', status: 'completed', output: note }],
    },
    'of a custom tool': {
      call: call('custom_tool_call', { name: 'sql', input: 'x' }),
      item: { type: 'custom_tool_call_output', call_id: 'c1', output: 'a', extra: 'old' },
      tool: 'sql',
      texts: ['a'],
      rewritten: { type: 'custom_tool_call_output', call_id: 'c1', output: 'A' },
      withheld: [{ type: 'custom_tool_call_output', call_id: 'c1', output: note }],
    },
    'of a local shell': {
      call: call('local_shell_call', { action: { type: 'exec', command: [] } }),
      item: { type: 'local_shell_call_output', id: 'i1', output: 'a' },
      tool: 'local_shell',
      texts: ['a'],
      rewritten: { type: 'local_shell_call_output', id: 'i1', output: 'A' },
      withheld: [{ type: 'local_shell_call_output', id: 'i1', output: note }],
    },
    'of a shell': {
      call: call('shell_call', { action: { commands: [] } }),
      item: {
        type: 'shell_call_output',
        call_id: 'c1',
        max_output_length: 9,
        output: [
          { stdout: 'a', stderr: 'b', outcome: { type: 'exit', exit_code: 0 } },
          { stdout: 'c', stderr: 'd', outcome: { type: 'timeout' } },
        ],
      },
      tool: 'shell',
      texts: ['a', 'b', 'c', 'd'],
      rewritten: {
        type: 'shell_call_output',
        call_id: 'c1',
        max_output_length: 9,
        output: [
          { stdout: 'A', stderr: 'B', outcome: { type: 'exit', exit_code: 0 } },
          { stdout: 'C', stderr: 'D', outcome: { type: 'timeout' } },
        ],
      },
      withheld: [
        {
          type: 'shell_call_output',
          call_id: 'c1',
          max_output_length: 9,
          output: [
            { stdout: '', stderr: note, outcome: { type: 'exit', exit_code: 0 } },
            { stdout: '', stderr: '', outcome: { type: 'timeout' } },
          ],
        },
      ],
    },
    'of a patch': {
      call: call('apply_patch_call', { operation: { type: 'delete_file', path: 'p' } }),
      item: { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: 'a' },
      tool: 'apply_patch',
      texts: ['a'],
      rewritten: { type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: 'A' },
      withheld: [{ type: 'apply_patch_call_output', call_id: 'c1', status: 'failed', output: note }],
    },
    'of a computer': {
      call: call('computer_call', { action: { type: 'wait' } }),
      item: {
        type: 'computer_call_output',
        call_id: 'c1',
        output: { type: 'computer_screenshot', image_url: PNG },
        acknowledged_safety_checks: [{ id: 'old' }],
      },
      tool: 'computer',
      texts: [],
      rewritten: {
        type: 'computer_call_output',
        call_id: 'c1',
        output: { type: 'computer_screenshot', image_url: PNG },
        acknowledged_safety_checks: [{ id: 'old' }],
      },
      withheld: [
        {
          type: 'computer_call_output',
          call_id: 'c1',
          output: {
            type: 'computer_screenshot',
            image_url: expect.stringMatching(/^data:image\/png;base64,/) as string,
          },
        },
        noted,
      ],
    },
    'of a search for tools': {
      call: call('tool_search_call', { execution: 'client', arguments: {} }),
      item: {
        type: 'tool_search_output',
        call_id: 'c1',
        execution: 'client',
        tools: [{ type: 'function', name: 'a', parameters: { title: 'b' }, strict: true }],
      },
      tool: 'tool_search',
      texts: ['function', 'a', 'b'],
      rewritten: {
        type: 'tool_search_output',
        call_id: 'c1',
        execution: 'client',
        tools: [{ type: 'FUNCTION', name: 'A', parameters: { title: 'B' }, strict: true }],
      },
      withheld: [{ type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [] }, noted],
    },
  }

  describe.each(Object.entries(CASES))(
    '%s',
    (_, { call: made, item, tool: name, texts, rewritten, withheld }) => {
      const refs = made.call_id
      const fresh = (): Json[] => structuredClone([made, item, message('behind')])

      test('are read with the tool of their call', () => {
        expect(resultOf(fresh())).toMatchObject({ ref: refs, tool: name, texts })
        expect(resultOf([structuredClone(item)]).tool).toBeUndefined()
      })

      test('can be rewritten in place, and the received content is unchanged', () => {
        const input = fresh()
        const result = resultOf(input)
        const before = structuredClone(result.content)
        result.rewrite(texts.map((text) => text.toUpperCase()))
        expect(input).toEqual([made, rewritten, message('behind')])
        expect(result.content).toEqual(before)
      })

      test('can be withheld completely', () => {
        const input = fresh()
        resultOf(input).withhold(note)
        expect(input).toEqual([made, ...withheld, message('behind')])
      })

      test('keep the number of their texts', () => {
        expect(() => resultOf(fresh()).rewrite([...texts, 'more'])).toThrow(RangeError)
      })
    },
  )

  test('report failure, if the dialect does', () => {
    const shell = (outcome: JsonObject): boolean =>
      resultOf([{ type: 'shell_call_output', call_id: 'c', output: [{ stdout: '', stderr: '', outcome }] }])
        .failed
    expect(shell({ type: 'exit', exit_code: 0 })).toBe(false)
    expect(shell({ type: 'exit', exit_code: 2 })).toBe(true)
    expect(shell({ type: 'timeout' })).toBe(true)
    const patch = (status: string): boolean =>
      resultOf([{ type: 'apply_patch_call_output', call_id: 'c', status }]).failed
    expect([patch('completed'), patch('failed')]).toEqual([false, true])
  })

  test('come in the order of the conversation', () => {
    const { turns } = read({
      input: [
        { role: 'user', content: 'one' },
        { type: 'function_call_output', call_id: 'a', output: 'two' },
        { role: 'user', content: 'three' },
      ],
    })
    expect(turns.map((turn) => (turn.kind === 'said' ? turn.text : turn.texts[0]))).toEqual([
      'one',
      'two',
      'three',
    ])
  })

  const HIDING: Readonly<Record<string, JsonObject>> = {
    'a part of a new kind': {
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'odd', text: SECRET }],
    },
    'a part without its text': {
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'input_text', value: SECRET }],
    },
    'a part that is no object': { type: 'function_call_output', call_id: 'c', output: [SECRET] },
    'an object': { type: 'function_call_output', call_id: 'c', output: { text: SECRET } },
    nothing: { type: 'custom_tool_call_output', call_id: 'c' },
    'a shell without streams': {
      type: 'shell_call_output',
      call_id: 'c',
      output: [{ stdout: [SECRET], stderr: '' }],
    },
    'a shell with a text': { type: 'shell_call_output', call_id: 'c', output: SECRET },
    'a screen that is a text': {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'text', text: SECRET },
    },
  }
  test.each(Object.entries(HIDING))('that may hide text are refused: %s', (_, item) => {
    const refused = refusalOf({ input: [item] })
    expect(refused).toMatchObject({ status: 400, code: 'AMBIGUOUS_INPUT', param: 'input' })
    expect(refused.message).not.toContain(SECRET)
  })
})

describe('a loop of the AI SDK', () => {
  test('sends back readable items, with issued references and messages of the gateway', async () => {
    const bodies: JsonObject[] = []
    const ids = new Set<string>()
    const judge = judgeBy({ allow: ['weather'] })
    const first = await openaiResponses.governReply(
      reply([
        { id: 'rs_1', type: 'reasoning', summary: [] },
        functionCall('weather', '{"city":"Bern"}', 'fc_1'),
        functionCall('pay', `{"to":"${SECRET}"}`, 'fc_2'),
      ]),
      judge,
      (id) => ids.add(id),
    )
    const second = await openaiResponses.governReply(reply([message('done', 'msg_9')]), judge)
    const fetch: typeof globalThis.fetch = (url, options) => {
      const { body } = options ?? {}
      if (typeof body !== 'string') throw new Error('a body that is no text')
      bodies.push(JSON.parse(body) as JsonObject)
      return whole(bodies.length === 1 ? first : second)(url, options)
    }
    const weather = tool({
      inputSchema: jsonSchema<JsonObject>({ type: 'object', additionalProperties: true }),
      execute: () => Promise.resolve('sunny'),
    })
    const result = await generateText({
      model: aiSdk(fetch)('gpt-5'),
      prompt: 'hi',
      tools: { weather, pay: weather },
      stopWhen: stepCountIs(3),
    })
    expect(result.text).toBe('done')
    expect(bodies).toHaveLength(2)
    const reading = readRequest(bodies[1] ?? {}, NONE)
    expect(reading.turns).toMatchObject([
      { kind: 'said', channel: 'USER', text: 'hi' },
      { kind: 'result', ref: 'call_fc_1', tool: 'weather', texts: ['sunny'] },
    ])
    expect(reading.references.filter((id) => !ids.has(id))).toEqual([])
    expect(JSON.stringify(bodies[1])).not.toContain('msg_tollgate_')
    expect(JSON.stringify(bodies[1])).not.toContain(SECRET)
  })
})
