import type { JsonObject } from '@tollgate/evidence'
import type { RequestReading, Restored } from '../dialect.ts'
import { checkParameters, OPENAI_PARAMETERS, OPENAI_REMEDY, streamOf } from '../parameters.ts'
import { readTools } from './tools.ts'
import { readTurns } from './turns.ts'

const PARAMETERS: ReadonlySet<string> = new Set([
  ...OPENAI_PARAMETERS,
  'audio',
  'function_call',
  'functions',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'modalities',
  'n',
  'prediction',
  'reasoning_effort',
  'response_format',
  'verbosity',
  // Makes the provider search. It is judged as a tool.
  'web_search_options',
  // Sampling and format parameters of vLLM, Ollama, OpenRouter, DeepSeek, Mistral, Groq and others.
  'bad_words',
  'best_of',
  'enable_thinking',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'include_reasoning',
  'length_penalty',
  'min_tokens',
  'prompt_mode',
  'random_seed',
  'reasoning_format',
  'safe_prompt',
  'spaces_between_special_tokens',
  'structured_outputs',
  'thinking',
  'thinking_budget',
  'truncate_prompt_tokens',
  'use_beam_search',
])

/** Reads a Chat Completions request before it is forwarded. @throws Refused */
export function readChatRequest(
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = (text) => text,
): RequestReading {
  checkParameters(body, [PARAMETERS, further], OPENAI_REMEDY)
  return { stream: streamOf(body), ...readTools(body), ...readTurns(body, restored) }
}
