// Agent loops on the official client of Anthropic.

import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { MOST_TURNS, TASK, TOOLS, type AgentClient, type LoopOptions, type Outcome } from './clients-tools.ts'

const model = 'claude-opus-5'

async function runMessages(baseURL: string, apiKey: string, options: LoopOptions): Promise<Outcome> {
  const client = new Anthropic({ baseURL, apiKey, maxRetries: options.retries })
  const tools = TOOLS.map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: { ...schema, required: [...schema.required] },
  }))
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: TASK }]
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const body = { model, max_tokens: 1024, messages, tools }
    const message = options.stream
      ? await client.messages.stream(body).finalMessage()
      : await client.messages.create(body)
    if (message.stop_reason !== 'tool_use') {
      return { text: textOf(message.content), ran: options.tools.ran, turns }
    }
    const content = message.content
      .filter((block) => block.type === 'tool_use')
      .map((call) => ({
        type: 'tool_result' as const,
        tool_use_id: call.id,
        content: options.tools.run(call.name, call.input),
      }))
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content })
  }
  throw new Error('the loop does not end')
}

type RunnerSettings = Partial<
  Pick<Anthropic.Beta.Messages.BetaToolRunnerParams, 'thread' | 'runToolsEagerly'>
>

function toolRunner(settings: RunnerSettings): AgentClient['run'] {
  return async (baseURL, apiKey, { stream, tools, retries }) => {
    const client = new Anthropic({ baseURL, apiKey, maxRetries: retries })
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens: 1024,
      messages: [{ role: 'user', content: TASK }],
      tools: TOOLS.map(({ name, description, schema }) =>
        betaTool({
          name,
          description,
          inputSchema: schema,
          run: (args: unknown) => tools.run(name, args),
        }),
      ),
      max_iterations: MOST_TURNS,
      stream,
      // Without a stream the client warns about this setting.
      ...(settings.runToolsEagerly === true && stream && { runToolsEagerly: true }),
      ...(settings.thread === false && { thread: false }),
    })
    let turns = 0
    let text = ''
    for await (const one of runner) {
      const message = 'finalMessage' in one ? await one.finalMessage() : one
      text = textOf(message.content)
      turns++
    }
    return { text, ran: tools.ran, turns }
  }
}

function textOf(content: readonly { type: string }[]): string {
  return content
    .map((block) => ('text' in block && typeof block.text === 'string' ? block.text : ''))
    .join('')
}

/** All loops on `@anthropic-ai/sdk`. */
export const ANTHROPIC_CLIENTS: readonly AgentClient[] = [
  { name: '@anthropic-ai/sdk, Messages', dialect: 'anthropic', base: 'anthropicRoot', run: runMessages },
  // By default it lets the server hold the conversation.
  { name: '@anthropic-ai/sdk, toolRunner', dialect: 'anthropic', base: 'anthropicRoot', run: toolRunner({}) },
  {
    name: '@anthropic-ai/sdk, toolRunner without a thread, eager',
    dialect: 'anthropic',
    base: 'anthropicRoot',
    run: toolRunner({ thread: false, runToolsEagerly: true }),
  },
]
