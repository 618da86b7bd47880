// Requests that wait for the approval of a call, on a real gateway.

import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { Socket } from 'node:net'
import { answerRequest, setFreeze } from '@tollgate/kernel/admin'
import type { Decision, JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inForm, openDoorTo, openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const SCHEMA = { type: 'object', properties: { to: { type: 'string' } } }
const NAMES = ['pay', 'read_note']
const MESSAGES = [{ role: 'user', content: 'Pay.' }]
const BODIES: Readonly<Record<string, readonly [path: string, body: JsonObject]>> = {
  chat: [
    '/openai/v1/chat/completions',
    {
      model: 'm',
      messages: MESSAGES,
      tools: NAMES.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
    },
  ],
  responses: [
    '/openai/v1/responses',
    {
      model: 'm',
      input: 'Pay.',
      tools: NAMES.map((name) => ({ type: 'function', name, parameters: SCHEMA })),
    },
  ],
  messages: [
    '/anthropic/v1/messages',
    {
      model: 'm',
      max_tokens: 9,
      messages: MESSAGES,
      tools: NAMES.map((name) => ({ name, input_schema: SCHEMA })),
    },
  ],
  gemini: [
    '/gemini/v1beta/models/m:generateContent',
    {
      contents: [{ parts: [{ text: 'Pay.' }] }],
      tools: [{ functionDeclarations: NAMES.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
    },
  ],
}
const PAY: Step = { calls: [{ id: 'call_pay', name: 'pay', args: { to: 'bob' } }] }
const WAITS = { 'tollgate-wait': '5m' }

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

/** The request of an agent that waits, as soon as there is one. */
async function asked(of: LlmGate, principal: string): Promise<string> {
  const { kernel, watch } = of.running.gateway
  const find = (): string | undefined =>
    kernel.approvals.list(kernel.host.now()).find((request) => request.principal === principal)?.id
  return new Promise((resolve) => {
    const stop = watch(() => look())
    const look = (): void => {
      const id = find()
      if (id === undefined) return
      stop()
      resolve(id)
    }
    look()
  })
}

function answer(of: LlmGate, request: string, granted: boolean): Promise<unknown> {
  const order = { tenant: 'default', request, granted, approver: 'user:olga' }
  return answerRequest(of.running.gateway.kernel, order)
}

function verdictsOf(decisions: readonly Decision[]): readonly string[] {
  return decisions.map(({ verdict, reason_code: reason }) => `${verdict} ${reason}`)
}

/** The connections that servers of this thread accept from now on. */
function accepted(): Socket[] {
  const sockets: Socket[] = []
  // Sound: Node documents this message.
  subscribe('net.server.socket', (message) => void sockets.push((message as { socket: Socket }).socket))
  return sockets
}

interface Waiting {
  readonly agent: LlmGate
  readonly principal: string
  readonly text: Promise<string>
  readonly response: Promise<Response>
}

async function begin(
  form: string,
  more: JsonObject = {},
  step: Step = PAY,
  headers: Record<string, string> = WAITS,
): Promise<Waiting> {
  const principal = `agent:w${agents++}`
  const agent = await gate.as(principal)
  upstream.script(step)
  const [path, body] = BODIES[form] ?? ['', {}]
  const response = agent.post(path, { ...body, ...more }, headers)
  return { agent, principal, response, text: response.then((one) => one.text()) }
}

const FORMS = Object.keys(BODIES).flatMap((form) => [[form, false] as const, [form, true] as const])

describe.each(FORMS)('a call that waits, in %s, streamed: %s', (form, stream) => {
  it('is forwarded after the approval, and the model is not asked again', async () => {
    const before = upstream.requests.length
    const { agent, principal, text } = await begin(form, { stream })
    await answer(gate, await asked(gate, principal), true)
    const came = await text
    expect(came).toContain('call_pay')
    expect(came).not.toContain('[Tollgate]')
    expect(upstream.requests).toHaveLength(before + 1)
    expect(verdictsOf(await agent.decisions())).toEqual([
      'ESCALATE APPROVAL_REQUIRED',
      'ALLOW APPROVAL_GRANTED',
    ])
  })

  it('is replaced by the reason if a person denies it', async () => {
    const { agent, principal, text } = await begin(form, { stream })
    await answer(gate, await asked(gate, principal), false)
    const came = await text
    expect(came).toContain('APPROVAL_REFUSED')
    expect(came).not.toContain('call_pay')
    expect((await agent.decisions()).map(({ verdict }) => verdict)).toEqual(['ESCALATE', 'DENY'])
  })

  it('leaves nothing running if the client gives up', async () => {
    const principal = `agent:w${agents++}`
    const agent = await gate.as(principal)
    upstream.script(PAY)
    const [path, body] = BODIES[form] ?? ['', {}]
    const connections = accepted()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${agent.token}`, ...WAITS }
    const [route, sent] = inForm(path, { ...body, stream })
    const client = httpRequest(`${agent.url}${route}`, { method: 'POST', headers, agent: false })
    client.on('error', () => undefined).end(sent)
    const request = await asked(gate, principal)
    const port = client.socket?.localPort
    const closed = connections
      .filter(({ remotePort }) => remotePort === port)
      .map((one) => once(one, 'close'))
    expect(closed).toHaveLength(1)
    client.destroy()
    await Promise.all(closed)
    const talk = async (): Promise<void> => {
      upstream.script({ text: 'Hello.' })
      await (await agent.post(path, { ...body, stream })).text()
    }
    await answer(gate, request, true)
    // A wait that was left running would use the approval before this request ends.
    await talk()
    expect((await agent.decisions()).map(({ verdict }) => verdict)).toEqual(['ESCALATE'])
  })
})

const PINGS: Readonly<Record<string, string>> = {
  chat: '\n\n:\n\n',
  responses: '\n\n:\n\n',
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  gemini: '\n\n:\n\n',
}

it.each(Object.entries(PINGS))('a stream of %s gets pings while it waits', async (form, ping) => {
  const door = await openDoorTo(gate, upstream.url, `agent:w${agents++}`, { wait: 300_000, quiet: 10 })
  const principal = `agent:w${agents - 1}`
  upstream.script({ ...PAY, text: 'I pay.' })
  const [path, body] = BODIES[form] ?? ['', {}]
  const [route, sent] = inForm(path, { ...body, stream: true })
  const response = await fetch(`${door.url}${route}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${door.token}` },
    body: sent,
  })
  const request = asked(gate, principal)
  let text = ''
  let answered = false
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString()
    if (answered || text.split(ping).length < 4) continue
    answered = true
    await answer(gate, await request, true)
  }
  expect(answered).toBe(true)
  expect(text).toContain('call_pay')
  await door.close()
})

describe('the wait', () => {
  it('ends by itself, with the text that asks for the approval', async () => {
    const { agent, text } = await begin('chat', {}, PAY, { 'tollgate-wait': '1s' })
    expect(await text).toContain('This call needs the approval of a person')
    expect((await agent.decisions()).map(({ verdict }) => verdict)).toEqual(['ESCALATE'])
  })

  it.each([{}, { 'tollgate-wait': '0' }])('is nothing without a setting, or with %j', async (headers) => {
    const { text } = await begin('chat', {}, PAY, headers)
    expect(await text).toContain('This call needs the approval of a person')
  })

  it.each(['5', 'forever', '-1s', '1h', '99999s', ''])('cannot be %j', async (wait) => {
    const agent = await gate.as(`agent:w${agents++}`)
    const before = upstream.requests.length
    const [path, body] = BODIES.chat ?? ['', {}]
    const response = await agent.post(path, body, { 'tollgate-wait': wait })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('a time such as `90s` or `5m`')
    expect(upstream.requests).toHaveLength(before)
  })

  it('ends when the agent is frozen, and nothing is forwarded', async () => {
    const { principal, text, agent } = await begin('chat', { stream: true })
    await asked(gate, principal)
    const { kernel } = gate.running.gateway
    const freeze = { scope: 'principal', tenant: 'default', target: principal, by: 'user:olga' } as const
    await setFreeze(kernel, { ...freeze, frozen: true, because: 'odd' })
    const came = await text.catch((fault: unknown) => String(fault))
    expect(came).not.toContain('call_pay')
    expect((await agent.decisions()).filter(({ verdict }) => verdict === 'ALLOW')).toEqual([])
  })

  it('is set in tollgate.yaml, and ends when the gateway stops', async () => {
    const own = await openLlmGate({ upstream: upstream.url, llm: { wait: '5m' } })
    upstream.script(PAY)
    const [path, body] = BODIES.chat ?? ['', {}]
    const text = own.post(path, body).then((response) => response.text())
    await asked(own, 'agent:peer')
    await own.close()
    expect(await text).toContain('This call needs the approval of a person')
  })

  it('is for all calls of a reply, which are forwarded together', async () => {
    const calls = ['bob', 'eve'].map((to) => ({ id: `call_${to}`, name: 'pay', args: { to } }))
    const read = { id: 'call_read', name: 'read_note', args: { to: 'x' } }
    const { agent, principal, text } = await begin('chat', {}, { calls: [...calls, read] })
    const { kernel } = gate.running.gateway
    for (let left = 2; left > 0; left--) await answer(gate, await asked(gate, principal), left === 2)
    const came = await text
    expect(kernel.approvals.list(kernel.host.now()).filter((one) => one.principal === principal)).toEqual([])
    expect([...came.matchAll(/"id":"(call_\w+)"/g)].map(([, id]) => id)).toHaveLength(2)
    expect(came).toContain('call_read')
    expect(came).toContain('APPROVAL_REFUSED')
    expect(verdictsOf(await agent.decisions()).toSorted()).toEqual([
      'ALLOW APPROVAL_GRANTED',
      'ALLOW RULE_ALLOWED',
      'DENY APPROVAL_REFUSED',
      'ESCALATE APPROVAL_REQUIRED',
      'ESCALATE APPROVAL_REQUIRED',
    ])
  })
})
