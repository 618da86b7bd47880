// Reads `gates.privilege`: the tier that each effect class needs, and how far an approval can raise a session.

import { TIERS, EFFECT_CLASSES, type EffectClass, type Tier } from '@tollgate/evidence/core'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { about, DURATION, each, keysOf, record, TIER } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The settings of the privilege gate. */
export interface PrivilegeSettings {
  readonly needs: Readonly<Record<EffectClass, Tier>>
  /** The highest tier of an elevated session and its duration in milliseconds; undefined if elevation is not allowed. */
  readonly elevation: { readonly upTo: Tier; readonly lasts: number } | undefined
}

const DAY = 86_400_000

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
  'The tier that a person can raise a session to, and for how long.',
  { 'up-to': about('The highest tier.', TIER), for: about('The duration, at most one day.', DURATION) },
  { required: ['up-to', 'for'] },
)

const SCHEMA = record(
  'Privilege',
  'The tier that each effect class needs, and the tier that a person can raise a session to.',
  {
    needs: record(
      'Needs',
      'The tier that each effect class needs.',
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
  // In a list, so that a missing elevation counts as a value.
  history: { of: ({ elevation }) => [elevation] },
}

/** Reads `privilege`. Missing members get their defaults. */
export function readPrivilege(reader: Reader, place: Place): PrivilegeSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  return {
    needs: reader.words(fields?.needs, TIERS, DEFAULT_NEEDS),
    elevation: readElevation(reader, fields?.elevation),
  }
}

function readElevation(reader: Reader, place: Place | undefined): PrivilegeSettings['elevation'] {
  const fields = place && reader.fields(place, keysOf(ELEVATION))
  if (!fields) return undefined
  const { 'up-to': upTo, for: lasts } = fields
  if (!upTo || !lasts) {
    reader.note(
      place,
      '`elevation` needs `up-to` and `for`; write for example `{ up-to: elevated, for: 15m }`',
    )
    return undefined
  }
  const tier = reader.word(upTo, '`up-to`', TIERS)
  const length = reader.duration(lasts, '`for`', DAY)
  return tier === undefined || length === undefined ? undefined : { upTo: tier, lasts: length }
}
