// Requests that force a call, when the call is denied.

import type { JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlmGate, POLICY, type LlmGate } from './gate.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const MESSAGES = [{ role: 'user', content: 'Note it.' }]
const NAMES = ['read_note', 'send_mail', 'final_result']
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } }

interface Form {
  readonly path: string
  readonly body: JsonObject
  /** Choices that force `send_mail`, or any call. */
  readonly forced: readonly JsonObject[]
  readonly free: readonly JsonObject[]
}

const byName = (choice: object): JsonObject => ({ tool_choice: { ...choice } })

const FORMS: Readonly<Record<string, Form>> = {
  chat: {
    path: '/openai/v1/chat/completions',
    body: {
      model: 'm',
      messages: MESSAGES,
      tools: NAMES.map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
    },
    forced: [
      byName({ type: 'function', function: { name: 'send_mail' } }),
      { tool_choice: 'required' },
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } } },
    ],
    free: [
      { tool_choice: 'auto' },
      { tool_choice: null },
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
    ],
  },
  responses: {
    path: '/openai/v1/responses',
    body: {
      model: 'm',
      input: 'Note it.',
      tools: NAMES.map((name) => ({ type: 'function', name, parameters: SCHEMA })),
    },
    forced: [
      byName({ type: 'function', name: 'send_mail' }),
      { tool_choice: 'required' },
      { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [] } },
    ],
    free: [{ tool_choice: 'auto' }, {}, { tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }],
  },
  messages: {
    path: '/anthropic/v1/messages',
    body: {
      model: 'm',
      max_tokens: 9,
      messages: MESSAGES,
      tools: NAMES.map((name) => ({ name, input_schema: SCHEMA })),
    },
    forced: [byName({ type: 'tool', name: 'send_mail' }), { tool_choice: { type: 'any' } }],
    free: [{ tool_choice: { type: 'auto' } }, {}],
  },
  gemini: {
    path: '/gemini/v1/models/m:generateContent',
    body: {
      contents: [{ parts: [{ text: 'Note it.' }] }],
      tools: [{ functionDeclarations: NAMES.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
    },
    forced: [
      { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      { tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['send_mail'] } } },
    ],
    free: [{ toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }, {}],
  },
}

const DENIED = { name: 'send_mail', args: { name: 'eve@attacker.example' } }
const ALLOWED = { name: 'read_note', args: { name: 'list' } }

/** The policy, with a tool that does nothing and is denied. */
function withPure(policy: string): string {
  return policy
    .replace('tools:', 'tools:\n  "final_result": { pure: true }')
    .replace('rules:', 'rules:\n  - { id: silent, deny: "final_result" }')
}

let gate: LlmGate
let upstream: Upstream
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url, policy: withPure(POLICY) })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly broke: boolean
  readonly receipts: string
}

async function ask(form: Form, choice: JsonObject, stream: boolean, step: Step): Promise<Answer> {
  upstream.script(step)
  const agent = await gate.as(`agent:f${agents++}`)
  const response = await agent.post(form.path, { ...form.body, ...choice, stream })
  const pieces: Uint8Array[] = []
  const broke = await (async () => {
    for await (const piece of response.body ?? []) pieces.push(piece)
  })().then(
    () => false,
    () => true,
  )
  const text = Buffer.concat(pieces).toString()
  return { status: response.status, text, broke, receipts: response.headers.get('tollgate-receipts') ?? '' }
}

const DENIAL = /\[Tollgate\] The call to `send_mail` was not run\. Denied \(POLICY_VIOLATION\)/

describe.each(Object.entries(FORMS))('a denied call in %s', (_, form) => {
  it.each(form.forced)('that is forced is an error with the reason: %j', async (choice) => {
    const { status, text, receipts } = await ask(form, choice, false, { calls: [DENIED] })
    expect(status).toBe(403)
    // Sound: errors of both APIs have a message.
    expect((JSON.parse(text) as { error: { message: string } }).error.message).toMatch(DENIAL)
    expect(receipts).toMatch(/^[0-9a-f]{64}$/)
    expect(text).not.toContain('attacker')
  })

  it.each(form.forced)('that is forced ends a stream with an error: %j', async (choice) => {
    const { status, text, broke } = await ask(form, choice, true, { calls: [DENIED] })
    expect([status, broke]).toEqual([200, true])
    expect(text).toMatch(DENIAL)
    expect(text).toContain('"error"')
    expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed|finishReason|attacker/)
  })

  it.each(form.free)('that is not forced is replaced by a text: %j', async (choice) => {
    for (const stream of [false, true]) {
      const { status, text, broke } = await ask(form, choice, stream, { calls: [DENIED] })
      expect([status, broke]).toEqual([200, false])
      expect(text).toMatch(DENIAL)
    }
  })

  it('of a pure tool is an error with the reason, even if it is not forced', async () => {
    for (const choice of form.free) {
      for (const stream of [false, true]) {
        const pure = { name: 'final_result', args: { name: 'x' } }
        const { status, text, broke } = await ask(form, choice, stream, { calls: [pure] })
        expect([status, broke]).toEqual(stream ? [200, true] : [403, false])
        expect(text).toMatch(/The call to `final_result` was not run\. Denied \(POLICY_VIOLATION\)/)
      }
    }
  })

  it('of a pure tool is the same error when the request is repeated', async () => {
    const agent = await gate.as(`agent:f${agents++}`)
    const headers = { 'idempotency-key': 'same' }
    const step = { calls: [{ id: 'call_1', name: 'final_result', args: { name: 'x' } }] }
    for (let i = 0; i < 2; i++) {
      upstream.script(step)
      expect((await agent.post(form.path, form.body, headers)).status).toBe(403)
    }
    expect(await agent.decisions()).toHaveLength(1)
  })

  it('beside an allowed one is replaced by a text, even if a call is forced', async () => {
    for (const choice of form.forced) {
      for (const stream of [false, true]) {
        const { status, text, broke } = await ask(form, choice, stream, { calls: [DENIED, ALLOWED] })
        expect([status, broke]).toEqual([200, false])
        expect(text).toMatch(DENIAL)
        expect(text).toContain('read_note')
      }
    }
  })

  it('of which there is none changes nothing', async () => {
    for (const choice of form.forced) {
      const { status, text } = await ask(form, choice, false, { text: 'No.' })
      expect([status, text.includes('No.')]).toEqual([200, true])
    }
  })
})
