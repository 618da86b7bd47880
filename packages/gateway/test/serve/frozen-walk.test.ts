// While everything is frozen, nothing reaches an upstream and no program is started: every door, route, model path and MCP
// method. An entry without a row here fails.

import { parseReceipt, type JsonObject } from '@tollgate/evidence'
import { ENTRY } from '@tollgate/kernel'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { ROUTES } from '../../src/api/routes.ts'
import { LLM_ROUTES } from '../../src/llm/routes.ts'
import { CLIENT_NOTIFICATIONS, CLIENT_REQUESTS } from '../mcp/message-rows.ts'
import type { Role } from '../../src/tokens.ts'
import { openFrozenRig, type FrozenRig } from './frozen-rig.ts'

let rig: FrozenRig
let agent: string
beforeAll(async () => {
  rig = await openFrozenRig()
  agent = await rig.token('agent', 'agent:peer')
})
afterAll(() => rig.close())

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }
/** A body for each model route that needs one. */
const LLM_BODIES: Readonly<Record<string, object | undefined>> = {
  'POST /openai/v1/chat/completions': CHAT,
  'POST /openai/v1/responses': { model: 'm', input: 'hello', store: false },
  'POST /openai/v1/embeddings': { model: 'm', input: 'hello' },
  'POST /openai/v1/moderations': { input: 'hello' },
  'POST /openai/v1/responses/input_tokens': { model: 'm', input: 'hello' },
  'GET /openai/v1/models': undefined,
  'POST /azure/openai/deployments/{deployment}/chat/completions': CHAT,
  'POST /azure/openai/responses': { model: 'm', input: 'hello', store: false },
  'POST /azure/openai/v1/chat/completions': CHAT,
  'POST /azure/openai/v1/responses': { model: 'm', input: 'hello', store: false },
  'POST /azure/openai/deployments/{deployment}/embeddings': { model: 'm', input: 'hello' },
  'GET /azure/openai/models': undefined,
  'POST /azure/openai/v1/embeddings': { model: 'm', input: 'hello' },
  'GET /azure/openai/v1/models': undefined,
  'POST /anthropic/v1/messages': { ...CHAT, max_tokens: 10 },
  'POST /anthropic/v1/messages/count_tokens': CHAT,
  'GET /anthropic/v1/models': undefined,
  ...Object.fromEntries(['/gemini/v1beta', '/gemini/v1'].flatMap(geminiBodies)),
}

function geminiBodies(base: string): readonly [string, object | undefined][] {
  const contents = [{ parts: [{ text: 'hello' }] }]
  return [
    [`POST ${base}/models/{model}:generateContent`, { contents }],
    [`POST ${base}/models/{model}:streamGenerateContent?alt=sse`, { contents }],
    [`POST ${base}/models/{model}:countTokens`, { contents }],
    [`POST ${base}/models/{model}:embedContent`, { content: contents[0] }],
    [`POST ${base}/models/{model}:batchEmbedContents`, { requests: [] }],
    [`GET ${base}/models`, undefined],
  ]
}

function ask(route: string, body: object | undefined, token = agent, more = {}): Promise<Response> {
  const [method = '', path = ''] = route.replaceAll(/\{\w+\}/g, 'm').split(' ')
  return fetch(rig.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}

/** Every client request of any MCP revision, in order, and an unknown one. A ping starts nothing. */
const MCP_METHODS: readonly string[] = [
  'initialize',
  ...Object.keys(CLIENT_REQUESTS).filter((method) => !['initialize', 'ping'].includes(method)),
  'unknown/method',
]
const NOTICES: readonly string[] = Object.keys(CLIENT_NOTIFICATIONS)

const PARAMS = {
  name: 'own/note',
  uri: 'a://b',
  arguments: {},
  level: 'info',
  ref: { type: 'ref/prompt', name: 'x' },
}
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

function message(method: string, id?: number): object {
  const params = method === 'initialize' ? CLIENT : PARAMS
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), method, params }
}

function modern(path: string, method: string): Promise<Response> {
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...PARAMS, _meta: META } }
  const named = ['tools/call', 'prompts/get'].includes(method) ? { 'mcp-name': PARAMS.name } : {}
  const read = method === 'resources/read' ? { 'mcp-name': PARAMS.uri } : {}
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named, ...read }
  return ask(`POST ${path}`, body, agent, headers)
}

/** Reads an answer, with a time limit. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.includes('event-stream')) return response.text()
  const read = await response.body?.getReader().read()
  return Buffer.from(read?.value ?? new Uint8Array()).toString()
}

test('requests to an upstream are recorded while nothing is frozen', async () => {
  await ask('POST /openai/v1/embeddings', LLM_BODIES['POST /openai/v1/embeddings'])
  await textOf(await modern('/mcp/own', 'tools/list'))
  await textOf(await modern('/mcp/remote', 'tools/list'))
  await rig.local(agent, [message('initialize', 1)])
  const reached = rig.reached().join('\n')
  expect(reached).toContain('model POST /v1/embeddings')
  expect(reached).toContain('mcp POST')
  expect(reached.match(/^started$/gm)?.length).toBeGreaterThan(1)
})

const MCP_PATHS = ['/mcp', '/mcp/own', '/mcp/remote']

/** A session of the older protocol, begun while nothing is frozen. */
async function legacySession(path: string): Promise<string> {
  const response = await ask(`POST ${path}`, message('initialize', 1))
  expect(await textOf(response)).toContain('"result"')
  return response.headers.get('mcp-session-id') ?? ''
}

/** How much has reached the upstreams after released servers have ended. */
async function settled(): Promise<number> {
  let size = -1
  while (size !== rig.reached().length) {
    size = rig.reached().length
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return size
}

describe.each([
  ['all', { scope: 'all' }, 'SYSTEM_FROZEN'],
  ['its principal', { scope: 'principal', target: 'agent:peer' }, 'AGENT_KILLED'],
  ['its session', { scope: 'session', target: 'agent:peer' }, 'SESSION_FROZEN'],
] as const)('frozen: %s', (_, order, reason) => {
  let before: number
  const begun = new Map<string, string>()
  beforeAll(async () => {
    // The remote server does not answer, so that no session begins there.
    for (const path of ['/mcp', '/mcp/own']) begun.set(path, await legacySession(path))
    await rig.freeze(order)
    before = await settled()
  })
  afterAll(() => rig.freeze(order, false))

  it('has a row for every model route', () => {
    expect(Object.keys(LLM_BODIES).sort()).toEqual([...LLM_ROUTES].sort())
  })

  it.each(Object.entries(LLM_BODIES))('%s reaches no model', async (route, body) => {
    const response = await ask(route, body)
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining(reason)])
    expect(rig.reached().slice(before)).toEqual([])
  })

  it.each(MCP_PATHS)('no MCP method of either protocol passes %s', async (path) => {
    for (const method of MCP_METHODS) {
      const text = await textOf(await modern(path, method))
      expect(text, method).toMatch(new RegExp(`${reason}|"code":-3260[12]|HeaderMismatch`))
    }
    expect(await textOf(await ask(`POST ${path}`, message('initialize', 1)))).toContain(reason)
    const known = { 'mcp-session-id': begun.get(path) ?? '', 'mcp-protocol-version': '2025-11-25' }
    for (const method of begun.has(path) ? MCP_METHODS.slice(1) : []) {
      const text = await textOf(await ask(`POST ${path}`, message(method, 2), agent, known))
      // A session of the older protocol is kept alive by `ping`, which the gateway answers itself.
      if (method !== 'ping') expect(text, method).toMatch(new RegExp(`${reason}|"code":-3260[012]`))
    }
    for (const method of NOTICES) await ask(`POST ${path}`, message(method), agent, known)
    expect((await ask(`GET ${path}`, undefined, agent, known)).status).toBe(403)
    expect(rig.reached().slice(before)).toEqual([])
  })

  it('no program of the local socket is started', async () => {
    const [welcome, ...answers] = await rig.local(
      agent,
      MCP_METHODS.map((method, i) => message(method, i)),
    )
    expect(welcome).toContain('"ok":true')
    expect(answers.filter((each) => !each.includes(reason))).toEqual([])
    expect(rig.reached().slice(before)).toEqual([])
  })

  it('leaves a receipt, and says how to lift the freeze', async () => {
    const body: unknown = await (await ask('POST /openai/v1/embeddings', { input: 'x' })).json()
    expect(JSON.stringify(body)).toMatch(/Next step: .+ Receipt: [0-9a-f]{64}/)
    const { entries } = await rig.running.gateway.view.page({
      direction: 'back',
      limit: 1,
      filter: { kind: 'decision' },
    })
    const [newest] = entries.map(({ envelope }) => parseReceipt(envelope).receipt)
    expect(newest).toMatchObject({ tool: ENTRY, door: 'llm', verdict: 'DENY', reason_code: reason })
  })
})

/** Each API route: it `decides` calls, which are denied, or `works` as before, for the people who resolve the problem. */
const API: Readonly<Record<string, 'decides' | 'works'>> = {
  evaluate: 'decides',
  evaluateBrowser: 'decides',
  answerHook: 'decides',
  reportEffect: 'works',
  postObservation: 'works',
  listReceipts: 'works',
  showReceipt: 'works',
  proveReceipt: 'works',
  streamReceipts: 'works',
  streamNotices: 'works',
  listApprovals: 'works',
  showApproval: 'works',
  proposeAlways: 'works',
  approveRequest: 'works',
  denyRequest: 'works',
  showSession: 'works',
  openSession: 'works',
  closeSession: 'works',
  resetSession: 'works',
  resetTrust: 'works',
  showScope: 'works',
  showPrincipal: 'works',
  registerDelegation: 'works',
  listDelegations: 'works',
  showDelegation: 'works',
  revokeDelegation: 'works',
  listFreezes: 'works',
  setFreeze: 'works',
  showPolicy: 'works',
  listObserved: 'works',
  setObserve: 'works',
  activatePolicy: 'works',
  explainCall: 'works',
  listTools: 'works',
  showTool: 'works',
  pinTool: 'works',
  unpinTool: 'works',
  showCheckpoint: 'works',
  exportEvidence: 'works',
  listTokens: 'works',
  issueToken: 'works',
  revokeToken: 'works',
  showStatus: 'works',
  isAlive: 'works',
  isReady: 'works',
  showMetrics: 'works',
  showOpenApi: 'works',
}

/** The bodies of routes that have a form of their own. */
const SENT: Readonly<Record<string, JsonObject>> = {
  evaluateBrowser: { tool_name: 'web/click' },
  answerHook: {
    hook_event_name: 'PreToolUse',
    session_id: 's',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 't',
  },
}

describe('the API while everything is frozen', () => {
  let before: number
  let tokens: ReadonlyMap<Role, string>
  beforeAll(async () => {
    const roles = ['agent', 'sentinel', 'operator', 'admin', 'auditor'] as const
    tokens = new Map(
      await Promise.all(roles.map(async (role) => [role, await rig.token(role, `user:${role}`)] as const)),
    )
    await rig.freeze({ scope: 'all' })
    before = await settled()
  })

  it('has a row for every route', () => {
    expect(Object.keys(API).sort()).toEqual(ROUTES.map(({ id }) => id).sort())
  })

  it('starts nothing, sends nothing, and allows no call', async () => {
    for (const { id, method, path, roles, body } of ROUTES) {
      if (id.startsWith('stream') || id === 'setFreeze') continue
      const role = typeof roles === 'string' ? 'agent' : (roles.find((each) => tokens.has(each)) ?? 'admin')
      const url = path.replace('{client}', 'claude-code').replaceAll(/\{\w+\}/g, 'a'.repeat(64))
      const response = await ask(
        `${method} ${url}`,
        body && (SENT[id] ?? { tool: 'own/note' }),
        tokens.get(role),
      )
      const text = await response.text()
      expect([id, response.status < 500], text).toEqual([id, true])
      if (API[id] === 'decides') expect(text).toContain('SYSTEM_FROZEN')
      expect(text).not.toContain('"verdict":"ALLOW"')
    }
    expect(rig.reached().slice(before)).toEqual([])
  })

  it('starts no server at startup, until an operator lifts the freeze', async () => {
    await rig.restart()
    await settled()
    expect(rig.reached().slice(before)).toEqual([])
    const lift = await ask('POST /v1/freeze', { scope: 'all', frozen: false }, tokens.get('operator'))
    expect(lift.status).toBe(200)
    await expect.poll(() => rig.reached().slice(before)).toContain('started')
  })
})

/** Everything received until the connection breaks off. */
async function allOf(response: Response): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString()
  } catch {
    // The connection broke off, as expected for an unfinished reply.
  }
  return text
}

describe('a running exchange when a freeze begins', () => {
  const STREAMED = { ...CHAT, stream: true }
  it('a streamed reply ends, and says why', async () => {
    const response = await ask('POST /openai/v1/chat/completions', STREAMED)
    expect(response.status).toBe(200)
    const text = allOf(response)
    await rig.freeze({ scope: 'principal', target: 'agent:peer' })
    expect(await text).toContain('frozen')
    await rig.freeze({ scope: 'principal', target: 'agent:peer' }, false)
  })

  it.each([
    ['its header', { 'tollgate-session': 'mine' }, {}],
    ['its metadata', {}, { metadata: { tollgate_session: 'mine' } }],
  ])('a streamed reply ends when the session that %s names is frozen', async (_, headers, more) => {
    const response = await ask('POST /openai/v1/chat/completions', { ...STREAMED, ...more }, agent, headers)
    expect(response.status).toBe(200)
    const text = allOf(response)
    const mine = { scope: 'session', target: 'mine' } as const
    await rig.freeze(mine)
    expect(await text).toContain('frozen')
    await rig.freeze(mine, false)
  })

  it('a stream of changes ends, and its server is released', async () => {
    const response = await modern('/mcp/own', 'subscriptions/listen')
    const text = response.text()
    await rig.freeze({ scope: 'all' })
    expect(await text).not.toContain('"result"')
    await rig.freeze({ scope: 'all' }, false)
  })
})
