// Shared by the tests of the Responses dialect: a scripted judge, a scripted upstream and the official clients.

import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import { canonicalize, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import OpenAI from 'openai'
import type { Judge, ProposedCall, Rewriter, Ruling } from '../../src/llm/dialect.ts'
import { openaiResponses } from '../../src/llm/openai-responses/openai-responses.ts'
import { createSseReader } from '../../src/sse.ts'

/** A judge that allows the given tools, and records its proposals. */
export interface ScriptedJudge extends Judge {
  readonly asked: readonly ProposedCall[]
  readonly ranItems: readonly (readonly [string, JsonObject])[]
}

export interface JudgeScript {
  /** The tools whose calls are allowed. */
  readonly allow?: readonly string[]
  /** The tools that may run at the provider. */
  readonly hosted?: readonly string[]
}

/** Must never leave: every denied call has it in its arguments. */
export const SECRET: string = 'SeCrEt-ArGuMeNt'

export function judgeBy({ allow = [], hosted = [] }: JudgeScript = {}): ScriptedJudge {
  const asked: ProposedCall[] = []
  const ranItems: [string, JsonObject][] = []
  function rule(proposal: ProposedCall): Ruling {
    asked.push(proposal)
    const receipt = `rc-${asked.length}`
    const { tool, args } = proposal
    if (tool === undefined || !allow.includes(tool))
      return { allowed: false, code: 'POLICY_VIOLATION', text: denial(receipt), receipt }
    try {
      return { allowed: true, args: canonicalize(typeof args === 'string' ? parseJson(args) : args) }
    } catch {
      return { allowed: false, code: 'POLICY_VIOLATION', text: denial(receipt), receipt }
    }
  }
  return {
    asked,
    ranItems,
    // Asynchronous, like a ledger.
    judge: (proposals) => new Promise((resolve) => setImmediate(() => resolve(proposals.map(rule)))),
    ran(tool, item) {
      ranItems.push([tool, item])
      return hosted.includes(tool)
    },
  }
}

export function denial(receipt: string): string {
  return `[Tollgate] A call was not run. Receipt: ${receipt}`
}

export const RESPONSE: JsonObject = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_750_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'gpt-4o',
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  },
  user: null,
  metadata: {},
}

export function reply(output: readonly Json[], more: JsonObject = {}): JsonObject {
  return { ...RESPONSE, output, ...more }
}

export function message(text: string, id = 'msg_1'): JsonObject {
  return {
    id,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}

export function functionCall(name: string, args: string, id = 'fc_1'): JsonObject {
  return { id, type: 'function_call', status: 'completed', call_id: `call_${id}`, name, arguments: args }
}

export function refusal(receipt: string): JsonObject {
  return {
    id: `msg_tollgate_${receipt}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: denial(receipt), annotations: [], logprobs: [] }],
  }
}

/** Writes the events of an upstream, numbered in order. */
export type Event = JsonObject & { readonly type: string }

export function created(): Event[] {
  const response = { ...RESPONSE, status: 'in_progress', usage: null, output: [] }
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
  ]
}

export function completed(output: readonly Json[], more: JsonObject = {}): Event {
  return { type: 'response.completed', response: reply(output, more) }
}

export function messageEvents(index: number, item: JsonObject, pieces: readonly string[]): Event[] {
  const at = { item_id: item.id ?? null, output_index: index, content_index: 0 }
  const part = { type: 'output_text', text: pieces.join(''), annotations: [], logprobs: [] }
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...pieces.map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      delta,
      logprobs: [],
      obfuscation: 'xyz',
    })),
    { type: 'response.output_text.done', ...at, text: pieces.join(''), logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

export function callEvents(index: number, item: JsonObject, pieces: readonly string[]): Event[] {
  const at = { item_id: item.id ?? null, output_index: index }
  const isCustom = item.type === 'custom_tool_call'
  const member = isCustom ? 'input' : 'arguments'
  const family = isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress', [member]: '' },
    },
    ...pieces.map((delta) => ({ type: `${family}.delta`, ...at, delta, obfuscation: 'xyz' })),
    { type: `${family}.done`, ...at, [member]: pieces.join('') },
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

/** An item that a stream announces and ends, without pieces. */
export function wholeEvents(index: number, item: JsonObject): Event[] {
  return [
    { type: 'response.output_item.added', output_index: index, item },
    { type: 'response.output_item.done', output_index: index, item },
  ]
}

export function numbered(events: readonly Event[]): Event[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }))
}

const encoder = new TextEncoder()

export function bytesOf(event: Json): { type: string; data: Uint8Array } {
  return { type: 'message', data: encoder.encode(JSON.stringify(event)) }
}

export interface Rewritten {
  readonly text: string
  readonly events: readonly Event[]
  readonly rewriter: Rewriter
  readonly ids: readonly string[]
}

/** Passes events through the rewriter in order. */
export async function rewrite(events: readonly Event[], judge: Judge): Promise<Rewritten> {
  const ids: string[] = []
  const rewriter = openaiResponses.openStream(judge, (id) => ids.push(id))
  let text = ''
  for (const event of numbered(events)) text += await rewriter.take(bytesOf(event))
  return { text, events: eventsIn(text), rewriter, ids }
}

export function eventsIn(text: string): Event[] {
  const events: Event[] = []
  const reader = createSseReader(1 << 24, {
    onEvent({ type, data }) {
      const event = JSON.parse(new TextDecoder().decode(data)) as Event
      if (event.type !== type) throw new Error(`the event ${event.type} is sent as ${type}`)
      events.push(event)
    },
    onOverflow() {
      throw new Error('too large')
    },
  })
  reader.push(encoder.encode(text))
  return events
}

/** A `fetch` that answers with this text, in pieces. */
export function fetching(text: string, type: string): typeof fetch {
  return () => {
    const bytes = encoder.encode(text)
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at >= bytes.length) controller.close()
        else controller.enqueue(bytes.slice(at, (at += 97)))
      },
    })
    return Promise.resolve(new Response(body, { status: 200, headers: { 'content-type': type } }))
  }
}

export const streaming = (text: string): typeof fetch => fetching(text, 'text/event-stream')
export const whole = (value: Json): typeof fetch => fetching(JSON.stringify(value), 'application/json')

export function officialClient(fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: 'http://upstream.test/v1', fetch, maxRetries: 0 })
}

export function aiSdk(fetch: typeof globalThis.fetch): ReturnType<typeof createOpenAI> {
  return createOpenAI({ apiKey: 'none', baseURL: 'http://upstream.test/v1', fetch })
}

export function langChain(fetch: typeof globalThis.fetch): ChatOpenAI {
  return new ChatOpenAI({
    model: 'gpt-4o',
    apiKey: 'none',
    useResponsesApi: true,
    maxRetries: 0,
    configuration: { fetch, baseURL: 'http://upstream.test/v1' },
  })
}
