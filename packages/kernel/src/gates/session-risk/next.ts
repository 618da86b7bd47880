// Computes the risk state of the session and the principal after a decision.

import type { ReasonCode } from '@tollgate/evidence'
import type { ApprovalRequest } from '../../admin/approvals.ts'
import { costOf } from '../../policy/cost.ts'
import type { Intent } from '../../road/capture.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isRejectedQuestion } from '../gate.ts'
import { copiedIn, keyFor, vouchedFor } from './call-target.ts'
import { bringsLabelled, drippingTo } from './drip.ts'
import type { RiskFacts } from './facts.ts'
import { type Leak, eased } from './risk.ts'
import type { RiskTurn } from './turn.ts'
import {
  type RiskHistory,
  withStored,
  paidTo,
  labelledAt,
  sentTo,
  refused,
  latched,
  seenGrave,
  agreed,
  isApprovalFatigue,
} from './history.ts'
import { scriptIn } from '../taint/cross-page.ts'
import { seenInQuestion } from '../taint/seen-values.ts'
import { addSeen } from '../taint/provenance.ts'
import type { Provenance } from '../taint/remembered.ts'

/** Since when the session is suspect; 0 for not suspect. Any approval clears it. */
export function suspectAfter(since: number, snapshot: Snapshot, { uses, rung }: Settled): number {
  if (uses) return 0
  const isGrave = rung === 'session-risk' || (factsOrNothing(snapshot)?.grave ?? false)
  return isGrave ? snapshot.time : since
}

function factsOrNothing(snapshot: Snapshot): RiskFacts | undefined {
  try {
    return snapshot.facts()
  } catch {
    return undefined // As in `turnOrNothing`.
  }
}

/** The sum after this call. If a person approved the call, half of the sum before it. */
export function easedIf({ uses }: Settled, before: Leak, counted: Leak, { time, policy }: Snapshot): Leak {
  return uses ? eased(before, time, policy.gates.sessionRisk.halfLife) : counted
}

/** Effect classes that can store values for later calls. */
const WRITES: ReadonlySet<Snapshot['effect']> = new Set(['write', 'execute', 'admin'])

/** The risk history of the responsible principal after the decision. */
export function historyAfter(
  history: RiskHistory,
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
): RiskHistory {
  if (isRejectedQuestion(intent, settled)) return history
  const next = historyOfSends(historyOfVerdict(history, intent, snapshot, settled), intent, snapshot, settled)
  // Stopped calls count, too: the value may get stored in another way.
  const copied = WRITES.has(snapshot.effect) ? copiedIn(snapshot) : []
  if (copied.length > 0) return withStored({ ...next, key: keyFor(snapshot, snapshot.provenance()) }, copied)
  if (settled.verdict !== 'ALLOW' || snapshot.effect !== 'pay') return next
  const unnamed = factsOrNothing(snapshot)?.target?.unnamed ?? []
  const cost = unnamed.length === 0 ? 0 : (costOf(snapshot.tool?.declared?.cost, intent.args) ?? 0)
  if (cost === 0) return next
  return paidTo({ ...next, key: keyFor(snapshot, snapshot.provenance()) }, unnamed, cost, snapshot.time)
}

/** The history with the sends of this call after labelled data was read. */
function historyOfSends(
  history: RiskHistory,
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
): RiskHistory {
  const { verdict, uses, asks = [] } = settled
  if (verdict !== 'ALLOW') return history
  // The call was allowed, so the session-risk gate did not fail and these functions do not throw.
  const next = bringsLabelled(snapshot) ? labelledAt(history, snapshot.time) : history
  const sinks = drippingTo(intent, snapshot)
  if (sinks.length === 0) return next
  // An approval that another gate asked for does not cover these sends.
  const isAgreed = uses !== undefined && asks.some((ask) => ask.startsWith('session-risk '))
  return sentTo(next, sinks, isAgreed, snapshot.time)
}

function historyOfVerdict(
  history: RiskHistory,
  { tool, hash }: Intent,
  snapshot: Snapshot,
  { verdict, reason, uses }: Settled,
): RiskHistory {
  const { time } = snapshot
  if (reason === 'APPROVAL_REFUSED') return refused(history, tool, hash, time)
  if (reason === 'SESSION_RISK_MEMORY_DENY') return latched(history, time)
  if (verdict !== 'ALLOW') return factsOrNothing(snapshot)?.grave ? seenGrave(history, time) : history
  return uses ? agreed(history, time) : history
}

/** The risk memory after this turn. If it cannot be computed, the call is denied and the memory stays as it was. */
export function turnOrNothing(
  snapshot: Snapshot,
  request: ApprovalRequest | undefined,
  isRejected: boolean,
): RiskTurn {
  try {
    if (isRejected) return snapshot.uncounted()
    return request ? snapshot.turn() : snapshot.counted()
  } catch {
    // The session-risk gate failed for the same reason, or an earlier gate denied. Either way the call is not allowed.
    const { session, principal, lineage } = snapshot
    return { risk: session.risk, leak: principal.leak, lineage: lineage?.leak, source: false }
  }
}

// Denials that have nothing to do with the behaviour of the session.
const NEUTRAL: ReadonlySet<ReasonCode> = new Set([
  'SESSION_RISK_MEMORY_DENY',
  'SYSTEM_FROZEN',
  'AGENT_KILLED',
  'TOOL_FROZEN',
  'SESSION_FROZEN',
  'NO_POLICY_DEFINED',
  'OUTSIDE_HOURS',
  'RATE_EXCEEDED',
  'BUDGET_EXCEEDED',
])

export function nextDenials(denials: number, { verdict, reason }: Settled): number {
  if (verdict === 'ALLOW') return 0
  return verdict === 'DENY' && !NEUTRAL.has(reason) ? Math.min(9, denials + 1) : denials
}

/**
 * The provenance of the session after this call. Values in the arguments count as said by the agent, unless untrusted text
 * introduced them. The text of a server's question counts as output, whatever the verdict.
 */
export function seenAfter(
  intent: Intent,
  snapshot: Snapshot,
  { verdict, uses }: Settled,
): Provenance | undefined {
  const before = snapshot.provenance()
  if (!before) return before
  if (intent.author !== undefined) {
    return addSeen(before, snapshot.key, snapshot.texts().flatMap(seenInQuestion))
  }
  const values = snapshot.texts().flatMap((text) => text.values)
  const vouched = uses ? vouchedFor(snapshot) : []
  const marks = verdict === 'ALLOW' ? scriptIn(intent, snapshot) : []
  if (values.length + vouched.length + marks.length === 0) return before
  return addSeen(before, snapshot.key, [
    { origin: 'said', labels: [], values: [...marks, ...values] },
    // Approved targets count as named in later calls.
    { origin: 'said', labels: [], values: vouched, words: true },
  ])
}

/** Whether people received too many requests, or too many for this tool, to get another one. */
export function isTiringCall(tool: string, snapshot: Snapshot): boolean {
  const { watch: history } = snapshot.lineage ?? snapshot.principal
  return isApprovalFatigue(history, tool, isStrange(snapshot), snapshot.time)
}

function isStrange(snapshot: Snapshot): boolean {
  try {
    return snapshot.facts()?.strange ?? false
  } catch {
    return true // The gate failed for the same reason, or an earlier gate denied.
  }
}
