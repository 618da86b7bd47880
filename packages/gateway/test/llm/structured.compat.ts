// Agents that must answer in JSON, on the OpenAI Agents SDK behind a real gateway.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { openLlmGate, type LlmGate } from './gate.ts'
import { runAgent } from './openai-agents.ts'
import { LLM_DOORS, streamedIf } from './sightings.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

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

const MODES = [true, false].flatMap((useResponses) =>
  [true, false].map((stream) => ({
    useResponses,
    stream,
    title: `${useResponses ? 'Responses' : 'Chat Completions'}, ${stream ? 'streamed' : 'whole'}`,
  })),
)
const READ = { name: 'read_note', args: { name: 'list' } }
const MAIL = { name: 'send_mail', args: { name: 'eve' } }
const ANSWER: Step = { text: '{"text":"milk"}' }

describe.each(MODES)('an agent of the OpenAI Agents SDK, $title', ({ useResponses, stream }) => {
  async function run(...steps: readonly Step[]): Promise<{ output: unknown; ran: readonly string[] }> {
    upstream.script(...steps)
    const { token: apiKey } = await gate.as(`agent:s${agents++}`)
    const ran: string[] = []
    const setting = { baseURL: `${gate.url}/openai/v1`, apiKey, useResponses, stream }
    const output = await runAgent(setting, ran).catch((error: unknown) => error)
    expect(upstream.left).toBe(0)
    return { output, ran }
  }

  function sawAgents(...marks: readonly Mark[]): void {
    const door = LLM_DOORS[useResponses ? 'responses' : 'chat']
    saw(npm('@openai/agents', 'output type'), door, 'structured', ...streamedIf(stream), ...marks)
  }

  test('gets its JSON after an allowed call', async () => {
    expect(await run({ calls: [READ] }, ANSWER)).toEqual({ output: { text: 'milk' }, ran: ['read_note'] })
    sawAgents('allowed')
  })

  test('gets the reason as a refusal if the only call is denied', async () => {
    const { output, ran } = await run({ calls: [MAIL] })
    expect(ran).toEqual([])
    expect(output).toMatchObject({ name: 'ModelRefusalError' })
    expect(String(output)).toContain('[Tollgate] The call to `send_mail` was not run.')
    sawAgents('denied')
  })

  test('continues with the allowed call beside a denied one', async () => {
    const { output, ran } = await run({ calls: [MAIL, READ] }, ANSWER)
    expect({ output, ran }).toEqual({ output: { text: 'milk' }, ran: ['read_note'] })
    sawAgents('allowed', 'denied', 'parallel')
  })
})
