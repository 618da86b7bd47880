// Whole replies of Responses.

import type { Json, JsonObject } from '@tollgate/evidence'
import { generateText, jsonSchema, tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { Garbled, type Judge } from '../../src/llm/dialect.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import {
  aiSdk,
  denial,
  functionCall,
  judgeBy,
  langChain,
  message,
  officialClient,
  refusal,
  reply,
  SECRET,
  whole,
  type JudgeScript,
} from './openai-responses-rig.ts'

async function governed(
  output: readonly Json[],
  script: JudgeScript,
  more: JsonObject = {},
): Promise<JsonObject> {
  return openaiResponses.governReply(reply(output, more), judgeBy(script))
}

async function outputOf(
  output: readonly Json[],
  script: JudgeScript = {},
  more: JsonObject = {},
): Promise<Json> {
  return (await governed(output, script, more)).output ?? null
}

interface CallCase {
  readonly item: JsonObject
  readonly tool: string
  readonly declared?: string
  readonly ref?: string
  readonly args: Json
  readonly passed?: JsonObject
}

const CALLS: Readonly<Record<string, CallCase>> = {
  'a function': {
    item: functionCall('pay', `{ "b": 1, "a": "${SECRET}" }`),
    tool: 'pay',
    args: `{ "b": 1, "a": "${SECRET}" }`,
    passed: functionCall('pay', `{"a":"${SECRET}","b":1}`),
  },
  'a function of a namespace': {
    item: { ...functionCall('list', `{"a":"${SECRET}"}`), namespace: 'crm' },
    tool: 'crm/list',
    args: `{"a":"${SECRET}"}`,
  },
  'a function that a program calls': {
    item: {
      ...functionCall('pay', `{"a":"${SECRET}"}`),
      async: true,
      caller: { type: 'program', caller_id: 'prog_1' },
    },
    tool: 'pay',
    args: `{"a":"${SECRET}"}`,
  },
  'a custom tool': {
    item: {
      id: 'ctc_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_fc_1',
      name: 'sql',
      input: `select '${SECRET}'`,
    },
    tool: 'sql',
    args: { input: `select '${SECRET}'` },
  },
  'a local shell': {
    item: {
      id: 'lsh_1',
      type: 'local_shell_call',
      call_id: 'call_fc_1',
      action: { type: 'exec', command: ['echo', SECRET], env: {} },
      status: 'completed',
    },
    tool: 'local_shell',
    args: { type: 'exec', command: ['echo', SECRET], env: {} },
  },
  'a shell here': {
    item: {
      id: 'sh_1',
      type: 'shell_call',
      call_id: 'call_fc_1',
      environment: { type: 'local' },
      action: { commands: [`echo ${SECRET}`], timeout_ms: 100, max_output_length: null },
      status: 'in_progress',
    },
    tool: 'shell',
    args: { commands: [`echo ${SECRET}`], timeout_ms: 100, max_output_length: null },
  },
  'a patch': {
    item: {
      id: 'apc_1',
      type: 'apply_patch_call',
      call_id: 'call_fc_1',
      operation: { type: 'create_file', path: '/a', diff: `+${SECRET}` },
      status: 'completed',
    },
    tool: 'apply_patch',
    args: { type: 'create_file', path: '/a', diff: `+${SECRET}` },
  },
  'an action of a computer': {
    item: {
      id: 'cu_1',
      type: 'computer_call',
      call_id: 'call_fc_1',
      action: { type: 'type', text: SECRET },
      pending_safety_checks: [{ id: 'chk_1', code: 'malicious', message: 'look' }],
      status: 'completed',
    },
    tool: 'computer',
    args: { type: 'type', text: SECRET },
  },
  'actions of a computer': {
    item: {
      id: 'cu_1',
      type: 'computer_call',
      call_id: 'call_fc_1',
      actions: [{ type: 'wait' }, { type: 'type', text: SECRET }],
      pending_safety_checks: [],
      status: 'completed',
    },
    tool: 'computer',
    args: { actions: [{ type: 'wait' }, { type: 'type', text: SECRET }] },
  },
  'a call of a server that waits for approval': {
    item: {
      id: 'mcpr_1',
      type: 'mcp_approval_request',
      server_label: 'github',
      name: 'push',
      arguments: `{"a":"${SECRET}"}`,
    },
    tool: 'github/push',
    declared: 'mcp:github',
    ref: 'mcpr_1',
    args: `{"a":"${SECRET}"}`,
  },
  'a search for tools here': {
    item: {
      id: 'ts_1',
      type: 'tool_search_call',
      call_id: 'call_fc_1',
      execution: 'client',
      arguments: { query: SECRET },
      status: 'completed',
    },
    tool: 'tool_search',
    args: { query: SECRET },
  },
}

describe.each(Object.entries(CALLS))(
  '%s',
  (_, { item, tool: name, declared = name, ref = 'call_fc_1', args, passed }) => {
    test('is forwarded with canonical arguments if it is allowed', async () => {
      const judge = judgeBy({ allow: [name] })
      const { output } = await openaiResponses.governReply(reply([item]), judge)
      expect(judge.asked).toMatchObject([{ tool: name, declared, ref, args }])
      expect(output).toEqual([passed ?? item])
    })

    test('is replaced by a message if it is denied', async () => {
      const texts = [message('before', 'msg_a'), item, message('behind', 'msg_b')]
      const whole = await governed(texts, {})
      expect(whole.output).toEqual([message('before', 'msg_a'), refusal('rc-1'), message('behind', 'msg_b')])
      expect(JSON.stringify(whole)).not.toContain(SECRET)
    })

    test('names no tool if it was cut', async () => {
      const judge = judgeBy({ allow: [name] })
      const { output } = await openaiResponses.governReply(reply([{ ...item, status: 'incomplete' }]), judge)
      expect(judge.asked).toMatchObject([{ tool: undefined, declared: undefined }])
      expect(output).toEqual([refusal('rc-1')])
    })

    test('names no tool without a reference', async () => {
      const rest = Object.fromEntries(Object.entries(item).filter(([member]) => !member.endsWith('id')))
      const judge = judgeBy({ allow: [name] })
      await openaiResponses.governReply(reply([rest]), judge)
      expect(judge.asked).toMatchObject([{ tool: undefined, ref: undefined }])
    })
  },
)

describe('invalid calls', () => {
  const BAD: Readonly<Record<string, JsonObject>> = {
    'arguments that are no text': { ...functionCall('pay', ''), arguments: { a: SECRET } },
    'a name that is no text': { ...functionCall('pay', SECRET), name: 7 },
    'a namespace that is no text': { ...functionCall('pay', SECRET), namespace: 7 },
    'an input that is no text': {
      type: 'custom_tool_call',
      id: 'c',
      call_id: 'c',
      name: 'pay',
      input: [SECRET],
    },
    'an action that is no object': { type: 'shell_call', id: 'c', call_id: 'c', action: SECRET },
    'both an action and actions': {
      type: 'computer_call',
      id: 'c',
      call_id: 'c',
      action: { type: 'wait' },
      actions: [{ type: 'type', text: SECRET }],
    },
    'actions within an action': {
      type: 'computer_call',
      id: 'c',
      call_id: 'c',
      action: { type: 'wait', actions: [{ type: 'type', text: SECRET }] },
    },
    'a text that is still being written': {
      type: 'custom_tool_call',
      id: 'c',
      call_id: 'c',
      name: 'pay',
      input: SECRET,
      status: 'in_progress',
    },
  }
  test.each(Object.entries(BAD))('%s: no tool', async (_, item) => {
    const judge = judgeBy({ allow: ['pay', 'shell', 'computer'] })
    const result = await openaiResponses.governReply(reply([item]), judge)
    expect(judge.asked).toMatchObject([{ tool: undefined }])
    expect(result.output).toEqual([refusal('rc-1')])
    expect(JSON.stringify(result)).not.toContain(SECRET)
  })

  test('a function with the name of a server is not declared by the server', async () => {
    const judge = judgeBy({})
    await openaiResponses.governReply(reply([functionCall('mcp:github', '{}')]), judge)
    expect(judge.asked).toMatchObject([{ tool: 'mcp:github', declared: undefined }])
  })

  test('the last call of an incomplete response is cut', async () => {
    const call = { type: 'custom_tool_call', id: 'c', call_id: 'c', name: 'sql', input: `drop ${SECRET}` }
    const script = { allow: ['sql'] }
    const cut = await governed([call], script, { status: 'incomplete' })
    expect(cut.output).toEqual([refusal('rc-1')])
    expect(await outputOf([call], script)).toMatchObject([{ input: `drop ${SECRET}` }])
    expect(await outputOf([call, message('x')], script, { status: 'incomplete' })).toMatchObject([
      { input: `drop ${SECRET}` },
      {},
    ])
  })
})

describe('items that the provider ran', () => {
  const RAN: Readonly<Record<string, JsonObject>> = {
    'openai/web_search': {
      id: 'ws_1',
      type: 'web_search_call',
      status: 'completed',
      action: {
        type: 'search',
        query: 'x',
        queries: ['x'],
        sources: [{ type: 'url', url: 'https://a.test' }],
      },
    },
    'openai/file_search': {
      id: 'fs_1',
      type: 'file_search_call',
      status: 'completed',
      queries: ['x'],
      results: [{ file_id: 'f', filename: 'n', score: 1, text: 't', attributes: { a: 1 } }],
    },
    'openai/code_interpreter': {
      id: 'ci_1',
      type: 'code_interpreter_call',
      status: 'completed',
      code: 'print(1)',
      container_id: 'cntr_1',
      outputs: [{ type: 'logs', logs: '1' }],
    },
    'openai/image_generation': {
      id: 'ig_1',
      type: 'image_generation_call',
      status: 'completed',
      result: 'aGk=',
    },
    'openai/mcp': {
      id: 'mcp_1',
      type: 'mcp_call',
      status: 'completed',
      server_label: 's',
      name: 'n',
      arguments: '{}',
      output: 'o',
      approval_request_id: 'mcpr_1',
      error: null,
    },
    'openai/shell': {
      id: 'sh_1',
      type: 'shell_call',
      status: 'completed',
      call_id: 'c',
      environment: { type: 'container_reference', container_id: 'cntr_1' },
      action: { timeout_ms: 1, commands: ['ls'] },
    },
    'openai/tool_search': {
      id: 'ts_1',
      type: 'tool_search_output',
      status: 'completed',
      call_id: null,
      execution: 'server',
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' } }],
    },
    'openai/programmatic_tool_calling': {
      id: 'prog_1',
      type: 'program',
      call_id: 'c',
      code: 'run()',
      fingerprint: 'f',
    },
  }
  const MORE: Readonly<Record<string, readonly JsonObject[]>> = {
    'openai/mcp': [
      {
        id: 'mcpl_1',
        type: 'mcp_list_tools',
        server_label: 's',
        tools: [{ name: 'n', description: 'd', input_schema: { type: 'object' }, annotations: { a: true } }],
      },
    ],
    'openai/shell': [
      {
        id: 'sho_1',
        type: 'shell_call_output',
        status: 'completed',
        call_id: 'c',
        max_output_length: null,
        output: [{ stdout: 'o', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
    ],
    'openai/tool_search': [
      {
        id: 'ts_0',
        type: 'tool_search_call',
        status: 'completed',
        call_id: null,
        execution: 'server',
        arguments: { paths: ['crm'] },
      },
    ],
    'openai/programmatic_tool_calling': [
      { id: 'po_1', type: 'program_output', call_id: 'c', status: 'completed', result: 'r' },
    ],
  }
  const cases = Object.entries(RAN).flatMap(([name, item]) =>
    [item, ...(MORE[name] ?? [])].map((each) => [name, each.type, each] as const),
  )

  test.each(cases)('%s, as %s, is forwarded if it was allowed with the request', async (name, _, item) => {
    const judge = judgeBy({ hosted: [name] })
    const odd = { ...item, unknown: SECRET }
    const { output } = await openaiResponses.governReply(reply([odd]), judge)
    expect(output).toEqual([item])
    expect(judge.ranItems).toEqual([[name, odd]])
    expect(judge.asked).toEqual([])
  })

  test.each(cases)('%s, as %s, is denied if it was not', async (_, type, item) => {
    const judge = judgeBy({})
    const { output } = await openaiResponses.governReply(reply([{ ...item, status: SECRET }]), judge)
    expect(output).toEqual([refusal('rc-1')])
    expect(judge.asked).toMatchObject([{ tool: undefined, args: {} }])
    expect(type).toBeDefined()
  })

  test('a shell call without an environment is for the agent', async () => {
    const call = {
      id: 's',
      type: 'shell_call',
      call_id: 'c',
      action: { commands: ['ls'] },
      environment: null,
    }
    const judge = judgeBy({ hosted: ['openai/shell'] })
    await openaiResponses.governReply(reply([call]), judge)
    expect(judge.asked).toMatchObject([{ tool: 'shell' }])
    expect(judge.ranItems).toEqual([])
  })
})

describe('unknown items', () => {
  const ODD: Readonly<Record<string, JsonObject>> = {
    'an item of a new kind': { type: 'teleport_call', call_id: 'c', target: SECRET },
    'an item without a type': { call_id: 'c', name: 'pay', arguments: SECRET },
    'an item whose type is a name of objects': { type: 'constructor', call_id: 'c', arguments: SECRET },
    'a result in a reply': { type: 'function_call_output', call_id: 'c', output: SECRET },
    'tools in a reply': { type: 'additional_tools', id: 'x', role: 'tool', tools: [{ name: SECRET }] },
    'reasoning with a part of a new kind': {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'call', text: SECRET }],
    },
  }
  test.each(Object.entries(ODD))('%s becomes a denial', async (_, item) => {
    const judge = judgeBy({ allow: ['pay'] })
    const result = await openaiResponses.governReply(reply([item]), judge)
    expect(result.output).toEqual([refusal('rc-1')])
    expect(judge.asked).toMatchObject([{ tool: undefined, declared: undefined }])
    expect(JSON.stringify(result)).not.toContain(SECRET)
  })

  test('a part of an unknown kind becomes a denial within its message', async () => {
    const item = {
      ...message('hello'),
      content: [
        { type: 'tool_use', input: SECRET },
        { type: 'output_text', text: 'hello', annotations: [] },
      ],
    }
    const result = await governed([item], {})
    expect(result.output).toEqual([
      {
        ...message('hello'),
        content: [
          { type: 'output_text', text: denial('rc-1'), annotations: [], logprobs: [] },
          { type: 'output_text', text: 'hello', annotations: [], logprobs: [] },
        ],
      },
    ])
    expect(JSON.stringify(result)).not.toContain(SECRET)
  })

  test('unknown members are dropped, wherever they are', async () => {
    const annotation = { type: 'url_citation', url: 'u', title: 't', start_index: 0, end_index: 1 }
    const item = {
      ...message('hi'),
      tool_calls: SECRET,
      content: [
        {
          type: 'output_text',
          text: 'hi',
          annotations: [
            { ...annotation, more: SECRET, title: { a: SECRET } },
            { type: 'call', x: SECRET },
          ],
          logprobs: [{ token: SECRET, logprob: 0 }],
          call: SECRET,
        },
      ],
    }
    const known = { type: 'url_citation', url: 'u', start_index: 0, end_index: 1 }
    const result = await governed(
      [item],
      {},
      {
        surprise: SECRET,
        output_text: SECRET,
        tools: [{ type: 'function', name: SECRET }],
        instructions: SECRET,
        prompt: { id: SECRET },
        conversation: { id: SECRET },
        incomplete_details: { reason: `a ${SECRET}` },
        tool_choice: { type: 'function', name: `a ${SECRET}` },
        text: { format: { type: 'json_schema', name: 'n', schema: { title: SECRET } } },
        metadata: { a: 'b', c: { d: SECRET } },
        error: { code: 'server_error', message: 'm', details: SECRET },
      },
    )
    expect(JSON.stringify(result)).not.toContain(SECRET)
    expect(result).toMatchObject({
      output: [{ content: [{ annotations: [known], logprobs: [] }] }],
      tools: [],
      instructions: null,
      metadata: { a: 'b' },
      text: { format: { type: 'json_schema', name: 'n' } },
      error: { code: 'server_error', message: 'm' },
    })
  })

  test('log probabilities of text stay', async () => {
    const token = { token: 'hi', logprob: -1, bytes: [104, 105], top_logprobs: [] }
    const item = {
      ...message('hi'),
      content: [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [token] }],
    }
    expect(await outputOf([item])).toEqual([item])
  })
})

describe('text', () => {
  test('messages, refusals, reasoning and compactions are forwarded unchanged', async () => {
    const items = [
      { ...message('a'), phase: 'commentary' },
      {
        id: 'msg_2',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'no' }],
      },
      {
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 's' }],
        content: [{ type: 'reasoning_text', text: 't' }],
        encrypted_content: 'e',
        status: 'completed',
      },
      { id: 'rs_2', type: 'reasoning', summary: [] },
      { id: 'cmp_1', type: 'compaction', encrypted_content: 'e' },
    ]
    const judge = judgeBy({})
    const result = await openaiResponses.governReply(reply(items), judge)
    expect(result).toEqual({ ...reply(items), tools: [], instructions: null })
    expect(judge.asked).toEqual([])
  })

  test('the ids of all forwarded items are reported', async () => {
    const ids: string[] = []
    const items = [message('a', 'msg_7'), functionCall('pay', '{}', 'fc_7'), functionCall('no', '{}', 'fc_8')]
    await openaiResponses.governReply(reply(items), judgeBy({ allow: ['pay'] }), (id) => ids.push(id))
    expect(ids).toEqual(['msg_7', 'fc_7', 'msg_tollgate_rc-2'])
  })

  test('a denial without a receipt has its own id', async () => {
    const judge: Judge = {
      judge: (all) =>
        Promise.resolve(
          all.map(() => ({ allowed: false, code: 'POLICY_VIOLATION', text: 'no', receipt: undefined })),
        ),
      ran: () => false,
    }
    const { output } = await openaiResponses.governReply(reply([functionCall('a', '{}')]), judge)
    expect(output).toMatchObject([{ id: expect.stringMatching(/^msg_tollgate_[0-9a-f]{16}$/) as string }])
  })
})

describe('an invalid response', () => {
  const many = (count: number): Json[] =>
    Array.from({ length: count }, (_, at) => functionCall('a', '{}', `f${at}`))
  const BAD: Readonly<Record<string, Json>> = {
    'no object': 'hello',
    'a list': [],
    'no items': { ...reply([]), output: null },
    'items that are no list': { ...reply([]), output: {} },
    'an item that is no object': reply(['x']),
    'content that is no list': reply([{ ...message('x'), content: 'x' }]),
    'no id': { ...reply([]), id: 7 },
    'too many items': reply(Array.from({ length: 1025 }, () => message('x'))),
    'too many calls': reply(many(257)),
    'arguments that are too long': reply([functionCall('a', 'x'.repeat((4 << 20) + 1))]),
    'a reply of Chat Completions': { id: 'c', choices: [{ message: { tool_calls: [] } }] },
  }
  test.each(Object.entries(BAD))('%s', async (_, value) => {
    await expect(openaiResponses.governReply(value, judgeBy({ allow: ['a'] }))).rejects.toBeInstanceOf(
      Garbled,
    )
  })

  test('a judge with too few rulings forwards nothing', async () => {
    const judge: Judge = { judge: () => Promise.resolve([]), ran: () => true }
    const work = openaiResponses.governReply(reply([functionCall('a', '{}')]), judge)
    await expect(work).rejects.toBeInstanceOf(Garbled)
  })

  test('a judge that allows an unknown item forwards nothing', async () => {
    const judge: Judge = {
      judge: (all) => Promise.resolve(all.map(() => ({ allowed: true, args: '{}' }))),
      ran: () => false,
    }
    for (const item of [{ type: 'odd' }, { ...functionCall('a', '{}'), status: 'incomplete' }]) {
      await expect(openaiResponses.governReply(reply([item]), judge)).rejects.toBeInstanceOf(Garbled)
    }
  })
})

describe('the official clients accept the output', () => {
  const items = [
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'e' },
    message('I look.'),
    functionCall('weather', '{"city":"Bern"}', 'fc_1'),
    functionCall('pay', `{"to":"${SECRET}"}`, 'fc_2'),
  ]
  const script = { allow: ['weather'] }
  const inputSchema = jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
  })

  test('openai', async () => {
    const client = officialClient(whole(await governed(items, script)))
    const response = await client.responses.create({ model: 'm', input: 'hi' })
    expect(response.output_text).toBe(`I look.${denial('rc-2')}`)
    expect(response.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'message',
    ])
    expect(response.usage?.total_tokens).toBe(15)
  })

  test('ai', async () => {
    const model = aiSdk(whole(await governed(items, script)))('gpt-4o')
    const result = await generateText({
      model,
      prompt: 'hi',
      tools: { weather: tool({ inputSchema }), pay: tool({ inputSchema }) },
    })
    expect(result.text).toBe(`I look.${denial('rc-2')}`)
    expect(result.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Bern' } }])
    expect(JSON.stringify(result.steps)).not.toContain(SECRET)
  })

  test('langchain', async () => {
    const model = langChain(whole(await governed(items, script)))
    const answer = await model.invoke('hi')
    expect(answer.text).toBe(`I look.${denial('rc-2')}`)
    expect(answer.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Bern' }, id: 'call_fc_1' }])
  })
})
