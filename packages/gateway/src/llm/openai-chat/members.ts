// The known members of a Chat Completions reply or chunk besides its calls.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { MAX_ITEMS } from './calls.ts'
import { Garbled, type Judge } from '../dialect.ts'
import { figures, logprobsOf } from '../filter.ts'

/** The value of `object`. Never taken from the upstream, because an official client trusts it. */
type ReplyKind = 'chat.completion' | 'chat.completion.chunk'

/** The members at the top of a reply and of each chunk. */
export function headOf(reply: JsonObject, kind: ReplyKind): Record<string, Json> {
  const { id, created, model, service_tier: tier, system_fingerprint: fingerprint } = reply
  const head: Record<string, Json> = {}
  if (isText(id)) head['id'] = id
  head['object'] = kind
  if (typeof created === 'number') head['created'] = created
  if (isText(model)) head['model'] = model
  if (isText(tier)) head['service_tier'] = tier
  if (isText(fingerprint)) head['system_fingerprint'] = fingerprint
  return head
}

/** The usage of a reply or a chunk. */
export function figuresOf({ usage }: JsonObject): Record<string, Json> {
  return isObject(usage) || usage === null ? { usage: figures(usage) ?? null } : {}
}

/** The choices of a reply. @throws Garbled if there is no valid list. */
export function choicesOf(reply: JsonObject): readonly JsonObject[] {
  const { choices } = reply
  if (!isList(choices)) throw new Garbled('the reply has no list of choices')
  return objectsIn(choices, 'a choice')
}

/** A list of objects. @throws Garbled for any other list. */
export function objectsIn(list: readonly Json[], what: string): readonly JsonObject[] {
  if (list.length > MAX_ITEMS) throw new Garbled(`the reply has more than ${MAX_ITEMS} items in a list`)
  return list.map((item) => {
    if (!isObject(item)) throw new Garbled(`${what} is not an object`)
    return item
  })
}

/** The index of an entry. @throws Garbled if it is invalid. */
export function placeOf({ index }: JsonObject, limit: number, what: string): number {
  const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < limit
  if (!isPlace) throw new Garbled(`${what} has an invalid index`)
  return index
}

/** The entries of `tool_calls` in a message or delta. @throws Garbled if it is not a list of objects. */
export function toolCallsIn({ tool_calls: entries = null }: JsonObject): readonly JsonObject[] {
  if (entries === null) return []
  if (!isList(entries)) throw new Garbled('`tool_calls` is not a list')
  return objectsIn(entries, 'an entry of `tool_calls`')
}

/** The `function_call` of a message or delta, if there is one. @throws Garbled if it is not an object. */
export function functionCallIn({ function_call: entry = null }: JsonObject): readonly JsonObject[] {
  if (entry === null) return []
  if (!isObject(entry)) throw new Garbled('`function_call` is not an object')
  return [entry]
}

const REASON = /^[\w.:-]{1,64}$/

/** The finish reason of a choice; undefined while it is open. @throws Garbled if it is invalid. */
export function finishOf({ finish_reason: reason }: JsonObject): string | undefined {
  if (reason === undefined || reason === null || reason === '') return undefined
  if (typeof reason !== 'string' || !REASON.test(reason)) throw new Garbled('a finish reason is not a word')
  return reason
}

/** Whether a choice may have been cut short. */
export function isCutBy(reason: string | undefined): boolean {
  return reason !== 'stop' && reason !== 'tool_calls' && reason !== 'function_call'
}

/** The reason to forward: without calls left, the client must not wait for any. */
export function adjustedFinish(reason: string, callsLeft: number): string {
  return callsLeft === 0 && (reason === 'tool_calls' || reason === 'function_call') ? 'stop' : reason
}

/** The members of a message or delta besides content and calls. */
export function asidesOf(message: JsonObject, judge: Judge): Record<string, Json> {
  const { audio } = message
  const annotations = annotationsOf(message, judge)
  return {
    ...strings(message, ['refusal']),
    ...(annotations ? { annotations } : {}),
    ...(isObject(audio) ? { audio: audioOf(audio) } : {}),
    ...strings(message, ['reasoning', 'reasoning_content']),
  }
}

function audioOf(audio: JsonObject): JsonObject {
  const { expires_at: expires } = audio
  return {
    ...strings(audio, ['id', 'data', 'transcript']),
    ...(typeof expires === 'number' ? { expires_at: expires } : {}),
  }
}

/** Citations show that the provider ran a search. */
function annotationsOf({ annotations }: JsonObject, judge: Judge): readonly Json[] | undefined {
  if (!isList(annotations)) return undefined
  const citations = objectsIn(annotations, 'an annotation').flatMap(citationOf)
  if (citations.length === 0) return []
  return judge.ran('openai/web_search', { annotations: citations }) ? citations : undefined
}

function citationOf({ type, url_citation: citation }: JsonObject): readonly JsonObject[] {
  if (type !== 'url_citation' || !isObject(citation)) return []
  const { start_index: start, end_index: end } = citation
  const known = {
    ...(typeof start === 'number' ? { start_index: start } : {}),
    ...(typeof end === 'number' ? { end_index: end } : {}),
    ...strings(citation, ['url', 'title']),
  }
  return [{ type, url_citation: known }]
}

/** A known part of a content list; undefined for an unknown kind. */
export function partOf(part: JsonObject): JsonObject | undefined {
  const { type, text, thinking, refusal, closed } = part
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'refusal' && typeof refusal === 'string') return { type, refusal }
  if (type !== 'thinking') return undefined
  const thoughts = typeof thinking === 'string' ? thinking : thoughtsOf(thinking)
  if (thoughts === undefined) return undefined
  return { type, thinking: thoughts, ...(typeof closed === 'boolean' ? { closed } : {}) }
}

function thoughtsOf(thinking: Json | undefined): readonly Json[] | undefined {
  if (!isList(thinking)) return undefined
  const known = thinking.map((part) =>
    isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string'
      ? { type: 'text', text: part['text'] }
      : undefined,
  )
  return known.every((part) => part !== undefined) ? known : undefined
}

/** The log probabilities of forwarded text, never of a call. */
export function logprobsIn({ logprobs }: JsonObject, message: JsonObject): Record<string, Json> {
  if (logprobs === undefined) return {}
  if (!isObject(logprobs)) return { logprobs: null }
  const ofWords = (name: string): Json => {
    const words = message[name]
    return typeof words === 'string' && words !== '' ? logprobsOf(logprobs[name], words) : null
  }
  return { logprobs: { content: ofWords('content'), refusal: ofWords('refusal') } }
}

/** Members that are strings or null. */
function strings(object: JsonObject, names: readonly string[]): Record<string, Json> {
  const kept: Record<string, Json> = {}
  for (const name of names) {
    const value = object[name]
    if (isText(value)) kept[name] = value
  }
  return kept
}

function isText(value: Json | undefined): value is string | null {
  return typeof value === 'string' || value === null
}
