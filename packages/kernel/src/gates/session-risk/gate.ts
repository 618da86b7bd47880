import type { Json, JsonObject } from '@tollgate/evidence'
import { acts } from '../../destinations/targets.ts'
import type { Intent } from '../../road/capture.ts'
import { isDripping } from './drip.ts'
import { isLatched, paidBefore } from './history.ts'
import { decimal, QUIET, signalOf, type Axis } from './risk.ts'
import { costOf } from '../../policy/cost.ts'
import { firstMatch } from '../../policy/evaluate.ts'
import { subjectOf } from '../../policy/subject.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { always, deny, escalate, type Gate } from '../gate.ts'

/**
 * Denies calls once more than one turn has raised the risk of the session above the threshold. Escalates calls that a person should
 * see. Denies side effects and egress if a state record that the call depends on was lost or changed.
 */
export const sessionRisk: Gate = {
  name: 'session-risk',
  standing: always,
  check(intent, snapshot) {
    if (isBroken(snapshot) && acts(snapshot)) return deny('STATE_MISMATCH')
    if (snapshot.assessment().tooRisky) return deny('SESSION_RISK_MEMORY_DENY', riskText(snapshot))
    if (!needsApproval(intent, snapshot)) return undefined
    const { watch: history } = snapshot.lineage ?? snapshot.principal
    return isLatched(history, snapshot.time)
      ? deny(
          'SESSION_RISK_MEMORY_DENY',
          `${riskText(snapshot)}; another call of the principal was denied for its risk in the last 3 days`,
        )
      : escalate('SESSION_RISK_APPROVAL_REQUIRED', riskText(snapshot))
  },
}

/** The score, the threshold, and the axis that raised the score. */
function riskText(snapshot: Snapshot): string {
  const { score, by, axis } = snapshot.assessment()
  const { threshold } = snapshot.policy.gates.sessionRisk
  const raised = axis === undefined ? 'raised by no axis' : `raised by ${AXES[axis]}`
  const where = by === 'principal' ? ' in other sessions of the principal' : ''
  return `risk score ${decimal(score)}, threshold ${decimal(threshold)}, ${raised}${where}`
}

const AXES: Readonly<Record<Axis, string>> = {
  exfiltration: 'exfiltration',
  privilege: 'privilege',
  compliance: 'compliance drift',
}

/** Whether the call needs an approval because of its own facts, of earlier calls, or of the risk of the session. */
function needsApproval(intent: Intent, snapshot: Snapshot): boolean {
  const facts = snapshot.facts()
  if (!facts) return isDripping(intent, snapshot)
  const adds = signalOf(facts.axes) > QUIET
  const isGrey = adds && snapshot.assessment().score >= snapshot.policy.gates.sessionRisk.ask
  return facts.grave || isGrey || isSplit(intent, snapshot, facts.target?.unnamed ?? [])
}

/** Whether the payments to one target that the user has not named add up to a sum that a rule would not allow. */
function isSplit(intent: Intent, snapshot: Snapshot, unnamed: readonly string[]): boolean {
  if (snapshot.effect !== 'pay') return false
  const { watch: history } = snapshot.lineage ?? snapshot.principal
  return unnamed.some((to) => {
    const before = paidBefore(history, to, snapshot.time)
    return before !== undefined && wouldAskAbout(before.sum, intent, snapshot)
  })
}

/** Whether a rule escalates or denies the call if its amount includes the earlier payments (`before`, in thousandths). */
function wouldAskAbout(before: number, intent: Intent, snapshot: Snapshot): boolean {
  const path = snapshot.tool?.declared?.cost
  const cost = costOf(path, intent.args)
  if (typeof path !== 'string' || cost === undefined) return false
  const args = withAmount(intent.args, path.split('.'), (before + cost) / 1000)
  if (args === undefined) return false
  const ruling = firstMatch(snapshot.policy, subjectOf({ ...intent, args }, snapshot))
  return ruling !== undefined && ruling.rule.action !== 'allow'
}

/** The arguments with another amount at a path; undefined if the path leads through a list or a scalar. */
function withAmount(args: Json, [name, ...rest]: readonly string[], amount: number): Json | undefined {
  if (name === undefined) return amount
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
  // Sound: what is neither a list nor a scalar is an object.
  const object = args as JsonObject
  const below = withAmount(object[name] ?? null, rest, amount)
  return below === undefined ? undefined : { ...object, [name]: below }
}

/** Whether a state record that the call depends on was lost or changed. */
function isBroken({ session, principal, tenant, lineage, data }: Snapshot): boolean {
  return [session, principal, tenant, lineage, data].some((record) => record?.broken === true)
}
