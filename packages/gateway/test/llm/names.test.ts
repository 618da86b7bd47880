// A model offers tools that its client took from an MCP server, in the spelling of that client. Every dialect judges the canonical name.

import type { JsonObject } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const POLICY = `
tollgate: 1
name: names
principals: { "agent:*": { tier: standard } }
tools:
  "files/read": { effect: read, destinations: none }
  "files/wipe": { effect: read, destinations: none }
  "flow/final_result": { pure: true }
  "a/b__c": { effect: read, destinations: none }
  "a__b/c": { effect: read, destinations: none }
rules:
  - { id: wipe, deny: ["files/wipe", "flow/*"] }
  - { id: all, allow: "*" }
`

const MESSAGES = [{ role: 'user', content: 'Read it.' }]
const parameters = { type: 'object', properties: { path: { type: 'string' } } }
const DIALECTS: Readonly<Record<string, { path: string; body: (name: string) => JsonObject }>> = {
  chat: {
    path: '/openai/v1/chat/completions',
    body: (name) => ({
      model: 'm',
      messages: MESSAGES,
      tools: [{ type: 'function', function: { name, parameters } }],
    }),
  },
  responses: {
    path: '/openai/v1/responses',
    body: (name) => ({ model: 'm', input: 'Read it.', tools: [{ type: 'function', name, parameters }] }),
  },
  messages: {
    path: '/anthropic/v1/messages',
    body: (name) => ({
      model: 'm',
      max_tokens: 9,
      messages: MESSAGES,
      tools: [{ name, input_schema: parameters }],
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

async function propose(
  dialect: string,
  name: string,
): Promise<{ recorded: unknown; text: string; status: number }> {
  upstream.script({ calls: [{ name, args: '{"path":"a"}' }] })
  const agent = await gate.as(`agent:n${agents++}`)
  const { path, body } = DIALECTS[dialect] ?? { path: '', body: () => ({}) }
  const answer = await agent.post(path, body(name))
  const [decision] = await agent.decisions()
  return {
    recorded: decision && [decision.tool, decision.verdict],
    text: await answer.text(),
    status: answer.status,
  }
}

describe.each(Object.keys(DIALECTS))('in the dialect %s', (dialect) => {
  test.each(['files__read', 'mcp__files__read', 'mcp__tollgate__files__read'])(
    'a call of %s is a call of files/read, and the client gets it under its own name',
    async (name) => {
      const { recorded, text } = await propose(dialect, name)
      expect(recorded).toEqual(['files/read', 'ALLOW'])
      expect(text).toContain(`"${name}"`)
    },
  )

  test('a rule against a tool denies all its spellings', async () => {
    const { recorded, text } = await propose(dialect, 'mcp__files__wipe')
    expect(recorded).toEqual(['files/wipe', 'DENY'])
    expect(text).toContain('The call to `mcp__files__wipe` was not run')
  })

  test('an ambiguous name is denied with the tools that it can mean', async () => {
    const { recorded, text } = await propose(dialect, 'mcp__a__b__c')
    expect(recorded).toEqual(['mcp__a__b__c', 'DENY'])
    expect(text).toContain('`mcp__a__b__c` can mean `a/b__c` or `a__b/c`')
  })

  test('a pure tool is pure in every spelling', async () => {
    const { recorded, status } = await propose(dialect, 'flow__final_result')
    expect(recorded).toEqual(['flow/final_result', 'DENY'])
    expect(status).toBe(403)
  })
})
