// What goes on of a reply of Chat Completions besides its calls: the members that are known, in a reply and in a chunk alike.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { MOST_ITEMS } from './calls.ts'
import { Garbled, type Judge } from '../dialect.ts'
import { figures, logprobsOf } from '../filter.ts'

/** What `object` says. Never what the upstream says: an official client takes whole messages from the text of this member. */
type ReplyKind = 'chat.completion' | 'chat.completion.chunk'

/** Whose reply it is: what stands at the top of a reply and of each chunk. */
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

/** The figures of a reply or a chunk: what was used. */
export function figuresOf({ usage }: JsonObject): Record<string, Json> {
  return isObject(usage) || usage === null ? { usage: figures(usage) ?? null } : {}
}

/** The choices of a reply. @throws Garbled if there are none that can be read. */
export function choicesOf(reply: JsonObject): readonly JsonObject[] {
  const { choices } = reply
  if (!isList(choices)) throw new Garbled('the reply has no list of choices')
  return objectsIn(choices, 'a choice')
}

/** A list that holds objects only. @throws Garbled for any other. */
export function objectsIn(list: readonly Json[], what: string): readonly JsonObject[] {
  if (list.length > MOST_ITEMS) throw new Garbled(`the reply has more than ${MOST_ITEMS} items in a list`)
  return list.map((item) => {
    if (!isObject(item)) throw new Garbled(`${what} is not an object`)
    return item
  })
}

/** Which of the choices it is. @throws Garbled if it does not say. */
export function placeOf({ index }: JsonObject, limit: number, what: string): number {
  const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < limit
  if (!isPlace) throw new Garbled(`${what} has an index that makes no sense`)
  return index
}

/** The entries of `tool_calls`, in a message or in a delta. @throws Garbled if it is no list of objects. */
export function toolCallsIn({ tool_calls: entries = null }: JsonObject): readonly JsonObject[] {
  if (entries === null) return []
  if (!isList(entries)) throw new Garbled('`tool_calls` is not a list')
  return objectsIn(entries, 'an entry of `tool_calls`')
}

/** The one `function_call`, in a message or in a delta, if it is there. @throws Garbled if it is no object. */
export function functionCallIn({ function_call: entry = null }: JsonObject): readonly JsonObject[] {
  if (entry === null) return []
  if (!isObject(entry)) throw new Garbled('`function_call` is not an object')
  return [entry]
}

const REASON = /^[\w.:-]{1,64}$/

/** Why a choice has ended; undefined while it has not. @throws Garbled if it is no word. */
export function finishOf({ finish_reason: reason }: JsonObject): string | undefined {
  if (reason === undefined || reason === null || reason === '') return undefined
  if (typeof reason !== 'string' || !REASON.test(reason)) throw new Garbled('a finish reason is not a word')
  return reason
}

/** Whether a choice may have been cut short: it did not end by itself. */
export function isCutBy(reason: string | undefined): boolean {
  return reason !== 'stop' && reason !== 'tool_calls' && reason !== 'function_call'
}

/** The reason that goes on: nobody waits for calls if none is left. */
export function adjustedFinish(reason: string, callsLeft: number): string {
  return callsLeft === 0 && (reason === 'tool_calls' || reason === 'function_call') ? 'stop' : reason
}

/** What a message or a delta says besides its content and its calls. */
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

/** Citations are what is seen of a search that the provider has run. */
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

/** A part of a content that is a list; undefined for a kind that is not known. */
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

/** The log probabilities of the words that go on, never of a call. */
export function logprobsIn({ logprobs }: JsonObject, message: JsonObject): Record<string, Json> {
  if (logprobs === undefined) return {}
  if (!isObject(logprobs)) return { logprobs: null }
  const ofWords = (name: string): Json => {
    const words = message[name]
    return typeof words === 'string' && words !== '' ? logprobsOf(logprobs[name], words) : null
  }
  return { logprobs: { content: ofWords('content'), refusal: ofWords('refusal') } }
}

/** Members that are texts, or null. */
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
