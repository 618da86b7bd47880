// What a decision leaves behind: every record that it rests on, with this call counted in.

import type { ReasonCode } from '@tollgate/evidence'
import type { ApprovalRequest } from './approvals.ts'
import type { Intent } from './call.ts'
import { heardInQuestion } from './inspect.ts'
import { costOf, nextLimits } from './limits.ts'
import type { Limit, LimitScope, TemporalSettings } from './policy/settings/temporal.ts'
import { eased, type Leak } from './risk.ts'
import type { RiskFacts } from './risk-facts.ts'
import { bringsLabelled, drippingTo } from './risk-drip.ts'
import {
  agreed,
  labelledAt,
  latched,
  paidTo,
  refused,
  seenGrave,
  sentTo,
  storedAway,
  type Watch,
} from './risk-watch.ts'
import { widened } from './scope/holds.ts'
import type { HeldScope } from './scope/scope.ts'
import {
  keepPrincipal,
  keepTenant,
  stateOf,
  stateText,
  type Allowances,
  type Elevation,
  type Kept,
  type PrincipalState,
  type SessionState,
  type State,
  type TenantState,
} from './session.ts'
import { wasRead, type Settled } from './settle.ts'
import type { RiskTurn, Snapshot } from './snapshot.ts'
import { changedData, type ChangedData } from './records.ts'
import { keyFor, copiedIn, vouchedFor } from './risk-aim.ts'
import { hear, type Provenance } from './taint/provenance.ts'
import { moved, outcomeOf, type TrustState } from './trust.ts'

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

/** A question of a server that does not pass: it says nothing of who would have been asked, and costs them nothing. */
function isNotOurs({ author }: Intent, { verdict }: Settled): boolean {
  return author !== undefined && verdict !== 'ALLOW'
}

/** Counts a decision in. */
export function foldIn(intent: Intent, snapshot: Snapshot, settled: Settled, before: State): Left {
  const { time } = snapshot
  // Only what still waits, or is used up now, was counted when it was first sent.
  const turn = turnOrNothing(snapshot, settled.waits ?? settled.uses, isNotOurs(intent, settled))
  const { session, principal, tenant, lineage } = before
  const source = turn.source && settled.verdict === 'ALLOW'
  const spend = spendingOf(intent, snapshot, settled)
  const records = {
    session: nextSession(session, { intent, settled, turn, source, spend }, snapshot),
    principal: nextPrincipal(principal, {
      leak: easedIf(settled, principal.value.leak, turn.leak, snapshot),
      source: source ? time : principal.value.source,
      watch: lineage ? principal.value.watch : watchAfter(principal.value.watch, intent, snapshot, settled),
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
        ? changedData(snapshot.data, () => heardOf(intent, snapshot, settled.uses !== undefined))
        : undefined,
    trust: intent.author === undefined ? nextTrust(snapshot, settled) : undefined,
  }
}

type Spend = (scope: LimitScope, before: Allowances) => Allowances

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
  const leak = easedIf(settled, risk.leak, turn.risk.leak, snapshot)
  return {
    seq: before.seq + 1,
    risk: settled.uses ? { ...risk, turns: risk.turns + 1, leak } : turn.risk,
    source: before.source || source,
    suspect: isNotOurs(intent, settled) ? before.suspect : suspectAfter(before.suspect, snapshot, settled),
    denials: intent.author === undefined ? nextDenials(before.denials, settled) : before.denials,
    limits: spend('session', before.limits),
    elevated: elevationBy(settled, snapshot) ?? before.elevated,
    scope: widenedBy(settled, intent, snapshot) ?? before.scope,
    broken: before.broken,
  }
}

/** Since when a person should have seen something of the session: a yes to anything clears it. */
function suspectAfter(since: number, snapshot: Snapshot, { uses, rung }: Settled): number {
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
function easedIf({ uses }: Settled, before: Leak, counted: Leak, { time, policy }: Snapshot): Leak {
  return uses ? eased(before, time, policy.gates.sessionRisk.halfLife) : counted
}

/** The elevation that an approval brings: only one that was asked for as such, and as far as it was needed. */
export function elevationBy({ uses, rung }: Settled, snapshot: Snapshot): Elevation | undefined {
  const settings = snapshot.policy.gates.privilege
  if (!uses || rung !== 'privilege' || !settings?.elevation) return undefined
  return { tier: settings.needs[snapshot.effect], until: snapshot.time + settings.elevation.lasts }
}

/** The scope once a person has widened it by this call; undefined if nobody has. */
export function widenedBy({ uses }: Settled, intent: Intent, snapshot: Snapshot): HeldScope | undefined {
  if (uses?.answer?.widen !== true) return undefined
  const { scope } = snapshot.session
  return scope ? widened(scope, intent, snapshot) : undefined
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
    leak: easedIf(settled, value.leak, turn.lineage ?? value.leak, snapshot),
    source: source ? snapshot.time : value.source,
    watch: watchAfter(value.watch, intent, snapshot, settled),
  })
}

/** By these something may be written down that is read back later. */
const WRITES: ReadonlySet<Snapshot['effect']> = new Set(['write', 'execute', 'admin'])

/** What is watched of whoever answers for the call, once it is decided. */
function watchAfter(watch: Watch, intent: Intent, snapshot: Snapshot, settled: Settled): Watch {
  if (isNotOurs(intent, settled)) return watch
  const heard = watchOfDrops(watchOfVerdict(watch, intent, snapshot, settled), intent, snapshot, settled)
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
function watchOfDrops(watch: Watch, intent: Intent, snapshot: Snapshot, settled: Settled): Watch {
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

function watchOfVerdict(
  watch: Watch,
  { tool, hash }: Intent,
  snapshot: Snapshot,
  { verdict, reason, uses }: Settled,
): Watch {
  const { time } = snapshot
  if (reason === 'APPROVAL_REFUSED') return refused(watch, tool, hash, time)
  if (reason === 'SESSION_RISK_MEMORY_DENY') return latched(watch, time)
  if (verdict !== 'ALLOW') return factsOrNothing(snapshot)?.grave ? seenGrave(watch, time) : watch
  return uses ? agreed(watch, time) : watch
}

/** The turn's part in the memory of risk. A call that is denied because this fails leaves the memory as it was. */
function turnOrNothing(
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

/**
 * What is remembered of the session's data once this call has been heard: what the agent says in its arguments counts as its
 * own, unless untrusted text has said it before. What a server says in its question is output, whatever the verdict.
 */
function heardOf({ author }: Intent, snapshot: Snapshot, approved: boolean): Provenance | undefined {
  const before = snapshot.provenance()
  if (!before) return before
  if (author !== undefined) {
    return hear(before, snapshot.key, snapshot.texts().flatMap(heardInQuestion))
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

function nextTrust({ trusted, policy, time }: Snapshot, settled: Settled): TrustState | undefined {
  const outcome = outcomeOf(settled.verdict, settled.reason)
  const settings = policy.gates.trust
  if (!trusted || !settings || outcome === undefined || settled.waits) return undefined
  const next = moved(trusted, outcome, time, settings)
  return next === trusted ? undefined : next
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

function nextDenials(denials: number, { verdict, reason }: Settled): number {
  if (verdict === 'ALLOW') return 0
  return verdict === 'DENY' && !SAY_NOTHING.has(reason) ? Math.min(9, denials + 1) : denials
}

/** How a call is taken from the limits of a scope. The record of a tenant holds those by tool as well. */
function spendingOf(intent: Intent, { policy, tool: known, time }: Snapshot, settled: Settled): Spend {
  const { tool, args } = intent
  const { limits } = policy.gates.temporal
  if (limits.length === 0 || isNotOurs(intent, settled)) return (_, before) => before
  const passed = settled.verdict === 'ALLOW'
  const cost = passed ? costOf(known?.declared?.cost, args) : 0
  return (scope, before) => {
    const own = ownLimits(policy.gates.temporal, scope)
    return own.length === 0 ? before : nextLimits(own, before, tool, time, { passed, cost })
  }
}

const grouped = new WeakMap<TemporalSettings, Map<string, readonly Limit[]>>()

/** The limits that a record keeps, found once for a policy. */
function ownLimits(settings: TemporalSettings, scope: LimitScope): readonly Limit[] {
  const known = grouped.get(settings) ?? new Map<string, readonly Limit[]>()
  if (known.size === 0) grouped.set(settings, known)
  let own = known.get(scope)
  if (!own) {
    own = settings.limits.filter((limit) => (limit.scope === 'tool' ? 'tenant' : limit.scope) === scope)
    known.set(scope, own)
  }
  return own
}
