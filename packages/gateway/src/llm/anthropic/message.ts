// The members of a message besides its content, and its stop reason.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { figures } from '../filter.ts'
import type { ReplyCalls } from './calls.ts'
import { flag, listOf, orNull, record, text, word, type MemberShapes } from '../shapes.ts'

const CONTAINER = orNull(
  record(
    { id: text },
    { expires_at: text, skills: orNull(listOf(record({ type: word, skill_id: word }, { version: word }))) },
  ),
)
const STOP_DETAILS = orNull(
  record(
    { type: word },
    {
      category: orNull(word),
      explanation: orNull(text),
      fallback_credit_token: orNull(text),
      fallback_has_prefill_claim: orNull(flag),
      recommended_model: orNull(word),
    },
  ),
)
const ENVELOPE = record(
  {},
  {
    id: text,
    model: text,
    container: CONTAINER,
    diagnostics: figures,
    context_management: figures,
  },
)
const END: MemberShapes = { stop_sequence: orNull(text), stop_details: STOP_DETAILS }
const WHOLE_END = record({}, END)
const STREAMED_END = record({}, { ...END, container: CONTAINER })
const STREAMED_BESIDES = record({}, { context_management: figures })

/** A message without its content and its end. @throws Garbled */
export function envelopeOf(message: JsonObject): Record<string, Json> {
  if (message['type'] !== 'message' || message['role'] !== 'assistant')
    throw new Garbled('it is not a message')
  const usage = figures(message['usage'])
  // The official clients require `usage`.
  return {
    ...ENVELOPE(message),
    type: 'message',
    role: 'assistant',
    usage: isObject(usage) ? usage : {},
  }
}

/** The outcome of the calls of a message. */
type CallsOutcome = Pick<ReplyCalls, 'anyLeft' | 'denials'>

/** The end of a whole message. @throws Garbled */
export function endOf(message: JsonObject, calls: CallsOutcome): Record<string, Json> {
  return { stop_reason: stopReason(reasonIn(message), calls), ...WHOLE_END(message), ...refusedBy(calls) }
}

/** The end of a streamed message: the `message_delta` to forward. @throws Garbled */
export function deltaOf(event: JsonObject, delta: JsonObject, calls: CallsOutcome): Record<string, Json> {
  const usage = figures(event['usage'])
  return {
    type: 'message_delta',
    delta: {
      stop_reason: stopReason(reasonIn(delta), calls),
      stop_sequence: null,
      ...STREAMED_END(delta),
      ...refusedBy(calls),
    },
    usage: isObject(usage) ? usage : { output_tokens: 0 },
    ...STREAMED_BESIDES(event),
  }
}

/** The stop reason of a message or delta; null if it has none. @throws Garbled */
export function reasonIn(holder: JsonObject): string | null {
  const reason = holder['stop_reason'] ?? null
  if (reason !== null && (typeof reason !== 'string' || word(reason) === undefined)) {
    throw new Garbled('its stop reason cannot be read')
  }
  return reason
}

const WHOLE: readonly (string | null)[] = ['end_turn', 'tool_use', 'stop_sequence', 'pause_turn']

/** Whether the model was cut off, so that its last call may be incomplete. */
export function isCut(reason: string | null): boolean {
  return !WHOLE.includes(reason)
}

/** If no call is left, `tool_use` becomes `end_turn`: a client must not look for one. */
function stopReason(reason: string | null, { anyLeft, denials }: CallsOutcome): string | null {
  if (reason !== null && !anyLeft && denials.length > 0) return 'refusal'
  return reason === 'tool_use' && !anyLeft ? 'end_turn' : reason
}

/** In a structured reply, a text would not be JSON. So the denials are the dialect's own refusal. */
function refusedBy({ denials }: CallsOutcome): Record<string, Json> {
  if (denials.length === 0) return {}
  return { stop_details: { type: 'refusal', category: null, explanation: denials.join('\n\n') } }
}
