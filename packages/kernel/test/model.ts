// The rules of the kernel a second time, as naively as they can be written. Only types are shared with it: globs go by
// recursion, fractions by BigInt, state is plain maps. What takes a parser or a library is told as a fact of the call.

import type { ReasonCode } from '@tollgate/evidence'
import type { Lost, ModelCall, ModelPolicy, Reply } from './model-world.ts'
import { climb, deny, matches, type Heard } from './model-ladder.ts'
import { ease, fill, nameOf, take, weigh, type Bucket, type Leak, type Pace } from './model-risk.ts'

/** `request` is the number of what a person is asked, maybe `again`; `approved`: a person has said yes. */
type Settled = Heard & { request?: number; again?: true; approved?: true }
export type ModelDecision = Settled & { seq?: number; score?: number; window?: number }
type Obstacle = Pick<Heard, 'reason' | 'rung' | 'rule'>
interface Request extends Obstacle {
  readonly owner: string
  readonly tenant: string
  readonly principal: string
  readonly binding: string
  readonly opened: number
  readonly until: number
  readonly answer?: { readonly granted: boolean; readonly until: number }
}

const NOBODY = '(nobody)'
const FIFTEEN_MINUTES = 900_000
const DAY = 86_400_000
const NO_LEAK: Leak = { sum: 0, at: 0, turns: 0 }
const NEW_SESSION = {
  seq: 0,
  turns: 0,
  average: 0,
  leak: NO_LEAK,
  sensitive: false,
  denials: 0,
  broken: false,
}
const NEW_PRINCIPAL = { leak: NO_LEAK, sensitiveAt: 0, rates: new Map<string, Bucket>(), broken: false }
// Denials that say nothing about the session.
const NO_FAULT = /FROZEN|KILLED|RISK_MEMORY|NO_POLICY|TEMPORAL/

/** What there is to know about a call. */
export type Scene = ReturnType<Model['look']>

const ownerOf = ({ tenant, principal }: Lost): string => `principal ${tenant} ${principal ?? NOBODY}`
const sessionOf = (whose: Lost): string => `${ownerOf(whose)} ${whose.session ?? ''}`

const endOf = ({ answer, until }: Request): number => answer?.until ?? until
/** Whose answer a rule asks for. */
const askedOf = ({ reason, rung, rule }: Obstacle): string =>
  JSON.stringify([reason, rung, rule?.id, rule?.approvers ?? []])

/** Everything that is remembered between calls. */
export class Model {
  readonly nothing: ModelPolicy
  readonly quota: Pace
  /** By tenant. */
  readonly policies = new Map<string, ModelPolicy>()
  /** Of the newest record: it never goes back. */
  time = 0
  readonly offers = new Map<string, string>()
  readonly pins = new Map<string, string>()
  readonly frozen = new Set<string>()
  readonly flooding = new Set<string>()
  readonly denials = new Map<string, Bucket>()
  readonly sessions = new Map<string, typeof NEW_SESSION>()
  readonly principals = new Map<string, typeof NEW_PRINCIPAL>()
  /** By number. One that was used up is gone. */
  readonly requests: (Request | undefined)[] = []

  /** `nothing` is what holds where there is no policy. */
  constructor(nothing: ModelPolicy, quota: Pace) {
    this.nothing = nothing
    this.quota = quota
  }

  judge(call: ModelCall, clock: number): ModelDecision {
    const owner = ownerOf(call)
    if (this.flooding.has(owner)) return { ...deny('QUOTA_EXCEEDED'), rung: 'freeze' }
    const time = Math.max(this.time, clock)
    const spent = fill(this.quota, this.denials.get(owner), time).left < this.quota.period
    if (spent && this.frozen.has('all')) return { ...deny('SYSTEM_FROZEN'), rung: 'freeze' }
    this.time = time
    const scene = this.look(call)
    const settled = this.#settle(scene, climb(scene))
    this.#fold(scene, settled)
    if (settled.verdict === 'DENY' || settled.again) this.#countDenial(owner)
    const { session, score, policy } = scene
    return { ...settled, seq: session.seq, score, window: Math.min(session.turns + 1, policy.risk.window) }
  }

  /** What there is to know about a call, its own turn counted in. */
  look(call: ModelCall) {
    const { time } = this
    const policy = this.policies.get(call.tenant) ?? this.nothing
    const named = policy.tools.find(({ name }) => name === call.tool)
    const tool = named ?? policy.tools.find(({ name }) => matches(name, call.tool))
    const [offered, pinned] = [this.offers.get(call.tool), this.pins.get(call.tool)]
    const hosts = [...(tool?.offline ? [] : call.hosts), ...call.pages]
    const listed = [...policy.egress.allow, ...policy.egress.ask]
    const outside = hosts.some((host) => policy.egress.deny.includes(host) || !listed.includes(host))
    const session = this.sessions.get(sessionOf(call)) ?? NEW_SESSION
    const principal = this.principals.get(ownerOf(call)) ?? NEW_PRINCIPAL
    const lately = principal.sensitiveAt > 0 && time - principal.sensitiveAt <= policy.risk.halfLife
    const [declared, effect] = [tool !== undefined, tool?.effect ?? 'admin']
    const facts = { declared, effect, outside, leaves: hosts.length > 0, denials: session.denials }
    const axes = call.axes({ ...facts, afterSource: session.sensitive || lately })
    const from = [call.door, call.assurance, call.context, call.pages, call.acts]
    const binding = JSON.stringify([sessionOf(call), call.tool, effect, pinned ?? offered, call.args, from])
    // A person has been asked about this very call: its turn was counted then.
    const asked = this.requests.findLast((each) => each?.binding === binding)
    const counted = asked && time <= endOf(asked) && asked.answer?.granted !== false
    const risk = weigh(session, principal, counted ? undefined : axes, time, policy.risk)
    const world = { time, policy, session, principal, freeze: this.#freezeOf(call) }
    return { ...world, ...facts, ...risk, call, axes, tool, offered, pinned, hosts, binding }
  }

  #freezeOf({ tenant, principal, tool, session }: ModelCall): ReasonCode | undefined {
    if (this.frozen.has('all')) return 'SYSTEM_FROZEN'
    if (principal && this.frozen.has(ownerOf({ tenant, principal }))) return 'AGENT_KILLED'
    if (this.frozen.has(`tool ${tenant} ${tool}`)) return 'TOOL_FROZEN'
    return this.frozen.has(`session ${tenant} ${session}`) ? 'SESSION_FROZEN' : undefined
  }

  /** An approval lifts an ESCALATE if it is for exactly this call and rule, and holds now. */
  #settle({ call, time, binding }: Scene, heard: Heard): Settled {
    if (heard.verdict !== 'ESCALATE') return heard
    const claims = call.approval !== undefined
    const number = call.approval ?? this.requests.findLastIndex((each) => each?.binding === binding)
    const request = this.requests[number]
    const fits = request?.binding === binding && askedOf(request) === askedOf(heard)
    const invalid = { ...heard, ...deny('APPROVAL_INVALID') }
    if (!fits) return claims ? invalid : this.#open(call, binding, heard)
    const { answer } = request
    const late = time > endOf(request)
    if (late && !claims) return this.#open(call, binding, heard)
    if (late && answer) return invalid
    if (late && time > endOf(request) + DAY) return invalid
    if (late) return { ...heard, ...deny('APPROVAL_TIMEOUT') }
    if (!answer) return { ...heard, request: number, again: true }
    if (!answer.granted) return { ...heard, ...deny('APPROVAL_REFUSED') }
    this.requests[number] = undefined
    return { ...heard, verdict: 'ALLOW', reason: 'APPROVAL_GRANTED', approved: true }
  }

  #open(call: ModelCall, binding: string, heard: Heard): Settled {
    const [owner, { tenant, principal = NOBODY }] = [ownerOf(call), call]
    const recent = (each: Request): boolean => this.time - each.opened < FIFTEEN_MINUTES
    const mine = this.requests.filter(
      (each) => each?.owner === owner && !each.answer && (this.time <= each.until || recent(each)),
    )
    if (mine.length >= 100) return { ...heard, ...deny('TEMPORAL_INTERVENTION') }
    const until = this.time + (heard.rule?.expires ?? FIFTEEN_MINUTES)
    const opened = this.time
    const length = this.requests.push({ ...heard, owner, tenant, principal, binding, opened, until })
    return { ...heard, request: length - 1 }
  }

  #fold(scene: Scene, { verdict, reason, again, approved }: Settled): void {
    const { call, time, policy, axes } = scene
    // Only a call that still waits was counted before.
    const seen = again ? undefined : axes
    const { average, own, carried } = weigh(scene.session, scene.principal, seen, time, policy.risk)
    const [session, principal] = [{ ...scene.session }, { ...scene.principal }]
    session.seq++
    session.turns++
    // Whom a person vouched for is halved, and the turn is not held against it.
    if (!approved) session.average = average
    session.leak = approved ? ease(session.leak, time, policy.risk.halfLife) : own
    principal.leak = approved ? ease(principal.leak, time, policy.risk.halfLife) : carried
    if (verdict === 'DENY' && !NO_FAULT.test(reason)) session.denials = Math.min(9, session.denials + 1)
    if (verdict === 'ALLOW') {
      session.denials = 0
      session.sensitive ||= call.sensitive
      if (call.sensitive) principal.sensitiveAt = time
      if (policy.rates.length > 0) principal.rates = this.#spend(scene)
    }
    this.sessions.set(sessionOf(call), session)
    // What has not changed is not written, and cannot be lost.
    const { leak, sensitiveAt, rates } = scene.principal
    const same = leak === principal.leak && sensitiveAt === principal.sensitiveAt && rates === principal.rates
    if (!same) this.principals.set(ownerOf(call), principal)
  }

  #spend({ call, time, policy, principal }: Scene): Map<string, Bucket> {
    const rates = new Map<string, Bucket>()
    for (const rate of policy.rates) {
      const next = matches(rate.tools, call.tool) ? take : fill
      rates.set(nameOf(rate), next(rate, principal.rates.get(nameOf(rate)), time))
    }
    return rates
  }

  /** Who is denied or asks again too often is frozen, and no longer recorded. */
  #countDenial(owner: string): void {
    const bucket = take(this.quota, this.denials.get(owner), this.time)
    this.denials.set(owner, bucket)
    if (bucket.left >= this.quota.period || this.frozen.has('all')) return
    this.frozen.add(owner)
    this.flooding.add(owner)
  }

  freeze(name: string, frozen: boolean): void {
    if (frozen) this.frozen.add(name)
    else this.frozen.delete(name)
    if (!frozen && this.flooding.delete(name)) this.denials.delete(name)
  }

  /** Whether this person may give this answer now; then it holds as long as the question could wait. */
  answer({ tenant, request: number, granted, approver, groups }: Reply, clock: number): boolean {
    const request = this.requests[number]
    const time = Math.max(this.time, clock)
    if (request?.tenant !== tenant || request.answer || time > request.until) return false
    if (approver === request.principal) return false
    const { approvers = [], expires = FIFTEEN_MINUTES } = request.rule ?? {}
    if (approvers.length > 0 && ![approver, ...groups].some((name) => approvers.includes(name))) return false
    this.requests[number] = { ...request, answer: { granted, until: time + expires } }
    this.time = time
    return true
  }

  /** What servers offer and what was left of quotas is not kept. Whoever's record was lost is broken from now on. */
  restart(lost: Lost | undefined): void {
    this.policies.clear()
    this.offers.clear()
    this.denials.clear()
    const session = lost && this.sessions.get(sessionOf(lost))
    if (session) this.sessions.set(sessionOf(lost), { ...NEW_SESSION, seq: session.seq, broken: true })
    const all = lost && lost.session === undefined && this.principals.has(ownerOf(lost))
    if (all) this.principals.set(ownerOf(lost), { ...NEW_PRINCIPAL, broken: true })
  }
}
