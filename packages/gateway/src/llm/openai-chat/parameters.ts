// The known parameters of Chat Completions. None of them makes the provider run something or keeps a reply for later.

import type { JsonObject } from '@tollgate/evidence'
import { Refused } from '../dialect.ts'

const OFFICIAL = [
  'audio',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'modalities',
  'model',
  'moderation',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning_effort',
  'response_format',
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
  'verbosity',
  // Makes the provider search. It is judged as a tool.
  'web_search_options',
]

/** Sampling and format parameters of vLLM, Ollama, OpenRouter, DeepSeek, Mistral, Groq and others. */
const COMPATIBLE = [
  'bad_words',
  'best_of',
  'enable_thinking',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'ignore_eos',
  'include_reasoning',
  'include_stop_str_in_output',
  'keep_alive',
  'length_penalty',
  'min_p',
  'min_tokens',
  'priority',
  'prompt_mode',
  'random_seed',
  'reasoning',
  'reasoning_format',
  'repetition_penalty',
  'safe_prompt',
  'skip_special_tokens',
  'spaces_between_special_tokens',
  'stop_token_ids',
  'structured_outputs',
  'thinking',
  'thinking_budget',
  'top_a',
  'top_k',
  'truncate_prompt_tokens',
  'use_beam_search',
]

const KNOWN: ReadonlySet<string> = new Set([...OFFICIAL, ...COMPATIBLE])
const SHOWABLE = /^[\w.-]{1,64}$/

/** Refuses parameters that are neither known nor configured. @throws Refused */
export function checkParameters(body: JsonObject, further: ReadonlySet<string>): void {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name) && !further.has(name))
  if (unknown === undefined) return
  const remedy =
    'add it to `llm.openai.parameters` in tollgate.yaml if it cannot make the provider run a tool or keep a reply for later'
  if (!SHOWABLE.test(unknown)) {
    throw new Refused(400, 'ROUTE_NOT_GOVERNED', `a parameter of the request is unknown; ${remedy}`)
  }
  throw new Refused(400, 'ROUTE_NOT_GOVERNED', `the parameter \`${unknown}\` is unknown; ${remedy}`, unknown)
}
