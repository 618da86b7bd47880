// Agent loops on the official client of OpenAI.

import OpenAI, { AzureOpenAI } from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses'
import { MOST_TURNS, TASK, TOOLS, type AgentClient, type LoopOptions, type Outcome } from './clients-tools.ts'

const model = 'gpt-4.1'

const runChat: AgentClient['run'] = (baseURL, apiKey, options) =>
  chatLoop(new OpenAI({ baseURL, apiKey, maxRetries: options.retries }), options)

const runAzure: AgentClient['run'] = (endpoint, apiKey, options) => {
  const settings = { endpoint, apiKey, apiVersion: '2025-04-01-preview', maxRetries: options.retries }
  return chatLoop(new AzureOpenAI(settings), options)
}

async function chatLoop(client: OpenAI, options: LoopOptions): Promise<Outcome> {
  const functions = TOOLS.map(({ name, description, schema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: schema },
  }))
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: TASK }]
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const body = { model, messages, tools: functions }
    const completion = options.stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body)
    const message = completion.choices[0]?.message
    const calls = message?.tool_calls ?? []
    if (message === undefined || calls.length === 0) {
      return { text: message?.content ?? '', ran: options.tools.ran, turns }
    }
    messages.push(message)
    for (const call of calls) {
      if (call.type !== 'function') throw new Error('a call of a kind that was not offered')
      const content = options.tools.run(call.function.name, JSON.parse(call.function.arguments))
      messages.push({ role: 'tool', tool_call_id: call.id, content })
    }
  }
  throw new Error('the loop does not end')
}

async function runChatRunner(baseURL: string, apiKey: string, options: LoopOptions): Promise<Outcome> {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: options.retries })
  const tools = TOOLS.map(({ name, description, schema }) => ({
    type: 'function' as const,
    function: {
      name,
      description,
      parameters: schema,
      // Sound: the schema requires an object.
      parse: (text: string) => JSON.parse(text) as object,
      function: (args: object) => options.tools.run(name, args),
    },
  }))
  const body = { model, messages: [{ role: 'user' as const, content: TASK }], tools }
  const limits = { maxChatCompletions: MOST_TURNS }
  const runner = options.stream
    ? client.chat.completions.runTools({ ...body, stream: true }, limits)
    : client.chat.completions.runTools(body, limits)
  const text = (await runner.finalContent()) ?? ''
  const turns = runner.messages.filter(({ role }) => role === 'assistant').length
  return { text, ran: options.tools.ran, turns }
}

async function runResponses(baseURL: string, apiKey: string, options: LoopOptions): Promise<Outcome> {
  const client = new OpenAI({ baseURL, apiKey, maxRetries: options.retries })
  const tools = TOOLS.map(({ name, description, schema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: schema,
    strict: true,
  }))
  const input: ResponseInputItem[] = [{ role: 'user', content: TASK }]
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const include = ['reasoning.encrypted_content' as const]
    const body = { model, input, tools, store: false, include }
    const response = options.stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body)
    const calls = response.output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return { text: response.output_text, ran: options.tools.ran, turns }
    input.push(...response.output.map(fedBack))
    for (const call of response.output) {
      if (call.type !== 'function_call') continue
      const output = options.tools.run(call.name, JSON.parse(call.arguments))
      input.push({ type: 'function_call_output', call_id: call.call_id, output })
    }
  }
  throw new Error('the loop does not end')
}

/** An item as the API accepts it back, without members that the client added. */
function fedBack(item: ResponseOutputItem): ResponseInputItem {
  const copy: object = { ...item }
  if ('parsed_arguments' in copy) delete copy.parsed_arguments
  // Sound: all scripted items are accepted back unchanged.
  return copy as ResponseInputItem
}

/** All loops on `openai`. */
export const OPENAI_CLIENTS: readonly AgentClient[] = [
  { name: 'openai, Chat Completions', dialect: 'chat', base: 'openai', run: runChat },
  { name: 'openai, AzureOpenAI', dialect: 'chat', base: 'azure', run: runAzure },
  { name: 'openai, runTools', dialect: 'chat', base: 'openai', run: runChatRunner },
  { name: 'openai, Responses', dialect: 'responses', base: 'openai', run: runResponses },
]
