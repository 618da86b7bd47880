// Agent loops on frameworks: the Vercel AI SDK and LangChain.js.

import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { AzureChatOpenAI, ChatOpenAI } from '@langchain/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool, type LanguageModel } from 'ai'
import { AIMessage, createAgent, tool as langchainTool, type BaseMessage } from 'langchain'
import { MOST_TURNS, TASK, TOOLS, type AgentClient, type LoopOptions, type Outcome } from './clients-tools.ts'

const OPENAI_MODEL = 'gpt-4.1'
const ANTHROPIC_MODEL = 'claude-opus-5'
const GEMINI_MODEL = 'gemini-3-pro-preview'

async function runVercel(model: LanguageModel, { stream, tools, retries }: LoopOptions): Promise<Outcome> {
  const offered = TOOLS.map(({ name, description, schema }) => {
    const definition = tool({
      description,
      inputSchema: jsonSchema(schema),
      execute: (args) => tools.run(name, args),
    })
    return [name, definition] as const
  })
  const settings = {
    model,
    tools: Object.fromEntries(offered),
    prompt: TASK,
    stopWhen: stepCountIs(MOST_TURNS),
    maxRetries: retries,
  }
  if (!stream) {
    const { text, steps } = await generateText(settings)
    return { text, ran: tools.ran, turns: steps.length }
  }
  const result = streamText({ ...settings, onError: () => undefined })
  // The SDK reports errors as a part of the stream.
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error
  return { text: await result.text, ran: tools.ran, turns: (await result.steps).length }
}

async function runLangchain(model: BaseChatModel, { stream, tools }: LoopOptions): Promise<Outcome> {
  const agent = createAgent({
    model,
    tools: TOOLS.map(({ name, description, schema }) =>
      langchainTool((args: unknown) => tools.run(name, args), { name, description, schema }),
    ),
  })
  const input = { messages: [{ role: 'user', content: TASK }] }
  let messages: readonly BaseMessage[] = []
  if (!stream) ({ messages } = await agent.invoke(input))
  else {
    for await (const [mode, chunk] of await agent.stream(input, { streamMode: ['messages', 'values'] })) {
      if (mode === 'values') ({ messages } = chunk)
    }
  }
  const said = messages.filter((message) => AIMessage.isInstance(message))
  return { text: said.at(-1)?.text ?? '', ran: tools.ran, turns: said.length }
}

const VERCEL: readonly AgentClient[] = [
  {
    name: 'ai, @ai-sdk/openai chat',
    dialect: 'chat',
    base: 'openai',
    run: (baseURL, apiKey, options) =>
      runVercel(createOpenAI({ baseURL, apiKey }).chat(OPENAI_MODEL), options),
  },
  {
    // By default it lets the server store items, and refers to them.
    name: 'ai, @ai-sdk/openai',
    dialect: 'responses',
    base: 'openai',
    run: (baseURL, apiKey, options) => runVercel(createOpenAI({ baseURL, apiKey })(OPENAI_MODEL), options),
  },
  {
    name: 'ai, @ai-sdk/anthropic',
    dialect: 'anthropic',
    base: 'anthropicV1',
    run: (baseURL, apiKey, options) =>
      runVercel(createAnthropic({ baseURL, apiKey })(ANTHROPIC_MODEL), options),
  },
  {
    name: 'ai, @ai-sdk/google',
    dialect: 'gemini',
    base: 'geminiV1beta',
    run: (baseURL, apiKey, options) =>
      runVercel(createGoogleGenerativeAI({ baseURL, apiKey })(GEMINI_MODEL), options),
  },
]

function chatOpenAI(useResponsesApi: boolean): AgentClient['run'] {
  return (baseURL, apiKey, options) => {
    const configuration = { baseURL }
    const settings = {
      model: OPENAI_MODEL,
      apiKey,
      configuration,
      useResponsesApi,
      maxRetries: options.retries,
    }
    return runLangchain(new ChatOpenAI(settings), options)
  }
}

const LANGCHAIN: readonly AgentClient[] = [
  { name: 'langchain, ChatOpenAI', dialect: 'chat', base: 'openai', run: chatOpenAI(false) },
  { name: 'langchain, ChatOpenAI by Responses', dialect: 'responses', base: 'openai', run: chatOpenAI(true) },
  {
    name: 'langchain, AzureChatOpenAI',
    dialect: 'chat',
    base: 'azure',
    run(azureOpenAIEndpoint, azureOpenAIApiKey, options) {
      const place = { azureOpenAIApiDeploymentName: 'gpt-4.1', azureOpenAIApiVersion: '2025-04-01-preview' }
      const settings = { azureOpenAIEndpoint, azureOpenAIApiKey, ...place, maxRetries: options.retries }
      return runLangchain(new AzureChatOpenAI(settings), options)
    },
  },
  {
    name: 'langchain, ChatAnthropic',
    dialect: 'anthropic',
    base: 'anthropicRoot',
    run(anthropicApiUrl, apiKey, options) {
      const settings = { model: ANTHROPIC_MODEL, apiKey, anthropicApiUrl, maxRetries: options.retries }
      return runLangchain(new ChatAnthropic(settings), options)
    },
  },
  {
    name: 'langchain, ChatGoogleGenerativeAI',
    dialect: 'gemini',
    base: 'gemini',
    run(baseUrl, apiKey, options) {
      const settings = { model: GEMINI_MODEL, apiKey, baseUrl, maxRetries: options.retries }
      return runLangchain(new ChatGoogleGenerativeAI(settings), options)
    },
  },
]

/** All loops on frameworks. */
export const FRAMEWORK_CLIENTS: readonly AgentClient[] = [...VERCEL, ...LANGCHAIN]
