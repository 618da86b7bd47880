// What rungs of the model say.

import type { ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { ModelRule } from './model-policy.ts'

/** What a rung says. */
export interface Word {
  readonly verdict: Verdict
  readonly reason: ReasonCode
  readonly rule?: ModelRule | undefined
  /** What exactly a person is asked about, where the reason does not say it all. */
  readonly about?: string | undefined
}
/** What was decided, by which rung, and everything that a person is asked about. */
export type SeenValues = Word & { readonly rung: LadderStep; readonly asks?: readonly string[] }

/** `request` is the number of what a person is asked, maybe `again`; `approved`: a person has said yes. */
export type Settled = SeenValues & {
  readonly request?: number
  readonly again?: true
  readonly approved?: true
  /** And that the scope of the session is to have it from now on. */
  readonly widen?: true
}

/** A denial. */
export const deny = (reason: ReasonCode): Word => ({ verdict: 'DENY', reason })
/** A question to a person. */
export const ask = (reason: ReasonCode, about?: string): Word => ({ verdict: 'ESCALATE', reason, about })
/** The first DENY, or else the first of them. */
export const worst = (words: readonly Word[]): Word | undefined =>
  words.find(({ verdict }) => verdict === 'DENY') ?? words[0]
