// Everything a gate may know besides the intent, as of one moment. What takes work is worked out once, when it is asked for.

import type { EffectClass, Tier } from '@tollgate/evidence/core'
import type { Intent } from './capture.ts'
import type { Observation } from './observation.ts'
import { NOBODY } from '../names.ts'
import type { KnownTool } from '../admin/catalogue.ts'
import type { ReadText } from '../gates/texts.ts'
import type { RegisteredDelegation } from '../gates/delegation/delegations.ts'
import type { Destination } from '../destinations/find.ts'
import type { Flow } from '../gates/taint/flow.ts'
import type { FreezeView } from '../admin/freezes.ts'
import type { Policy } from '../policy/parse/parse.ts'
import { remembersData } from '../policy/uses.ts'
import type { KeptProvenance } from '../ledger/records.ts'
import type { RiskTurn } from '../gates/session-risk/turn.ts'
import type { RiskFacts } from '../gates/session-risk/facts.ts'
import type { Assessment } from '../gates/session-risk/risk.ts'
import type { PrincipalState, SessionState, TenantState } from '../ledger/session.ts'
import type { Provenance } from '../gates/taint/provenance.ts'
import type { TrustState } from '../gates/trust/trust.ts'
import { DETECTORS } from '../gates/index.ts'

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
  /** Whether a text holds a value that untrusted text named first. */
  relays(text: ReadText): boolean
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
    return (this.#destinations ??= DETECTORS.egress.destinations(this.#intent, this))
  }

  egress(): 'inside' | 'ask' | 'outside' {
    return (this.#egress ??= DETECTORS.egress.status(this.destinations(), this))
  }

  turn(): RiskTurn {
    return this.asked ? this.uncounted() : this.counted()
  }

  uncounted(): RiskTurn {
    return DETECTORS.risk.uncounted(this.counted(), this)
  }

  counted(): RiskTurn {
    return (this.#counted ??= DETECTORS.risk.counted(this.#intent, this))
  }

  assessment(): Assessment {
    return (this.#assessment ??= DETECTORS.risk.assess(this.#intent, this))
  }

  voiced(): boolean {
    if (this.#voiced === undefined) {
      const provenance = this.provenance()
      this.#voiced = provenance !== undefined && DETECTORS.taint.voiced(provenance)
    }
    return this.#voiced
  }

  facts(): RiskFacts | undefined {
    if (this.#facts === null)
      this.#facts = this.voiced() ? DETECTORS.risk.facts(this.#intent, this) : undefined
    return this.#facts
  }

  tier(): Tier {
    return DETECTORS.privilege.tier(this.#intent.principal ?? NOBODY, this)
  }

  trust(): number {
    const { trusted, policy, time } = this
    const settings = policy.gates.trust
    if (!settings) return DETECTORS.trust.new.score
    // Read wherever the policy has a use for it; a gate that finds it missing fails, and denies.
    if (!trusted) throw new TypeError('the trust of the principal was not read')
    return DETECTORS.trust.at(trusted, time, settings.halfLife)
  }

  texts(): readonly ReadText[] {
    return (this.#texts ??= remembersData(this.policy) ? DETECTORS.texts.read(this.#intent.args) : [])
  }

  untrusted(): readonly ReadText[] {
    return (this.#untrusted ??= this.data ? DETECTORS.texts.readUntrusted(this.#intent) : [])
  }

  provenance(): Provenance | undefined {
    if (!this.data) return undefined
    return (this.#provenance ??= DETECTORS.taint.addSeen(
      this.data.value,
      this.key,
      DETECTORS.taint.seenWith(this.#intent, this),
    ))
  }

  flow(): Flow {
    return (this.#flow ??= DETECTORS.taint.flow(this.#intent, this))
  }

  relays(text: ReadText): boolean {
    return DETECTORS.taint.relays(text, this)
  }

  labels(): readonly string[] {
    return this.flow().labels
  }
}

/** What a tool does; not said means the strictest. */
export function effectOf(tool: KnownTool | undefined): EffectClass {
  return tool?.declared?.effect ?? 'admin'
}
