// The parameters of a request that all dialects read in the same way.

import { isList, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, notGoverned } from './dialect.ts'

/** Parameters of both APIs of OpenAI. None of them makes the provider run something or keeps a reply for later. */
export const OPENAI_PARAMETERS: readonly string[] = [
  'frequency_penalty',
  'logit_bias',
  'metadata',
  'model',
  'moderation',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  // Sampling parameters of vLLM, Ollama, OpenRouter and others.
  'ignore_eos',
  'include_stop_str_in_output',
  'keep_alive',
  'min_p',
  'priority',
  'repetition_penalty',
  'skip_special_tokens',
  'stop_token_ids',
  'top_a',
  'top_k',
]

/** The remedy in a refusal of an unknown parameter of OpenAI. */
export const OPENAI_REMEDY: string =
  'add it to `llm.openai.parameters` in tollgate.yaml if it cannot make the provider run a tool or keep a reply for later'

const SHOWABLE = /^[\w.-]{1,64}$/

/** Refuses a parameter that is neither known nor configured. `nameless` replaces a name that is not shown. @throws Refused */
export function checkParameters(
  body: JsonObject,
  known: readonly ReadonlySet<string>[],
  remedy: string,
  nameless = 'a parameter of the request',
): void {
  const name = Object.keys(body).find((each) => !known.some((names) => names.has(each)))
  if (name === undefined) return
  if (!SHOWABLE.test(name)) throw notGoverned(`${nameless} is unknown; ${remedy}`)
  throw notGoverned(`the parameter \`${name}\` is unknown; ${remedy}`, name)
}

/** Whether a stream is requested. @throws Refused if the value is invalid. */
export function streamOf({ stream }: JsonObject): boolean {
  if (stream === undefined || stream === null || stream === false) return false
  if (stream === true) return true
  throw ambiguous('`stream` must be true or false', 'stream')
}

// Models of OpenAI, Perplexity and Groq, and any model that OpenRouter runs with search. A vendor prefix is possible.
const SEARCHING = /-search-(?:preview|api)|:online|(?:^|[/\s])(?:perplexity\/|sonar|compound)/i

/** Whether a model, or one of a list, searches the web without a tool. */
export function searchesWeb(model: Json | undefined): boolean {
  if (isList(model)) return model.some(searchesWeb)
  return typeof model === 'string' && SEARCHING.test(model)
}
