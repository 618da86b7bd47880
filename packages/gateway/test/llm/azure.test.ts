// Azure OpenAI: the official clients with the paths and the header of Azure, on a real gateway.

import OpenAI, { AzureOpenAI } from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openLlmGate, UPSTREAM_KEY, type LlmGate } from './gate.ts'
import { startUpstream, type Recorded, type Step, type Upstream } from './upstream.ts'

const DEPLOYMENT = 'own-gpt'
const VERSION = '2025-04-01-preview'
const READ = { id: 'call_read', name: 'read_note', args: { name: 'list' } }
const MAIL = { id: 'call_mail', name: 'send_mail', args: { to: 'eve@attacker.example' } }
const TOOLS = ['read_note', 'send_mail'].map((name) => ({ type: 'function' as const, function: { name } }))
const ASKED = { model: DEPLOYMENT, messages: [{ role: 'user' as const, content: 'Read it.' }], tools: TOOLS }
const REFUSED = /\[Tollgate\] The call to `send_mail` was not run/

let gate: LlmGate
let upstream: Upstream
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

interface Clients {
  readonly agent: LlmGate
  /** With dated paths. */
  readonly azure: AzureOpenAI
  /** With the paths under `/openai/v1`. */
  readonly plain: OpenAI
}

async function open(...steps: readonly Step[]): Promise<Clients> {
  upstream.script(...steps)
  const agent = await gate.as(`agent:z${agents++}`)
  const settings = { apiKey: agent.token, maxRetries: 0 }
  return {
    agent,
    azure: new AzureOpenAI({ ...settings, endpoint: `${gate.url}/azure`, apiVersion: VERSION }),
    plain: new OpenAI({ ...settings, baseURL: `${gate.url}/azure/openai/v1` }),
  }
}

/** The last request that the model server got. */
function got(): Pick<Recorded, 'path' | 'search'> & { readonly key: unknown; readonly bearer: unknown } {
  const last = upstream.requests.at(-1)
  if (!last) throw new Error('there was no request')
  const { path, search, headers } = last
  return { path, search, key: headers['api-key'], bearer: headers.authorization }
}

const dated = (path: string): object => ({
  path,
  search: `?api-version=${VERSION}`,
  key: UPSTREAM_KEY,
  bearer: undefined,
})

describe.each([false, true])('the official client of Azure, streamed: %s', (isStream) => {
  const complete = (client: OpenAI): Promise<OpenAI.ChatCompletion> =>
    isStream
      ? client.chat.completions.stream(ASKED).finalChatCompletion()
      : client.chat.completions.create(ASKED)

  it('gets allowed calls from its deployment, which gets the key of the gateway in `api-key`', async () => {
    const { agent, azure } = await open({ calls: [READ] })
    const { choices } = await complete(azure)
    expect(choices[0]?.message.tool_calls?.map(({ id }) => id)).toEqual(['call_read'])
    expect(got()).toEqual(dated(`/openai/deployments/${DEPLOYMENT}/chat/completions`))
    expect(JSON.stringify(upstream.requests.at(-1)?.headers)).not.toContain(agent.token)
    expect((await agent.decisions()).map(({ verdict }) => verdict)).toEqual(['ALLOW'])
  })

  it('gets the reason in place of a denied call', async () => {
    const { azure } = await open({ calls: [MAIL] })
    const { choices } = await complete(azure)
    expect(choices[0]?.message.content).toMatch(REFUSED)
    expect(JSON.stringify(choices)).not.toContain('attacker')
  })

  it('gets a refusal if its reply is structured', async () => {
    const { azure } = await open({ calls: [MAIL] })
    const body = { ...ASKED, response_format: zodResponseFormat(z.object({ text: z.string() }), 'note') }
    const { choices } = isStream
      ? await azure.chat.completions.stream({ ...body, tools: [] }).finalChatCompletion()
      : await azure.chat.completions.parse({ ...body, tools: [] })
    expect(choices[0]?.message).toMatchObject({ content: null, parsed: null })
    expect(choices[0]?.message.refusal).toContain('[Tollgate] The call was not run')
  })

  it('uses Responses, with and without a date', async () => {
    const { azure, plain } = await open({ calls: [READ, MAIL] }, { calls: [{ ...READ, id: 'call_2' }, MAIL] })
    for (const [client, path] of [
      [azure, '/openai/responses'],
      [plain, '/openai/v1/responses'],
    ] as const) {
      const body = {
        model: DEPLOYMENT,
        input: 'Read it.',
        tools: TOOLS.map(({ type, function: { name } }) => ({ type, name, parameters: null, strict: false })),
      }
      const response = isStream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body)
      expect(response.output.map(({ type }) => type).toSorted()).toEqual(['function_call', 'message'])
      expect(response.output_text).toMatch(REFUSED)
      expect(got()).toMatchObject({ path, key: UPSTREAM_KEY })
    }
  })

  it('uses Chat Completions without a date', async () => {
    const { plain } = await open({ calls: [READ] })
    const { choices } = await complete(plain)
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(got()).toMatchObject({ path: '/openai/v1/chat/completions', search: '', key: UPSTREAM_KEY })
  })
})

it('forwards vectors and models, which hold no call', async () => {
  const { agent, azure, plain } = await open()
  for (const client of [azure, plain]) {
    const { data } = await client.embeddings.create({ model: DEPLOYMENT, input: 'hello' })
    expect(data[0]?.embedding).toEqual([0.25, -0.5, 1])
  }
  expect((await plain.models.list()).data).toHaveLength(1)
  expect(await agent.decisions()).toEqual([])
})

it('has the errors of the API, as the official client reads them', async () => {
  const { azure } = await open({ status: 429, retryAfterMs: 5 })
  await expect(azure.chat.completions.create(ASKED)).rejects.toMatchObject({ status: 429 })
  const wrong = new AzureOpenAI({
    ...{ apiKey: 'no-token', maxRetries: 0, apiVersion: VERSION, endpoint: `${gate.url}/azure` },
  })
  await expect(wrong.chat.completions.create(ASKED)).rejects.toMatchObject({
    status: 401,
    code: 'TOKEN_UNKNOWN',
  })
})

it('sends the key of the client, if so configured, and never its token', async () => {
  const own = await openLlmGate({ upstream: upstream.url, model: { key: 'client' } })
  upstream.script({ text: 'Hello.' })
  const defaultHeaders = { 'tollgate-token': own.token }
  const settings = { apiKey: 'azure-key', endpoint: `${own.url}/azure`, apiVersion: VERSION, defaultHeaders }
  await new AzureOpenAI({ ...settings, maxRetries: 0 }).chat.completions.create(ASKED)
  expect(got()).toMatchObject({ key: 'azure-key', bearer: undefined })
  expect(JSON.stringify(upstream.requests.at(-1)?.headers)).not.toContain(own.token)
  await own.close()
})

const ROUTES = [
  'POST /azure/openai/deployments/own-gpt/completions',
  'POST /azure/openai/deployments/own-gpt/extensions/chat/completions',
  'POST /azure/openai/deployments/own-gpt/images/generations',
  'POST /azure/openai/deployments/a/b/chat/completions',
  'POST /azure/openai/deployments/../chat/completions',
  'POST /azure/openai/deployments//chat/completions',
  'POST /azure/openai/deployments/%2e%2e/chat/completions',
  'POST /azure/openai/chat/completions',
  'POST /azure/openai/assistants',
  'GET /azure/openai/responses/resp_1',
  'POST /azure/openai/v1/responses/resp_1/cancel',
  'POST /azure/chat/completions',
  'POST /azure',
]

it.each(ROUTES)('refuses %s', async (route) => {
  const { agent } = await open()
  const before = upstream.requests.length
  const [method = '', path = ''] = route.split(' ')
  const headers = { 'api-key': agent.token, 'content-type': 'application/json' }
  const url = `${gate.url}${path}?api-version=${VERSION}`
  const response = await fetch(url, { method, headers, ...(method === 'POST' && { body: '{}' }) })
  expect([response.status, await response.text()]).toEqual([
    403,
    expect.stringContaining('ROUTE_NOT_GOVERNED'),
  ])
  expect(upstream.requests).toHaveLength(before)
})
