// Reads `gates.session-risk`: how much risk a session may accumulate, and how fast it decays.

import type { Place, Reader } from '../../policy/reader/read.ts'
import { meaningOf } from '../../policy/reader/meaning.ts'
import { about, between, DURATION, keysOf, record } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'
import { ONE } from '../../units.ts'
import { DEFAULT_RISK, type RiskSettings } from './risk.ts'

const DAY = 86_400_000

const SCHEMA = record('Session risk', 'Limits on the risk that the calls of a session add up to.', {
  ask: about('From this score on, calls that add risk are escalated.', between(0.05, 1, 0.28)),
  threshold: about('From this score on, calls are denied.', between(0.1, 1, 0.38)),
  window: about('The number of turns in the moving average.', {
    type: 'integer',
    minimum: 2,
    maximum: 1000,
    default: 8,
  }),
  baseline: about('The risk that the average ignores in every turn.', between(0, 1, 0.15)),
  'half-life': about('The time in which the accumulated risk halves.', DURATION),
  carry: about('The part of its risk that a principal carries into other sessions.', between(0, 1, 0.5)),
})

/** `gates.session-risk`. */
export const sessionRiskSettings: GateSection<RiskSettings> = {
  name: 'session-risk',
  read: readSessionRisk,
  schema: SCHEMA,
  calls: { of: () => undefined },
  history: {
    isStricter: (before, after) =>
      after.threshold <= before.threshold &&
      meaningOf({ ...before, threshold: after.threshold }) === meaningOf(after),
  },
}

function readSessionRisk(reader: Reader, place: Place | undefined): RiskSettings {
  const fields = place && reader.fields(place, keysOf(SCHEMA))
  if (!fields) return DEFAULT_RISK
  const fraction = (at: Place | undefined, what: string, least: number, otherwise: number): number => {
    const value = at && reader.number(at, what, least, 1)
    return value === undefined ? otherwise : Math.round(value * ONE)
  }
  const window = fields.window && reader.number(fields.window, '`window`', 2, 1000)
  if (fields.window && window !== undefined && !Number.isInteger(window)) {
    reader.note(fields.window, '`window` must be a whole number of turns')
  }
  const halfLife = fields['half-life'] && reader.duration(fields['half-life'], '`half-life`', 30 * DAY)
  const threshold = fraction(fields.threshold, '`threshold`', 0.1, DEFAULT_RISK.threshold)
  const ask = fraction(fields.ask, '`ask`', 0.05, Math.min(DEFAULT_RISK.ask, threshold))
  if (fields.ask && ask > threshold) refuseLateAsk(reader, fields.ask, { ask, threshold })
  return {
    ask,
    threshold,
    window: window ?? DEFAULT_RISK.window,
    baseline: fraction(fields.baseline, '`baseline`', 0, DEFAULT_RISK.baseline),
    halfLife: halfLife ?? DEFAULT_RISK.halfLife,
    carry: fraction(fields.carry, '`carry`', 0, DEFAULT_RISK.carry),
  }
}

/** Rejects an `ask` above `threshold`: calls would be denied before any escalation, which the author does not expect. */
function refuseLateAsk(
  reader: Reader,
  place: Place,
  { ask, threshold }: Pick<RiskSettings, 'ask' | 'threshold'>,
): void {
  reader.note(
    place,
    `\`ask\` is ${ask / ONE}, above \`threshold\` ${threshold / ONE}: calls would be denied before a person is asked; lower \`ask\` to at most ${threshold / ONE}, or raise \`threshold\``,
  )
}
