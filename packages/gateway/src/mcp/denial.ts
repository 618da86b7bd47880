// The texts that an agent reads when a call is denied or its result is withheld: the reason, the next step and the receipt.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { denialText, receiptNote, verdictOf } from '../verdict.ts'
import { OURS, resultFor, type Sender } from './protocol.ts'
import { RpcFault, textOf } from './message.ts'

/** The decision as a member of `_meta`, for programs. */
export function decisionMeta(decided: Decided): JsonObject {
  return { [OURS.decision]: verdictOf(decided) }
}

/** A denial as the result of a tool call. */
export function denialResult(decided: Decided, repeated: boolean): JsonObject {
  return {
    content: [{ type: 'text', text: denialText(decided, repeated) }],
    isError: true,
    _meta: decisionMeta(decided),
  }
}

/** The result that replaces a withheld one. */
export function withheldResult(text: string, receipt: string | undefined, meta?: JsonObject): JsonObject {
  const content = [{ type: 'text', text: text + receiptNote(receipt) }]
  return { content, isError: true, ...(meta && { _meta: meta }) }
}

// Outside the codes that JSON-RPC and MCP reserve.
const DENIED = 403

/** A denial as an error, for methods that have no error result. */
export function denialFault(decided: Decided): RpcFault {
  return new RpcFault(DENIED, denialText(decided, false), decisionMeta(decided))
}

/** Answers a frozen client: a tool call with a denial that the model can read, any other request with an error. @throws RpcFault */
export function frozenAnswer(frozen: Decided, method: string, protocol: Sender['protocol']): string {
  if (method !== 'tools/call') throw denialFault(frozen)
  return textOf(resultFor(protocol, method, denialResult(frozen, false), {}))
}
