// Replies in wire format, a judge that rules by tool name, and the official clients with both.

import { canonicalize, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { anthropicMessages } from '../../src/llm/anthropic/anthropic.ts'
import type { Judge, ProposedCall, Ruling } from '../../src/llm/dialect.ts'
import type { SseEvent } from '../../src/sse.ts'

/** Must never leave: every denied call of the tests has it in its arguments. */
export const SECRET: string = 'rm-rf-the-moon'

/** The text that replaces a denied call. */
export function refusal(tool: string | undefined): string {
  return `[refused: ${tool ?? 'unknown'}]`
}

/** A judge that allows calls of these tools if their arguments are an object, and records its proposals. */
export class ScriptedJudge implements Judge {
  readonly asked: ProposedCall[] = []
  readonly batches: number[] = []
  readonly noted: [string, JsonObject][] = []
  readonly #allowed: readonly string[]

  constructor(...allowed: readonly string[]) {
    this.#allowed = allowed
  }

  async judge(proposals: readonly ProposedCall[]): Promise<readonly Ruling[]> {
    this.asked.push(...proposals)
    this.batches.push(proposals.length)
    await new Promise((resolve) => setImmediate(resolve))
    return proposals.map((proposal) => this.#rule(proposal))
  }

  ran(tool: string, item: JsonObject): boolean {
    this.noted.push([tool, item])
    return this.#allowed.includes(tool)
  }

  #rule({ tool, declared, form, args }: ProposedCall): Ruling {
    const canonical = canonicalOf(args)
    const allowed = tool !== undefined && tool === declared && form === 'json' && this.#allowed.includes(tool)
    if (!allowed || canonical === undefined) {
      return { allowed: false, code: 'POLICY_VIOLATION', text: refusal(tool), receipt: undefined }
    }
    return { allowed: true, args: canonical }
  }
}

function canonicalOf(args: string | JsonObject): string | undefined {
  try {
    const value = typeof args === 'string' ? parseJson(args) : args
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return canonicalize(value)
  } catch {
    return undefined
  }
}

/** A block as an upstream streams it: its events without numbers. */
export interface Scripted {
  readonly start: JsonObject
  readonly deltas: readonly JsonObject[]
}

export const words = (...pieces: readonly string[]): Scripted => ({
  start: { type: 'text', text: '' },
  deltas: pieces.map((text) => ({ type: 'text_delta', text })),
})

export const thought = (thinking: string, signature: string): Scripted => ({
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ],
})

export const call = (id: string, name: string, ...pieces: readonly string[]): Scripted => ({
  start: { type: 'tool_use', id, name, input: {} },
  deltas: pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
})

/** A call that most tests allow, in pieces and not in canonical form. */
export const weather = (id: string, city = 'Oslo'): Scripted =>
  call(id, 'weather', '', '{"ci', `ty": "${city}"}`)

/** A call that no test allows. */
export const bad = (id: string): Scripted => call(id, 'shell', '{"command":"', SECRET, '"}')

export const start = (index: number, { start: content_block }: Scripted): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block,
})

export const deltas = (index: number, { deltas: all }: Scripted): readonly JsonObject[] =>
  all.map((delta) => ({ type: 'content_block_delta', index, delta }))

export const stop = (index: number): JsonObject => ({ type: 'content_block_stop', index })

export const block = (index: number, scripted: Scripted): readonly JsonObject[] => [
  start(index, scripted),
  ...deltas(index, scripted),
  stop(index),
]

export const MESSAGE_START: JsonObject = {
  type: 'message_start',
  message: {
    id: 'msg_01',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 1, service_tier: 'standard' },
  },
}

export const PING: JsonObject = { type: 'ping' }

export const messageDelta = (stop_reason: string | null): JsonObject => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage: { output_tokens: 34 },
})

export const MESSAGE_STOP: JsonObject = { type: 'message_stop' }

/** A whole reply of these events. */
export const reply = (stopReason: string, ...events: readonly JsonObject[]): readonly JsonObject[] => [
  MESSAGE_START,
  PING,
  ...events,
  messageDelta(stopReason),
  MESSAGE_STOP,
]

/** A whole reply of these blocks, one after the other. */
export const replyOf = (stopReason: string, ...blocks: readonly Scripted[]): readonly JsonObject[] =>
  reply(stopReason, ...blocks.flatMap((each, index) => block(index, each)))

/** An event as it arrives on the wire. */
export function sse(data: JsonObject, type: string = textIn(data, 'type')): SseEvent {
  return { type, data: new TextEncoder().encode(JSON.stringify(data)) }
}

/** A text member of an object; empty if there is none. */
export function textIn(holder: JsonObject, name: string): string {
  const value = holder[name]
  return typeof value === 'string' ? value : ''
}

/** An object member of an object; empty if there is none. */
export function objectIn(holder: JsonObject, name: string): JsonObject {
  const value = holder[name]
  return isObject(value) ? value : {}
}

/** The block number of an event. */
export function indexIn({ index }: JsonObject): number {
  return typeof index === 'number' ? index : -1
}

/** The output for these events. */
export async function rewritten(
  events: readonly JsonObject[],
  judge: Judge,
): Promise<{ text: string; ended: boolean }> {
  const rewriter = anthropicMessages.openStream(judge)
  let text = ''
  for (const event of events) text += await rewriter.take(sse(event))
  return { text, ended: rewriter.ended }
}

/** The data of the events in a text. */
export function eventsIn(text: string): readonly JsonObject[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [type, data] = event.split('\n')
      // Sound: the tests fail at once for other values.
      const parsed = JSON.parse((data ?? '').slice('data: '.length)) as JsonObject
      if (type !== `event: ${textIn(parsed, 'type')}`) throw new Error('an event has two types')
      return parsed
    })
}

/** A `fetch` that answers with scripted replies in order, streamed or whole, and keeps the requests. */
export function upstream(judge: Judge, ...replies: readonly (readonly JsonObject[])[]): Upstream {
  const requests: JsonObject[] = []
  const sent: string[] = []
  return {
    requests,
    sent,
    fetch: async (_url, init) => {
      // Sound: the clients send text, and it is JSON.
      const body = JSON.parse(init?.body as string) as JsonObject
      requests.push(body)
      const script = replies[requests.length - 1]
      if (!script) throw new Error('there is no further reply in the script')
      const text =
        body.stream === true
          ? (await rewritten(script, judge)).text
          : JSON.stringify(await anthropicMessages.governReply(wholeOf(script), judge))
      sent.push(text)
      const type = body.stream === true ? 'text/event-stream' : 'application/json'
      return new Response(text, { headers: { 'content-type': type, 'request-id': 'req_1' } })
    },
  }
}

/** Replaces the provider. */
export interface Upstream {
  readonly requests: readonly JsonObject[]
  /** The text that was forwarded to the client. */
  readonly sent: readonly string[]
  readonly fetch: (url: unknown, init?: RequestInit) => Promise<Response>
}

/** The whole reply for a script of events. */
export function wholeOf(events: readonly JsonObject[]): JsonObject {
  let message: JsonObject = {}
  const content: Record<string, Json>[] = []
  const inputs = new Map<number, string>()
  for (const event of events) {
    const index = indexIn(event)
    const delta = objectIn(event, 'delta')
    if (event.type === 'message_start') message = objectIn(event, 'message')
    if (event.type === 'content_block_start') content[index] = { ...objectIn(event, 'content_block') }
    if (event.type === 'message_delta') message = { ...message, ...delta }
    if (event.type !== 'content_block_delta') continue
    const target = content[index] ?? {}
    if (delta.type === 'input_json_delta') {
      inputs.set(index, (inputs.get(index) ?? '') + textIn(delta, 'partial_json'))
      target.input = readable(inputs.get(index) ?? '')
    } else {
      for (const name of Object.keys(delta).filter((each) => each !== 'type')) {
        target[name] = textIn(target, name) + textIn(delta, name)
      }
    }
  }
  return { ...message, content }
}

/** A cut reply has a text in place of the input. No provider sends that, and it must never be run. */
function readable(input: string): Json {
  try {
    return parseJson(input === '' ? '{}' : input)
  } catch {
    return input
  }
}
