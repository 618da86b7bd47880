import { acts } from '../flow.ts'
import type { Snapshot } from '../snapshot.ts'
import { always, deny, type Gate } from './gate.ts'

/**
 * Objects once the session as a whole has become too risky, by more than one turn; and to side effects and egress in a session
 * whose memory, or that of whoever it counts for, was lost or changed.
 */
export const sessionRisk: Gate = {
  name: 'session-risk',
  standing: always,
  check(_, snapshot) {
    if (isBroken(snapshot) && acts(snapshot)) return deny('STATE_MISMATCH')
    return snapshot.assessment().tooRisky ? deny('SESSION_RISK_MEMORY_DENY') : undefined
  },
}

/** Whether anything that the call rests on was once lost or changed. */
function isBroken({ session, principal, tenant, lineage, data }: Snapshot): boolean {
  return [session, principal, tenant, lineage, data].some((record) => record?.broken === true)
}
