// What a decision leaves behind: every record that it rests on, with this call counted in.

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

/** What a decision leaves behind. A part of the state that it did not change is the very same object as before. */
export interface Left {
  readonly after: State
  /** The text of `after`. */
  readonly text: string
  /** What is remembered of the session's data from now on, if the decision changed it. */
  readonly data: ChangedData | undefined
  /** How far the principal is trusted from now on, if the decision changed it. */
  readonly trust: TrustState | undefined
}

/** Counts a decision in. */
export function foldIn(intent: Intent, snapshot: Snapshot, settled: Settled, before: State): Left {
  const { time } = snapshot
  // Only what still waits, or is used up now, was counted when it was first sent.
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
        ? changedData(snapshot.data, () =>
            DETECTORS.taint.seenAfter(intent, snapshot, settled.uses !== undefined),
          )
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
  // A person looked at this call: it does not count against the session, and halves what does.
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

/** The principal's record after the call; the very same if nothing in it has changed. */
function nextPrincipal(before: Kept<PrincipalState>, next: PrincipalState): Kept<PrincipalState> {
  const { leak, source, watch, limits } = before.value
  const same = leak === next.leak && source === next.source && watch === next.watch && limits === next.limits
  return same ? before : keepPrincipal(next)
}

function nextTenant(before: Kept<TenantState>, limits: Allowances): Kept<TenantState> {
  return limits === before.value.limits ? before : keepTenant({ ...before.value, limits })
}

/** Who delegated the call answers for its risk, and gains by a person's approval of it. */
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
