// The form of payloads and answers that Claude Code introduced and other clients took over.

import type { JsonObject } from '@tollgate/evidence'
import { PayloadFault, type HookCall, type HookEvent, type HookRequest, type HookContext } from './event.ts'
import { argsIn, directoryIn, idIn, optionalId, textIn } from './payload.ts'
import { canonicalCall, type ToolTable } from './tools.ts'

/** The kind of an event of a client. A failure is a result. */
type EventKind = HookEvent['kind'] | 'failure'

/** A client with this form of payloads. */
interface ClaudeFormClient {
  readonly name: string
  readonly tools: ToolTable
  /** Whether the client shows its own prompts to a person now. */
  readonly isAttended: (payload: JsonObject, request: HookRequest) => boolean
}

const EVENTS: Readonly<Record<string, EventKind>> = {
  PreToolUse: 'call',
  PostToolUse: 'result',
  PostToolUseFailure: 'failure',
  UserPromptSubmit: 'words',
  SessionStart: 'other',
  SessionEnd: 'end',
  SubagentStart: 'other',
  SubagentStop: 'other',
  Stop: 'other',
}

/** Reads a payload. @throws PayloadFault */
export function readClaudeForm(
  client: ClaudeFormClient,
  payload: JsonObject,
  request: HookRequest,
): HookEvent {
  const name = idIn(payload, 'hook_event_name')
  if (request.event !== undefined && request.event !== name)
    throw new PayloadFault('the payload names another event than the hook')
  const meaning = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined
  if (meaning === undefined) throw new PayloadFault('the event is unknown')
  const context = contextOf(client, payload, request)
  switch (meaning) {
    case 'call':
      return { kind: meaning, name, context, call: callIn(client, payload) }
    case 'result':
    case 'failure': {
      const call = callIn(client, payload)
      const failed = meaning === 'failure'
      const output = (failed ? payload['error'] : payload['tool_response']) ?? null
      return { kind: 'result', name, context, call, failed, output }
    }
    case 'words':
      return { kind: meaning, name, context, text: textIn(payload, 'prompt') }
    case 'end':
    case 'other':
      return { kind: meaning, name, context }
  }
}

function contextOf({ isAttended }: ClaudeFormClient, payload: JsonObject, request: HookRequest): HookContext {
  const subagent = optionalId(payload, 'agent_id')
  const cwd = directoryIn(payload['cwd'])
  return {
    session: idIn(payload, 'session_id'),
    ...(subagent !== undefined && { subagent }),
    ...(cwd !== undefined && { cwd }),
    isAttended: isAttended(payload, request),
  }
}

function callIn({ name, tools }: ClaudeFormClient, payload: JsonObject): HookCall {
  const id = optionalId(payload, 'tool_use_id')
  const call = canonicalCall(
    { client: name, tools },
    idIn(payload, 'tool_name'),
    argsIn(payload['tool_input']),
  )
  return { ...call, ...(id !== undefined && { id }) }
}

/** The answer to a call, as `hookSpecificOutput`. */
export function decisionOn(event: HookEvent, decision: 'allow' | 'ask' | 'deny', text?: string): JsonObject {
  const reason = text === undefined ? {} : { permissionDecisionReason: text }
  return {
    hookSpecificOutput: { hookEventName: event.name, permissionDecision: decision, ...reason },
  }
}

/** The answer that stops a prompt or replaces an output by its reason. */
export function blocked(text: string): JsonObject {
  return { decision: 'block', reason: text }
}
