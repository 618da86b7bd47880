// What an agent is told when a call does not pass: why, what can be done, and where it is on record. A model reads this.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { denialText, receiptNote, verdictOf } from '../verdict.ts'
import { OURS } from './protocol.ts'
import { RpcFault } from './message.ts'

/** A decision beside an answer or an error, for programs. */
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

/** What an agent is told instead of a result that cannot be given to it. */
export function withheldResult(text: string, receipt: string | undefined): JsonObject {
  return { content: [{ type: 'text', text: text + receiptNote(receipt) }], isError: true }
}

// Outside of what JSON-RPC and the protocol keep for themselves.
const DENIED = 403

/** A denial where the protocol has no result for one. */
export function denialFault(decided: Decided): RpcFault {
  return new RpcFault(DENIED, denialText(decided, false), decisionMeta(decided))
}

/** Remembers what was denied of late, so that who asks again is answered shortly. */
export interface Repeats {
  /** Whether this was denied before, not long ago. */
  seen(key: string, now: number): boolean
}

const FOR_MS = 600_000
const MOST = 1000

/** Remembers nothing yet. */
export function createRepeats(): Repeats {
  const denied = new Map<string, number>()
  return {
    seen(key, now) {
      const before = denied.get(key)
      denied.delete(key)
      denied.set(key, now)
      const [oldest] = denied.keys()
      if (denied.size > MOST && oldest !== undefined) denied.delete(oldest)
      return before !== undefined && now - before < FOR_MS
    },
  }
}
