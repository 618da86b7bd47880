// Calls whose arguments are an empty text.

import { sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import { ScriptedJudge } from './anthropic-rig.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const POLICY = `
tollgate: 1
name: empty
principals: { "agent:*": { tier: standard } }
tools: { ping: { effect: read, destinations: none } }
rules: [{ id: ping, allow: ping }]
`
const MESSAGES = [{ role: 'user', content: 'Ping.' }]

interface Form {
  readonly path: string
  readonly body: (schema: Json | undefined) => JsonObject
}

const FORMS: Readonly<Record<string, Form>> = {
  chat: {
    path: '/openai/v1/chat/completions',
    body: (parameters) => ({
      model: 'm',
      messages: MESSAGES,
      tools: [
        { type: 'function', function: { name: 'ping', ...(parameters !== undefined && { parameters }) } },
      ],
    }),
  },
  responses: {
    path: '/openai/v1/responses',
    body: (parameters = null) => ({
      model: 'm',
      input: 'Ping.',
      tools: [{ type: 'function', name: 'ping', parameters }],
    }),
  },
  messages: {
    path: '/anthropic/v1/messages',
    body: (schema = { type: 'object' }) => ({
      model: 'm',
      max_tokens: 9,
      messages: MESSAGES,
      tools: [{ name: 'ping', input_schema: schema }],
    }),
  },
}

let gate: LlmGate
let upstream: Upstream
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url, policy: POLICY })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

/** The verdict, the hash of the arguments, and the answer. */
async function propose(
  { path, body }: Form,
  schema: Json | undefined,
  stream: boolean,
): Promise<readonly string[]> {
  upstream.script({ calls: [{ name: 'ping', args: '' }] })
  const agent = await gate.as(`agent:e${agents++}`)
  const text = await (await agent.post(path, { ...body(schema), stream })).text()
  const [decision] = await agent.decisions()
  return [decision?.verdict ?? '', decision?.args_hash ?? '', text]
}

const NONE: readonly (readonly [string, Json | undefined])[] = [
  ['no schema', undefined],
  ['an empty schema', {}],
  ['no properties', { type: 'object', properties: {}, additionalProperties: false }],
]
const SOME: readonly (readonly [string, Json])[] = [
  ['a property', { type: 'object', properties: { host: { type: 'string' } } }],
  ['a required property', { type: 'object', required: ['host'] }],
  ['a schema that is no object', true],
]
const HASH_OF_NOTHING = sha256Hex('{}')

describe.each(Object.entries(FORMS))('arguments that are empty, in %s', (name, form) => {
  describe.each([false, true])('streamed: %s', (stream) => {
    it.each(NONE)('are judged and forwarded as {} for a tool with %s', async (_, schema) => {
      const [verdict, hash, text] = await propose(form, schema, stream)
      expect([verdict, hash]).toEqual(['ALLOW', HASH_OF_NOTHING])
      expect(text).toMatch(
        name === 'messages' && !stream ? /"input":\{\}/ : /"(arguments|partial_json)":"\{\}"/,
      )
    })

    // Messages has objects, so that no arguments are `{}` in any case.
    it.each(name === 'messages' ? [] : SOME)('are unreadable for a tool with %s', async (_, schema) => {
      const [verdict, , text] = await propose(form, schema, stream)
      expect(verdict).toBe('DENY')
      expect(text).toContain('[Tollgate]')
    })
  })
})

it.each(['', null])('a whole reply of Messages with the input %j has no arguments', async (input) => {
  const judge = new ScriptedJudge()
  const content = [{ type: 'tool_use', id: 't', name: 'ping', input }]
  await anthropicMessages.governReply(
    { type: 'message', role: 'assistant', content, stop_reason: 'tool_use' },
    judge,
  )
  expect(judge.asked).toMatchObject([{ tool: 'ping', args: '' }])
})
