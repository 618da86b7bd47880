// The known members of a Chat Completions reply or chunk besides its calls.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { MAX_ITEMS } from './calls.ts'
import { Garbled, type Judge } from '../dialect.ts'
import { figures, logprobsOf } from '../filter.ts'
import {
  allOf,
  each,
  either,
  figure,
  flag,
  oneOf,
  orNull,
  record,
  text,
  type MemberShapes,
  type RecordShape,
} from '../shapes.ts'

/** The value of `object`. Never taken from the upstream, because an official client trusts it. */
type ReplyKind = 'chat.completion' | 'chat.completion.chunk'

function strings(...names: readonly string[]): MemberShapes {
  return each(names, orNull(text))
}

/** The members at the top of a reply and of each chunk. Without a shape, because every chunk passes here. */
export function headOf(reply: JsonObject, kind: ReplyKind): JsonObject {
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

function isText(value: Json | undefined): value is string | null {
  return typeof value === 'string' || value === null
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

const REFUSAL = record({}, strings('refusal'))
const AUDIO = record({}, { ...strings('id', 'data', 'transcript'), expires_at: figure })
const ASIDES = record({}, { audio: AUDIO, ...strings('reasoning', 'reasoning_content') })

/** The members of a message or delta besides content and calls. */
export function asidesOf(message: JsonObject, judge: Judge): JsonObject {
  const annotations = annotationsOf(message, judge)
  return { ...REFUSAL(message), ...(annotations ? { annotations } : {}), ...ASIDES(message) }
}

const PLACE = record({}, { start_index: figure, end_index: figure, ...strings('url', 'title') })
const CITATION = oneOf({ url_citation: record({ url_citation: PLACE }) })

/** Citations show that the provider ran a search. */
function annotationsOf({ annotations }: JsonObject, judge: Judge): readonly Json[] | undefined {
  if (!isList(annotations)) return undefined
  const citations = objectsIn(annotations, 'an annotation').flatMap((each) => CITATION(each) ?? [])
  if (citations.length === 0) return []
  return judge.ran('openai/web_search', { annotations: citations }) ? citations : undefined
}

const THOUGHTS = allOf(oneOf({ text: record({ text }) }))

/** A known part of a content list; undefined for an unknown kind. */
export const partOf: RecordShape = oneOf({
  text: record({ text }),
  refusal: record({ refusal: text }),
  thinking: record({ thinking: either(text, THOUGHTS) }, { closed: flag }),
})

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
