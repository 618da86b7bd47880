// The parameters of a Responses request: the known ones, and those that would let a call arrive unseen.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Refused } from '../dialect.ts'

const OFFICIAL = [
  'background',
  'context_management',
  'conversation',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'model',
  'moderation',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
] as const

/** Sampling parameters of vLLM, Ollama, OpenRouter and others. */
const COMPATIBLE = [
  'frequency_penalty',
  'ignore_eos',
  'include_stop_str_in_output',
  'keep_alive',
  'logit_bias',
  'min_p',
  'presence_penalty',
  'priority',
  'repetition_penalty',
  'seed',
  'skip_special_tokens',
  'stop',
  'stop_token_ids',
  'top_a',
  'top_k',
] as const

const KNOWN: ReadonlySet<string> = new Set([...OFFICIAL, ...COMPATIBLE])
const SHOWABLE = /^[\w.-]{1,64}$/

/** Refuses unknown parameters and those that would let a call arrive unseen. @throws Refused */
export function checkParameters(body: JsonObject, further: ReadonlySet<string>): void {
  for (const name of Object.keys(body)) if (!KNOWN.has(name) && !further.has(name)) throw unknown(name)
  for (const [name, remedy] of Object.entries(UNSEEN)) {
    if (isGiven(body[name])) throw ungoverned(`\`${name}\` is not governed; ${remedy}`, name)
  }
  const { background, context_management: management } = body
  if (isGiven(background) && background !== false) {
    throw ungoverned(
      'a background response is not governed; set `background` to false, or stream the response',
      'background',
    )
  }
  if (isGiven(management) && !isCompaction(management)) {
    throw ungoverned('`context_management` has an unknown type; use only `compaction`', 'context_management')
  }
}

/** Content at the provider was not judged here and may bring tools or results. */
const UNSEEN: Readonly<Record<string, string>> = {
  previous_response_id: 'send the whole conversation in `input` instead',
  conversation: 'send the whole conversation in `input` instead',
  prompt: 'send its text in `instructions` or `input`, and its tools in `tools`',
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function isCompaction(management: Json | undefined): boolean {
  return isList(management) && management.every((entry) => isObject(entry) && entry['type'] === 'compaction')
}

/** Whether a stream is requested. @throws Refused if the value is invalid. */
export function streamOf({ stream }: JsonObject): boolean {
  if (stream === undefined || stream === null || stream === false) return false
  if (stream === true) return true
  throw new Refused(400, 'AMBIGUOUS_INPUT', '`stream` must be true or false', 'stream')
}

function unknown(name: string): Refused {
  const remedy =
    'add it to `llm.openai.parameters` in tollgate.yaml if it cannot make the provider run a tool or keep a reply for later'
  if (!SHOWABLE.test(name)) return ungoverned(`a parameter of the request is unknown; ${remedy}`)
  return ungoverned(`the parameter \`${name}\` is unknown; ${remedy}`, name)
}

function ungoverned(message: string, param?: string): Refused {
  return new Refused(400, 'ROUTE_NOT_GOVERNED', message, param)
}
