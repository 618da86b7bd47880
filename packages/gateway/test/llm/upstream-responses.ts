// Responses on the wire, as OpenAI sends them, with stored items.

import type { Json, JsonObject } from '@tollgate/evidence'
import { formatSse } from '../../src/sse.ts'
import { objected, openaiFailure, openaiHeaders } from './upstream-chat.ts'
import {
  createIds,
  finishOf,
  isObject,
  merge,
  objectsIn,
  textIn,
  tokens,
  written,
  type Failure,
  type Frame,
  type ScriptedCall,
  type Spoken,
  type Wire,
} from './upstream-script.ts'

const CREATED = 1_760_000_000

const USAGE: JsonObject = {
  input_tokens: 82,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 17,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 99,
}

/** An event without its number. */
type Event = Readonly<Record<string, Json>> & { readonly type: string }

/** The dialect `/v1/responses`. */
export function createResponsesWire(): Wire {
  const makeId = createIds()
  const stored = new Map<string, JsonObject>()

  function itemsOf(asked: JsonObject, spoken: Spoken): JsonObject[] {
    const items: JsonObject[] = []
    if (spoken.reasoning !== undefined) items.push(thought(makeId('rs_', 48), spoken.reasoning, asked))
    if (spoken.text !== undefined) items.push(message(makeId('msg_', 48), spoken.text))
    for (const call of spoken.calls ?? []) items.push(callItem(call, makeId))
    if (spoken.thenText !== undefined) items.push(message(makeId('msg_', 48), spoken.thenText))
    if (asked.store !== false) for (const item of items) stored.set(textIn(item.id), item)
    return items
  }

  function reply(asked: JsonObject, spoken: Spoken): JsonObject {
    return ended(response(asked, makeId('resp_', 48)), spoken, itemsOf(asked, spoken))
  }

  function stream(asked: JsonObject, spoken: Spoken): readonly Frame[] {
    const items = itemsOf(asked, spoken)
    const begun = response(asked, makeId('resp_', 48))
    const done = ended(begun, spoken, items)
    const events = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      ...itemEvents(items, spoken.interleave === true),
      { type: `response.${textIn(done.status)}`, response: done },
    ]
    return events.map((event, sequence_number) => ({
      text: formatSse(JSON.stringify({ ...event, sequence_number }), { type: event.type }),
      args: event.type.endsWith('arguments.delta') || event.type.endsWith('input.delta'),
    }))
  }

  return {
    reply,
    stream,
    failure: openaiFailure,
    objection: (asked) => objection(asked, stored),
    headers: () => openaiHeaders(makeId('req_', 32)),
  }
}

function thought(id: string, text: string, asked: JsonObject): JsonObject {
  const include = asked.include
  const sealed = Array.isArray(include) && include.includes('reasoning.encrypted_content')
  const summary = [{ type: 'summary_text', text }]
  return { id, type: 'reasoning', summary, ...(sealed && { encrypted_content: 'gAAAAABscripted' }) }
}

function message(id: string, text: string): JsonObject {
  const part = { type: 'output_text', annotations: [], logprobs: [], text }
  return { id, type: 'message', status: 'completed', content: [part], role: 'assistant' }
}

function callItem(call: ScriptedCall, makeId: (prefix: string, length: number) => string): JsonObject {
  const call_id = call.id ?? makeId('call_', 24)
  const status = call.cutAt === undefined ? 'completed' : 'incomplete'
  const { name } = call
  return call.form === 'custom'
    ? { id: makeId('ctc_', 48), type: 'custom_tool_call', status, call_id, input: written(call), name }
    : { id: makeId('fc_', 48), type: 'function_call', status, arguments: written(call), call_id, name }
}

/** A response at its start. Much of it repeats the request. */
function response(asked: JsonObject, id: string): JsonObject {
  return {
    id,
    object: 'response',
    created_at: CREATED,
    status: 'in_progress',
    background: false,
    billing: { payer: 'developer' },
    completed_at: null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: null,
    model: textIn(asked.model),
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: asked.store ?? true,
    temperature: asked.temperature ?? 1,
    text: asked.text ?? { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: asked.tools ?? [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: asked.metadata ?? {},
  }
}

function ended(begun: JsonObject, spoken: Spoken, output: readonly JsonObject[]): JsonObject {
  const usage = USAGE
  if (finishOf(spoken) === 'length') {
    const incomplete_details = { reason: 'max_output_tokens' }
    return { ...begun, status: 'incomplete', incomplete_details, output, usage }
  }
  return { ...begun, status: 'completed', completed_at: CREATED + 2, output, usage }
}

function itemEvents(items: readonly JsonObject[], byTurns: boolean): Event[] {
  const perItem = items.map((item, at) => eventsOf(item, at))
  if (!byTurns) return perItem.flat()
  const isCall = (at: number): boolean => textIn(items[at]?.type).endsWith('_call')
  const first = items.findIndex((_, at) => isCall(at))
  const before = perItem.slice(0, Math.max(first, 0))
  const calls = perItem.filter((_, at) => isCall(at))
  const after = perItem.slice(Math.max(first, 0)).filter((_, at) => !isCall(at + Math.max(first, 0)))
  return [...before.flat(), ...merge(calls, true), ...after.flat()]
}

function eventsOf(item: JsonObject, output_index: number): Event[] {
  const item_id = textIn(item.id)
  const place = { item_id, output_index }
  return [
    { type: 'response.output_item.added', output_index, item: beginning(item) },
    ...insideOf(item, place),
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** An item before any of its content. */
function beginning(item: JsonObject): JsonObject {
  const status = 'in_progress'
  switch (kindOf(item)) {
    case 'reasoning':
      return { ...item, summary: [] }
    case 'message':
      return { ...item, status, content: [] }
    case 'custom_tool_call':
      return { ...item, status, input: '' }
    default:
      return { ...item, status, arguments: '' }
  }
}

function insideOf(item: JsonObject, place: { item_id: string; output_index: number }): Event[] {
  switch (kindOf(item)) {
    case 'reasoning':
      return objectsIn(item.summary).flatMap((part, at) =>
        summaryEvents(part, { ...place, summary_index: at }),
      )
    case 'message':
      return objectsIn(item.content).flatMap((part, at) => partEvents(part, { ...place, content_index: at }))
    case 'custom_tool_call':
      return [
        ...tokens(textIn(item.input)).map((delta, at) => ({
          type: 'response.custom_tool_call_input.delta',
          ...place,
          delta,
          obfuscation: obfuscation(at),
        })),
        { type: 'response.custom_tool_call_input.done', ...place, input: textIn(item.input) },
      ]
    default:
      return [
        ...tokens(textIn(item.arguments)).map((delta, at) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
          obfuscation: obfuscation(at),
        })),
        {
          type: 'response.function_call_arguments.done',
          ...place,
          arguments: textIn(item.arguments),
          name: textIn(item.name),
        },
      ]
  }
}

function summaryEvents(part: JsonObject, place: JsonObject): Event[] {
  const text = textIn(part.text)
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    ...tokens(text).map((delta, at) => ({
      type: 'response.reasoning_summary_text.delta',
      ...place,
      delta,
      obfuscation: obfuscation(at),
    })),
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ]
}

function partEvents(part: JsonObject, place: JsonObject): Event[] {
  const text = textIn(part.text)
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...tokens(text).map((delta, at) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
      obfuscation: obfuscation(at),
    })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
  ]
}

/** Padding, so that events have equal lengths. */
function obfuscation(at: number): string {
  return 'tR8sW2kZbVq4'.slice(at % 5)
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
}

/** Refuses unknown items, and calls and results that do not match. */
function objection(asked: JsonObject, stored: ReadonlyMap<string, JsonObject>): Failure | undefined {
  const given = typeof asked.input === 'string' ? [] : objectsIn(asked.input)
  const items: JsonObject[] = []
  for (const [at, item] of given.entries()) {
    const id = textIn(item.id)
    if (item.type === 'item_reference') {
      const found = stored.get(id)
      if (found === undefined) return objected(404, `Item with id '${id}' not found.`, 'input')
      items.push(found)
      continue
    }
    const prefix = PREFIXES[kindOf(item)]
    if (id !== '' && prefix !== undefined && !id.startsWith(prefix)) {
      const what = `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`
      return objected(400, what, `input[${at}].id`, 'invalid_value')
    }
    items.push(item)
  }
  return unpaired(items) ?? lonely(items)
}

function kindOf(item: JsonObject): string {
  return item.type === undefined ? 'message' : textIn(item.type)
}

function unpaired(items: readonly JsonObject[]): Failure | undefined {
  const isOutput = (item: JsonObject): boolean => kindOf(item).endsWith('_call_output')
  const isCall = (item: JsonObject): boolean => 'call_id' in item && !isOutput(item)
  const refsOf = (which: (item: JsonObject) => boolean): Set<string> =>
    new Set(items.filter(which).map((item) => textIn(item.call_id)))
  const calls = refsOf(isCall)
  const outputs = refsOf(isOutput)
  const [without] = [...calls].filter((ref) => !outputs.has(ref))
  if (without !== undefined)
    return objected(400, `No tool output found for function call ${without}.`, 'input')
  const [orphan] = [...outputs].filter((ref) => !calls.has(ref))
  if (orphan === undefined) return undefined
  return objected(400, `No tool call found for function call output with call_id ${orphan}.`, 'input')
}

/** Reasoning must be followed by its item. */
function lonely(items: readonly JsonObject[]): Failure | undefined {
  const at = items.findIndex((item, here) => {
    const next = items[here + 1]
    return kindOf(item) === 'reasoning' && !(isObject(next) && isOwn(next))
  })
  const id = textIn(items[at]?.id)
  const what = `Item '${id}' of type 'reasoning' was provided without its required following item.`
  return at < 0 ? undefined : objected(400, what, 'input')
}

function isOwn(item: JsonObject): boolean {
  return item.role === 'assistant' || kindOf(item).endsWith('_call') || kindOf(item) === 'reasoning'
}
