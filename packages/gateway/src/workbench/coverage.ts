// Computes which rules and gates of a policy the cases have exercised.

import type { LadderStep } from '@tollgate/evidence'
import { describeLadder } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import type { CaseOutcome } from './run-cases.ts'

/** How often a rule decided. */
interface RuleCoverage {
  readonly rule: string
  readonly line: number
  readonly action: 'allow' | 'deny' | 'require'
  readonly decided: number
}

/** How often a gate objected. */
interface GateCoverage {
  readonly gate: LadderStep
  readonly denied: number
  readonly asked: number
}

export interface Coverage {
  readonly rules: readonly RuleCoverage[]
  readonly gates: readonly GateCoverage[]
  /** Percentage of the rules, rounded down; 100 for a policy without rules. */
  readonly percent: number
}

/** The coverage of a policy by calls. A rule whose condition failed did not decide. */
export function coverageOf(policy: Policy, outcomes: readonly CaseOutcome[]): Coverage {
  const decided = countsOf(
    outcomes.filter(({ reason }) => reason !== 'POLICY_EVALUATION_ERROR').map(({ rule }) => rule),
  )
  // A call that a person denied was only escalated by the gate.
  const objected = outcomes.filter(
    ({ verdict, reason }) => verdict === 'DENY' && reason !== 'APPROVAL_REFUSED',
  )
  const denied = countsOf(objected.map(({ rung }) => rung))
  const asked = countsOf(outcomes.flatMap(({ asks }) => asks.map(([rung]) => rung)))
  const rules = policy.rules.map(({ id, line, action }) => ({
    rule: id,
    line,
    action,
    decided: decided.get(id) ?? 0,
  }))
  const gates = describeLadder(policy)
    .filter(({ rung, standing }) => standing === 'active' && rung !== 'policy')
    .map(({ rung }) => ({ gate: rung, denied: denied.get(rung) ?? 0, asked: asked.get(rung) ?? 0 }))
  return { rules, gates, percent: percentOf(rules) }
}

/** The rules that no call has reached. */
export function unreached({ rules }: Coverage): readonly RuleCoverage[] {
  return rules.filter(({ decided }) => decided === 0)
}

function percentOf(rules: readonly RuleCoverage[]): number {
  if (rules.length === 0) return 100
  return Math.floor((100 * rules.filter(({ decided }) => decided > 0).length) / rules.length)
}

function countsOf(names: readonly (string | undefined)[]): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
