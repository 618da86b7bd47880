// Behavioural trust, the arithmetic: a score from 0 to 1000 that starts in the middle and comes back to it with time.
// Whole numbers only, so that every host gets the same score.

import type { Effect, ReasonCode, Verdict } from '@tollgate/evidence'
import type { TrustOutcome, TrustSettings } from './settings.ts'
import { POINT } from '../../units.ts'

/** A principal's trust. */
export interface TrustState {
  /** In units of 1/10000 point, as of `at`. */
  readonly score: number
  readonly at: number
}

const MIDDLE = 500 * POINT
const MOST = 1000 * POINT

/** The trust of a principal without history. */
export const NEW_TRUST: TrustState = { score: MIDDLE, at: 0 }

/**
 * The score at a time, in units: the distance to the middle halves every half-life, in a straight line between. The
 * half-life is a whole number of seconds.
 */
export function trustAt({ score, at }: TrustState, time: number, halfLife: number): number {
  const elapsed = Math.max(0, time - at)
  const halvings = Math.floor(elapsed / halfLife)
  const whole = Math.floor(Math.abs(score - MIDDLE) / 2 ** halvings)
  // In seconds: in milliseconds the product would not stay exact.
  const seconds = Math.floor((elapsed % halfLife) / 1000)
  const distance = whole - Math.floor((whole * seconds) / (halfLife / 500))
  return score < MIDDLE ? MIDDLE - distance : MIDDLE + distance
}

/** The trust once one more outcome is counted in; the very same if that outcome counts for nothing. */
export function moved(
  state: TrustState,
  outcome: TrustOutcome,
  time: number,
  { deltas, halfLife }: TrustSettings,
): TrustState {
  const delta = deltas[outcome]
  if (delta === 0) return state
  const score = trustAt(state, time, halfLife) + delta * POINT
  // A clock that went back does not let the same time count twice.
  return { score: Math.min(MOST, Math.max(0, score)), at: Math.max(state.at, time) }
}

const HOSTILE: ReadonlySet<ReasonCode> = new Set([
  'PROMPT_INJECTION_DETECTED',
  'UNICODE_OBFUSCATION_DETECTED',
  'COMMAND_ATTACK_DETECTED',
  'TAINTED_DATA_EGRESS_DENY',
  'UNTRUSTED_VALUE_DENY',
  'IDENTITY_ISOLATION_VIOLATION',
  'DELEGATION_SCOPE_VIOLATION',
])

// Denials that say nothing about the principal: somebody else closed the road, or it is only not the time.
const SAY_NOTHING: ReadonlySet<ReasonCode> = new Set([
  'SYSTEM_FROZEN',
  'AGENT_KILLED',
  'TOOL_FROZEN',
  'SESSION_FROZEN',
  'QUOTA_EXCEEDED',
  'STORAGE_QUOTA_EXCEEDED',
  'NO_POLICY_DEFINED',
  'TOOL_DEFINITION_CHANGED',
  'TRUST_INSUFFICIENT',
  // The calls that made the session risky have had their say; what follows from them says nothing new.
  'SESSION_RISK_MEMORY_DENY',
  'RATE_EXCEEDED',
  'BUDGET_EXCEEDED',
  'OUTSIDE_HOURS',
  'TEMPORAL_INTERVENTION',
  'APPROVAL_TIMEOUT',
  'APPROVAL_TOO_LARGE',
  'GATE_FAILED',
  'STATE_MISMATCH',
  'LEDGER_UNAVAILABLE',
])

/** What a decision says about the principal; undefined for nothing. What an allowed call comes to, its effect says. */
export function outcomeOf(verdict: Verdict, reason: ReasonCode): TrustOutcome | undefined {
  switch (verdict) {
    case 'ALLOW':
      return reason === 'APPROVAL_GRANTED' ? 'approved' : undefined
    case 'ESCALATE':
      return undefined
    case 'DENY':
      if (reason === 'APPROVAL_REFUSED') return 'refused'
      if (HOSTILE.has(reason)) return 'hostile'
      return SAY_NOTHING.has(reason) ? undefined : 'denied'
  }
}

/** What an effect says about the principal; undefined for nothing. */
export function effectOutcome(status: Effect['status']): TrustOutcome | undefined {
  switch (status) {
    case 'COMPLETED':
      return 'completed'
    case 'FAILED':
      return 'failed'
    case 'UNKNOWN':
      return 'unknown'
    case 'CANCELLED':
      return undefined
  }
}

/** A score as receipts write it: `512.0000`. */
export function trustText({ score }: Pick<TrustState, 'score'>): string {
  return `${Math.floor(score / POINT)}.${String(score % POINT).padStart(4, '0')}`
}

/** The score in units that a receipt writes. What cannot be read is no trust at all. */
export function readTrust(text: string): number {
  const [, points, places] = /^(0|[1-9][0-9]{0,3})\.([0-9]{4})$/.exec(text) ?? []
  const score = Number(points) * POINT + Number(places)
  return score <= MOST ? score : 0
}
