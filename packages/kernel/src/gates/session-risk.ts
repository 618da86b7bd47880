import { always, deny, type Gate } from './gate.ts'

/**
 * Objects once the session as a whole has become too risky, by more than one turn; and to side effects in a session
 * whose memory was lost or changed.
 */
export const sessionRisk: Gate = {
  name: 'session-risk',
  standing: always,
  check(_, snapshot) {
    const broken = snapshot.session.broken || snapshot.principal.broken
    if (broken && snapshot.sideEffect) return deny('STATE_MISMATCH')
    return snapshot.assessment().tooRisky ? deny('SESSION_RISK_MEMORY_DENY') : undefined
  },
}
