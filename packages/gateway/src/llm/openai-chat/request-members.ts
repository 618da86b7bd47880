// The table of the members of a Chat Completions request.

import { OPENAI_DROPPED, OPENAI_FORWARDED, OPENAI_READ, OPENAI_REMEDY } from '../parameters.ts'
import type { RequestMembers } from '../request-members.ts'

/** The members of a Chat Completions request. */
export const CHAT_MEMBERS: RequestMembers = {
  read: {
    ...OPENAI_READ,
    function_call: 'says whether a call is required; the older form of `tool_choice`',
    functions: 'the older form of `tools`',
    messages: 'the conversation: texts, calls and results',
    response_format: 'says whether the reply is structured, also if a call is denied',
    web_search_options: 'makes the provider search: counts as `openai/web_search`',
  },
  forwarded: [
    ...OPENAI_FORWARDED,
    'audio',
    'logprobs',
    'max_completion_tokens',
    'max_tokens',
    'modalities',
    'n',
    'prediction',
    'reasoning_effort',
    'verbosity',
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
  ],
  dropped: OPENAI_DROPPED,
  refused: {},
  remedy: OPENAI_REMEDY,
}
