// A second, naive implementation of the kernel's rules. It shares only types with the kernel: globs use recursion, fractions BigInt,
// state plain maps. Facts that need a parser or a library are given with the call.

import type { ReasonCode } from '@tollgate/evidence'
import { chainOf, mayRegister, type Grant } from './model-delegation.ts'
import { closeExpired, endCall, recover, toolOf, type ModelEffect } from './model-effects.ts'
import { fold, type Found } from './model-fold.ts'
import { climb } from './model-ladder.ts'
import { sharesLimits } from './model-limits.ts'
import {
  Memory,
  NEW_PRINCIPAL,
  NEW_SESSION,
  NEW_TENANT,
  NOBODY,
  ownerOf,
  sessionOf,
  type Request,
} from './model-memory.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import { fill, riskOf, take, weigh, type Pace } from './model-risk.ts'
import { targetsOf } from './model-steps-data.ts'
import { isNarrower, isSame } from './model-scope.ts'
import { callTargetOf, factsOf, isVoiced } from './model-call-target.ts'
import { isApprovalFatigue } from './model-history.ts'
import { flowOf, addSources, NO_DATA, remembers } from './model-taint.ts'
import { NEW_TRUST, tierOf } from './model-trust.ts'
import { deny, type LadderResult, type Settled } from './model-results.ts'
import type { EffectSpec, Lost, ModelCall, ObserveSpec, Reply, ScopeSpec, Seen } from './model-world.ts'

/** A decision and the contents of its receipt. */
export type ModelDecision = Settled & { seq?: number; score?: number; window?: number; found?: Found }

const FIFTEEN_MINUTES = 900_000
const DAY = 86_400_000
const MINUTE = 60_000
const WEEK = 7 * DAY
const HOUR = 60 * MINUTE

/** The principal that is charged for a denial: the author of the arguments. */
const chargedTo = ({ tenant, principal, author }: ModelCall): string =>
  ownerOf({ tenant, principal: author ?? principal })

/** Everything known about a call. */
export type State = ReturnType<Model['look']>

const endOf = ({ answer, until }: Request): number => answer?.until ?? until
/** The identity of a question to a person. */
const askedOf = ({
  reason,
  rung,
  rule,
  asks,
}: Pick<LadderResult, 'reason' | 'rung' | 'rule' | 'asks'>): string =>
  JSON.stringify([reason, rung, rule?.id, rule?.approvers ?? [], asks])

/** The page that an approver sees. A call of a browser tool without a page has an empty one. */
const pageOf = ({ seen }: ModelCall, tool: ModelTool | undefined): Seen | undefined =>
  seen ?? (tool?.browser ? { risk: undefined, findings: [], planned: false } : undefined)

/** Whether an approval of a page covers the current page: no higher risk, and no new finding. */
const covers = (asked: Seen | undefined, now: Seen | undefined): boolean =>
  (now === undefined) === (asked === undefined) &&
  (now?.risk ?? 101) <= (asked?.risk ?? 101) &&
  (now?.risk === undefined) === (asked?.risk === undefined) &&
  (now?.findings ?? []).every((each) => asked?.findings.includes(each))

/** The newest request for a call: with the same page, otherwise with one that covers it. */
const newestFor = (
  requests: readonly (Request | undefined)[],
  binding: string,
  now: Seen | undefined,
): number => {
  const mine = (each: Request | undefined): each is Request => each?.binding === binding
  const text = JSON.stringify(now)
  const exact = requests.findLastIndex((each) => mine(each) && JSON.stringify(each.seen) === text)
  return exact === -1 ? requests.findLastIndex((each) => mine(each) && covers(each.seen, now)) : exact
}

/** The model: its memory, and its answers to events. */
export class Model {
  readonly memory: Memory

  /** `nothing` is the policy of tenants without one. */
  constructor(nothing: ModelPolicy, quota: Pace) {
    this.memory = new Memory(nothing, quota)
  }

  judge(call: ModelCall, clock: number): ModelDecision {
    const { memory } = this
    const { quota, flooding, denials, frozen } = memory
    const owner = chargedTo(call)
    if (flooding.has(owner)) return { ...deny('QUOTA_EXCEEDED'), rung: 'freeze' }
    const time = Math.max(memory.time, clock)
    const spent = fill(quota, denials.get(owner), time).left < quota.period
    if (spent && frozen.has('all')) return { ...deny('SYSTEM_FROZEN'), rung: 'freeze' }
    closeExpired(memory, clock)
    memory.time = time
    const state = this.look(call, clock)
    const settled = this.#settle(state, climb(state))
    const found = fold(memory, state, settled)
    if (settled.verdict === 'DENY' || settled.again) this.#countDenial(owner)
    if (settled.verdict === 'ALLOW')
      this.#open(call, settled.reason === 'ASKED_IN_CLIENT' ? FIFTEEN_MINUTES : MINUTE)
    const { session, score, policy } = state
    const window = Math.min(session.turns + 1, policy.risk.window)
    return { ...settled, seq: session.seq, score, window, found }
  }

  /** Everything known about a call, including its own turn. */
  look(call: ModelCall, clock: number) {
    const { memory } = this
    const { time } = memory
    const policy = memory.policyFor(call.tenant)
    const tool = toolOf(policy, call.tool)
    const [offered, pinned] = [memory.offers.get(call.tool), memory.pins.get(call.tool)]
    const named = [...call.hosts, ...call.texts.flatMap(({ facts }) => facts.hosts)]
    const hosts = [...(tool?.offline ? [] : named), ...call.pages]
    const listed = [...policy.egress.allow, ...policy.egress.ask]
    const outside = hosts.some((host) => policy.egress.deny.includes(host) || !listed.includes(host))
    const records = this.#recordsOf(call, policy)
    const { session, principal, lineage } = records
    const isRecent = principal.sensitiveAt > 0 && time - principal.sensitiveAt <= policy.risk.halfLife
    const [declared, effect] = [tool !== undefined, tool?.effect ?? 'admin']
    const facts = { declared, effect, outside, leaves: hosts.length > 0, denials: session.denials }
    const data = records.remembered && addSources(records.remembered, call)
    const says = tool && !tool.offline && call.hosts.length > 0
    const targets = targetsOf(hosts, says === true || call.pages.length > 0, tool?.offline === true, effect)
    const acts = effect !== 'read' || call.acts === true
    const answers = lineage ?? principal
    const suspect = session.suspect > 0 && time - session.suspect <= WEEK
    const { grave } = answers.history
    const wary = grave > 0 && time - grave <= HOUR
    const recently = [principal.sensitiveAt, lineage?.sensitiveAt ?? 0].some(
      (at) => at > 0 && time - at <= WEEK,
    )
    const holdsData = data?.labels.some((label) => label !== 'flagged' && label !== 'page') === true
    const voiced = isVoiced(data)
    const internal = policy.taint?.internal ?? []
    const seen =
      voiced && data
        ? factsOf(callTargetOf(call, tool, data, internal, answers.history.stored), {
            ...{ effect, acts, suspect, wary, data, goes: hosts.length > 0 },
            outward: targets.some((host) => !internal.includes(host)),
            sensitive: session.sensitive || recently || holdsData,
          })
        : undefined
    const canDrip = data && !voiced && effect !== 'read' && effect !== 'pay'
    const { labelledAt } = answers.history
    const elsewhere = labelledAt > 0 && time - labelledAt <= WEEK
    const drips =
      canDrip && (session.sensitive || recently || holdsData || elsewhere)
        ? [...new Set(targets.filter((host) => !internal.includes(host)))]
            .slice(0, 8)
            .map((host) => (host === '(anywhere)' ? `${host} ${call.tool}` : host))
        : []
    const returns = (tool?.returns.length ?? 0) > 0
    const ofData = tool?.returns.some((label) => label !== 'flagged' && label !== 'page') === true
    const labelled = data !== undefined && !voiced && (ofData || holdsData)
    const brings = voiced ? returns || (!session.sensitive && holdsData) : call.sensitive
    const axes = call.axes({ ...facts, afterSource: session.sensitive || isRecent }, voiced, seen?.axes)
    const from = [
      call.door,
      call.assurance,
      call.context,
      call.pages,
      call.acts,
      call.seen?.planned,
      call.delegation,
      call.author,
    ]
    const binding = JSON.stringify([sessionOf(call), call.tool, effect, pinned ?? offered, call.args, from])
    // If a person was asked about exactly this call, its turn is already counted.
    const page = pageOf(call, tool)
    const asked = memory.requests[newestFor(memory.requests, binding, page)]
    const counted = asked && time <= endOf(asked) && asked.answer?.granted !== false
    const leaks = [principal.leak, ...(lineage ? [lineage.leak] : [])]
    const risk = weigh(session, leaks, counted ? undefined : axes, time, riskOf(call, policy))
    const parties = [call.principal ?? NOBODY, ...(records.chain ?? []).map(({ delegator }) => delegator)]
    return {
      ...records,
      ...facts,
      ...risk,
      ...{ call, time, policy, axes, leaks, tool, offered, pinned, hosts, binding, data },
      ...{ acts, targets, seen, brings, voiced, answers, drips, labelled, page },
      freeze: this.#freezeOf(call),
      observed: this.#isObserved(call, time, clock),
      isFrozen: (other: string) => memory.frozen.has(ownerOf({ ...call, principal: other })),
      flow: flowOf(call, policy, tool, data),
      tier: tierOf(policy, parties, session.raised, time),
      trust: memory.trust.get(ownerOf(call)) ?? NEW_TRUST,
    }
  }

  /** The records that a call depends on, and which of them were lost. */
  #recordsOf(call: ModelCall, policy: ModelPolicy) {
    const { sessions, principals, tenants, data, grants } = this.memory
    const { tenant: name, delegation } = call
    const chain = delegation === undefined ? undefined : chainOf(grants, name, delegation)
    // Another principal's delegation, or an expired one, does not add risk to its delegator.
    const ended = chain?.some(({ revoked, until }) => revoked || until < this.memory.time)
    const own = chain?.[0] !== undefined && chain[0].delegate === call.principal && !ended
    const root = own ? chain.at(-1)?.delegator : undefined
    const lineageName = root === undefined ? undefined : ownerOf({ tenant: name, principal: root })
    const records = {
      session: sessions.get(sessionOf(call)) ?? NEW_SESSION,
      principal: principals.get(ownerOf(call)) ?? NEW_PRINCIPAL,
      tenant: sharesLimits(policy) ? (tenants.get(name) ?? NEW_TENANT) : undefined,
      lineage: lineageName === undefined ? undefined : (principals.get(lineageName) ?? NEW_PRINCIPAL),
      remembered: remembers(policy) ? (data.get(sessionOf(call)) ?? NO_DATA) : undefined,
    }
    const broken = Object.entries(records).flatMap(([kind, record]) => (record?.broken ? [kind] : []))
    return { ...records, chain, lineageName, broken }
  }

  #freezeOf({ tenant, principal, author, tool, session, id }: ModelCall): ReasonCode | undefined {
    const { frozen } = this.memory
    if (frozen.has('all')) return 'SYSTEM_FROZEN'
    for (const each of [principal, author]) {
      if (each !== undefined && frozen.has(ownerOf({ tenant, principal: each }))) return 'AGENT_KILLED'
    }
    if (frozen.has(`tool ${tenant} ${tool}`)) return 'TOOL_FROZEN'
    return [session, id].some((each) => frozen.has(`session ${tenant} ${each}`))
      ? 'SESSION_FROZEN'
      : undefined
  }

  /** An approval overrides an ESCALATE if it is for exactly this call and rule, and is valid now. */
  #settle(state: State, result: LadderResult): Settled {
    const { call, time, binding, page } = state
    if (result.verdict !== 'ESCALATE') return result
    if (call.long) return { ...result, ...deny('APPROVAL_TOO_LARGE') }
    const { requests } = this.memory
    const claims = call.approval !== undefined
    const number = call.approval ?? newestFor(requests, binding, page)
    const request = requests[number]
    const fits =
      request?.binding === binding && covers(request.seen, page) && askedOf(request) === askedOf(result)
    const invalid = { ...result, ...deny('APPROVAL_INVALID') }
    if (!fits) return claims ? invalid : this.#ask(state, result)
    const { answer } = request
    const late = time > endOf(request)
    if (late && !claims) return this.#ask(state, result)
    if (late && answer) return invalid
    if (late && time > endOf(request) + DAY) return invalid
    if (late) return { ...result, ...deny('APPROVAL_TIMEOUT') }
    if (!answer) return { ...result, request: number, again: true }
    if (!answer.granted) return { ...result, ...deny('APPROVAL_REFUSED') }
    if (result.beneath) return result.beneath
    requests[number] = undefined
    const passed = { ...result, verdict: 'ALLOW', reason: 'APPROVAL_GRANTED', approved: true } as const
    return answer.widen ? { ...passed, widen: true } : passed
  }

  #ask({ call, binding, answers, seen, page }: State, result: LadderResult): Settled {
    if (isApprovalFatigue(answers.history, call.tool, seen?.strange === true, this.memory.time)) {
      return { ...result, ...deny('SESSION_RISK_MEMORY_DENY'), rung: 'session-risk' }
    }
    const [owner, { tenant, principal = NOBODY }] = [chargedTo(call), call]
    if (call.prompting && isForClient(call, result))
      return { ...result, verdict: 'ALLOW', reason: 'ASKED_IN_CLIENT' }
    const { requests, time } = this.memory
    const recent = (each: Request): boolean => time - each.opened < FIFTEEN_MINUTES
    const mine = requests.filter(
      (each) => each?.owner === owner && !each.answer && (time <= each.until || recent(each)),
    )
    if (mine.length >= 100) return { ...result, ...deny('RATE_EXCEEDED') }
    const until = time + (result.rule?.expires ?? FIFTEEN_MINUTES)
    const { delegation } = call
    const length = requests.push({
      ...result,
      ...{ owner, tenant, principal, binding, delegation, seen: page, opened: time, until },
    })
    return { ...result, request: length - 1 }
  }

  #open({ tenant, principal, session, tool, assurance }: ModelCall, lasts: number): void {
    const until = assurance === 'advised' ? this.memory.time + lasts : Infinity
    this.memory.openings.push({
      whose: { tenant, principal, session },
      tool,
      assurance,
      until,
      state: 'open',
    })
  }

  /** A principal with too many denials or repeated requests is frozen, and its calls are no longer recorded. */
  #countDenial(owner: string): void {
    const { quota, denials, frozen, flooding, time } = this.memory
    const bucket = take(quota, denials.get(owner), time)
    denials.set(owner, bucket)
    if (bucket.left >= quota.period || frozen.has('all')) return
    frozen.add(owner)
    flooding.add(owner)
  }

  /** If the clock is before the start of observe mode, its end cannot be known, so the mode is off. */
  #isObserved({ tenant, door, principal }: ModelCall, time: number, clock: number): boolean {
    const { observed } = this.memory
    return [`door ${tenant} ${door}`, `principal ${tenant} ${principal}`].some((name) => {
      const { since = Infinity, until = 0 } = observed.get(name) ?? {}
      return until > time && clock >= since - 60_000
    })
  }

  observe({ scope, tenant, target, lasts }: ObserveSpec, clock: number): void {
    const { observed, time } = this.memory
    const since = Math.max(time, clock)
    if (lasts === null) observed.delete(`${scope} ${tenant} ${target}`)
    else observed.set(`${scope} ${tenant} ${target}`, { since, until: since + lasts })
  }

  freeze(name: string, frozen: boolean): void {
    const { memory } = this
    if (frozen) memory.frozen.add(name)
    else memory.frozen.delete(name)
    if (!frozen && memory.flooding.delete(name)) memory.denials.delete(name)
  }

  /** Whether this person may give this answer now. An answer is valid as long as the request could wait. */
  answer(
    { tenant, request: number, granted, widen = false, approver, groups }: Reply,
    clock: number,
  ): boolean {
    const { memory } = this
    const request = memory.requests[number]
    const time = Math.max(memory.time, clock)
    if (request?.tenant !== tenant || request.answer || time > request.until) return false
    if (approver === request.principal) return false
    const chain = request.delegation === undefined ? [] : chainOf(memory.grants, tenant, request.delegation)
    if (!chain || chain.some(({ delegator, delegate }) => [delegator, delegate].includes(approver)))
      return false
    const { approvers = [], expires = FIFTEEN_MINUTES } = request.rule ?? {}
    if (approvers.length > 0 && ![approver, ...groups].some((name) => approvers.includes(name))) return false
    const asked = request.asks?.find((each) => each.startsWith('scope TASK_SCOPE_EXCEEDED '))
    if (widen && (!granted || asked === undefined || / (?:none|until)$/.test(asked))) return false
    memory.requests[number] = { ...request, answer: { granted, widen, until: time + expires } }
    memory.time = time
    return true
  }

  /** Whether the scope of a session was set. */
  open({ whose, host, lasts, effects, tools }: ScopeSpec, clock: number): boolean {
    const { memory } = this
    const session = memory.sessions.get(sessionOf(whose)) ?? NEW_SESSION
    const until = lasts === undefined ? undefined : clock + lasts
    const scope = { effects, tools, until, also: [] }
    if (session.scope && isSame(session.scope, scope)) return true
    const may = session.scope ? isNarrower(scope, session.scope) : session.seq === 0
    if (session.broken || (host && !may)) return false
    memory.time = Math.max(memory.time, clock)
    memory.sessions.set(sessionOf(whose), { ...session, scope, kept: true })
    return true
  }

  /** Whether a delegation is accepted. A planted one always is. Expired ones are removed at the same time. */
  delegate(grant: Grant, clock: number): boolean {
    const { memory } = this
    const time = Math.max(memory.time, clock)
    const policy = memory.policyFor(grant.tenant)
    if (!grant.planted && !mayRegister(grant, memory.grants, policy, time)) return false
    for (const [number, { tenant, until }] of grant.planted ? [] : memory.grants) {
      if (tenant === grant.tenant && until < time) memory.grants.delete(number)
    }
    memory.grants.set(grant.number, grant)
    if (!grant.planted) memory.time = time
    return true
  }

  /** Whether a delegation was revoked. */
  revoke(tenant: string, number: number, clock: number): boolean {
    const { memory } = this
    const grant = memory.grants.get(number)
    if (grant?.tenant !== tenant || grant.revoked) return false
    memory.grants.set(number, { ...grant, revoked: true })
    memory.time = Math.max(memory.time, clock)
    return true
  }

  effect(number: number, spec: EffectSpec, clock: number): ModelEffect | undefined {
    return endCall(this.memory, number, spec, clock)
  }

  /** `written` is the time of the newest receipt. */
  restart(lost: Lost | undefined, delegation: number | undefined, written: number, clock: number): void {
    this.memory.restart(lost, delegation, written)
    recover(this.memory, clock)
  }
}

/** Only a rule asks, and it leaves the answer to the client, which runs the call itself. */
function isForClient({ door, assurance }: ModelCall, { rung, rule, asks, beneath }: LadderResult): boolean {
  const isHook = door === 'hook' && assurance === 'advised'
  return isHook && rung === 'policy' && rule?.answer === 'client' && asks?.length === 1 && !beneath
}
