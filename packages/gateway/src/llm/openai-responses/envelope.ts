// The response around its items. Most of it repeats the request; long texts of the caller are left out.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { figures } from '../filter.ts'
import { each, orNull, record, short, type MemberShape } from '../shapes.ts'
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

const counts: MemberShape = (value) => (isObject(value) || value === null ? figures(value) : undefined)
const KNOWN = record({}, { ...each(SIMPLE, short), ...each(FIGURES, counts) })
const FORMAT = record({}, each(['type', 'name', 'strict'], short))
const VERBOSITY = record({}, each(['verbosity'], short))
const CHOICE = record({}, each(['type', 'name', 'mode', 'server_label'], short))

const shortened: MemberShape = (value) =>
  typeof value === 'string' ? value.slice(0, MAX_MESSAGE) : undefined
const FAULT = record({}, each(['type', 'code', 'message', 'param'], orNull(shortened)))

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
    ...KNOWN(response),
  }
}

const MAX_NAME = 256

const MAX_MESSAGE = 500

/** The error of an upstream: its known members, shortened. */
export function faultOf(fault: JsonObject): JsonObject {
  return FAULT(fault) ?? {}
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
  return { format: FORMAT(text['format']) ?? { type: 'text' }, ...VERBOSITY(text) }
}

function choiceOf(choice: Json | undefined): Json {
  return CHOICE(choice) ?? (choice === 'none' || choice === 'required' ? choice : 'auto')
}
