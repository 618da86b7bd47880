// What an agent is told when a call does not pass: why, what can be done, and where it is on record. A model reads this.

import { reasonOf, type JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { verdictOf } from '../verdict.ts'
import { OURS } from './era.ts'
import { RpcFault } from './message.ts'

/** The text for a model. The second time the same is denied it is told so, and nothing else. */
export function denialText(decided: Decided, repeated: boolean): string {
  const { verdict, reason, detail, receipt, approval } = decided
  const known = reasonOf(reason)
  const at = receipt === undefined ? 'No receipt could be written.' : `Receipt: ${receipt}`
  if (repeated && verdict === 'DENY') {
    return `Denied again (${reason}). The same call will not pass; do not repeat it. ${at}`
  }
  if (verdict === 'ESCALATE') {
    return [
      `This call waits for a person (${reason}). ${known?.sentence ?? ''}`,
      ...(detail === undefined ? [] : [`Detail: ${detail}`]),
      `What to do: ${askFor(reason, approval)} Then repeat exactly the same call; earlier it will be answered like this.`,
      `Approval: ${approval ?? 'none'}. ${at}`,
    ].join('\n')
  }
  return [
    `Denied (${reason}). ${known?.sentence ?? ''}`,
    ...(detail === undefined ? [] : [`Detail: ${detail}`]),
    `What to do: ${known?.remedy ?? 'ask the person who runs the gateway.'}`,
    at,
  ].join('\n')
}

function askFor(reason: Decided['reason'], approval: string | undefined): string {
  const once = `ask the user to run \`tollgate approvals approve ${approval ?? ''}\``
  if (reason !== 'TOOL_NOT_PINNED') return `${once}, or to deny it.`
  return `${once} for this one call, or to look at the tool and approve it for good with \`tollgate mcp approve\`.`
}

/** A denial as the result of a tool call. */
export function denialResult(decided: Decided, repeated: boolean): JsonObject {
  return {
    content: [{ type: 'text', text: denialText(decided, repeated) }],
    isError: true,
    _meta: { [OURS.decision]: verdictOf(decided) },
  }
}

/** What an agent is told instead of a result that cannot be given to it. */
export function withheldResult(text: string, receipt: string | undefined): JsonObject {
  const at = receipt === undefined ? '' : ` Receipt: ${receipt}`
  return { content: [{ type: 'text', text: `${text}${at}` }], isError: true }
}

// Outside of what JSON-RPC and the protocol keep for themselves.
const DENIED = 403

/** A denial where the protocol has no result for one. */
export function denialFault(decided: Decided): RpcFault {
  return new RpcFault(DENIED, denialText(decided, false), { [OURS.decision]: verdictOf(decided) })
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
