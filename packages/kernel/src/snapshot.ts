// Everything a gate may know besides the intent, as of one moment. What takes work is worked out once, when it is asked for.

import { TIERS, type EffectClass, type Tier } from '@tollgate/evidence/core'
import { NOBODY, type Intent, type Observation } from './call.ts'
import type { KnownTool } from './catalogue.ts'
import { readText, readTexts, type ReadText } from './content.ts'
import type { RegisteredDelegation } from './delegations.ts'
import { destinationsIn, type Destination } from './destinations/find.ts'
import { matchesHost } from './destinations/pattern.ts'
import { flowOf, type Flow } from './flow.ts'
import type { FreezeView } from './freezes.ts'
import type { Policy } from './policy/parse.ts'
import type { GateSettings } from './policy/settings.ts'
import type { LimitScope } from './policy/settings/temporal.ts'
import { remembersData } from './policy/uses.ts'
import type { KeptProvenance } from './records.ts'
import { carriedIn } from './remembered.ts'
import { factsOf, holdsData, type RiskFacts } from './risk-facts.ts'
import { assess, grown, remember, type Assessment, type Axes, type Leak, type RiskMemory } from './risk.ts'
import type { Allowances, PrincipalState, SessionState, TenantState } from './session.ts'
import { axesOf, axesOfFacts, isSink, isSource, topicsOfCall, type Facts } from './signals.ts'
import { heardIn } from './inspect.ts'
import { isVoiced, namesIn } from './taint/named.ts'
import { phrasesIn } from './taint/phrases.ts'
import { hear, type Heard, type Provenance } from './taint/provenance.ts'
import { valuesIn } from './taint/values.ts'
import { NEW_TRUST, trustAt, type TrustState } from './trust.ts'

/** What a snapshot is made of. */
export interface World {
  readonly time: number
  readonly policy: Policy
  readonly freezes: FreezeView
  readonly tool: KnownTool | undefined
  readonly session: SessionState
  readonly principal: PrincipalState
  /** What is remembered of the tenant; undefined where the policy has no use for it. */
  readonly tenant: TenantState | undefined
  /** What is remembered of who the call was delegated by in the beginning; undefined if it was not. */
  readonly lineage: PrincipalState | undefined
  /** From the delegation that the call names up to its root; undefined if it names none, or one that is not known. */
  readonly chain: readonly RegisteredDelegation[] | undefined
  /** What is remembered of the session's data; undefined where the policy has no use for it. */
  readonly data: KeptProvenance | undefined
  /** 64 hexadecimal digits that nobody can guess, for data that is remembered from now on. */
  readonly key: () => string
  /** How far the principal was last trusted; undefined where the policy has no use for it. */
  readonly trusted: TrustState | undefined
  /** What the Sentinel says of the page, and who brought it. */
  readonly observation: Observation | undefined
  readonly observed: 'sentinel' | 'agent'
  /** A person has been asked about exactly this call: its turn was counted when it was first sent. */
  readonly asked: boolean
  /** Observe mode is on for it. */
  readonly observing: boolean
  /** Who is charged for it may store nothing more today. */
  readonly full?: boolean
}

/** What this turn does to the memory of risk. */
export interface RiskTurn {
  readonly risk: RiskMemory
  /** The principal's sum. */
  readonly leak: Leak
  /** The sum of who the call was delegated by in the beginning. */
  readonly lineage: Leak | undefined
  /** Whether the call is about something sensitive. */
  readonly source: boolean
}

/** Everything a gate may know besides the intent. */
export interface Snapshot extends World {
  /** What the tool does; unknown counts as the strictest. */
  readonly effect: EffectClass
  /** Whether the call changes anything: by what the tool does, or by what the call says of itself. */
  readonly sideEffect: boolean
  /** Where data would go. */
  destinations(): readonly Destination[]
  /** How those destinations stand under `gates.egress`: the worst of them counts. */
  egress(): 'inside' | 'ask' | 'outside'
  /** The session with this turn counted in, unless a person has been asked about it: then it was counted before. */
  turn(): RiskTurn
  /** The session with this turn counted in, whoever has been asked. */
  counted(): RiskTurn
  /** The session as it was, one turn later. */
  uncounted(): RiskTurn
  assessment(): Assessment
  /** Whether any words of the session's user are known. */
  voiced(): boolean
  /** Whom the call aims at, and who has named that; undefined where nobody knows what the user has said. */
  facts(): RiskFacts | undefined
  /** What is left of the limits of a scope. */
  limitsOf(scope: LimitScope): Allowances
  /** The principal's tier, or what a person has raised the session to while that lasts. */
  tier(): Tier
  /** How far the principal is trusted now, in units of `trust.ts`; as at the beginning where the policy has no use for it. */
  trust(): number
  /** The texts of the arguments, read; none where the policy has no use for them. */
  texts(): readonly ReadText[]
  /** The texts that came with the call, read, from tools and pages only. */
  untrusted(): readonly ReadText[]
  /** What is remembered of the session's data, with what came with this call; undefined where the policy has no use for it. */
  provenance(): Provenance | undefined
  flow(): Flow
  /** Labels that the data of the call carries. */
  labels(): readonly string[]
}

/** The snapshot for one intent. */
export function snapshotOf(intent: Intent, world: World): Snapshot {
  return new LazySnapshot(intent, world)
}

// A class, because one is made for every call: objects with their own closures cost several times as much.
class LazySnapshot implements Snapshot {
  readonly time: number
  readonly policy: Policy
  readonly freezes: FreezeView
  readonly tool: KnownTool | undefined
  readonly session: SessionState
  readonly principal: PrincipalState
  readonly tenant: TenantState | undefined
  readonly lineage: PrincipalState | undefined
  readonly chain: readonly RegisteredDelegation[] | undefined
  readonly data: KeptProvenance | undefined
  readonly key: () => string
  readonly trusted: TrustState | undefined
  readonly observation: Observation | undefined
  readonly observed: 'sentinel' | 'agent'
  readonly asked: boolean
  readonly observing: boolean
  readonly full: boolean
  readonly effect: EffectClass
  readonly sideEffect: boolean
  readonly #intent: Intent
  #destinations: readonly Destination[] | undefined
  #egress: 'inside' | 'ask' | 'outside' | undefined
  #counted: RiskTurn | undefined
  #assessment: Assessment | undefined
  #voiced: boolean | undefined
  #facts: RiskFacts | undefined | null = null
  #texts: readonly ReadText[] | undefined
  #untrusted: readonly ReadText[] | undefined
  #provenance: Provenance | undefined
  #flow: Flow | undefined

  constructor(intent: Intent, world: World) {
    this.time = world.time
    this.policy = world.policy
    this.freezes = world.freezes
    this.tool = world.tool
    this.session = world.session
    this.principal = world.principal
    this.tenant = world.tenant
    this.lineage = world.lineage
    this.chain = world.chain
    this.data = world.data
    this.key = world.key
    this.trusted = world.trusted
    this.observation = world.observation
    this.observed = world.observed
    this.asked = world.asked
    this.observing = world.observing
    this.full = world.full ?? false
    this.effect = effectOf(world.tool)
    this.sideEffect = this.effect !== 'read' || intent.browser?.side_effect === true
    this.#intent = intent
  }

  destinations(): readonly Destination[] {
    return (this.#destinations ??= destinationsOf(this.#intent, this))
  }

  egress(): 'inside' | 'ask' | 'outside' {
    return (this.#egress ??= egressOf(this.destinations(), this.policy.gates.egress))
  }

  turn(): RiskTurn {
    return this.asked ? this.uncounted() : this.counted()
  }

  uncounted(): RiskTurn {
    return uncounted(this.counted(), this)
  }

  counted(): RiskTurn {
    return (this.#counted ??= turnOf(this.#intent, this))
  }

  assessment(): Assessment {
    const { risk, leak, lineage } = this.turn()
    const carried = lineage ? [leak, lineage] : [leak]
    const settings = carriedIn(this.#intent.session, this.policy.gates.sessionRisk)
    return (this.#assessment ??= assess(risk, carried, this.time, settings))
  }

  voiced(): boolean {
    if (this.#voiced === undefined) {
      const provenance = this.provenance()
      this.#voiced = provenance !== undefined && isVoiced(provenance)
    }
    return this.#voiced
  }

  facts(): RiskFacts | undefined {
    if (this.#facts === null) this.#facts = this.voiced() ? factsOf(this.#intent, this) : undefined
    return this.#facts
  }

  limitsOf(scope: LimitScope): Allowances {
    if (scope === 'session') return this.session.limits
    if (scope === 'principal') return this.principal.limits
    // Read wherever the policy has such limits; a rung that finds it missing fails, and denies.
    if (!this.tenant) throw new TypeError('the record of the tenant was not read')
    return this.tenant.limits
  }

  tier(): Tier {
    return tierOf(this.#intent.principal ?? NOBODY, this)
  }

  trust(): number {
    const { trusted, policy, time } = this
    const settings = policy.gates.trust
    if (!settings) return NEW_TRUST.score
    // As in `limitsOf`.
    if (!trusted) throw new TypeError('the trust of the principal was not read')
    return trustAt(trusted, time, settings.halfLife)
  }

  texts(): readonly ReadText[] {
    return (this.#texts ??= remembersData(this.policy) ? readTexts(this.#intent.args) : [])
  }

  untrusted(): readonly ReadText[] {
    return (this.#untrusted ??= this.data ? readUntrusted(this.#intent) : [])
  }

  provenance(): Provenance | undefined {
    if (!this.data) return undefined
    return (this.#provenance ??= hear(this.data.value, this.key, heardWith(this.#intent, this)))
  }

  flow(): Flow {
    return (this.#flow ??= flowOf(this.texts(), this.#intent, this))
  }

  labels(): readonly string[] {
    return this.flow().labels
  }
}

function readUntrusted({ sources }: Intent): readonly ReadText[] {
  return sources.flatMap(({ source_channel, text }) =>
    source_channel === 'TOOL_OUTPUT' ? [readText('', text)] : [],
  )
}

/**
 * What came with the call, in its order. What the user is said to have said is the caller's claim: it makes a value the
 * user's only if no tool has named it before.
 */
function heardWith({ sources, door }: Intent, snapshot: Snapshot): readonly Heard[] {
  if (sources.length === 0) return []
  const untrusted = [...snapshot.untrusted()]
  const page = door === 'browser' ? ['page'] : []
  // The first words of a session are its task. What comes later, or behind them, is the caller's word alone.
  let isFirst = snapshot.data !== undefined && !isVoiced(snapshot.data.value)
  return sources.flatMap(({ source_channel, text }) => {
    if (source_channel === 'USER') {
      const names = isFirst
        ? [{ origin: 'said', labels: [], values: namesIn(text), words: true } as const]
        : []
      isFirst = false
      return [...heardFromUser(text), ...names]
    }
    const read = untrusted.shift()
    return read ? heardIn(read, page) : []
  })
}

function heardFromUser(text: string): readonly Heard[] {
  return [
    { origin: 'said', labels: [], values: valuesIn(text) },
    { origin: 'said', labels: [], values: phrasesIn(text), words: true },
  ]
}

/**
 * The tier of a principal: what the policy says, and under a delegation no more than it says of anybody on the chain; unless a
 * person has raised the session and that still lasts.
 */
function tierOf(principal: string, { policy, session, time, chain = [] }: Snapshot): Tier {
  const parties = [principal, ...chain.map(({ statement }) => statement.delegator)]
  const own = Math.min(...parties.map((each) => TIERS.indexOf(declaredTier(each, policy))))
  const { elevated } = session
  const most = policy.gates.privilege?.elevation?.upTo
  // As far as the policy that is in force now lets a person raise it.
  const lasts = elevated && most !== undefined && elevated.until >= time
  const raised = lasts ? Math.min(TIERS.indexOf(elevated.tier), TIERS.indexOf(most)) : 0
  return TIERS[Math.max(own, raised)] ?? 'observer'
}

function declaredTier(principal: string, { principals }: Policy): Tier {
  return principals.find(({ name }) => name.matches(principal))?.tier ?? 'observer'
}

/** What a tool does; not said means the strictest. */
export function effectOf(tool: KnownTool | undefined): EffectClass {
  return tool?.declared?.effect ?? 'admin'
}

function destinationsOf({ args, browser }: Intent, { tool, observation }: Snapshot): readonly Destination[] {
  const declared = tool?.declared?.destinations ?? []
  const found = declared === 'none' ? [] : destinationsIn(args, declared)
  // A browser call goes to the page it is on, and to the destination it names.
  const pages = [browser?.destination, observation?.url].filter((page) => page !== undefined)
  if (pages.length === 0) return found
  // What is empty could not be read, and must not count as absent.
  return [...found, ...destinationsIn({ pages: pages.map((page) => (page === '' ? 0 : page)) }, ['pages'])]
}

/** How destinations stand under `gates.egress`: the worst of them counts. */
export function egressOf(
  destinations: readonly Destination[],
  { allow, ask, deny }: GateSettings['egress'],
): 'inside' | 'ask' | 'outside' {
  let worst: 'inside' | 'ask' = 'inside'
  for (const destination of destinations) {
    const named = (list: GateSettings['egress']['allow']): boolean =>
      list.some((pattern) => matchesHost(pattern, destination))
    if (named(deny)) return 'outside'
    if (named(allow)) continue
    if (!named(ask)) return 'outside'
    worst = 'ask'
  }
  return worst
}

/** A turn that adds nothing. */
function uncounted({ source }: RiskTurn, { session, principal, lineage }: Snapshot): RiskTurn {
  const risk = { ...session.risk, turns: session.risk.turns + 1 }
  return { risk, leak: principal.leak, lineage: lineage?.leak, source }
}

function turnOf(intent: Intent, snapshot: Snapshot): RiskTurn {
  const { time, session, principal, effect, policy } = snapshot
  const settings = policy.gates.sessionRisk
  const topics = topicsOfCall(intent.tool, intent.args, isSink(effect))
  const recent = principal.source > 0 && time - principal.source <= settings.halfLife
  const known: Facts = {
    declared: snapshot.tool?.declared !== undefined,
    effect,
    outside: snapshot.egress() === 'outside',
    leaves: snapshot.destinations().length > 0,
    afterSource: session.source || recent,
    denials: session.denials,
  }
  const voiced = snapshot.voiced()
  const axes: Axes = voiced ? axesOfFacts(topics, known, snapshot.facts()?.axes) : axesOf(topics, known)
  return {
    risk: remember(session.risk, axes, time, settings),
    leak: grown(principal.leak, axes, time, settings.halfLife),
    // Whoever it works for answers for it: risk cannot be spread over many delegates.
    lineage: snapshot.lineage && grown(snapshot.lineage.leak, axes, time, settings.halfLife),
    // What is declared or found in outputs says more than words; without it there are only words.
    source: voiced ? returnsData(snapshot) || (!session.source && holdsData(snapshot)) : isSource(topics),
  }
}

function returnsData({ tool }: Snapshot): boolean {
  return (tool?.declared?.returns ?? []).length > 0
}
