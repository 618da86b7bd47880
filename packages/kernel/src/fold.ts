// What a decision leaves behind: the records of its session and its principal, with this call counted in.

import type { ReasonCode, Verdict } from '@tollgate/evidence'
import type { ApprovalRequest } from './approvals.ts'
import type { Intent } from './call.ts'
import { rateName, refilled, taken } from './rates.ts'
import { eased } from './risk.ts'
import {
  keepPrincipal,
  stateOf,
  stateText,
  type Kept,
  type PrincipalState,
  type SessionState,
  type State,
} from './session.ts'
import type { Settled } from './settle.ts'
import type { RiskTurn, Snapshot } from './snapshot.ts'

/** The state once this decision is counted in, and its text. */
export function foldIn(
  intent: Intent,
  snapshot: Snapshot,
  settled: Settled,
  before: State,
): { after: State; text: string } {
  const { time, policy } = snapshot
  const { halfLife } = policy.gates.sessionRisk
  // Only what still waits, or is used up now, was counted when it was first sent.
  const turn = turnOrNothing(snapshot, settled.waits ?? settled.uses)
  // A person looked at this call: it does not count against the session, and halves what does.
  const approved = settled.uses !== undefined
  const { session, principal } = before
  const source = turn.source && settled.verdict === 'ALLOW'
  const nextSession: SessionState = {
    seq: session.seq + 1,
    risk: approved
      ? { ...session.risk, turns: session.risk.turns + 1, leak: eased(session.risk.leak, time, halfLife) }
      : turn.risk,
    source: session.source || source,
    denials: nextDenials(session.denials, settled),
    broken: session.broken,
  }
  const next = nextPrincipal(principal, {
    leak: approved ? eased(principal.value.leak, time, halfLife) : turn.leak,
    source: source ? time : principal.value.source,
    rates: nextRates(principal.value, snapshot, intent.tool, settled.verdict),
    broken: principal.value.broken,
  })
  const text = stateText(nextSession, next)
  return { after: stateOf(nextSession, next, text), text }
}

/** The principal's record after the call; the very same if nothing in it has changed. */
function nextPrincipal(before: Kept<PrincipalState>, next: PrincipalState): Kept<PrincipalState> {
  const { leak, source, rates } = before.value
  const same = leak === next.leak && source === next.source && rates === next.rates
  return same ? before : keepPrincipal(next)
}

/** The turn's part in the memory of risk. A call that is denied because this fails leaves the memory as it was. */
function turnOrNothing(snapshot: Snapshot, request: ApprovalRequest | undefined): RiskTurn {
  try {
    return request ? snapshot.turn() : snapshot.counted()
  } catch {
    // The session-risk rung has failed for the same reason, unless an earlier one denied: the call does not pass.
    return { risk: snapshot.session.risk, leak: snapshot.principal.leak, source: false }
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
  'TEMPORAL_INTERVENTION',
])

function nextDenials(denials: number, { verdict, reason }: Settled): number {
  if (verdict === 'ALLOW') return 0
  return verdict === 'DENY' && !SAY_NOTHING.has(reason) ? Math.min(9, denials + 1) : denials
}

/** Only calls that pass are taken from their rates. */
function nextRates(
  { rates }: PrincipalState,
  { policy, time }: Snapshot,
  tool: string,
  verdict: Verdict,
): PrincipalState['rates'] {
  if (verdict !== 'ALLOW' || policy.gates.rates.length === 0) return rates
  return Object.fromEntries(
    policy.gates.rates.map((rate) => [
      rateName(rate),
      (rate.tools.matches(tool) ? taken : refilled)(rate, rates[rateName(rate)], time),
    ]),
  )
}
