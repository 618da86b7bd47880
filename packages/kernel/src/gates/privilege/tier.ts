// Computes the tier of a principal and the elevation that an approval grants.

import { TIERS, type Tier } from '@tollgate/evidence'
import type { Elevation } from '../../ledger/session.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'

/**
 * The tier that the policy declares for a principal. Under a delegation it is the lowest declared tier on the chain. An elevation
 * of the session that has not expired can raise it.
 */
export function tierOf(principal: string, { policy, session, time, chain = [] }: Snapshot): Tier {
  const parties = [principal, ...chain.map(({ statement }) => statement.delegator)]
  const own = Math.min(...parties.map((each) => TIERS.indexOf(declaredTier(each, policy))))
  const { elevated } = session
  const most = policy.gates.privilege?.elevation?.upTo
  // The policy in force limits the elevation, even if it was granted under another policy.
  const isElevated = elevated && most !== undefined && elevated.until >= time
  const raised = isElevated ? Math.min(TIERS.indexOf(elevated.tier), TIERS.indexOf(most)) : 0
  return TIERS[Math.max(own, raised)] ?? 'observer'
}

function declaredTier(principal: string, { principals }: Policy): Tier {
  return principals.find(({ name }) => name.matches(principal))?.tier ?? 'observer'
}

/** The elevation that an approval grants: only if the privilege gate asked for it, and only up to the needed tier. */
export function elevationBy({ uses, rung }: Settled, snapshot: Snapshot): Elevation | undefined {
  const settings = snapshot.policy.gates.privilege
  if (!uses || rung !== 'privilege' || !settings?.elevation) return undefined
  return { tier: settings.needs[snapshot.effect], until: snapshot.time + settings.elevation.lasts }
}
