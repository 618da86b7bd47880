// A scripted judge, and streams of Chat Completions as an upstream sends them.

import { canonicalize, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import type { Judge, ProposedCall, Ruling } from '../../src/llm/dialect.ts'
import { openaiChat } from '../../src/llm/openai-chat/openai-chat.ts'

/** The canary in the arguments of denied calls. It must never leave. */
export const SECRET = 'zq7-never-leaves'

/** A judge that records its proposals. */
export interface ScriptedJudge extends Judge {
  /** The proposals of each request. */
  readonly asked: (readonly ProposedCall[])[]
  readonly noted: (readonly [tool: string, item: JsonObject])[]
}

/** Allows the named tools if their arguments are JSON. Denies all others with a text that names them. */
export function judgeThatAllows(...tools: readonly string[]): ScriptedJudge {
  const asked: (readonly ProposedCall[])[] = []
  const noted: (readonly [string, JsonObject])[] = []
  return {
    asked,
    noted,
    judge(proposals) {
      asked.push(proposals)
      return Promise.resolve(proposals.map((proposal) => rule(proposal, tools)))
    },
    ran(tool, item) {
      noted.push([tool, item])
      return tools.includes(tool)
    },
  }
}

function rule({ tool, args }: ProposedCall, tools: readonly string[]): Ruling {
  const refused: Ruling = {
    allowed: false,
    code: 'POLICY_VIOLATION',
    text: refusal(tool),
    receipt: 'sha256:00',
  }
  if (tool === undefined || !tools.includes(tool)) return refused
  try {
    return { allowed: true, args: canonicalize(typeof args === 'string' ? parseJson(args) : args) }
  } catch {
    return refused
  }
}

/** The text that replaces a denied call. */
export function refusal(tool?: string): string {
  return `Tollgate refused ${tool ?? 'what has no name'}.`
}

/** An entry of `tool_calls`. */
export function called(name: string, args: string, id: string = `call_${name}`): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** A chunk with one choice. */
export function chunk(delta: Json, finish: string | null = null, more: JsonObject = {}): JsonObject {
  return chunkOf([{ index: 0, delta, finish_reason: finish, ...more }])
}

/** A chunk with these choices. */
export function chunkOf(choices: Json, more: JsonObject = {}): JsonObject {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' }
  return { ...head, choices, ...more }
}

/** A delta with a piece of a call. */
export function piece(index: number, args: string, start?: { name: string; id?: string }): JsonObject {
  const opening = start ? { id: start.id ?? `call_${start.name}`, type: 'function' } : {}
  const name = start ? { name: start.name } : {}
  return { tool_calls: [{ index, ...opening, function: { ...name, arguments: args } }] }
}

/** The output of a stream. */
export interface Rewritten {
  /** The output for each event. */
  readonly parts: readonly string[]
  readonly text: string
  readonly chunks: readonly JsonObject[]
  readonly ended: boolean
}

/** Sends events through the rewriter: objects as JSON, texts as they are. */
export async function rewrite(events: readonly (JsonObject | string)[], judge: Judge): Promise<Rewritten> {
  const rewriter = openaiChat.openStream(judge)
  const parts: string[] = []
  for (const event of events) parts.push(await rewriter.take(eventOf(event)))
  const text = parts.join('')
  return { parts, text, chunks: chunksIn(text), ended: rewriter.ended }
}

/** An event as the SSE reader returns it. */
export function eventOf(event: JsonObject | string): { type: string; data: Uint8Array } {
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  return { type: 'message', data: new TextEncoder().encode(text) }
}

/** The chunks in a text of events. @throws if it is not whole events with JSON or `[DONE]`. */
export function chunksIn(text: string): readonly JsonObject[] {
  const events = text.split('\n\n')
  if (events.pop() !== '') throw new Error('an event has not ended')
  return events.flatMap((event) => {
    if (!event.startsWith('data: ') || event.includes('\n')) throw new Error('not an event of one line')
    const data = event.slice('data: '.length)
    if (data === '[DONE]') return []
    // Sound: `JSON.parse` returns JSON.
    const value = JSON.parse(data) as Json
    if (!isObject(value)) throw new Error('not an object')
    return [value]
  })
}

/** A `fetch` that answers with these texts in order, and records its requests. */
export function scriptedFetch(type: 'stream' | 'whole', ...answers: readonly string[]): ScriptedFetch {
  const sent: unknown[] = []
  const left = [...answers]
  const contentType = type === 'stream' ? 'text/event-stream' : 'application/json'
  return {
    sent,
    fetch: (_input, init) => {
      sent.push(typeof init?.body === 'string' ? JSON.parse(init.body) : undefined)
      const answer = left.shift()
      if (answer === undefined) return Promise.reject(new Error('unexpected request'))
      return Promise.resolve(new Response(answer, { headers: { 'content-type': contentType } }))
    },
  }
}

/** A `fetch` without a network. */
export interface ScriptedFetch {
  readonly sent: unknown[]
  readonly fetch: (input: RequestInfo | URL, init?: RequestInit) => Promise<Response>
}
