// Computes the state after a decision: every record that it depends on, with this call counted.

import type { Intent } from './capture.ts'
import {
  keepPrincipal,
  keepTenant,
  stateOf,
  stateText,
  type Allowances,
  type Kept,
  type PrincipalState,
  type SessionState,
  type State,
  type TenantState,
} from '../ledger/session.ts'
import { wasRead, type Settled } from './settle.ts'
import type { Snapshot } from './snapshot.ts'
import type { RiskTurn } from '../gates/session-risk/turn.ts'
import { changedData, type ChangedData } from '../ledger/records.ts'
import type { TrustState } from '../gates/trust/trust.ts'
import { isRejectedQuestion } from '../gates/gate.ts'
import type { Spend } from '../gates/detectors.ts'
import { DETECTORS } from '../gates/index.ts'

/** The state after a decision. An unchanged part is the same object as before. */
export interface Left {
  readonly after: State
  /** The text of `after`. */
  readonly text: string
  /** The data of the session, if the decision changed it. */
  readonly data: ChangedData | undefined
  /** The trust of the principal, if the decision changed it. */
  readonly trust: TrustState | undefined
}

/** Returns the state with a decision counted. */
export function foldIn(intent: Intent, snapshot: Snapshot, settled: Settled, before: State): Left {
  const { time } = snapshot
  // A call that waits, or uses its approval now, was counted when it was first sent.
  const turn = DETECTORS.risk.turnAfter(
    snapshot,
    settled.waits ?? settled.uses,
    isRejectedQuestion(intent, settled),
  )
  const { session, principal, tenant, lineage } = before
  const source = turn.source && settled.verdict === 'ALLOW'
  const spend = DETECTORS.limits.spending(intent, snapshot, settled)
  const records = {
    session: nextSession(session, { intent, settled, turn, source, spend }, snapshot),
    principal: nextPrincipal(principal, {
      leak: DETECTORS.risk.leakAfter(settled, principal.value.leak, turn.leak, snapshot),
      source: source ? time : principal.value.source,
      watch: lineage
        ? principal.value.watch
        : DETECTORS.risk.historyAfter(principal.value.watch, intent, snapshot, settled),
      limits: spend('principal', principal.value.limits),
      broken: principal.value.broken,
    }),
    tenant: tenant && nextTenant(tenant, spend('tenant', tenant.value.limits)),
    lineage: lineage && nextLineage(lineage, { intent, settled, turn, source }, snapshot),
  }
  const text = stateText(records)
  return {
    after: stateOf(records, text),
    text,
    data:
      snapshot.data && wasRead(settled)
        ? changedData(snapshot.data, () => DETECTORS.taint.seenAfter(intent, snapshot, settled))
        : undefined,
    trust: intent.author === undefined ? DETECTORS.trust.afterDecision(snapshot, settled) : undefined,
  }
}

interface SessionTurn {
  readonly intent: Intent
  readonly settled: Settled
  readonly turn: RiskTurn
  readonly source: boolean
  readonly spend: Spend
}

function nextSession(before: SessionState, now: SessionTurn, snapshot: Snapshot): SessionState {
  const { intent, settled, turn, source, spend } = now
  const { risk } = before
  // A person approved this call: it does not count against the session, and halves its risk.
  const leak = DETECTORS.risk.leakAfter(settled, risk.leak, turn.risk.leak, snapshot)
  return {
    seq: before.seq + 1,
    risk: settled.uses ? { ...risk, turns: risk.turns + 1, leak } : turn.risk,
    source: before.source || source,
    suspect: isRejectedQuestion(intent, settled)
      ? before.suspect
      : DETECTORS.risk.suspectAfter(before.suspect, snapshot, settled),
    denials:
      intent.author === undefined ? DETECTORS.risk.denialsAfter(before.denials, settled) : before.denials,
    limits: spend('session', before.limits),
    elevated: DETECTORS.privilege.elevationBy(settled, snapshot) ?? before.elevated,
    scope: DETECTORS.scope.widenedBy(settled, intent, snapshot) ?? before.scope,
    broken: before.broken,
  }
}

/** Returns the principal's record after the call; the same object if nothing changed. */
function nextPrincipal(before: Kept<PrincipalState>, next: PrincipalState): Kept<PrincipalState> {
  const { leak, source, watch, limits } = before.value
  const same = leak === next.leak && source === next.source && watch === next.watch && limits === next.limits
  return same ? before : keepPrincipal(next)
}

function nextTenant(before: Kept<TenantState>, limits: Allowances): Kept<TenantState> {
  return limits === before.value.limits ? before : keepTenant({ ...before.value, limits })
}

/** Returns the record of the root delegator. It is charged for the risk of the call, and gains from an approval. */
function nextLineage(
  before: Kept<PrincipalState>,
  { intent, settled, turn, source }: Omit<SessionTurn, 'spend'>,
  snapshot: Snapshot,
): Kept<PrincipalState> {
  const { value } = before
  return nextPrincipal(before, {
    ...value,
    leak: DETECTORS.risk.leakAfter(settled, value.leak, turn.lineage ?? value.leak, snapshot),
    source: source ? snapshot.time : value.source,
    watch: DETECTORS.risk.historyAfter(value.watch, intent, snapshot, settled),
  })
}
