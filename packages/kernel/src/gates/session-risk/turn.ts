// What one call adds to the memory of risk.

import { isMadeSession } from '@tollgate/evidence'
import {
  type RiskMemory,
  type Leak,
  type Axes,
  type RiskSettings,
  grown,
  remember,
  assess,
  type Assessment,
} from './risk.ts'
import { ONE } from '../../units.ts'
import type { Intent } from '../../road/capture.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { holdsData } from './facts.ts'
import { topicsOfCall, isSink, type Facts, axesOfFacts, axesOf, isSource } from './signals.ts'

/** A session that is new because its process is must not be safer for it: there, what its principal did counts in full. */
function carriedIn(session: string, settings: RiskSettings): RiskSettings {
  return isMadeSession(session) ? { ...settings, carry: ONE } : settings
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

/** A turn that adds nothing. */
export function uncounted({ source }: RiskTurn, { session, principal, lineage }: Snapshot): RiskTurn {
  const risk = { ...session.risk, turns: session.risk.turns + 1 }
  return { risk, leak: principal.leak, lineage: lineage?.leak, source }
}

export function turnOf(intent: Intent, snapshot: Snapshot): RiskTurn {
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

/** How risky the session is with this turn, and what its principal did elsewhere. */
export function assessmentOf({ session }: Pick<Intent, 'session'>, snapshot: Snapshot): Assessment {
  const { risk, leak, lineage } = snapshot.turn()
  const carried = lineage ? [leak, lineage] : [leak]
  return assess(risk, carried, snapshot.time, carriedIn(session, snapshot.policy.gates.sessionRisk))
}
