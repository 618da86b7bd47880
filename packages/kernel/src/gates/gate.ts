// What a gate is: a pure check that may object. No gate can allow.

import type { ReasonCode, LadderStep } from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import type { Policy } from '../policy/parse/parse.ts'
import type { Snapshot } from '../road/snapshot.ts'
import type { Settled } from '../road/settle.ts'

/** A gate's word against a call. */
export interface Objection {
  readonly verdict: 'DENY' | 'ESCALATE'
  readonly reason: ReasonCode
  /** For the caller: what exactly, without any value of the arguments. Never part of a receipt. */
  readonly detail?: string
  /**
   * What a person is asked about, where the reason alone does not say it: what was approved for one thing is no answer to
   * another. Never a value of the arguments.
   */
  readonly about?: string
}

/** How a rung stands under a policy. */
export type Standing = 'active' | 'not configured'

/** One rung of the ladder that can only object. */
export interface Gate {
  readonly name: Exclude<LadderStep, 'capture' | 'policy'>
  /** How the rung stands. A gate that is not configured is asked all the same, and has nothing to say. */
  standing(policy: Policy): Standing
  /** Objects, or is silent. May throw: then the call is denied. */
  check(intent: Intent, snapshot: Snapshot): Objection | undefined
}

/** An objection that ends it. */
export function deny(reason: ReasonCode, detail?: string): Objection {
  return detail === undefined ? { verdict: 'DENY', reason } : { verdict: 'DENY', reason, detail }
}

/** An objection that a person may lift. */
export function escalate(reason: ReasonCode, detail?: string, about?: string): Objection {
  return {
    verdict: 'ESCALATE',
    reason,
    ...(detail !== undefined && { detail }),
    ...(about !== undefined && { about }),
  }
}

/** How a rung stands that needs no configuration. */
export const always = (): Standing => 'active'

/** A question of a server that does not pass: it says nothing of who would have been asked, and costs them nothing. */
export function isNotOurs({ author }: Intent, { verdict }: Settled): boolean {
  return author !== undefined && verdict !== 'ALLOW'
}
