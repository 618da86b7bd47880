// The interface of a gate: a pure check that can object. A gate never allows.

import type { ReasonCode, LadderStep } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import type { Policy } from '../policy/parse/parse.ts'
import type { Snapshot } from '../road/snapshot.ts'
import type { Settled } from '../road/settle.ts'

/** The answer of a gate that denies or escalates a call. */
export interface Objection {
  readonly verdict: 'DENY' | 'ESCALATE'
  readonly reason: ReasonCode
  /** Details for the caller. Contains no argument values and is never part of a receipt. */
  readonly detail?: string
  /**
   * The subject of the approval, if the reason alone does not identify it. An approval of one subject does not cover another.
   * Contains no argument values.
   */
  readonly about?: string
}

/** Whether a policy configures a step. */
export type Standing = 'active' | 'not configured'

/** A step of the ladder that can only object. */
export interface Gate {
  readonly name: Exclude<LadderStep, 'capture' | 'policy'>
  /** Whether the policy configures the gate. A gate that is not configured still runs, but does not object. */
  standing(policy: Policy): Standing
  /** Returns the objection, if there is one. If it throws, the call is denied. */
  check(intent: Intent, snapshot: Snapshot): Objection | undefined
}

/** An objection that denies the call. */
export function deny(reason: ReasonCode, detail?: string): Objection {
  return detail === undefined ? { verdict: 'DENY', reason } : { verdict: 'DENY', reason, detail }
}

/** An objection that a person can override. */
export function escalate(reason: ReasonCode, detail?: string, about?: string): Objection {
  return {
    verdict: 'ESCALATE',
    reason,
    ...(detail !== undefined && { detail }),
    ...(about !== undefined && { about }),
  }
}

/** The status of a gate that needs no configuration. */
export const always = (): Standing => 'active'

/** Whether this is a server's question that was not allowed. It does not change the state of the principal it was meant for. */
export function isRejectedQuestion({ author }: Intent, { verdict }: Settled): boolean {
  return author !== undefined && verdict !== 'ALLOW'
}
