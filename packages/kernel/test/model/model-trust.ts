// Trust and tiers in the model. Shares only types with the kernel.

import type { ReasonCode, Tier, Verdict } from '@tollgate/evidence'
import type { TrustOutcome, TrustSettings } from '../../src/gates/trust/settings.ts'
import { matches } from './model-glob.ts'
import type { ModelPolicy } from './model-policy.ts'

/** A score in ten-thousandths of a point, as of a time. */
export interface Trust {
  readonly score: bigint
  readonly at: number
}

const POINT = 10_000n
const MIDDLE = 500n * POINT
const MAX_SCORE = 1000n * POINT

/** A new principal has a score of 500. */
export const NEW_TRUST: Trust = { score: MIDDLE, at: 0 }

/** The distance to 500 halves in each half-life, linear by the second in between. */
export function trustAt({ score, at }: Trust, time: number, halfLife: number): bigint {
  let distance = score < MIDDLE ? MIDDLE - score : score - MIDDLE
  let elapsed = time - at
  for (; elapsed >= halfLife && distance > 0n; elapsed -= halfLife) distance /= 2n
  const seconds = BigInt(Math.floor(elapsed / 1000))
  distance -= distance === 0n ? 0n : (distance * seconds) / (2n * BigInt(halfLife / 1000))
  return score < MIDDLE ? MIDDLE - distance : MIDDLE + distance
}

/** Whether the score is at least this number of points. */
export function reachesTrust(
  trust: Trust,
  time: number,
  { halfLife }: TrustSettings,
  points: number,
): boolean {
  return trustAt(trust, time, halfLife) >= BigInt(points) * POINT
}

/** The trust after an outcome; undefined if unchanged. */
export function moved(
  trust: Trust,
  outcome: TrustOutcome | undefined,
  time: number,
  settings: TrustSettings,
): Trust | undefined {
  const delta = outcome === undefined ? 0 : settings.deltas[outcome]
  if (delta === 0) return undefined
  const score = trustAt(trust, time, settings.halfLife) + BigInt(delta) * POINT
  return { score: score < 0n ? 0n : score > MAX_SCORE ? MAX_SCORE : score, at: time }
}

/** The score in the format of receipts. */
export function trustText({ score }: Trust): string {
  return String(score)
    .padStart(5, '0')
    .replace(/(?=.{4}$)/, '.')
}

const HOSTILE =
  /INJECTION_DETECTED|OBFUSCATION|COMMAND_ATTACK|TAINTED_DATA|UNTRUSTED_VALUE|ISOLATION|DELEGATION_SCOPE/
// Denials that have nothing to do with the behaviour of the principal.
const NEUTRAL =
  /FROZEN|KILLED|NO_POLICY|DEFINITION_CHANGED|NOT_DECLARED|TRUST_INSUFFICIENT|RISK_MEMORY|RATE|BUDGET|HOURS|TIMEOUT|TOO_LARGE|GATE_FAILED|MISMATCH/

/** The outcome of a decision. `CONTEXT_MISMATCH` counts, `STATE_MISMATCH` does not. */
export function outcomeOf(verdict: Verdict, reason: ReasonCode): TrustOutcome | undefined {
  if (verdict === 'ESCALATE' || reason === 'RULE_ALLOWED' || reason === 'OBSERVE_MODE_ALLOWED')
    return undefined
  if (reason === 'APPROVAL_GRANTED') return 'approved'
  if (reason === 'APPROVAL_REFUSED') return 'refused'
  if (HOSTILE.test(reason)) return 'hostile'
  return NEUTRAL.test(reason) && reason !== 'CONTEXT_MISMATCH' ? undefined : 'denied'
}

const ORDER: readonly Tier[] = ['observer', 'standard', 'elevated', 'admin']

/** Whether a tier is at least the needed one. */
export function reachesTier(tier: Tier, needed: Tier): boolean {
  return ORDER.indexOf(tier) >= ORDER.indexOf(needed)
}

/** An elevation of a session. */
export interface Raised {
  readonly tier: Tier
  readonly until: number
}

/** The lowest tier of all parties of the call, or a valid elevation of the session up to the limit of the current policy. */
export function tierOf(
  policy: ModelPolicy,
  parties: readonly string[],
  raised: Raised | undefined,
  time: number,
): Tier {
  const own = lowest(parties.map((each) => declaredTier(policy, each)))
  const most = policy.privilege?.elevation?.upTo
  if (!raised || !most || time > raised.until) return own
  const given = lowest([raised.tier, most])
  return reachesTier(given, own) ? given : own
}

function lowest(tiers: readonly Tier[]): Tier {
  return ORDER.find((tier) => tiers.includes(tier)) ?? 'observer'
}

/** The tier of the first matching entry. */
function declaredTier({ principals }: ModelPolicy, principal: string): Tier {
  return principals.find(({ name }) => matches(name, principal))?.tier ?? 'observer'
}
