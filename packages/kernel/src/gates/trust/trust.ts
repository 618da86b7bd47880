// The arithmetic of trust: a score from 0 to 1000 that starts at 500 and returns to it with time. Integers only, so that every machine
// computes the same score.

import type { Effect, ReasonCode, Verdict } from '@tollgate/evidence'
import type { TrustOutcome, TrustSettings } from './settings.ts'
import { POINT } from '../../units.ts'

/** The trust in a principal. */
export interface TrustState {
  /** In units of 1/10000 point, as of `at`. */
  readonly score: number
  readonly at: number
}

const MIDDLE = 500 * POINT
const MAX_SCORE = 1000 * POINT

/** The trust in a new principal. */
export const NEW_TRUST: TrustState = { score: MIDDLE, at: 0 }

/** The score at a time, in units. The distance to 500 halves every half-life (whole seconds) and decays linearly in between. */
export function trustAt({ score, at }: TrustState, time: number, halfLife: number): number {
  const elapsed = Math.max(0, time - at)
  const halvings = Math.floor(elapsed / halfLife)
  const whole = Math.floor(Math.abs(score - MIDDLE) / 2 ** halvings)
  // In seconds, because the product in milliseconds would exceed exact integers.
  const seconds = Math.floor((elapsed % halfLife) / 1000)
  const distance = whole - Math.floor((whole * seconds) / (halfLife / 500))
  return score < MIDDLE ? MIDDLE - distance : MIDDLE + distance
}

/** The trust after an outcome; the same object if its delta is 0. */
export function moved(
  state: TrustState,
  outcome: TrustOutcome,
  time: number,
  { deltas, halfLife }: TrustSettings,
): TrustState {
  const delta = deltas[outcome]
  if (delta === 0) return state
  const score = trustAt(state, time, halfLife) + delta * POINT
  // If the clock moves backwards, the same time must not count twice.
  return { score: Math.min(MAX_SCORE, Math.max(0, score)), at: Math.max(state.at, time) }
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

// Denials that have nothing to do with the behaviour of the principal.
const NEUTRAL: ReadonlySet<ReasonCode> = new Set([
  'SYSTEM_FROZEN',
  'AGENT_KILLED',
  'TOOL_FROZEN',
  'SESSION_FROZEN',
  'QUOTA_EXCEEDED',
  'STORAGE_QUOTA_EXCEEDED',
  'NO_POLICY_DEFINED',
  'TOOL_DEFINITION_CHANGED',
  'TOOL_NOT_DECLARED',
  'TRUST_INSUFFICIENT',
  // The calls that raised the risk have already counted.
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

/** The outcome of a decision; undefined if it does not count. The effect of an allowed call counts later. */
export function outcomeOf(verdict: Verdict, reason: ReasonCode): TrustOutcome | undefined {
  switch (verdict) {
    case 'ALLOW':
      return reason === 'APPROVAL_GRANTED' ? 'approved' : undefined
    case 'ESCALATE':
      return undefined
    case 'DENY':
      if (reason === 'APPROVAL_REFUSED') return 'refused'
      if (HOSTILE.has(reason)) return 'hostile'
      return NEUTRAL.has(reason) ? undefined : 'denied'
  }
}

/** The outcome of an effect; undefined if it does not count. */
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

/** Reads a score of a receipt, in units. An invalid text is 0. */
export function readTrust(text: string): number {
  const [, points, places] = /^(0|[1-9][0-9]{0,3})\.([0-9]{4})$/.exec(text) ?? []
  const score = Number(points) * POINT + Number(places)
  return score <= MAX_SCORE ? score : 0
}
