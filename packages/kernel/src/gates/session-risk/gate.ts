import { acts } from '../../destinations/targets.ts'
import type { Intent } from '../../road/capture.ts'
import { isDripping } from './drip.ts'
import { isLatched, paidBefore } from './history.ts'
import { decimal, QUIET, signalOf, type Axis } from './risk.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { wouldAskAbout } from './sums.ts'
import { always, deny, escalate, type Gate } from '../gate.ts'

/**
 * Objects once the session as a whole has become too risky, by more than one turn; asks about what a person should see; and denies
 * side effects and egress in a session whose memory, or that of whoever it counts for, was lost or changed.
 */
export const sessionRisk: Gate = {
  name: 'session-risk',
  standing: always,
  check(intent, snapshot) {
    if (isBroken(snapshot) && acts(snapshot)) return deny('STATE_MISMATCH')
    if (snapshot.assessment().tooRisky) return deny('SESSION_RISK_MEMORY_DENY', riskText(snapshot))
    if (!isToBeSeen(intent, snapshot)) return undefined
    const { watch } = snapshot.lineage ?? snapshot.principal
    return isLatched(watch, snapshot.time)
      ? deny(
          'SESSION_RISK_MEMORY_DENY',
          `${riskText(snapshot)}; risk has denied a call of the principal lately`,
        )
      : escalate('SESSION_RISK_APPROVAL_REQUIRED', riskText(snapshot))
  },
}

/** How risky the session is, and by what: score, threshold, and the axis that raised the score. */
function riskText(snapshot: Snapshot): string {
  const { score, by, axis } = snapshot.assessment()
  const { threshold } = snapshot.policy.gates.sessionRisk
  const raised = axis === undefined ? 'no axis has raised it' : `raised by ${AXES[axis]}`
  const where = by === 'principal' ? ' in other sessions of the principal' : ''
  return `risk score ${decimal(score)}, threshold ${decimal(threshold)}, ${raised}${where}`
}

const AXES: Readonly<Record<Axis, string>> = {
  exfiltration: 'exfiltration',
  privilege: 'privilege',
  compliance: 'compliance drift',
}

/** Whether a person should see the call: for what it is, for what it comes to with others, or because of the session. */
function isToBeSeen(intent: Intent, snapshot: Snapshot): boolean {
  const facts = snapshot.facts()
  if (!facts) return isDripping(intent, snapshot)
  const adds = signalOf(facts.axes) > QUIET
  const isGrey = adds && snapshot.assessment().score >= snapshot.policy.gates.sessionRisk.ask
  return facts.grave || isGrey || isSplit(intent, snapshot, facts.aim?.unnamed ?? [])
}

/** Whether payments to one target that the user has not named come to a sum that a rule would not have let pass. */
function isSplit(intent: Intent, snapshot: Snapshot, unnamed: readonly string[]): boolean {
  if (snapshot.effect !== 'pay') return false
  const { watch } = snapshot.lineage ?? snapshot.principal
  return unnamed.some((to) => {
    const before = paidBefore(watch, to, snapshot.time)
    return before !== undefined && wouldAskAbout(before.sum, intent, snapshot)
  })
}

/** Whether anything that the call rests on was once lost or changed. */
function isBroken({ session, principal, tenant, lineage, data }: Snapshot): boolean {
  return [session, principal, tenant, lineage, data].some((record) => record?.broken === true)
}
