// What a case file says: calls to a policy, one after another, and what is to come of each.

import type { Door, Effect, EffectClass, Json, ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Mistake, Policy } from '@tollgate/kernel/policy'

/** A file of cases, as it was read. */
export interface CaseFile {
  /** Path of the policy, from the folder of the file; undefined if it is the one beside it. */
  readonly policy: string | undefined
  readonly cases: readonly Case[]
  /** What the file says about a policy that is not so in that policy, such as rules that it does not have. */
  mistakesAbout(policy: Policy): readonly Mistake[]
}

/** One case: a ledger of its own, on which these things happen. */
export interface Case {
  readonly name: string
  readonly line: number
  /** When it begins, in milliseconds. */
  readonly at: number
  readonly tenant: string
  readonly steps: readonly Step[]
}

/** One thing that happens. */
export type Step = CallStep | PauseStep | FreezeStep | DelegateStep | RevokeStep

/** A call, and what is to come of it. */
export interface CallStep {
  readonly does: 'call'
  readonly line: number
  readonly call: CaseCall
  readonly expect: Expectation
  /** How often it is sent; each time the same is expected. */
  readonly times: number
  /** What the tool answers if it runs. */
  readonly returns: Json | undefined
  /** How much of that answer the agent may see. */
  readonly delivery: Effect['delivery'] | undefined
  /** People or groups who try to say yes, and may not. */
  readonly cannotApprove: readonly string[]
  /** What a person answers, and who: then the same call is sent again. */
  readonly answer: { readonly by: string; readonly granted: boolean } | undefined
}

/** Time passes. */
interface PauseStep {
  readonly does: 'pause'
  readonly line: number
  readonly milliseconds: number
}

/** An operator freezes something, or lifts a freeze. */
export interface FreezeStep {
  readonly does: 'freeze'
  readonly line: number
  readonly frozen: boolean
  readonly scope: 'all' | 'principal' | 'tool' | 'session'
  readonly target: string | undefined
}

/** One principal lets another act for it. */
export interface DelegateStep {
  readonly does: 'delegate'
  readonly line: number
  /** What calls and other steps of the case call it. */
  readonly as: string
  readonly from: string
  readonly to: string
  readonly tools: readonly string[]
  readonly effects: readonly EffectClass[] | undefined
  /** In milliseconds. */
  readonly lasts: number
  readonly depth: number
  readonly parent: string | undefined
  readonly session: string | undefined
}

/** A delegation is taken back. */
interface RevokeStep {
  readonly does: 'revoke'
  readonly line: number
  readonly name: string
}

/** A call as a case writes it. */
export interface CaseCall {
  readonly tool: string
  readonly args: Json
  /** The arguments as text, instead of `args`. */
  readonly raw: string | undefined
  readonly principal: string
  /** Whom the call says it is from, if it says so. */
  readonly claims: string | undefined
  readonly session: string
  readonly door: Door
  readonly context: Json | undefined
  readonly sources: readonly Json[]
  readonly browser: CaseBrowser | undefined
  readonly delegation: string | undefined
}

/** What a browser call brings along. */
export interface CaseBrowser {
  /** The observation as the call carries it. */
  readonly observation: Json | undefined
  /** The page, if the Sentinel posts the observation by itself, so that it is not only the agent's word. */
  readonly postedFor: string | undefined
  readonly planner_ref: string | undefined
  readonly side_effect: Json | undefined
  readonly destination: string | undefined
}

/** What is to come of a call. What is left out may be anything. */
export interface Expectation {
  readonly verdict: Verdict
  readonly rule: string | undefined
  readonly rung: LadderStep | undefined
  readonly reason: ReasonCode | undefined
  /** A part of what the caller is told. */
  readonly detail: string | undefined
}

/** An expectation as people write it. */
export function expectationText({ verdict, rule, rung, reason, detail }: Expectation): string {
  return [
    verdict,
    ...(rule === undefined ? [] : [`by ${rule}`]),
    ...(rung === undefined ? [] : [`at ${rung}`]),
    ...(reason === undefined ? [] : [`for ${reason}`]),
    ...(detail === undefined ? [] : [`saying “${detail}”`]),
  ].join(' ')
}
