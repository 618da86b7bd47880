// Everything a gate may know besides the intent, as of one moment. What takes work is worked out once, when it is asked for.

import type { EffectClass } from '@tollgate/evidence'
import type { Intent, Observation } from './call.ts'
import type { KnownTool } from './catalogue.ts'
import { destinationsIn, type Destination } from './destinations/find.ts'
import { matchesHost } from './destinations/pattern.ts'
import type { FreezeView } from './freezes.ts'
import type { Policy } from './policy/parse.ts'
import type { GateSettings } from './policy/settings.ts'
import {
  assess,
  grown,
  remember,
  signalOf,
  type Assessment,
  type Axes,
  type Leak,
  type RiskMemory,
} from './risk.ts'
import type { PrincipalState, SessionState } from './session.ts'
import { axesOf, isSink, isSource, topicsOfCall } from './signals.ts'

/** What a snapshot is made of. */
export interface World {
  readonly time: number
  readonly policy: Policy
  readonly freezes: FreezeView
  readonly tool: KnownTool | undefined
  readonly session: SessionState
  readonly principal: PrincipalState
  /** What the Sentinel says of the page, and who brought it. */
  readonly observation: Observation | undefined
  readonly observed: 'sentinel' | 'agent'
  /** A person has been asked about exactly this call: its turn was counted when it was first sent. */
  readonly asked: boolean
}

/** What this turn does to the memory of risk. */
export interface RiskTurn {
  readonly risk: RiskMemory
  /** The principal's sum. */
  readonly leak: Leak
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
  assessment(): Assessment
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
  readonly observation: Observation | undefined
  readonly observed: 'sentinel' | 'agent'
  readonly asked: boolean
  readonly effect: EffectClass
  readonly sideEffect: boolean
  readonly #intent: Intent
  #destinations: readonly Destination[] | undefined
  #egress: 'inside' | 'ask' | 'outside' | undefined
  #counted: RiskTurn | undefined
  #assessment: Assessment | undefined

  constructor(intent: Intent, world: World) {
    this.time = world.time
    this.policy = world.policy
    this.freezes = world.freezes
    this.tool = world.tool
    this.session = world.session
    this.principal = world.principal
    this.observation = world.observation
    this.observed = world.observed
    this.asked = world.asked
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
    return this.asked ? uncounted(this.counted(), this) : this.counted()
  }

  counted(): RiskTurn {
    return (this.#counted ??= turnOf(this.#intent, this))
  }

  assessment(): Assessment {
    const { risk, leak } = this.turn()
    return (this.#assessment ??= assess(risk, leak, this.time, this.policy.gates.sessionRisk))
  }
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

function egressOf(
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
function uncounted({ source }: RiskTurn, { session, principal }: Snapshot): RiskTurn {
  return { risk: { ...session.risk, turns: session.risk.turns + 1 }, leak: principal.leak, source }
}

function turnOf(intent: Intent, snapshot: Snapshot): RiskTurn {
  const { time, session, principal, effect, policy } = snapshot
  const settings = policy.gates.sessionRisk
  const topics = topicsOfCall(intent.tool, intent.args, isSink(effect))
  const recent = principal.source > 0 && time - principal.source <= settings.halfLife
  const axes: Axes = axesOf(topics, {
    declared: snapshot.tool?.declared !== undefined,
    effect,
    outside: snapshot.egress() === 'outside',
    leaves: snapshot.destinations().length > 0,
    afterSource: session.source || recent,
    denials: session.denials,
  })
  return {
    risk: remember(session.risk, axes, time, settings),
    leak: grown(principal.leak, signalOf(axes), time, settings.halfLife),
    source: isSource(topics),
  }
}
