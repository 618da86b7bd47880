// Reads `gates.trust`: how outcomes change the trust score, and the score that each effect class needs.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence/core'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { about, DURATION, each, keysOf, record } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

const GOOD = { type: 'integer', minimum: 0, maximum: 1000 } as const
const BAD = { type: 'integer', minimum: -1000, maximum: 0 } as const

/** The outcome of a call for trust. */
export type TrustOutcome = 'completed' | 'approved' | 'failed' | 'unknown' | 'denied' | 'refused' | 'hostile'

const DELTAS = record<TrustOutcome>('Outcomes', 'By how much each outcome moves the score.', {
  completed: about('A completed call.', GOOD),
  approved: about('A call that a person approved.', GOOD),
  failed: about('A call that failed.', BAD),
  unknown: about('A call with an unknown outcome.', BAD),
  denied: about('A call that was denied.', BAD),
  refused: about('A call that a person denied.', BAD),
  hostile: about('A call that was denied as an attack.', BAD),
})

/** All outcomes of a call for trust. */
export const TRUST_OUTCOMES: readonly TrustOutcome[] = keysOf(DELTAS)

const SCHEMA = record(
  'Earned trust',
  'How outcomes change the trust score, and the score that each effect class needs. Scores are from 0 to 1000.',
  {
    'half-life': about('The time in which the distance of a score to 500 halves.', DURATION),
    deltas: DELTAS,
    needs: record(
      'Needs',
      'The score that each effect class needs. If present, it replaces all defaults.',
      each(EFFECT_CLASSES, (effect) => about(`The score that \`${effect}\` needs.`, GOOD)),
      { minProperties: 1 },
    ),
  },
)

/** The settings of the trust gate. Scores are from 0 to 1000. */
export interface TrustSettings {
  /** The milliseconds in which the distance to 500 halves; a whole number of seconds. */
  readonly halfLife: number
  /** By how much each outcome moves the score. */
  readonly deltas: Readonly<Record<TrustOutcome, number>>
  /** The score that each effect class needs. A missing class needs none. */
  readonly needs: Readonly<Partial<Record<EffectClass, number>>>
}

const DAY = 86_400_000

/** The settings of `trust: {}`. */
export const DEFAULT_TRUST: TrustSettings = {
  halfLife: DAY,
  deltas: {
    completed: 1,
    approved: 5,
    failed: -2,
    unknown: -5,
    denied: -10,
    refused: -40,
    hostile: -60,
  },
  needs: { write: 300, send: 400, pay: 600, admin: 700 },
}

/** `gates.trust`. */
export const trustSettings: GateSection<TrustSettings | undefined> = {
  name: 'trust',
  read: (reader, place) => place && readTrust(reader, place),
  schema: SCHEMA,
  calls: { of: ({ needs }) => needs, rungs: ['trust', 'policy'] },
  history: { of: (trust) => ({ ...trust, needs: 0 }) },
}

/** Reads `trust`. Missing members get their defaults. */
export function readTrust(reader: Reader, place: Place): TrustSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  const halfLife = fields?.['half-life']
  return {
    halfLife: (halfLife && reader.duration(halfLife, '`half-life`', 365 * DAY)) ?? DEFAULT_TRUST.halfLife,
    deltas: readDeltas(reader, fields?.deltas),
    needs: fields?.needs ? readNeeds(reader, fields.needs) : DEFAULT_TRUST.needs,
  }
}

const EARNS: ReadonlySet<TrustOutcome> = new Set(['completed', 'approved'])

/** Reads `deltas`. Good outcomes cannot lower the score, bad outcomes cannot raise it. */
function readDeltas(reader: Reader, place: Place | undefined): TrustSettings['deltas'] {
  const fields = place && reader.fields(place, TRUST_OUTCOMES)
  const deltas = { ...DEFAULT_TRUST.deltas }
  for (const outcome of TRUST_OUTCOMES) {
    const at = fields?.[outcome]
    const [least, most] = EARNS.has(outcome) ? [0, 1000] : [-1000, 0]
    if (at) deltas[outcome] = readWhole(reader, at, outcome, least, most) ?? deltas[outcome]
  }
  return deltas
}

/** Reads `needs`. It replaces all defaults. */
function readNeeds(reader: Reader, place: Place): TrustSettings['needs'] {
  const fields = reader.fields(place, EFFECT_CLASSES) ?? {}
  const needs: Partial<Record<EffectClass, number>> = {}
  for (const effect of EFFECT_CLASSES) {
    const at = fields[effect]
    if (at) needs[effect] = readWhole(reader, at, effect, 0, 1000) ?? 1000
  }
  if (Object.keys(fields).length === 0) {
    reader.note(place, '`needs` names no effect class; write for example `{ write: 300 }`, or leave it out')
  }
  return needs
}

function readWhole(
  reader: Reader,
  place: Place,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = reader.number(place, `\`${name}\``, least, most)
  if (value === undefined || Number.isInteger(value)) return value
  reader.note(place, `\`${name}\` must be a whole number`)
  return undefined
}
