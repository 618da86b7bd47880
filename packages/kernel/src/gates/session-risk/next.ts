// What a decision does to the memory of risk, and to what is watched of a principal.

import type { ReasonCode } from '@tollgate/evidence'
import type { ApprovalRequest } from '../../admin/approvals.ts'
import { costOf } from '../../policy/cost.ts'
import type { Intent } from '../../road/capture.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isNotOurs } from '../gate.ts'
import { copiedIn, keyFor, vouchedFor } from './call-target.ts'
import { bringsLabelled, drippingTo } from './drip.ts'
import type { RiskFacts } from './facts.ts'
import { type Leak, eased } from './risk.ts'
import type { RiskTurn } from './turn.ts'
import {
  type RiskHistory,
  storedAway,
  paidTo,
  labelledAt,
  sentTo,
  refused,
  latched,
  seenGrave,
  agreed,
  isApprovalFatigue,
} from './history.ts'
import { seenInQuestion } from '../taint/seen-values.ts'
import { hear } from '../taint/provenance.ts'
import type { Provenance } from '../taint/remembered.ts'

/** Since when a person should have seen something of the session: a yes to anything clears it. */
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

/** The sum after this call; if a person vouched for it, half of what it was before. */
export function easedIf({ uses }: Settled, before: Leak, counted: Leak, { time, policy }: Snapshot): Leak {
  return uses ? eased(before, time, policy.gates.sessionRisk.halfLife) : counted
}

/** By these something may be written down that is read back later. */
const WRITES: ReadonlySet<Snapshot['effect']> = new Set(['write', 'execute', 'admin'])

/** What is watched of whoever answers for the call, once it is decided. */
export function historyAfter(
  watch: RiskHistory,
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
): RiskHistory {
  if (isNotOurs(intent, settled)) return watch
  const heard = historyOfDrops(historyOfVerdict(watch, intent, snapshot, settled), intent, snapshot, settled)
  // Also where it was stopped: what a text wants written down may get there by another way.
  const copied = WRITES.has(snapshot.effect) ? copiedIn(snapshot) : []
  if (copied.length > 0) return storedAway({ ...heard, key: keyFor(snapshot, snapshot.provenance()) }, copied)
  if (settled.verdict !== 'ALLOW' || snapshot.effect !== 'pay') return heard
  const unnamed = factsOrNothing(snapshot)?.aim?.unnamed ?? []
  const cost = unnamed.length === 0 ? 0 : (costOf(snapshot.tool?.declared?.cost, intent.args) ?? 0)
  if (cost === 0) return heard
  return paidTo({ ...heard, key: keyFor(snapshot, snapshot.provenance()) }, unnamed, cost, snapshot.time)
}

/** What left for the same sinks after labelled data was read, with this call. */
function historyOfDrops(
  watch: RiskHistory,
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
): RiskHistory {
  const { verdict, uses, asks = [] } = settled
  if (verdict !== 'ALLOW') return watch
  // It was allowed, so the rung that looks at this did not fail.
  const heard = bringsLabelled(snapshot) ? labelledAt(watch, snapshot.time) : watch
  const sinks = drippingTo(intent, snapshot)
  if (sinks.length === 0) return heard
  // Who was asked about something else has not agreed to this.
  const isAgreed = uses !== undefined && asks.some((ask) => ask.startsWith('session-risk '))
  return sentTo(heard, sinks, isAgreed, snapshot.time)
}

function historyOfVerdict(
  watch: RiskHistory,
  { tool, hash }: Intent,
  snapshot: Snapshot,
  { verdict, reason, uses }: Settled,
): RiskHistory {
  const { time } = snapshot
  if (reason === 'APPROVAL_REFUSED') return refused(watch, tool, hash, time)
  if (reason === 'SESSION_RISK_MEMORY_DENY') return latched(watch, time)
  if (verdict !== 'ALLOW') return factsOrNothing(snapshot)?.grave ? seenGrave(watch, time) : watch
  return uses ? agreed(watch, time) : watch
}

/** The turn's part in the memory of risk. A call that is denied because this fails leaves the memory as it was. */
export function turnOrNothing(
  snapshot: Snapshot,
  request: ApprovalRequest | undefined,
  isNobodys: boolean,
): RiskTurn {
  try {
    if (isNobodys) return snapshot.uncounted()
    return request ? snapshot.turn() : snapshot.counted()
  } catch {
    // The session-risk rung has failed for the same reason, unless an earlier one denied: the call does not pass.
    const { session, principal, lineage } = snapshot
    return { risk: session.risk, leak: principal.leak, lineage: lineage?.leak, source: false }
  }
}

// Denials that say something about the session, not about a rung that is closed for everybody.
const SAY_NOTHING: ReadonlySet<ReasonCode> = new Set([
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
  return verdict === 'DENY' && !SAY_NOTHING.has(reason) ? Math.min(9, denials + 1) : denials
}

/**
 * What is remembered of the session's data once this call has been heard: what the agent says in its arguments counts as its
 * own, unless untrusted text has said it before. What a server says in its question is output, whatever the verdict.
 */
export function seenAfter({ author }: Intent, snapshot: Snapshot, approved: boolean): Provenance | undefined {
  const before = snapshot.provenance()
  if (!before) return before
  if (author !== undefined) {
    return hear(before, snapshot.key, snapshot.texts().flatMap(seenInQuestion))
  }
  const values = snapshot.texts().flatMap((text) => text.values)
  const vouched = approved ? vouchedFor(snapshot) : []
  if (values.length === 0 && vouched.length === 0) return before
  return hear(before, snapshot.key, [
    { origin: 'said', labels: [], values },
    // Whom a person has agreed to is named from then on.
    { origin: 'said', labels: [], values: vouched, words: true },
  ])
}

/** Whether people were asked too much, or about this too often, to be asked once more. */
export function isTiringCall(tool: string, snapshot: Snapshot): boolean {
  const { watch } = snapshot.lineage ?? snapshot.principal
  return isApprovalFatigue(watch, tool, isStrange(snapshot), snapshot.time)
}

function isStrange(snapshot: Snapshot): boolean {
  try {
    return snapshot.facts()?.strange ?? false
  } catch {
    return true // The gate has failed for the same reason, unless an earlier one denied.
  }
}
