// The Gemini API: the official client, and plain requests, on a real gateway.

import { ApiError, GoogleGenAI, type GenerateContentResponse, type Part } from '@google/genai'
import type { JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlmGate, POLICY, UPSTREAM_KEY, type LlmGate } from './gate.ts'
import { startUpstream, type Recorded, type Step, type Upstream } from './upstream.ts'

const MODEL = 'gemini-3-pro-preview'
const WHOLE = `/gemini/v1beta/models/${MODEL}:generateContent`
const STREAMED = `/gemini/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`
const READ = { name: 'read_note', args: { name: 'list' } }
const MAIL = { name: 'send_mail', args: { to: 'eve@attacker.example' } }
const FUNCTIONS = ['read_note', 'send_mail', 'pay'].map((name) => ({ name, description: name }))
const config = { tools: [{ functionDeclarations: FUNCTIONS }] }
const ASKED = { model: MODEL, contents: 'Read it.', config }
const BODY = { contents: [{ role: 'user', parts: [{ text: 'Read it.' }] }], tools: config.tools }
const REFUSED = /\[Tollgate\] The call to `send_mail` was not run/

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

async function open(...steps: readonly Step[]): Promise<{ agent: LlmGate; ai: GoogleGenAI }> {
  upstream.script(...steps)
  const agent = await gate.as(`agent:g${agents++}`)
  return {
    agent,
    ai: new GoogleGenAI({ apiKey: agent.token, httpOptions: { baseUrl: `${gate.url}/gemini` } }),
  }
}

function last(): Recorded {
  const recorded = upstream.requests.at(-1)
  if (!recorded) throw new Error('there was no request')
  return recorded
}

async function answered(ai: GoogleGenAI, isStream: boolean): Promise<readonly Part[]> {
  const responses: GenerateContentResponse[] = []
  if (isStream) for await (const each of await ai.models.generateContentStream(ASKED)) responses.push(each)
  else responses.push(await ai.models.generateContent(ASKED))
  return responses.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
}

const callsIn = (parts: readonly Part[]): unknown[] => parts.flatMap(({ functionCall }) => functionCall ?? [])
const textIn = (parts: readonly Part[]): string => parts.map(({ text }) => text ?? '').join('')

describe.each([false, true])('the official client, streamed: %s', (isStream) => {
  it('gets an allowed call, and the gateway sends its own key', async () => {
    const { agent, ai } = await open({ text: 'Well.', calls: [READ] })
    const parts = await answered(ai, isStream)
    expect([textIn(parts), callsIn(parts)]).toEqual(['Well.', [READ]])
    expect(parts.find(({ functionCall }) => functionCall)?.thoughtSignature).toBe('c2lnbmVk')
    const { path, search, headers } = last()
    expect(path).toBe(`/v1/models/${MODEL}:${isStream ? 'streamGenerateContent' : 'generateContent'}`)
    expect([search, headers['x-goog-api-key'], headers.authorization]).toEqual([
      isStream ? '?alt=sse' : '',
      UPSTREAM_KEY,
      undefined,
    ])
    expect(JSON.stringify(headers)).not.toContain(agent.token)
    expect(await agent.decisions()).toMatchObject([{ tool: 'read_note', verdict: 'ALLOW', door: 'llm' }])
  })

  it('gets a text in place of a denied call', async () => {
    const { agent, ai } = await open({ calls: [MAIL, READ] })
    const parts = await answered(ai, isStream)
    expect(textIn(parts)).toMatch(REFUSED)
    expect(callsIn(parts)).toEqual([READ])
    expect(JSON.stringify(parts)).not.toContain('eve@attacker.example')
    expect((await agent.decisions()).map(({ verdict }) => verdict).sort()).toEqual(['ALLOW', 'DENY'])
  })

  it('gets a call without arguments as {}', async () => {
    const { agent, ai } = await open({ calls: [{ name: 'read_note', args: {} }] })
    expect(callsIn(await answered(ai, isStream))).toEqual([{ name: 'read_note', args: {} }])
    expect(await agent.decisions()).toMatchObject([{ verdict: 'ALLOW' }])
  })

  it('throws its own error for a token that is unknown, and for a failing server', async () => {
    const { ai } = await open({ status: 503 })
    await expect(answered(ai, isStream)).rejects.toMatchObject({ name: 'ApiError', status: 503 })
    const wrong = new GoogleGenAI({ apiKey: 'no-token', httpOptions: { baseUrl: `${gate.url}/gemini` } })
    const fault: unknown = await answered(wrong, isStream).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(ApiError)
    expect(String(fault)).toMatch(/TOKEN_UNKNOWN.*UNAUTHENTICATED/s)
  })
})

describe('results', () => {
  const answer = (name: string, output: string): Part => ({
    functionResponse: { name, response: { output } },
  })

  it('of calls without ids are the effects of their calls, by order and name', async () => {
    const other = { name: 'read_note', args: { name: 'other' } }
    const { agent, ai } = await open({ calls: [READ, other, READ] }, { calls: [READ] }, { text: 'Done.' })
    const chat = ai.chats.create({ model: MODEL, config })
    expect((await chat.sendMessage({ message: 'Read it.' })).functionCalls).toHaveLength(3)
    await chat.sendMessage({ message: ['a', 'b', 'c'].map((output) => answer('read_note', output)) })
    expect((await agent.effects()).map(({ status }) => status)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'COMPLETED',
    ])
    const { text } = await chat.sendMessage({ message: [answer('read_note', 'd')] })
    expect(text).toBe('Done.')
    const decisions = new Set((await agent.effects()).map(({ decision }) => decision))
    expect([decisions.size, (await agent.decisions()).length]).toEqual([4, 4])
  })

  it('that failed are recorded as failures', async () => {
    const { agent, ai } = await open({ calls: [READ] }, { text: 'Done.' })
    const chat = ai.chats.create({ model: MODEL, config })
    await chat.sendMessage({ message: 'Read it.' })
    await chat.sendMessage({
      message: [{ functionResponse: { name: 'read_note', response: { error: 'gone' } } }],
    })
    expect(await agent.effects()).toMatchObject([{ status: 'FAILED' }])
  })
})

describe('the token of an agent', () => {
  it.each([
    ['in the query', (token: string) => [`${WHOLE}?key=${token}`, {}] as const],
    ['in the query, escaped', (token: string) => [`${WHOLE}?k%65y=${token}`, {}] as const],
    ['in the query of a stream', (token: string) => [`${STREAMED}&key=${token}`, {}] as const],
    ['as the key of Google', (token: string) => [WHOLE, { 'x-goog-api-key': token }] as const],
    ['as a bearer', (token: string) => [WHOLE, { authorization: `Bearer ${token}` }] as const],
    ['in two places', (token: string) => [`${WHOLE}?key=${token}`, { 'x-goog-api-key': token }] as const],
  ])('%s is taken, and goes nowhere', async (_, place) => {
    const { agent } = await open({ text: 'Hi.' })
    const [path, headers] = place(agent.token)
    const response = await send(path, BODY, headers)
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')])
    const { path: got, search, headers: sent, text } = last()
    expect(JSON.stringify([got, search, sent, text])).not.toContain(agent.token)
    expect([sent['x-goog-api-key'], search]).toEqual([UPSTREAM_KEY, path.includes('alt=') ? '?alt=sse' : ''])
  })

  it.each(['key=a&key=b', 'key=%zz', 'key=%ff', 'access_token=a', 'key=', 'x=1'])(
    '%s is refused',
    async (query) => {
      const before = upstream.requests.length
      const { status } = await send(`${WHOLE}?${query}`, BODY, {})
      expect(status).toBeGreaterThanOrEqual(400)
      expect(upstream.requests).toHaveLength(before)
    },
  )

  it('is separate from the key of a client that brings its own, in the query too', async () => {
    const own = await openLlmGate({ upstream: upstream.url, model: { key: 'client' } })
    for (const [path, headers] of [
      [`${WHOLE}?key=AIza-own`, {}],
      [WHOLE, { 'x-goog-api-key': 'AIza-own' }],
    ] as const) {
      upstream.script({ text: 'Hello.' })
      const more = { ...headers, 'tollgate-token': own.token }
      const response = await fetch(own.url + path, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...more },
        body: JSON.stringify(BODY),
      })
      expect(response.status).toBe(200)
      expect([last().headers['x-goog-api-key'], last().search]).toEqual(['AIza-own', ''])
    }
    await own.close()
  })
})

const JSON_TYPE = { 'content-type': 'application/json' }

function send(
  path: string,
  body: JsonObject | object,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(gate.url + path, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  })
}

it('removes undeclared tools of the provider', async () => {
  const { agent } = await open({ text: 'Hello.' })
  const tools = [
    { functionDeclarations: FUNCTIONS, google_search: {}, codeExecution: {} },
    { urlContext: {} },
  ]
  const response = await agent.post(WHOLE, { ...BODY, tools })
  expect([response.status, response.headers.get('tollgate-removed')]).toEqual([
    200,
    'gemini/code_execution,gemini/google_search,gemini/url_context',
  ])
  expect(last().body.tools).toEqual([{ functionDeclarations: FUNCTIONS }])
  expect((await agent.decisions()).map(({ tool, verdict }) => `${tool} ${verdict}`)).toContain(
    'gemini/google_search DENY',
  )
})

it('sends no comments in a stream to the retired client of Google, which cannot read them', async () => {
  const { agent } = await open({ text: 'Hello.' }, { text: 'Hello.' })
  const plain = await (await agent.post(STREAMED, BODY)).text()
  expect(plain).toMatch(/^: tollgate receipts=/m)
  const retired = await (await agent.post(STREAMED, BODY, { 'x-goog-api-client': 'genai-js/0.24.1' })).text()
  expect(retired.split('\n\n').filter((event) => !event.startsWith('data: {'))).toEqual([''])
})

it('counts tokens, lists models and embeds, without a decision', async () => {
  const { agent, ai } = await open()
  expect((await ai.models.countTokens({ model: MODEL, contents: 'Hi' })).totalTokens).toBe(82)
  expect((await ai.models.embedContent({ model: MODEL, contents: 'Hi' })).embeddings).toHaveLength(1)
  const models: unknown[] = []
  for await (const { name } of await ai.models.list()) models.push(name)
  expect(models).toEqual([`models/${MODEL}`])
  const denied = await agent.post(`/gemini/v1beta/models/${MODEL}:countTokens`, {
    generateContentRequest: { ...BODY, model: 'm', tools: [{ mcpServers: [{ name: 'a' }] }] },
  })
  expect(denied.status).toBe(403)
  expect(await agent.decisions()).toEqual([])
})

describe('refused routes', () => {
  it.each([
    `POST /gemini/v1beta/models/${MODEL}:streamGenerateContent`,
    `POST /gemini/v1beta/models/${MODEL}:streamGenerateContent?alt=json`,
    `POST /gemini/v1beta/models/${MODEL}:generateContent?alt=sse`,
    `POST /gemini/v1beta/models/${MODEL}:batchGenerateContent`,
    `POST /gemini/v1beta/models/${MODEL}:predict`,
    'POST /gemini/v1beta/models/a%2Fb:generateContent',
    'POST /gemini/v1beta/tunedModels/a:generateContent',
    'POST /gemini/v1beta/cachedContents',
    'POST /gemini/v1beta/interactions',
    'POST /gemini/v1alpha/models/m:generateContent',
    'POST /gemini/upload/v1beta/files',
    'GET /gemini/v1beta/models?fields=models',
    'GET /gemini/v1beta/operations/a',
    'POST /gemini/models/m:generateContent',
    'POST /gemini',
  ])('%s', async (route) => {
    const [method = '', path = ''] = route.split(' ')
    const { agent } = await open()
    const before = upstream.requests.length
    const headers = { ...JSON_TYPE, 'x-goog-api-key': agent.token }
    const response = await fetch(gate.url + path, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify(BODY) }),
    })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      error: { code: 403, status: 'PERMISSION_DENIED', details: [{ reason: 'ROUTE_NOT_GOVERNED' }] },
    })
    expect(upstream.requests).toHaveLength(before)
  })
})
