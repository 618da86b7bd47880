// The types of a case file: calls to a policy with the expected decisions.

import type { Door, Effect, EffectClass, Json, ReasonCode, LadderStep, Verdict } from '@tollgate/evidence'
import type { Mistake, Policy } from '@tollgate/kernel/policy'
import type { CaseFiles } from './case-place.ts'

/** A parsed case file. */
export interface CaseFile {
  /** Path of the policy, relative to the file; undefined for the one next to it. */
  readonly policy: string | undefined
  readonly cases: readonly Case[]
  /** Mistakes of the file regarding a policy, such as rules that it does not have. */
  mistakesAbout(policy: Policy): readonly Mistake[]
}

/** One case. It runs on its own ledger. */
export interface Case {
  readonly name: string
  readonly line: number
  /** The start time in milliseconds. */
  readonly at: number
  readonly tenant: string
  readonly steps: readonly Step[]
}

export type Step = CallStep | PauseStep | FreezeStep | DelegateStep | RevokeStep

/** A call and its expected decision. */
export interface CallStep {
  readonly does: 'call'
  readonly line: number
  readonly call: CaseCall
  readonly expect: Expectation
  /** How often it is sent. The expectation applies each time. */
  readonly times: number
  /** The result of the tool if it runs. */
  readonly returns: Json | undefined
  /** Which part of the result is forwarded. */
  readonly delivery: Effect['delivery'] | undefined
  /** People or groups whose approval must be refused. */
  readonly cannotApprove: readonly string[]
  /** The answer of a person. The same call is then sent again. */
  readonly answer: { readonly by: string; readonly granted: boolean } | undefined
}

/** Advances the time. */
interface PauseStep {
  readonly does: 'pause'
  readonly line: number
  readonly milliseconds: number
}

/** Sets or lifts a freeze. */
export interface FreezeStep {
  readonly does: 'freeze'
  readonly line: number
  readonly frozen: boolean
  readonly scope: 'all' | 'principal' | 'tool' | 'session'
  readonly target: string | undefined
}

/** Registers a delegation. */
export interface DelegateStep {
  readonly does: 'delegate'
  readonly line: number
  /** Its name in calls and other steps of the case. */
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

/** Revokes a delegation. */
interface RevokeStep {
  readonly does: 'revoke'
  readonly line: number
  readonly name: string
}

/** A call as written in a case. */
export interface CaseCall {
  readonly tool: string
  readonly args: Json
  /** The arguments as text, instead of `args`. */
  readonly raw: string | undefined
  readonly principal: string
  /** The principal that the call claims, if any. */
  readonly claims: string | undefined
  readonly session: string
  readonly door: Door
  readonly context: Json | undefined
  readonly sources: readonly Json[]
  readonly browser: CaseBrowser | undefined
  readonly delegation: string | undefined
  /** The files that the call can name; undefined if the door does not see them. */
  readonly files: CaseFiles | undefined
}

/** The data of a browser call. */
export interface CaseBrowser {
  /** The observation in the call. */
  readonly observation: Json | undefined
  /** The page, if the Sentinel posts the observation itself instead of the agent. */
  readonly postedFor: string | undefined
  readonly planner_ref: string | undefined
  readonly side_effect: Json | undefined
  readonly destination: string | undefined
}

/** The expected decision. Missing members match anything. */
export interface Expectation {
  readonly verdict: Verdict
  readonly rule: string | undefined
  readonly rung: LadderStep | undefined
  readonly reason: ReasonCode | undefined
  /** A part of the detail text. */
  readonly detail: string | undefined
}

/** An expectation as text. */
export function expectationText({ verdict, rule, rung, reason, detail }: Expectation): string {
  return [
    verdict,
    ...(rule === undefined ? [] : [`by ${rule}`]),
    ...(rung === undefined ? [] : [`at ${rung}`]),
    ...(reason === undefined ? [] : [`for ${reason}`]),
    ...(detail === undefined ? [] : [`saying “${detail}”`]),
  ].join(' ')
}
