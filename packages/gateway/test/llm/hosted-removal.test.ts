// Undeclared tools of the provider, under a policy that removes them from requests.

import type { JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlmGate, POLICY, type LlmGate } from './gate.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const CHAT = '/openai/v1/chat/completions'
const RESPONSES = '/openai/v1/responses'
const MESSAGES = '/anthropic/v1/messages'

const MESSAGE = [{ role: 'user', content: 'Hi' }]
const BODIES: Readonly<Record<string, JsonObject>> = {
  [CHAT]: { model: 'm', messages: MESSAGE },
  [RESPONSES]: { model: 'm', input: 'Hi' },
  [MESSAGES]: { model: 'm', max_tokens: 9, messages: MESSAGE },
}

const OWN: Readonly<Record<string, JsonObject>> = {
  [CHAT]: { type: 'function', function: { name: 'read_note', parameters: { type: 'object' } } },
  [RESPONSES]: { type: 'function', name: 'read_note', parameters: { type: 'object' } },
  [MESSAGES]: { name: 'read_note', input_schema: { type: 'object' } },
}

let gate: LlmGate
let upstream: Upstream
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({
    upstream: upstream.url,
    policy: `${POLICY}provider-tools: { undeclared: remove }\n`,
  })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

interface Sent {
  readonly agent: LlmGate
  readonly response: Response
  readonly text: string
  /** The request that the provider got; undefined if it got none. */
  readonly got: JsonObject | undefined
}

/** Sends a request as an agent without receipts, or as a given one. */
async function send(path: string, more: JsonObject, by?: LlmGate): Promise<Sent> {
  const agent = by ?? (await gate.as(`agent:r${agents++}`))
  const before = upstream.requests.length
  upstream.script({ text: 'Hello.' })
  const response = await agent.post(path, { ...BODIES[path], ...more })
  const text = await response.text()
  const got = upstream.requests[before]?.body
  // A refused request leaves its step.
  if (got === undefined) await agent.post(path, BODIES[path])
  return { agent, response, text, got }
}

const STRANGE = { type: 'teleport' }

const REMOVED: readonly (readonly [string, string, JsonObject, JsonObject, string])[] = [
  ['an unknown type', CHAT, { tools: [OWN[CHAT] ?? {}, STRANGE] }, { tools: [OWN[CHAT] ?? {}] }, 'teleport'],
  [
    'a known type beside a tool of the agent',
    RESPONSES,
    { tools: [{ type: 'image_generation' }, OWN[RESPONSES] ?? {}], tool_choice: 'auto' },
    { tools: [OWN[RESPONSES] ?? {}], tool_choice: 'auto' },
    'image_generation',
  ],
  [
    'an undeclared tool beside an allowed one',
    RESPONSES,
    { tools: [{ type: 'web_search' }, { type: 'image_generation' }], tool_choice: 'required' },
    { tools: [{ type: 'web_search' }], tool_choice: 'required' },
    'image_generation',
  ],
  [
    'an MCP server',
    RESPONSES,
    { tools: [{ type: 'mcp', server_label: 's', server_url: 'https://s.example' }], tool_choice: 'auto' },
    {},
    'mcp',
  ],
  [
    'the only tool, and with it what is said about tools',
    RESPONSES,
    { tools: [STRANGE], tool_choice: 'auto', parallel_tool_calls: true },
    {},
    'teleport',
  ],
  [
    'the only tool of Chat Completions',
    CHAT,
    { tools: [STRANGE], tool_choice: 'auto', parallel_tool_calls: false },
    {},
    'teleport',
  ],
  [
    'a dated type',
    MESSAGES,
    { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }, OWN[MESSAGES] ?? {}] },
    { tools: [OWN[MESSAGES] ?? {}] },
    'web_fetch',
  ],
  [
    'the only tool of Messages',
    MESSAGES,
    { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }], tool_choice: { type: 'auto' } },
    {},
    'web_fetch',
  ],
  [
    'servers and skills',
    MESSAGES,
    {
      mcp_servers: [{ type: 'url', name: 's', url: 'https://s.example' }],
      container: { id: 'c', skills: [{ type: 'anthropic', skill_id: 'pdf' }] },
    },
    { container: { id: 'c' } },
    'mcp,anthropic/skills',
  ],
  [
    'a choice of a tool of the agent',
    CHAT,
    { tools: [OWN[CHAT] ?? {}, STRANGE], tool_choice: { type: 'function', function: { name: 'read_note' } } },
    { tools: [OWN[CHAT] ?? {}], tool_choice: { type: 'function', function: { name: 'read_note' } } },
    'teleport',
  ],
]

describe('an undeclared tool of the provider', () => {
  it.each(REMOVED)('is removed: %s', async (_, path, more, left, names) => {
    const { agent, response, got } = await send(path, more)
    expect(response.status).toBe(200)
    expect(got).toEqual({ ...BODIES[path], ...left })
    const provider = path === MESSAGES ? 'anthropic' : 'openai'
    expect(response.headers.get('tollgate-removed')).toBe(`${provider}/${names}`)
    const denied = (await agent.decisions()).filter(({ verdict }) => verdict === 'DENY')
    expect(denied.map(({ tool, assurance }) => [tool, assurance])).toEqual(
      `${provider}/${names}`.split(',').map((tool) => [tool, 'enforced']),
    )
    expect(denied.every(({ reason_code: reason }) => reason === 'DENY_TOOL_NOT_FOUND')).toBe(true)
    const receipts = response.headers.get('tollgate-receipts')?.split(',') ?? []
    expect(receipts.length).toBeGreaterThanOrEqual(denied.length)
  })

  it('is named in the headers and in the comment of a stream', async () => {
    const { response, text } = await send(RESPONSES, { tools: [STRANGE], stream: true })
    expect(response.headers.get('tollgate-removed')).toBe('openai/teleport')
    expect(text).toMatch(/: tollgate receipts=[0-9a-f]{64} allow=0 deny=1 .* removed=openai\/teleport\n\n$/)
  })

  it('has one receipt in a session, which every answer names', async () => {
    const first = await send(RESPONSES, { tools: [STRANGE] })
    const second = await send(RESPONSES, { tools: [STRANGE] }, first.agent)
    const receipts = [first, second].map(({ response }) => response.headers.get('tollgate-receipts'))
    expect(receipts[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(receipts[1]).toBe(receipts[0])
    expect(second.got).toEqual(BODIES[RESPONSES])
    expect(await first.agent.decisions()).toHaveLength(1)
    const headers = { 'tollgate-session': 'another' }
    upstream.script({ text: 'Hello.' })
    await (await first.agent.post(RESPONSES, { ...BODIES[RESPONSES], tools: [STRANGE] }, headers)).text()
    expect(await first.agent.decisions()).toHaveLength(2)
  })

  it('takes an implied tool of the same entry with it, even if that one is allowed', async () => {
    // The newest version also runs code, which the policy does not declare; the search itself is allowed.
    const tools = [{ type: 'web_search_20260209', name: 'web_search' }]
    const { agent, response, got } = await send(MESSAGES, { tools })
    expect(response.status).toBe(200)
    expect(got).toEqual(BODIES[MESSAGES])
    expect((await agent.effects()).map(({ status }) => status)).toEqual(['CANCELLED'])
  })
})

it('of Codex is removed, with the facts about its machine', async () => {
  const tools = [
    ...['exec_command', 'write_stdin', 'view_image', 'get_goal'].map((name) => ({ type: 'function', name })),
    { type: 'namespace', name: 'multi_agent_v1', tools: [{ type: 'function', name: 'close_agent' }] },
  ]
  const body = {
    input: [{ type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: 'key',
  }
  const { response, got } = await send(RESPONSES, {
    ...body,
    tools: [...tools, { type: 'web_fetch', external_web_access: false }],
    client_metadata: { 'x-codex-installation-id': 'machine', session_id: 'one' },
  })
  expect(response.status).toBe(200)
  expect(got).toEqual({ model: 'm', ...body, tools })
})

it.each([
  ['/openai/v1/responses/input_tokens', { model: 'm', input: 'Hi' }],
  ['/anthropic/v1/messages/count_tokens', { model: 'm', messages: MESSAGE }],
])('facts about the machine are removed when tokens are counted: %s', async (path, body) => {
  await gate.post(path, { ...body, client_metadata: { session_id: 'one' } })
  expect(upstream.requests.at(-1)).toMatchObject({
    path: path.replace(/^\/\w+/, ''),
    text: JSON.stringify(body),
  })
})

const REFUSED: readonly (readonly [string, string, JsonObject])[] = [
  ['that a rule denies', RESPONSES, { tools: [{ type: 'code_interpreter', container: {} }] }],
  [
    'that is removed, with one that a rule denies',
    RESPONSES,
    { tools: [STRANGE, { type: 'code_interpreter' }] },
  ],
  ['that is forced', RESPONSES, { tools: [OWN[RESPONSES] ?? {}, STRANGE], tool_choice: STRANGE }],
  [
    'that is forced by another version',
    RESPONSES,
    { tools: [{ type: 'image_generation' }], tool_choice: { type: 'image_generation' } },
  ],
  [
    'that is forced by name',
    MESSAGES,
    {
      tools: [OWN[MESSAGES] ?? {}, { type: 'web_fetch_20250910', name: 'web_fetch' }],
      tool_choice: { type: 'tool', name: 'web_fetch' },
    },
  ],
  ['that is the only one, while one is required', CHAT, { tools: [STRANGE], tool_choice: 'required' }],
  [
    'that is the only one, while any is required',
    MESSAGES,
    {
      tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }],
      tool_choice: { type: 'any' },
    },
  ],
  [
    'that a list of allowed tools names',
    RESPONSES,
    {
      tools: [OWN[RESPONSES] ?? {}, STRANGE],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'function', name: 'read_note' }, STRANGE],
      },
    },
  ],
  ['beside a choice of an unknown form', CHAT, { tools: [OWN[CHAT] ?? {}, STRANGE], tool_choice: 7 }],
  [
    'inside a namespace',
    RESPONSES,
    { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }, STRANGE] }] },
  ],
  ['in the conversation', RESPONSES, { input: [{ type: 'additional_tools', tools: [STRANGE] }] }],
]

describe('a request is refused with an undeclared tool', () => {
  it.each(REFUSED)('%s', async (_, path, more) => {
    const { response, text, got } = await send(path, more)
    expect(response.status).toBe(403)
    expect(text).toMatch(/Receipt: [0-9a-f]{64}/)
    expect(got).toBeUndefined()
  })
})

describe('a model that searches by itself', () => {
  it('is refused if the policy does not declare the search', async () => {
    const own = await openLlmGate({
      upstream: upstream.url,
      policy: `${POLICY.replace('"openai/web_search": { effect: read, destinations: none }', '')}provider-tools: { undeclared: remove }\n`,
    })
    const before = upstream.requests.length
    const body = { ...BODIES[CHAT], model: 'gpt-5-search-api', web_search_options: {} }
    expect((await own.post(CHAT, body)).status).toBe(403)
    expect(upstream.requests).toHaveLength(before)
    upstream.script({ text: 'Hello.' })
    const plain = await own.post(CHAT, { ...BODIES[CHAT], web_search_options: {} })
    expect([plain.status, plain.headers.get('tollgate-removed')]).toEqual([200, 'openai/web_search'])
    expect(upstream.requests.at(-1)?.body).toEqual(BODIES[CHAT])
    await own.close()
  })
})
