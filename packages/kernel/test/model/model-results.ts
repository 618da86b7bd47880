// The results of steps and of the ladder in the model.

import type { ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { ModelRule } from './model-policy.ts'

/** The result of one step. */
export interface StepResult {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rule?: ModelRule | undefined
  /** The subject of the approval, if the reason alone does not identify it. */
  readonly about?: string | undefined
}
/** The result of the ladder: the deciding step, and all subjects of the approval. */
export type LadderResult = StepResult & {
  readonly rung: LadderStep
  readonly asks?: readonly string[]
  /** The denial that an approval does not override. */
  readonly beneath?: LadderResult | undefined
}

/** `request`: the number of the request; `again`: it already existed; `approved`: a person approved the call. */
export type Settled = LadderResult & {
  readonly request?: number
  readonly again?: true
  readonly approved?: true
  /** The approval also widens the scope of the session. */
  readonly widen?: true
}

/** A denial. */
export const deny = (reason: ReasonCode): StepResult => ({ verdict: 'DENY', reason })
/** An escalation. */
export const ask = (reason: ReasonCode, about?: string): StepResult => ({
  verdict: 'ESCALATE',
  reason,
  about,
})
/** The first DENY, otherwise the first result. */
export const worst = (words: readonly StepResult[]): StepResult | undefined =>
  words.find(({ verdict }) => verdict === 'DENY') ?? words[0]
