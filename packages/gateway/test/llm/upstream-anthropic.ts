// Messages on the wire, as Anthropic sends them, with stored conversations.

import type { Json, JsonObject } from '@tollgate/evidence'
import { formatSse } from '../../src/sse.ts'
import { retryHeaders } from './upstream-chat.ts'
import {
  createIds,
  finishOf,
  isObject,
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

const USAGE: JsonObject = {
  input_tokens: 82,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 17,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  inference_geo: 'global',
  speed: null,
}

const END_USAGE: JsonObject = {
  input_tokens: 82,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 17,
  output_tokens_details: null,
  server_tool_use: null,
}

/** A finished block, and its pieces. */
interface Block {
  readonly whole: JsonObject
  readonly begun: JsonObject
  readonly deltas: readonly JsonObject[]
}

/** The dialect `/v1/messages`. */
export function createAnthropicWire(): Wire {
  const makeId = createIds()
  const held = new Map<string, readonly JsonObject[]>()

  function blocksOf({ reasoning, text, calls = [], thenText }: Spoken): Block[] {
    return [
      ...(reasoning === undefined ? [] : [thinkingBlock(reasoning)]),
      ...(text === undefined ? [] : [textBlock(text)]),
      ...calls.map((call) => callBlock(call, call.id ?? makeId('toolu_01', 22))),
      ...(thenText === undefined ? [] : [textBlock(thenText)]),
    ]
  }

  function begun(asked: JsonObject, content: readonly JsonObject[]): JsonObject {
    const id = makeId('msg_01', 22)
    // A stored conversation continues from the id of this reply.
    if (isObject(asked.thread)) held.set(id, [...conversation(asked, held), { role: 'assistant', content }])
    return {
      model: textIn(asked.model),
      id,
      type: 'message',
      role: 'assistant',
      content: [],
      container: null,
      diagnostics: null,
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: { ...USAGE, output_tokens: 1 },
    }
  }

  function reply(asked: JsonObject, spoken: Spoken): JsonObject {
    const content = blocksOf(spoken).map(({ whole }) => whole)
    return { ...begun(asked, content), content, stop_reason: reason(spoken), usage: USAGE }
  }

  function stream(asked: JsonObject, spoken: Spoken): readonly Frame[] {
    const blocks = blocksOf(spoken)
    const message = begun(
      asked,
      blocks.map(({ whole }) => whole),
    )
    const delta = { stop_reason: reason(spoken), stop_sequence: null, stop_details: null, container: null }
    const [start, ...rest] = blockEvents(blocks, spoken.interleave === true)
    return [
      event({ type: 'message_start', message }),
      ...(start === undefined ? [] : [event(start)]),
      event({ type: 'ping' }),
      ...rest.map(event),
      event({ type: 'message_delta', delta, usage: END_USAGE }),
      event({ type: 'message_stop' }),
    ]
  }

  return {
    reply,
    stream,
    failure: (failing) => anthropicFailure(failing, makeId('req_01', 22)),
    objection: (asked) => objection(asked, held, makeId('req_01', 22)),
    headers: () => ({
      'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'request-id': makeId('req_01', 22),
    }),
  }
}

function reason(spoken: Spoken): string {
  return { calls: 'tool_use', length: 'max_tokens', stop: 'end_turn' }[finishOf(spoken)]
}

function thinkingBlock(thinking: string): Block {
  const signature = 'ErUBCkYIscripted'
  return {
    whole: { type: 'thinking', thinking, signature },
    begun: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...tokens(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  }
}

function textBlock(text: string): Block {
  return {
    // Without citations the member is missing, despite the types of the SDK.
    whole: { type: 'text', text },
    begun: { type: 'text', text: '' },
    deltas: tokens(text).map((piece) => ({ type: 'text_delta', text: piece })),
  }
}

function callBlock(call: ScriptedCall, id: string): Block {
  const base = { type: 'tool_use', id, name: call.name, caller: { type: 'direct' } }
  const pieces = ['', ...tokens(written(call))]
  return {
    whole: { ...base, input: readable(written(call)) },
    begun: { ...base, input: {} },
    deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  }
}

/** The readable part of cut arguments: the complete members. */
function readable(text: string): Json {
  for (let end = text.length; end > 0; end--) {
    for (const close of ['', '}']) {
      try {
        // Sound: JSON.parse returns JSON.
        return JSON.parse(text.slice(0, end) + close) as Json
      } catch {
        // Tries a shorter text.
      }
    }
  }
  return {}
}

function blockEvents(blocks: readonly Block[], byTurns: boolean): JsonObject[] {
  const perBlock = blocks.map(({ begun, deltas }, index) => [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])
  const isCall = (at: number): boolean => blocks[at]?.whole.type === 'tool_use'
  if (!byTurns || !blocks.some((_, at) => isCall(at))) return perBlock.flat()
  const first = blocks.findIndex((_, at) => isCall(at))
  const last = blocks.findLastIndex((_, at) => isCall(at))
  return [
    ...perBlock.slice(0, first).flat(),
    ...merge<JsonObject>(perBlock.slice(first, last + 1), true),
    ...perBlock.slice(last + 1).flat(),
  ]
}

function event(data: JsonObject): Frame {
  const delta = data.delta
  const text = formatSse(JSON.stringify(data), { type: textIn(data.type) })
  return { text, args: isObject(delta) && textIn(delta.partial_json) !== '' }
}

const KINDS: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'Invalid request'],
  401: ['authentication_error', 'invalid x-api-key'],
  404: ['not_found_error', 'Not found'],
  429: [
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 50 requests per minute (org: scripted).",
  ],
  500: ['api_error', 'Internal server error'],
  503: ['api_error', 'Service unavailable'],
  529: ['overloaded_error', 'Overloaded'],
}

function anthropicFailure({ status, retryAfterMs }: Failing, request_id: string): Failure {
  const [type, message] = KINDS[status] ?? ['api_error', 'Failed']
  const body = { type: 'error', error: { type, message, details: null }, request_id }
  return { status, headers: retryHeaders(retryAfterMs), body }
}

function objected(message: string, request_id: string, error_code?: string): Failure {
  const details = error_code === undefined ? null : { error_code }
  const error = { type: 'invalid_request_error', message, details }
  return { status: 400, headers: {}, body: { type: 'error', error, request_id } }
}

/** All messages of a conversation, including stored ones. */
function conversation(
  asked: JsonObject,
  held: ReadonlyMap<string, readonly JsonObject[]>,
): readonly JsonObject[] {
  const thread = asked.thread
  const before = isObject(thread) ? held.get(textIn(thread.previous_message_id)) : undefined
  return [...(before ?? []), ...objectsIn(asked.messages)]
}

function objection(
  asked: JsonObject,
  held: ReadonlyMap<string, readonly JsonObject[]>,
  request: string,
): Failure | undefined {
  if (typeof asked.max_tokens !== 'number') return objected('max_tokens: Field required', request)
  const thread = asked.thread
  const continued = isObject(thread) && thread.type === 'continue'
  if (continued && !held.has(textIn(thread.previous_message_id))) {
    const failure = objected('No thread was found for `previous_message_id`.', request, 'thread_not_found')
    return { ...failure, status: 404 }
  }
  const messages = conversation(asked, held)
  if (messages.length === 0) return objected('messages: at least one message is required', request)
  for (const [at, message] of messages.entries()) {
    const fault = faultIn(message, messages[at - 1], messages[at + 1])
    if (fault !== undefined) return objected(`messages.${at}${fault}`, request)
  }
  return undefined
}

function faultIn(
  { content }: JsonObject,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): string | undefined {
  if (content === '') return ': text content must be non-empty'
  if (objectsIn(content).some(({ type, text }) => type === 'text' && text === '')) {
    return ': text content blocks must be non-empty'
  }
  const answered = refsIn(after, 'tool_result', 'tool_use_id')
  const open = refsIn({ content: content ?? null }, 'tool_use', 'id').filter((id) => !answered.includes(id))
  if (open.length > 0) {
    return `: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  }
  const asked = refsIn(before, 'tool_use', 'id')
  const orphan = refsIn({ content: content ?? null }, 'tool_result', 'tool_use_id').find(
    (id) => !asked.includes(id),
  )
  if (orphan === undefined) return undefined
  return `: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
}

function refsIn(message: JsonObject | undefined, type: string, member: string): string[] {
  return objectsIn(message?.content)
    .filter((block) => block.type === type)
    .map((block) => textIn(block[member]))
}
