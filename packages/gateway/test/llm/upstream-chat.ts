// Chat Completions on the wire, as OpenAI and compatible servers send them.

import type { Json, JsonObject } from '@tollgate/evidence'
import { formatSse } from '../../src/sse.ts'
import {
  createIds,
  finishOf,
  merge,
  objectsIn,
  textIn,
  tokens,
  written,
  type Failing,
  type Failure,
  type Frame,
  type ScriptedCall,
  type Spoken,
  type Wire,
} from './upstream-script.ts'

const CREATED = 1_760_000_000

const USAGE: JsonObject = {
  prompt_tokens: 82,
  completion_tokens: 17,
  total_tokens: 99,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}

/** The dialect `/v1/chat/completions`. */
export function createChatWire(): Wire {
  const makeId = createIds()

  function withIds(spoken: Spoken): (ScriptedCall & { id: string })[] {
    return (spoken.calls ?? []).map((call) => ({ ...call, id: call.id ?? makeId('call_', 24) }))
  }

  const head = (asked: JsonObject): JsonObject => ({
    id: makeId('chatcmpl-', 29),
    created: CREATED,
    model: textIn(asked.model),
    service_tier: 'default',
    system_fingerprint: 'fp_44709d6fcb',
  })

  function reply(asked: JsonObject, spoken: Spoken): JsonObject {
    const text = (spoken.text ?? '') + (spoken.thenText ?? '')
    const message: Record<string, Json> = {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(spoken.reasoning !== undefined && { reasoning_content: spoken.reasoning }),
      ...callsOf(withIds(spoken)),
      refusal: null,
      annotations: [],
    }
    const choice = { index: 0, message, logprobs: logprobs(asked, text), finish_reason: reason(spoken) }
    return { ...head(asked), object: 'chat.completion', choices: [choice], usage: USAGE }
  }

  function stream(asked: JsonObject, spoken: Spoken): readonly Frame[] {
    const base: JsonObject = { ...head(asked), object: 'chat.completion.chunk' }
    const counted = isOn(asked.stream_options, 'include_usage')

    const chunk = (delta: JsonObject, finish: string | null = null): Frame => {
      const choice = { index: 0, delta, logprobs: logprobs(asked, delta.content), finish_reason: finish }
      const data = {
        ...base,
        choices: [choice],
        ...(counted && { usage: null }),
        obfuscation: 'aZ3kd9Q'.slice(tokens(JSON.stringify(delta)).length % 5),
      }
      return { text: formatSse(JSON.stringify(data)), args: holdsArguments(delta) }
    }
    const says = (text: string | undefined, member: string): Frame[] =>
      tokens(text ?? '').map((token) => chunk({ [member]: token }))

    const end: JsonObject = { ...base, choices: [], usage: USAGE, obfuscation: 'k' }
    return [
      chunk({ role: 'assistant', content: spoken.text === undefined ? null : '', refusal: null }),
      ...says(spoken.reasoning, 'reasoning_content'),
      ...says(spoken.text, 'content'),
      ...callDeltas(withIds(spoken), spoken.interleave === true).map((delta) => chunk(delta)),
      ...says(spoken.thenText, 'content'),
      chunk({}, reason(spoken)),
      ...(counted ? [{ text: formatSse(JSON.stringify(end)), args: false }] : []),
      { text: 'data: [DONE]\n\n', args: false },
    ]
  }

  return {
    reply,
    stream,
    failure: openaiFailure,
    objection,
    headers: () => openaiHeaders(makeId('req_', 32)),
  }
}

function reason(spoken: Spoken): string {
  const finish = finishOf(spoken)
  if (finish !== 'calls') return finish
  return spoken.calls?.some(({ form }) => form === 'legacy') === true ? 'function_call' : 'tool_calls'
}

function callsOf(calls: readonly (ScriptedCall & { id: string })[]): JsonObject {
  const legacy = calls.find(({ form }) => form === 'legacy')
  if (legacy !== undefined) return { function_call: { name: legacy.name, arguments: written(legacy) } }
  const tool_calls = calls.map((call) =>
    call.form === 'custom'
      ? { id: call.id, type: 'custom', custom: { name: call.name, input: written(call) } }
      : { id: call.id, type: 'function', function: { name: call.name, arguments: written(call) } },
  )
  return tool_calls.length > 0 ? { tool_calls } : {}
}

function callDeltas(calls: readonly (ScriptedCall & { id: string })[], byTurns: boolean): JsonObject[] {
  return merge(calls.map(deltasOf), byTurns)
}

function deltasOf(call: ScriptedCall & { id: string }, index: number): JsonObject[] {
  const pieces = tokens(written(call))
  if (call.form === 'legacy') {
    const first = { function_call: { name: call.name, arguments: '' } }
    return [first, ...pieces.map((piece) => ({ function_call: { arguments: piece } }))]
  }
  const [kind, member] = call.form === 'custom' ? ['custom', 'input'] : ['function', 'arguments']
  const first = { index, id: call.id, type: kind, [kind]: { name: call.name, [member]: '' } }
  return [first, ...pieces.map((piece) => ({ index, [kind]: { [member]: piece } }))].map((one) => ({
    tool_calls: [one],
  }))
}

function holdsArguments(delta: JsonObject): boolean {
  // The first delta of a call has its name and no arguments.
  const written = JSON.stringify(delta)
  return ('tool_calls' in delta || 'function_call' in delta) && !written.includes('"name"')
}

function logprobs(asked: JsonObject, text: Json | undefined): Json {
  if (asked.logprobs !== true || typeof text !== 'string' || text === '') return null
  const content = tokens(text).map((token) => ({
    token,
    logprob: -0.0123,
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))
  return { content, refusal: null }
}

function isOn(value: Json | undefined, member: string): boolean {
  return objectsIn([value ?? null])[0]?.[member] === true
}

/** Refuses a conversation whose calls and results do not match. */
function objection(asked: JsonObject): Failure | undefined {
  let open = new Set<string>()
  const messages = objectsIn(asked.messages)
  if (messages.length === 0) return objected(400, "Missing required parameter: 'messages'.", 'messages')
  for (const message of messages) {
    if (message.role === 'tool') {
      if (open.delete(textIn(message.tool_call_id))) continue
      const what = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
      return objected(400, what, 'messages')
    }
    if (open.size > 0) return unanswered(open)
    open = new Set(objectsIn(message.tool_calls).map(({ id = '' }) => textIn(id)))
  }
  return open.size > 0 ? unanswered(open) : undefined
}

function unanswered(open: ReadonlySet<string>): Failure {
  const what =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${[...open].join(', ')}`
  return objected(400, what, 'messages')
}

/** A request that OpenAI refuses. */
export function objected(
  status: number,
  message: string,
  param: string,
  code: string | null = null,
): Failure {
  return { status, headers: {}, body: { error: { message, type: 'invalid_request_error', param, code } } }
}

/** Headers that OpenAI sends. */
export function openaiHeaders(request: string): Record<string, string> {
  return {
    'openai-organization': 'org-scripted',
    'openai-processing-ms': '412',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '500',
    'x-ratelimit-remaining-requests': '499',
    'x-request-id': request,
  }
}

const FAILURES: Readonly<Record<number, JsonObject>> = {
  401: {
    message:
      'Incorrect API key provided: sk-scrip*****key. You can find your API key at https://platform.openai.com/account/api-keys.',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_api_key',
  },
  429: {
    message:
      'Rate limit reached for gpt-4.1 in organization org-scripted on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
    type: 'requests',
    param: null,
    code: 'rate_limit_exceeded',
  },
  500: {
    message: 'The server had an error while processing your request. Sorry about that!',
    type: 'server_error',
    param: null,
    code: null,
  },
  503: {
    message: 'The engine is currently overloaded, please try again later',
    type: 'server_error',
    param: null,
    code: 'service_unavailable',
  },
}

/** An error in the wording of OpenAI. */
export function openaiFailure({ status, retryAfterMs }: Failing): Failure {
  const error = FAILURES[status] ?? { message: 'Failed.', type: 'api_error', param: null, code: null }
  return { status, headers: retryHeaders(retryAfterMs), body: { error } }
}

/** The retry headers. */
export function retryHeaders(retryAfterMs: number | undefined): Record<string, string> {
  if (retryAfterMs === undefined) return {}
  return { 'retry-after': String(Math.ceil(retryAfterMs / 1000)), 'retry-after-ms': String(retryAfterMs) }
}
