// Updates the trust in a principal after decisions and effects.

import type { Outcome } from '../../road/effects.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import type { TrustSettings } from './settings.ts'
import { type TrustState, outcomeOf, moved, effectOutcome } from './trust.ts'

export function nextTrust({ trusted, policy, time }: Snapshot, settled: Settled): TrustState | undefined {
  const outcome = outcomeOf(settled.verdict, settled.reason)
  const settings = policy.gates.trust
  if (!trusted || !settings || outcome === undefined || settled.waits) return undefined
  const next = moved(trusted, outcome, time, settings)
  return next === trusted ? undefined : next
}

/** The trust after an effect; undefined if unchanged. */
export function trustAfter(
  before: TrustState,
  status: Outcome['status'],
  time: number,
  settings: TrustSettings,
): TrustState | undefined {
  const outcome = effectOutcome(status)
  const next = outcome ? moved(before, outcome, time, settings) : before
  return next === before ? undefined : next
}
