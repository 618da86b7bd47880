// Agent loops on the official client of Google.

import { GoogleGenAI, type Content, type GenerateContentResponse, type Part } from '@google/genai'
import { MOST_TURNS, TASK, TOOLS, type AgentClient, type LoopOptions, type Outcome } from './clients-tools.ts'

const model = 'gemini-3-pro-preview'
const config = {
  tools: [
    {
      functionDeclarations: TOOLS.map(({ name, description, schema }) => ({
        name,
        description,
        parametersJsonSchema: schema,
      })),
    },
  ],
}

/** A reply of the model, as far as a loop needs it. */
interface Said {
  readonly parts: readonly Part[]
  readonly text: string
}

function open(baseUrl: string, apiKey: string, retries: number): GoogleGenAI {
  const retryOptions = { attempts: retries + 1 }
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl, ...(retries > 0 && { retryOptions }) } })
}

async function saidIn(responses: AsyncIterable<GenerateContentResponse>): Promise<Said> {
  const parts: Part[] = []
  for await (const { candidates } of responses) parts.push(...(candidates?.[0]?.content?.parts ?? []))
  return { parts, text: textOf(parts) }
}

async function* once(response: Promise<GenerateContentResponse>): AsyncGenerator<GenerateContentResponse> {
  yield await response
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('')
}

function resultsOf(parts: readonly Part[], { tools }: LoopOptions): Part[] {
  return parts.flatMap(({ functionCall: call }) => {
    if (!call) return []
    const output = tools.run(call.name ?? '', call.args)
    return [
      {
        functionResponse: {
          ...(call.id !== undefined && { id: call.id }),
          name: call.name ?? '',
          response: { output },
        },
      },
    ]
  })
}

async function runContents(baseUrl: string, key: string, options: LoopOptions): Promise<Outcome> {
  const { models } = open(baseUrl, key, options.retries)
  const contents: Content[] = [{ role: 'user', parts: [{ text: TASK }] }]
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const asked = { model, contents, config }
    const { parts, text } = await saidIn(
      options.stream ? await models.generateContentStream(asked) : once(models.generateContent(asked)),
    )
    const results = resultsOf(parts, options)
    if (results.length === 0) return { text, ran: options.tools.ran, turns }
    contents.push({ role: 'model', parts: [...parts] }, { role: 'user', parts: results })
  }
  throw new Error('the loop does not end')
}

async function runChat(baseUrl: string, key: string, options: LoopOptions): Promise<Outcome> {
  const chat = open(baseUrl, key, options.retries).chats.create({ model, config })
  let message: string | Part[] = TASK
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const { parts, text } = await saidIn(
      options.stream ? await chat.sendMessageStream({ message }) : once(chat.sendMessage({ message })),
    )
    message = resultsOf(parts, options)
    if (message.length === 0) return { text, ran: options.tools.ran, turns }
  }
  throw new Error('the loop does not end')
}

/** All loops on `@google/genai`. */
export const GEMINI_CLIENTS: readonly AgentClient[] = [
  { name: '@google/genai, generateContent', dialect: 'gemini', base: 'gemini', run: runContents },
  { name: '@google/genai, chats', dialect: 'gemini', base: 'gemini', run: runChat },
]
