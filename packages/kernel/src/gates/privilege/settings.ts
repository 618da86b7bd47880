// `gates.privilege`: which tier each class of effect needs, and how far a person may raise one.

import { TIERS, EFFECT_CLASSES, type EffectClass, type Tier } from '@tollgate/evidence/core'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { about, DURATION, each, keysOf, record, TIER } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'
import { readEnumMap } from '../../policy/reader/enum-map.ts'

/** The settings of the privilege rung. */
export interface PrivilegeSettings {
  readonly needs: Readonly<Record<EffectClass, Tier>>
  /** How far a person may raise a session, and for how many milliseconds; undefined for not at all. */
  readonly elevation: { readonly upTo: Tier; readonly lasts: number } | undefined
}

const DAY = 86_400_000

/** What each class of effect needs where the policy says nothing. */
const DEFAULT_NEEDS: PrivilegeSettings['needs'] = {
  read: 'observer',
  write: 'standard',
  delete: 'elevated',
  execute: 'elevated',
  send: 'standard',
  pay: 'elevated',
  admin: 'admin',
}

const ELEVATION = record(
  'Elevation',
  'How far a person may raise a session, and for how long.',
  { 'up-to': about('The highest tier.', TIER), for: about('How long, at most a day.', DURATION) },
  { required: ['up-to', 'for'] },
)

const SCHEMA = record(
  'Privilege',
  'Which tier each class of effect needs, and how far a person may raise one.',
  {
    needs: record(
      'Needs',
      'The tier that each class of effect needs.',
      each(EFFECT_CLASSES, (effect) => about(`The tier that \`${effect}\` needs.`, TIER)),
    ),
    elevation: ELEVATION,
  },
)

/** `gates.privilege`. */
export const privilegeSettings: GateSection<PrivilegeSettings | undefined> = {
  name: 'privilege',
  read: (reader, place) => place && readPrivilege(reader, place),
  schema: SCHEMA,
  calls: { of: ({ needs }) => needs },
  // In a list, so that none is something too.
  history: { of: ({ elevation }) => [elevation] },
}

/** Reads `privilege`; what is not said has its default. */
export function readPrivilege(reader: Reader, place: Place): PrivilegeSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  return {
    needs: readEnumMap(reader, fields?.needs, TIERS, DEFAULT_NEEDS),
    elevation: readElevation(reader, fields?.elevation),
  }
}

function readElevation(reader: Reader, place: Place | undefined): PrivilegeSettings['elevation'] {
  const fields = place && reader.fields(place, keysOf(ELEVATION))
  if (!fields) return undefined
  const { 'up-to': upTo, for: lasts } = fields
  if (!upTo || !lasts) {
    reader.note(place, '`elevation` needs both; write for example `{ up-to: elevated, for: 15m }`')
    return undefined
  }
  const tier = reader.word(upTo, '`up-to`', TIERS)
  const length = reader.duration(lasts, '`for`', DAY)
  return tier === undefined || length === undefined ? undefined : { upTo: tier, lasts: length }
}
