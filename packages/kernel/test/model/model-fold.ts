// Updates the memory of the model after a decision.

import { wasRead } from './model-ladder.ts'
import { costOf, spend, type Buckets } from './model-limits.ts'
import { ownerOf, sessionOf, type Memory, type SessionMemory } from './model-memory.ts'
import type { ModelLimit } from './model-policy.ts'
import { copiedIn, vouchedFor } from './model-call-target.ts'
import { isForgiven, nextHistory, type ModelHistory } from './model-history.ts'
import { ease, riskOf, weigh, type Leak } from './model-risk.ts'
import { appliedRules, findingsIn } from './model-steps-data.ts'
import { addSeen, dataInQuestion, remembers, same, sorted } from './model-taint.ts'
import { moved, outcomeOf, trustText, type Raised } from './model-trust.ts'
import type { Settled } from './model-results.ts'
import type { State } from './model.ts'

/** More contents of the receipt, and facts for the coverage. */
export interface Found {
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  readonly compliance: readonly string[]
  readonly trust: string | undefined
  readonly raised: Raised | undefined
  readonly widened: boolean
  readonly scoped: boolean
  readonly asked: boolean
  /** The call sends data to a sink that a person approved. */
  readonly agreed: boolean
  readonly broken: readonly string[]
}

// Denials that have nothing to do with the behaviour of the session.
const NEUTRAL = /FROZEN|KILLED|RISK_MEMORY|NO_POLICY|OUTSIDE_HOURS|RATE_EXCEEDED|BUDGET_EXCEEDED/

/** A server's question that is not allowed counts only against the server. */
const isRejectedQuestion = ({ call }: State, { verdict }: Pick<Settled, 'verdict'>): boolean =>
  call.author !== undefined && verdict !== 'ALLOW'

/** Updates the memory with a decision, and returns more contents of its receipt. */
export function fold(memory: Memory, state: State, settled: Settled): Found {
  const { call, axes, leaks, time, policy, session } = state
  const [name, owner] = [sessionOf(call), ownerOf(call)]
  // Only a call that still waits was already counted.
  const isRejected = isRejectedQuestion(state, settled)
  const weighed = weigh(
    session,
    leaks,
    settled.again || isRejected ? undefined : axes,
    time,
    riskOf(call, policy),
  )
  const raised = raisedBy(state, settled)
  memory.sessions.set(name, nextSession(state, settled, weighed, raised))
  foldOwners(memory, state, settled, weighed.carried)
  if (wasRead(settled)) remember(memory, state, settled.approved === true)
  const outcome =
    settled.again || call.author !== undefined ? undefined : outcomeOf(settled.verdict, settled.reason)
  const trust = policy.trust && moved(state.trust, outcome, time, policy.trust)
  if (trust) memory.trust.set(owner, trust)
  const read = wasRead(settled) && remembers(policy)
  return {
    labels: read ? state.flow.labels : [],
    findings: read ? sorted(findingsIn(state).map(({ code }) => code)) : [],
    compliance: read ? appliedRules(state).map(({ id }) => id) : [],
    trust: trust && trustText(trust),
    raised,
    widened: settled.widen === true && session.scope !== undefined,
    scoped: session.scope !== undefined,
    asked: call.author !== undefined,
    agreed: state.drips.some((to) => isForgiven(state.answers.history, to, time)),
    broken: state.broken,
  }
}

/** An approval of the privilege gate's escalation raises the session to the needed tier for a time. */
function raisedBy(
  { policy: { privilege }, effect, time }: State,
  { approved, rung }: Settled,
): Raised | undefined {
  if (!approved || rung !== 'privilege' || !privilege?.elevation) return undefined
  return { tier: privilege.needs[effect], until: time + privilege.elevation.lasts }
}

function nextSession(
  state: State,
  settled: Settled,
  { average, own }: { average: number; own: Leak },
  raised: Raised | undefined,
): SessionMemory {
  const { session: before, policy, time, call } = state
  const { verdict, reason, approved, widen, rung } = settled
  const isRejected = isRejectedQuestion(state, settled)
  const passed = verdict === 'ALLOW'
  const fault = verdict === 'DENY' && !NEUTRAL.test(reason) ? 1 : 0
  return {
    seq: before.seq + 1,
    turns: before.turns + 1,
    // An approval halves the sum, and the turn does not count.
    average: approved ? before.average : average,
    leak: approved ? ease(before.leak, time, policy.risk.halfLife) : own,
    sensitive: before.sensitive || (passed && state.brings),
    suspect: approved
      ? 0
      : !isRejected && (rung === 'session-risk' || state.seen?.grave)
        ? time
        : before.suspect,
    denials: call.author !== undefined ? before.denials : passed ? 0 : Math.min(9, before.denials + fault),
    limits: spendAll(state, passed, ['session'], before.limits),
    raised: raised ?? before.raised,
    scope:
      widen && before.scope ? { ...before.scope, also: [...before.scope.also, call.tool] } : before.scope,
    kept: true,
    broken: before.broken,
  }
}

/** Unchanged records are not written, and cannot be lost. */
function foldOwners(memory: Memory, state: State, settled: Settled, carried: readonly Leak[]): void {
  const { principals, tenants } = memory
  const { verdict, approved } = settled
  const { call, time, policy, principal, lineage, lineageName, tenant } = state
  const after = (before: Leak, counted = before): Leak =>
    approved ? ease(before, time, policy.risk.halfLife) : counted
  const passed = verdict === 'ALLOW'
  const leak = after(principal.leak, carried[0])
  const limits = spendAll(state, passed, ['principal'], principal.limits)
  const sensitiveAt = passed && state.brings ? time : principal.sensitiveAt
  const history = lineage ? principal.history : historyAfter(state, settled)
  const next = { ...principal, leak, limits, sensitiveAt, history }
  if (!isUnchanged(principal, next)) principals.set(ownerOf(call), next)
  if (tenant) {
    const shared = spendAll(state, passed, ['tool', 'tenant'], tenant.limits)
    if (shared !== tenant.limits) tenants.set(call.tenant, { ...tenant, limits: shared })
  }
  if (!lineage || lineageName === undefined) return
  const grown = after(lineage.leak, carried[1])
  const sensitive = passed && state.brings ? time : lineage.sensitiveAt
  const root = { ...lineage, leak: grown, sensitiveAt: sensitive, history: historyAfter(state, settled) }
  if (!isUnchanged(lineage, root)) principals.set(lineageName, root)
}

function isUnchanged<T extends object>(before: T, after: T): boolean {
  // Sound: both have the same names.
  return (Object.keys(before) as (keyof T)[]).every((name) => before[name] === after[name])
}

/** The risk history of the responsible principal. */
function historyAfter(state: State, { verdict, reason, approved, asks = [] }: Settled): ModelHistory {
  if (isRejectedQuestion(state, { verdict })) return state.answers.history
  const { answers, call, time, effect, seen, tool, data } = state
  return nextHistory(answers.history, {
    ...{
      reason,
      passed: verdict === 'ALLOW',
      approved: approved === true,
      tool: call.tool,
      args: call.args,
      time,
    },
    grave: seen?.grave === true,
    paidTo: effect === 'pay' ? (seen?.unnamed ?? []) : [],
    cost: costOf(tool?.cost, call.amount) ?? 0,
    drips: state.drips,
    labelled: state.labelled,
    vouched: approved === true && asks.some((ask) => ask.startsWith('session-risk ')),
    copied: ['write', 'execute', 'admin'].includes(effect) && data ? copiedIn(call, tool, data) : [],
  })
}

function spendAll(
  { call, time, policy, tool }: State,
  passed: boolean,
  scopes: readonly ModelLimit['scope'][],
  before: Buckets,
): Buckets {
  if (!passed && call.author !== undefined) return before
  const own = policy.limits.filter(({ scope }) => scopes.includes(scope))
  return spend(own, before, { tool: call.tool, time, passed, cost: costOf(tool?.cost, call.amount) })
}

/** Adds the sources of the call and then its arguments. A lost record is not started again. */
function remember(memory: Memory, { call, remembered, data, tool, voiced }: State, approved: boolean): void {
  if (!remembered || !data || remembered.broken) return
  const values = call.texts.flatMap(({ facts }) => facts.values)
  const vouched = approved && voiced ? vouchedFor(call, tool) : []
  const next =
    call.author === undefined
      ? addSeen(data, { origin: 'said', labels: [], values: [...values, ...vouched] })
      : call.texts.flatMap(({ facts }) => dataInQuestion(facts)).reduce(addSeen, data)
  if (!same(remembered, next)) memory.data.set(sessionOf(call), next)
}
