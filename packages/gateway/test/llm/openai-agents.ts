// Runs an agent of the OpenAI Agents SDK that must answer in JSON.

import { z } from 'zod'
import { fileURLToPath } from 'node:url'

/** The part of the SDK that is used. It is installed in `compat/` only. */
interface AgentsSdk {
  readonly Agent: new (options: object) => object
  readonly Runner: new (options: object) => {
    run(agent: object, task: string, options: object): Promise<Run>
  }
  readonly OpenAIProvider: new (options: object) => object
  tool(options: object): object
}

interface Run {
  readonly finalOutput?: unknown
  readonly lastAgent?: { readonly name: string }
  readonly completed?: Promise<void>
}

const AT = fileURLToPath(
  new URL('../../../../compat/node_modules/@openai/agents/dist/index.js', import.meta.url),
)

export interface AgentSetting {
  readonly baseURL: string
  readonly apiKey: string
  readonly useResponses: boolean
  readonly stream: boolean
}

async function load(): Promise<AgentsSdk> {
  // Sound: the version is pinned, and a missing member fails the test.
  return (await import(AT)) as AgentsSdk
}

/** The agent that answers in the end, and its answer. The first agent can hand over to `billing`. */
export async function runHandoff({ baseURL, apiKey, useResponses }: AgentSetting): Promise<unknown> {
  const sdk = await load()
  const billing = new sdk.Agent({ name: 'billing', model: 'gpt-5', instructions: 'Pay.' })
  const front = new sdk.Agent({ name: 'front', model: 'gpt-5', instructions: 'Sort.', handoffs: [billing] })
  const modelProvider = new sdk.OpenAIProvider({ baseURL, apiKey, useResponses })
  const runner = new sdk.Runner({ modelProvider, tracingDisabled: true })
  const { lastAgent, finalOutput } = await runner.run(front, 'Pay the bill.', { maxTurns: 4 })
  return [lastAgent?.name, finalOutput]
}

/** The output of the agent. It rejects with the error of the SDK. */
export async function runAgent(
  { baseURL, apiKey, useResponses, stream }: AgentSetting,
  ran: string[],
): Promise<unknown> {
  const sdk = await load()
  const toolOf = (name: string): object =>
    sdk.tool({
      name,
      description: name,
      parameters: z.object({ name: z.string() }),
      execute: () => {
        ran.push(name)
        return 'milk, bread'
      },
    })
  const agent = new sdk.Agent({
    name: 'reader',
    model: 'gpt-5',
    instructions: 'Read the note.',
    tools: [toolOf('read_note'), toolOf('send_mail')],
    outputType: z.object({ text: z.string() }),
  })
  const modelProvider = new sdk.OpenAIProvider({ baseURL, apiKey, useResponses })
  const runner = new sdk.Runner({ modelProvider, tracingDisabled: true })
  const run = await runner.run(agent, 'Read the note.', { stream, maxTurns: 4 })
  await run.completed
  return run.finalOutput
}
