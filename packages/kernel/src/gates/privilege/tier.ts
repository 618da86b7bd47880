// The tier of a principal, and the elevation that an approval brings.

import { TIERS, type Tier } from '@tollgate/evidence'
import type { Elevation } from '../../ledger/session.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'

/**
 * The tier of a principal: what the policy says, and under a delegation no more than it says of anybody on the chain; unless a
 * person has raised the session and that still lasts.
 */
export function tierOf(principal: string, { policy, session, time, chain = [] }: Snapshot): Tier {
  const parties = [principal, ...chain.map(({ statement }) => statement.delegator)]
  const own = Math.min(...parties.map((each) => TIERS.indexOf(declaredTier(each, policy))))
  const { elevated } = session
  const most = policy.gates.privilege?.elevation?.upTo
  // As far as the policy that is in force now lets a person raise it.
  const lasts = elevated && most !== undefined && elevated.until >= time
  const raised = lasts ? Math.min(TIERS.indexOf(elevated.tier), TIERS.indexOf(most)) : 0
  return TIERS[Math.max(own, raised)] ?? 'observer'
}

function declaredTier(principal: string, { principals }: Policy): Tier {
  return principals.find(({ name }) => name.matches(principal))?.tier ?? 'observer'
}

/** The elevation that an approval brings: only one that was asked for as such, and as far as it was needed. */
export function elevationBy({ uses, rung }: Settled, snapshot: Snapshot): Elevation | undefined {
  const settings = snapshot.policy.gates.privilege
  if (!uses || rung !== 'privilege' || !settings?.elevation) return undefined
  return { tier: settings.needs[snapshot.effect], until: snapshot.time + settings.elevation.lasts }
}
