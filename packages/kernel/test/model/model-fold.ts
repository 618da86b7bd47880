// What a decision leaves behind in the model: every record that it rests on, with this call counted in.

import { wasRead } from './model-ladder.ts'
import { costOf, spend, type Buckets } from './model-limits.ts'
import { ownerOf, sessionOf, type Memory, type SessionMemory } from './model-memory.ts'
import type { ModelLimit } from './model-policy.ts'
import { copiedIn, vouchedFor } from './model-call-target.ts'
import { isForgiven, watched, type ModelWatch } from './model-history.ts'
import { ease, riskOf, weigh, type Leak } from './model-risk.ts'
import { appliedRules, findingsIn } from './model-rungs-data.ts'
import { hear, questions, remembers, same, sorted } from './model-taint.ts'
import { moved, outcomeOf, trustText, type Raised } from './model-trust.ts'
import type { Settled } from './model-risk-terms.ts'
import type { Scene } from './model.ts'

/** What the receipt says besides, and for the coverage which records were broken. */
export interface Found {
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  readonly compliance: readonly string[]
  readonly trust: string | undefined
  readonly raised: Raised | undefined
  readonly widened: boolean
  readonly scoped: boolean
  readonly asked: boolean
  /** It goes to a sink that a person has agreed to. */
  readonly agreed: boolean
  readonly broken: readonly string[]
}

// Denials that say nothing about the session.
const NO_FAULT = /FROZEN|KILLED|RISK_MEMORY|NO_POLICY|OUTSIDE_HOURS|RATE_EXCEEDED|BUDGET_EXCEEDED/

/** A question that a server asks and that does not pass costs nobody but the server. */
const isTheirs = ({ call }: Scene, { verdict }: Pick<Settled, 'verdict'>): boolean =>
  call.author !== undefined && verdict !== 'ALLOW'

/** Counts a decision in, and says what its receipt says besides. */
export function fold(memory: Memory, scene: Scene, settled: Settled): Found {
  const { call, axes, leaks, time, policy, session } = scene
  const [name, owner] = [sessionOf(call), ownerOf(call)]
  // Only a call that still waits was counted before.
  const theirs = isTheirs(scene, settled)
  const weighed = weigh(
    session,
    leaks,
    settled.again || theirs ? undefined : axes,
    time,
    riskOf(call, policy),
  )
  const raised = raisedBy(scene, settled)
  memory.sessions.set(name, nextSession(scene, settled, weighed, raised))
  foldOwners(memory, scene, settled, weighed.carried)
  if (wasRead(settled)) remember(memory, scene, settled.approved === true)
  const outcome =
    settled.again || call.author !== undefined ? undefined : outcomeOf(settled.verdict, settled.reason)
  const trust = policy.trust && moved(scene.trust, outcome, time, policy.trust)
  if (trust) memory.trust.set(owner, trust)
  const read = wasRead(settled) && remembers(policy)
  return {
    labels: read ? scene.flow.labels : [],
    findings: read ? sorted(findingsIn(scene).map(({ code }) => code)) : [],
    compliance: read ? appliedRules(scene).map(({ id }) => id) : [],
    trust: trust && trustText(trust),
    raised,
    widened: settled.widen === true && session.scope !== undefined,
    scoped: session.scope !== undefined,
    asked: call.author !== undefined,
    agreed: scene.drips.some((to) => isForgiven(scene.answers.watch, to, time)),
    broken: scene.broken,
  }
}

/** A person who lifts what the privilege rung asked for raises the session for a time, as far as it was needed. */
function raisedBy(
  { policy: { privilege }, effect, time }: Scene,
  { approved, rung }: Settled,
): Raised | undefined {
  if (!approved || rung !== 'privilege' || !privilege?.elevation) return undefined
  return { tier: privilege.needs[effect], until: time + privilege.elevation.lasts }
}

function nextSession(
  scene: Scene,
  settled: Settled,
  { average, own }: { average: number; own: Leak },
  raised: Raised | undefined,
): SessionMemory {
  const { session: before, policy, time, call } = scene
  const { verdict, reason, approved, widen, rung } = settled
  const theirs = isTheirs(scene, settled)
  const passed = verdict === 'ALLOW'
  const fault = verdict === 'DENY' && !NO_FAULT.test(reason) ? 1 : 0
  return {
    seq: before.seq + 1,
    turns: before.turns + 1,
    // Whom a person vouched for is halved, and the turn is not held against it.
    average: approved ? before.average : average,
    leak: approved ? ease(before.leak, time, policy.risk.halfLife) : own,
    sensitive: before.sensitive || (passed && scene.brings),
    suspect: approved ? 0 : !theirs && (rung === 'session-risk' || scene.seen?.grave) ? time : before.suspect,
    denials: call.author !== undefined ? before.denials : passed ? 0 : Math.min(9, before.denials + fault),
    limits: spendAll(scene, passed, ['session'], before.limits),
    raised: raised ?? before.raised,
    scope:
      widen && before.scope ? { ...before.scope, also: [...before.scope.also, call.tool] } : before.scope,
    kept: true,
    broken: before.broken,
  }
}

/** What has not changed is not written, and cannot be lost. */
function foldOwners(memory: Memory, scene: Scene, settled: Settled, carried: readonly Leak[]): void {
  const { principals, tenants } = memory
  const { verdict, approved } = settled
  const { call, time, policy, principal, lineage, lineageName, tenant } = scene
  const after = (before: Leak, counted = before): Leak =>
    approved ? ease(before, time, policy.risk.halfLife) : counted
  const passed = verdict === 'ALLOW'
  const leak = after(principal.leak, carried[0])
  const limits = spendAll(scene, passed, ['principal'], principal.limits)
  const sensitiveAt = passed && scene.brings ? time : principal.sensitiveAt
  const watch = lineage ? principal.watch : historyAfter(scene, settled)
  const next = { ...principal, leak, limits, sensitiveAt, watch }
  if (!isUnchanged(principal, next)) principals.set(ownerOf(call), next)
  if (tenant) {
    const shared = spendAll(scene, passed, ['tool', 'tenant'], tenant.limits)
    if (shared !== tenant.limits) tenants.set(call.tenant, { ...tenant, limits: shared })
  }
  if (!lineage || lineageName === undefined) return
  const grown = after(lineage.leak, carried[1])
  const sensitive = passed && scene.brings ? time : lineage.sensitiveAt
  const root = { ...lineage, leak: grown, sensitiveAt: sensitive, watch: historyAfter(scene, settled) }
  if (!isUnchanged(lineage, root)) principals.set(lineageName, root)
}

function isUnchanged<T extends object>(before: T, after: T): boolean {
  // Sound: both have the same names.
  return (Object.keys(before) as (keyof T)[]).every((name) => before[name] === after[name])
}

/** What is watched of who answers for the call. */
function historyAfter(scene: Scene, { verdict, reason, approved, asks = [] }: Settled): ModelWatch {
  if (isTheirs(scene, { verdict })) return scene.answers.watch
  const { answers, call, time, effect, seen, tool, data } = scene
  return watched(answers.watch, {
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
    drips: scene.drips,
    labelled: scene.labelled,
    vouched: approved === true && asks.some((ask) => ask.startsWith('session-risk ')),
    copied: ['write', 'execute', 'admin'].includes(effect) && data ? copiedIn(call, tool, data) : [],
  })
}

function spendAll(
  { call, time, policy, tool }: Scene,
  passed: boolean,
  scopes: readonly ModelLimit['scope'][],
  before: Buckets,
): Buckets {
  if (!passed && call.author !== undefined) return before
  const own = policy.limits.filter(({ scope }) => scopes.includes(scope))
  return spend(own, before, { tool: call.tool, time, passed, cost: costOf(tool?.cost, call.amount) })
}

/** What came with the call, and then what it says itself. What was once lost is not begun anew. */
function remember(memory: Memory, { call, remembered, data, tool, voiced }: Scene, approved: boolean): void {
  if (!remembered || !data || remembered.broken) return
  const values = call.texts.flatMap(({ facts }) => facts.values)
  const vouched = approved && voiced ? vouchedFor(call, tool) : []
  const next =
    call.author === undefined
      ? hear(data, { origin: 'said', labels: [], values: [...values, ...vouched] })
      : call.texts.flatMap(({ facts }) => questions(facts)).reduce(hear, data)
  if (!same(remembered, next)) memory.data.set(sessionOf(call), next)
}
