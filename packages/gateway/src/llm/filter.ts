// Keeps only known members of a reply besides its text and calls, each in its known form.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { readJson } from './read-json.ts'

/** Parses a JSON object; undefined if the text holds none. */
export function objectIn(json: string): JsonObject | undefined {
  try {
    const value = readJson(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a value is there, and not null. */
export function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

/** The entry of a table; undefined for a name that is not in it. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: Json | undefined): T | undefined {
  return typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined
}

/** The named members of an object, in the order of the names. Others are left out. */
export function only(object: JsonObject, names: readonly string[]): Record<string, Json> {
  const kept: Record<string, Json> = {}
  for (const name of names) {
    const value = object[name]
    if (value !== undefined && Object.hasOwn(object, name)) kept[name] = value
  }
  return kept
}

const WORD = /^[\w.:/-]{0,128}$/

/** A short word, such as a status or a code; undefined for anything else. */
export function word(value: Json | undefined): string | undefined {
  return typeof value === 'string' && WORD.test(value) ? value : undefined
}

/** The names of counts in the dialects. Other members are left out. */
const FIGURES: ReadonlySet<string> = new Set([
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'input_tokens', 'output_tokens'],
  ...['prompt_tokens_details', 'completion_tokens_details', 'input_tokens_details', 'output_tokens_details'],
  ...['cached_tokens', 'cache_write_tokens', 'audio_tokens', 'text_tokens', 'image_tokens', 'video_tokens'],
  ...['reasoning_tokens', 'thinking_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens'],
  ...['prompt_cache_hit_tokens', 'prompt_cache_miss_tokens', 'num_sources_used', 'cost'],
  ...['prompt_time', 'completion_time', 'queue_time', 'total_time'],
  ...['cache_creation_input_tokens', 'cache_read_input_tokens', 'cache_creation', 'server_tool_use'],
  ...['ephemeral_1h_input_tokens', 'ephemeral_5m_input_tokens', 'web_search_requests', 'web_fetch_requests'],
  ...['iterations', 'fallback_credit', 'applied_edits', 'cleared_input_tokens', 'cleared_tool_uses'],
  ...['cleared_thinking_turns', 'cache_miss_reason', 'cache_missed_input_tokens'],
])
/** Members among the counts that hold a word. */
const WORDS: ReadonlySet<string> = new Set([
  ...['type', 'model', 'service_tier', 'inference_geo', 'speed'],
  ...['effort', 'summary', 'generate_summary', 'context', 'mode', 'reason'],
])
const KIND = /^[a-z][a-z0-9_.:/-]{0,63}$/
const MAX_DEPTH = 6

/** Counts and words with known names, such as in `usage`; undefined for anything else. */
export function figures(value: Json | undefined, depth = 0): Json | undefined {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (value === undefined || typeof value === 'string' || depth > MAX_DEPTH) return undefined
  if (isList(value)) return value.map((item) => figures(item, depth + 1)).filter((item) => item !== undefined)
  const kept: Record<string, Json> = {}
  for (const [name, member] of Object.entries(value)) {
    const figure = figureOf(name, member, depth)
    if (figure !== undefined) kept[name] = figure
  }
  return kept
}

function figureOf(name: string, member: Json, depth: number): Json | undefined {
  if (WORDS.has(name))
    return member === null || (typeof member === 'string' && KIND.test(member)) ? member : undefined
  return FIGURES.has(name) ? figures(member, depth + 1) : undefined
}

/** Log probabilities of exactly this text; null for any other, which may belong to a call. */
export function logprobsOf(tokens: Json | undefined, text: string): Json {
  if (!isList(tokens) || !tokens.every(isObject)) return null
  if (tokens.map(({ token }) => (typeof token === 'string' ? token : '\0')).join('') !== text) return null
  return tokens.map((token) => ({
    ...probability(token),
    top_logprobs: isList(token['top_logprobs'])
      ? token['top_logprobs'].filter(isObject).map(probability)
      : [],
  }))
}

const MAX_TOKEN = 64

/** One token and its probability. An overlong token is shortened. */
function probability({ token, logprob, bytes }: JsonObject): JsonObject {
  return {
    token: typeof token === 'string' ? token.slice(0, MAX_TOKEN) : '',
    logprob: typeof logprob === 'number' ? logprob : null,
    bytes: isList(bytes) ? bytes.filter((byte) => typeof byte === 'number').slice(0, 4 * MAX_TOKEN) : null,
  }
}
