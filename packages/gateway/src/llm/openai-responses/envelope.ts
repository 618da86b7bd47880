// The response around its items. Most of it repeats the request; long texts of the caller are left out.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { figures, only, word } from '../filter.ts'
import { idOf } from './text.ts'

/** Each is a number, a flag or one short word. */
const SIMPLE = [
  'background',
  'completed_at',
  'frequency_penalty',
  'max_output_tokens',
  'max_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'status',
  'store',
  'top_logprobs',
  'truncation',
  'user',
] as const
const FIGURES = ['incomplete_details', 'reasoning', 'usage'] as const

/** A response with these items. */
export function envelopeOf(response: JsonObject, output: readonly JsonObject[]): JsonObject {
  const id = idOf(response['id'])
  if (id === undefined) throw new Garbled('a response without an id')
  const { created_at, model, parallel_tool_calls, temperature, top_p } = response
  return {
    id,
    object: 'response',
    created_at: typeof created_at === 'number' ? created_at : 0,
    model: typeof model === 'string' ? model.slice(0, MAX_NAME) : '',
    error: isObject(response['error']) ? faultOf(response['error']) : null,
    incomplete_details: null,
    instructions: null,
    metadata: metadataOf(response['metadata']),
    output,
    parallel_tool_calls: parallel_tool_calls !== false,
    temperature: typeof temperature === 'number' ? temperature : null,
    text: formatOf(response['text']),
    tool_choice: choiceOf(response['tool_choice']),
    // The declared tools are not repeated.
    tools: [],
    top_p: typeof top_p === 'number' ? top_p : null,
    ...knownFigures(response),
  }
}

const MAX_NAME = 256

function knownFigures(response: JsonObject): JsonObject {
  const kept = simple(only(response, SIMPLE))
  for (const name of FIGURES) {
    const value = response[name]
    if (isObject(value) || value === null) kept[name] = figures(value) ?? null
  }
  return kept
}

/** The members that are a number, a flag, null or one short word. */
function simple(members: JsonObject): Record<string, Json> {
  const kept: Record<string, Json> = {}
  for (const [name, value] of Object.entries(members)) {
    const known = typeof value === 'string' ? word(value) : typeof value === 'object' ? null : value
    if (known !== undefined && (known !== null || value === null)) kept[name] = known
  }
  return kept
}

const MAX_MESSAGE = 500

/** The error of an upstream: its known members, shortened. */
export function faultOf(fault: JsonObject): Record<string, Json> {
  const kept: Record<string, Json> = {}
  for (const name of ['type', 'code', 'message', 'param']) {
    const value = fault[name]
    if (typeof value === 'string') kept[name] = value.slice(0, MAX_MESSAGE)
    else if (value === null) kept[name] = null
  }
  return kept
}

const MAX_PAIRS = 16
const MAX_VALUE = 512

function metadataOf(metadata: Json | undefined): JsonObject {
  if (!isObject(metadata)) return {}
  const pairs = Object.entries(metadata).filter(
    ([name, value]) => name.length <= 64 && typeof value === 'string' && value.length <= MAX_VALUE,
  )
  return Object.fromEntries(pairs.slice(0, MAX_PAIRS))
}

function formatOf(text: Json | undefined): JsonObject {
  if (!isObject(text)) return { format: { type: 'text' } }
  const format = isObject(text['format'])
    ? only(text['format'], ['type', 'name', 'strict'])
    : { type: 'text' }
  return { format: simple(format), ...simple(only(text, ['verbosity'])) }
}

function choiceOf(choice: Json | undefined): Json {
  if (isObject(choice)) return simple(only(choice, ['type', 'name', 'mode', 'server_label']))
  return choice === 'none' || choice === 'required' ? choice : 'auto'
}
