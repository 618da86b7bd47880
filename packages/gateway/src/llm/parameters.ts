// The members of a request that several dialects share.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous } from './dialect.ts'
import { isGiven } from './filter.ts'

/** Members of both APIs of OpenAI that the gateway reads. */
export const OPENAI_READ: Readonly<Record<string, string>> = {
  metadata: 'the member `tollgate_session` names the session, and is removed',
  model: 'a model that searches the web by itself counts as `openai/web_search`',
  stream: 'true or false',
  tool_choice: 'says whether a call is required; removed together with the last tool',
  parallel_tool_calls: 'removed together with the last tool',
  tools: 'declares the tools of the agent, and those that run at the provider',
}

/** Members of both APIs of OpenAI that are forwarded unread. */
export const OPENAI_FORWARDED: readonly string[] = [
  'frequency_penalty',
  'logit_bias',
  'moderation',
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
  'stream_options',
  'temperature',
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

/** Members of both APIs of OpenAI that are removed. */
export const OPENAI_DROPPED: Readonly<Record<string, string>> = {
  client_metadata: 'facts about the machine of the client, which the model does not need',
}

/** The remedy in a refusal of an unknown member of OpenAI. */
export const OPENAI_REMEDY: string =
  'add it to `llm.openai.parameters` (for Azure: `llm.azure.parameters`) in tollgate.yaml if it cannot make the provider run a tool or keep a reply for later'

/** Whether a stream is requested. @throws Refused if the value is invalid. */
export function streamOf({ stream }: JsonObject): boolean {
  if (stream === undefined || stream === null || stream === false) return false
  if (stream === true) return true
  throw ambiguous('`stream` must be true or false', 'stream')
}

/** Whether a format promises JSON: every format but plain text. */
export function isStructured(format: Json | undefined): boolean {
  return isObject(format) && format['type'] !== 'text'
}

const FREE: ReadonlySet<Json | undefined> = new Set(['auto', 'none'])

/** Whether a choice of tools forces a call: every choice but a free one. */
export function isForced(choice: Json | undefined): boolean {
  if (!isGiven(choice)) return false
  if (!isObject(choice)) return !FREE.has(choice)
  const { type, mode, allowed_tools: allowed } = choice
  // A list of allowed tools may be free, too.
  return !FREE.has(type) && !FREE.has(isObject(allowed) ? allowed['mode'] : mode)
}

// Models of OpenAI, Perplexity and Groq, and any model that OpenRouter runs with search. A vendor prefix is possible.
const SEARCHING = /-search-(?:preview|api)|:online|(?:^|[/\s])(?:perplexity\/|sonar|compound)/i

/** Whether a model, or one of a list, searches the web without a tool. */
export function searchesWeb(model: Json | undefined): boolean {
  if (isList(model)) return model.some(searchesWeb)
  return typeof model === 'string' && SEARCHING.test(model)
}
