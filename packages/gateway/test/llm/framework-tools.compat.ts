// The tools that frameworks add by themselves, under the published policy for them, and under one that denies them.

import { readFileSync } from 'node:fs'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, toolStrategy } from 'langchain'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { runHandoff } from './openai-agents.ts'
import { LLM_DOORS } from './sightings.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

const POLICY = readFileSync(
  new URL('../../../../examples/policies/framework-tools.yaml', import.meta.url),
  'utf8',
)
const DENYING = POLICY.replace(/^rules:.*/ms, 'rules: [{ id: none, deny: "*", because: no answers today }]\n')
const NOTE = z.object({ text: z.string() })
// Without a title, the name has a number that counts up in the process.
const NAMED = NOTE.meta({ title: 'extract-note' })
const ARGS = { text: 'milk' }

let upstream: Upstream
let allowing: LlmGate
let denying: LlmGate
let agents = 0

beforeAll(async () => {
  upstream = await startUpstream()
  allowing = await openLlmGate({ upstream: upstream.url, policy: POLICY })
  denying = await openLlmGate({ upstream: upstream.url, policy: DENYING })
})
afterAll(async () => {
  await allowing.close()
  await denying.close()
  await upstream.close()
})

const DIALECTS = {
  ChatOpenAI: 'chat',
  'ChatOpenAI by Responses': 'responses',
  ChatAnthropic: 'anthropic',
} as const
type Model = keyof typeof DIALECTS
// Sound: the keys of a constant.
const MODELS = Object.keys(DIALECTS) as readonly Model[]

function modelOf(name: Model, { url, token: apiKey }: LlmGate): ChatOpenAI | ChatAnthropic {
  if (name === 'ChatAnthropic')
    return new ChatAnthropic({
      model: 'claude-opus-5',
      apiKey,
      anthropicApiUrl: `${url}/anthropic`,
      maxRetries: 0,
    })
  const configuration = { baseURL: `${url}/openai/v1` }
  const useResponsesApi = name !== 'ChatOpenAI'
  return new ChatOpenAI({ model: 'gpt-4.1', apiKey, configuration, useResponsesApi, maxRetries: 0 })
}

/** The outcome, or the error. */
async function at<T>(
  gate: LlmGate,
  steps: readonly Step[],
  run: (agent: LlmGate) => Promise<T>,
): Promise<unknown> {
  upstream.script(...steps)
  const outcome = await run(await gate.as(`agent:p${agents++}`)).catch((error: unknown) => error)
  expect(upstream.left).toBe(0)
  return outcome
}

const DENIED = /\[Tollgate\] The call to `[\w-]+` was not run\. Denied \(POLICY_VIOLATION\)/

describe.each(MODELS)('LangChain.js, %s', (name) => {
  const structured = async (agent: LlmGate): Promise<unknown> =>
    modelOf(name, agent).withStructuredOutput(NOTE, { method: 'functionCalling' }).invoke('Read it.')
  const sawModel = (...marks: readonly Mark[]): void =>
    saw(npm('langchain', name), LLM_DOORS[DIALECTS[name]], 'structured', ...marks)
  const asked = [{ calls: [{ name: 'extract', args: ARGS }] }]

  test('gets its structured output', async () => {
    expect(await at(allowing, asked, structured)).toEqual(ARGS)
    sawModel('allowed')
  })

  test('gets an error with the reason if the output is denied, and not nothing', async () => {
    expect(String(await at(denying, asked, structured))).toMatch(DENIED)
    sawModel('denied')
  })

  const agentOf = async (agent: LlmGate): Promise<unknown> => {
    const made = createAgent({ model: modelOf(name, agent), tools: [], responseFormat: toolStrategy(NAMED) })
    const { structuredResponse } = await made.invoke({ messages: [{ role: 'user', content: 'Read it.' }] })
    return structuredResponse
  }
  const called = [{ calls: [{ name: 'extract-note', args: ARGS }] }]

  test('gets the response of an agent with a tool strategy', async () => {
    expect(await at(allowing, called, agentOf)).toEqual(ARGS)
    sawModel('allowed')
  })

  test('gets an error with the reason if that response is denied', async () => {
    expect(String(await at(denying, called, agentOf))).toMatch(DENIED)
    sawModel('denied')
  })
})

describe.each([true, false])('a handoff of the OpenAI Agents SDK, by Responses: %s', (useResponses) => {
  const run = (agent: LlmGate): Promise<unknown> =>
    runHandoff({ baseURL: `${agent.url}/openai/v1`, apiKey: agent.token, useResponses, stream: false })
  const handoff: Step = { calls: [{ name: 'transfer_to_billing', args: {} }] }

  const sawHandoff = (mark: Mark): void =>
    saw(npm('@openai/agents', 'handoff'), LLM_DOORS[useResponses ? 'responses' : 'chat'], mark)

  test('reaches the other agent', async () => {
    expect(await at(allowing, [handoff, { text: 'Paid.' }], run)).toEqual(['billing', 'Paid.'])
    sawHandoff('allowed')
  })

  test('that is denied is an error with the reason', async () => {
    expect(String(await at(denying, [handoff], run))).toMatch(DENIED)
    sawHandoff('denied')
  })
})
