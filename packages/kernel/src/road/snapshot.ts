// Everything that a gate may use besides the intent, as of one moment. Expensive values are computed on first use.

import type { EffectClass, Tier } from '@tollgate/evidence/core'
import type { Intent } from './capture.ts'
import type { Observation } from './observation.ts'
import type { ObservationFault } from '../gates/browser/observations.ts'
import { NOBODY } from '../names.ts'
import type { KnownTool } from '../admin/catalogue.ts'
import type { ReadText } from '../gates/texts.ts'
import type { RegisteredDelegation } from '../gates/delegation/delegations.ts'
import type { Destination } from '../destinations/find.ts'
import type { Flow } from '../gates/taint/flow.ts'
import type { FreezeView } from '../admin/freezes.ts'
import type { CallFacts } from '../shell/facts.ts'
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

/** The contents of a snapshot. */
export interface World {
  readonly time: number
  readonly policy: Policy
  readonly freezes: FreezeView
  readonly tool: KnownTool | undefined
  readonly session: SessionState
  readonly principal: PrincipalState
  /** The state of the tenant; undefined if the policy does not use it. */
  readonly tenant: TenantState | undefined
  /** The state of the root delegator; undefined if the call is not delegated. */
  readonly lineage: PrincipalState | undefined
  /** The delegations from the one that the call names to its root; undefined if it names none, or an unknown one. */
  readonly chain: readonly RegisteredDelegation[] | undefined
  /** The data of the session; undefined if the policy does not use it. */
  readonly data: KeptProvenance | undefined
  /** Returns 64 random hexadecimal digits, the key for data that is kept from now on. */
  readonly key: () => string
  /** The last trust of the principal; undefined if the policy does not use it. */
  readonly trusted: TrustState | undefined
  /** The observation of the page, and its source. */
  readonly observation: Observation | undefined
  readonly observed: 'sentinel' | 'agent'
  /** Why the call has no posted observation, if it refers to one. */
  readonly unobserved?: ObservationFault | undefined
  /** A person was asked about exactly this call: its turn was counted when it was first sent. */
  readonly asked: boolean
  /** Observe mode is on for it. */
  readonly observing: boolean
  /** The charged principal has reached its storage limit for today. */
  readonly full?: boolean
}

/** Everything that a gate may use besides the intent. */
export interface Snapshot extends World {
  /** The effect class of the tool; the strictest if it is unknown. */
  readonly effect: EffectClass
  /** Whether the call changes anything, by its effect class or its own claim. */
  readonly sideEffect: boolean
  /** Returns the destinations of the data. */
  destinations(): readonly Destination[]
  /** Returns the status of those destinations under `gates.egress`; the worst one counts. */
  egress(): 'inside' | 'ask' | 'outside'
  /** Returns the session with this turn counted, unless a person was asked about it: then it is already counted. */
  turn(): RiskTurn
  /** Returns the session with this turn counted in any case. */
  counted(): RiskTurn
  /** Returns the session one turn later, with this turn not counted. */
  uncounted(): RiskTurn
  assessment(): Assessment
  /** Returns whether any words of the session's user are known. */
  voiced(): boolean
  /** Returns the targets of the call and who named them; undefined if no words of the user are known. */
  facts(): RiskFacts | undefined
  /** Returns the principal's tier, or the tier that a person raised the session to. */
  tier(): Tier
  /** Returns the current trust of the principal, in units of `trust.ts`; the initial trust if the policy does not use it. */
  trust(): number
  /** Returns the scanned texts of the arguments; none if the policy does not use them. */
  texts(): readonly ReadText[]
  /** Returns the scanned source texts, from tools and pages only. */
  untrusted(): readonly ReadText[]
  /** Returns the data of the session with the sources of this call; undefined if the policy does not use it. */
  provenance(): Provenance | undefined
  flow(): Flow
  /** Returns whether a text contains a value that untrusted text introduced. */
  relays(text: ReadText): boolean
  /** Returns the labels of the data in the call. */
  labels(): readonly string[]
  /** Returns what the call does to files, hosts and processes. */
  callFacts(): CallFacts
}

/** Returns the snapshot for one intent. */
export function snapshotOf(intent: Intent, world: World): Snapshot {
  return new LazySnapshot(intent, world)
}

// A class, because one is created for every call: closures cost several times as much.
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
  readonly unobserved: ObservationFault | undefined
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
  #callFacts: CallFacts | undefined

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
    this.unobserved = world.unobserved
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
    // Loaded whenever the policy uses it. If it is missing, the gate fails and denies.
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

  callFacts(): CallFacts {
    const { args, place } = this.#intent
    return (this.#callFacts ??= DETECTORS.shell.facts(this.tool?.declared?.factsFrom, args, place))
  }
}

/** Returns the effect class of a tool; the strictest if it is not declared. */
export function effectOf(tool: KnownTool | undefined): EffectClass {
  return tool?.declared?.effect ?? 'admin'
}
