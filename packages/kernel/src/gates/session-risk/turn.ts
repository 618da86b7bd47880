// Computes what one call adds to the risk memory.

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

/** In a generated session the risk of the principal counts in full. Otherwise a restart of the client would lower the risk. */
function carriedIn(session: string, settings: RiskSettings): RiskSettings {
  return isMadeSession(session) ? { ...settings, carry: ONE } : settings
}

/** The risk memory after a turn. */
export interface RiskTurn {
  readonly risk: RiskMemory
  /** The principal's sum. */
  readonly leak: Leak
  /** The sum of the first delegator. */
  readonly lineage: Leak | undefined
  /** Whether the call reads sensitive data. */
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
    // The first delegator is responsible, so risk cannot be spread over many delegates.
    lineage: snapshot.lineage && grown(snapshot.lineage.leak, axes, time, settings.halfLife),
    // Declared and found labels are more reliable than words. Words count only if there are no labels.
    source: voiced ? returnsData(snapshot) || (!session.source && holdsData(snapshot)) : isSource(topics),
  }
}

function returnsData({ tool }: Snapshot): boolean {
  return (tool?.declared?.returns ?? []).length > 0
}

/** The risk of the session including this turn and the other sessions of the principal. */
export function assessmentOf({ session }: Pick<Intent, 'session'>, snapshot: Snapshot): Assessment {
  const { risk, leak, lineage } = snapshot.turn()
  const carried = lineage ? [leak, lineage] : [leak]
  return assess(risk, carried, snapshot.time, carriedIn(session, snapshot.policy.gates.sessionRisk))
}
