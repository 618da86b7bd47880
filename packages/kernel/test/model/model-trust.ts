// Trust and tiers in the model. Shares nothing but types with the kernel.

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
const MOST = 1000n * POINT

/** Who is new stands in the middle. */
export const NEW_TRUST: Trust = { score: MIDDLE, at: 0 }

/** Half of the way back to the middle in each half-life; between, a straight line, second by second. */
export function trustAt({ score, at }: Trust, time: number, halfLife: number): bigint {
  let distance = score < MIDDLE ? MIDDLE - score : score - MIDDLE
  let elapsed = time - at
  for (; elapsed >= halfLife && distance > 0n; elapsed -= halfLife) distance /= 2n
  const seconds = BigInt(Math.floor(elapsed / 1000))
  distance -= distance === 0n ? 0n : (distance * seconds) / (2n * BigInt(halfLife / 1000))
  return score < MIDDLE ? MIDDLE - distance : MIDDLE + distance
}

/** Whether the score is so many points at least. */
export function reachesTrust(
  trust: Trust,
  time: number,
  { halfLife }: TrustSettings,
  points: number,
): boolean {
  return trustAt(trust, time, halfLife) >= BigInt(points) * POINT
}

/** One more outcome counted in; undefined if it changes nothing. */
export function moved(
  trust: Trust,
  outcome: TrustOutcome | undefined,
  time: number,
  settings: TrustSettings,
): Trust | undefined {
  const delta = outcome === undefined ? 0 : settings.deltas[outcome]
  if (delta === 0) return undefined
  const score = trustAt(trust, time, settings.halfLife) + BigInt(delta) * POINT
  return { score: score < 0n ? 0n : score > MOST ? MOST : score, at: time }
}

/** As receipts write it. */
export function trustText({ score }: Trust): string {
  return String(score)
    .padStart(5, '0')
    .replace(/(?=.{4}$)/, '.')
}

const HOSTILE =
  /INJECTION_DETECTED|OBFUSCATION|COMMAND_ATTACK|TAINTED_DATA|UNTRUSTED_VALUE|ISOLATION|DELEGATION_SCOPE/
// Somebody else closed the road, or something failed, or it is only not the time.
const NOTHING_SAID =
  /FROZEN|KILLED|NO_POLICY|DEFINITION_CHANGED|TRUST_INSUFFICIENT|RISK_MEMORY|RATE|BUDGET|HOURS|TIMEOUT|TOO_LARGE|GATE_FAILED|MISMATCH/

/** What a decision says of its principal. A context that does not fit is its fault; a state that does not is not. */
export function outcomeOf(verdict: Verdict, reason: ReasonCode): TrustOutcome | undefined {
  if (verdict === 'ESCALATE' || reason === 'RULE_ALLOWED' || reason === 'OBSERVE_MODE_ALLOWED')
    return undefined
  if (reason === 'APPROVAL_GRANTED') return 'approved'
  if (reason === 'APPROVAL_REFUSED') return 'refused'
  if (HOSTILE.test(reason)) return 'hostile'
  return NOTHING_SAID.test(reason) && reason !== 'CONTEXT_MISMATCH' ? undefined : 'denied'
}

const ORDER: readonly Tier[] = ['observer', 'standard', 'elevated', 'admin']

/** Whether a tier is at least another. */
export function reachesTier(tier: Tier, needed: Tier): boolean {
  return ORDER.indexOf(tier) >= ORDER.indexOf(needed)
}

/** A tier that a person has given a session for a time. */
export interface Raised {
  readonly tier: Tier
  readonly until: number
}

/**
 * The lowest of all who are party to the call, unless a person has given the session more and that still lasts: as far as the
 * policy lets a person go now.
 */
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

/** The first entry that fits says it. */
function declaredTier({ principals }: ModelPolicy, principal: string): Tier {
  return principals.find(({ name }) => matches(name, principal))?.tier ?? 'observer'
}
