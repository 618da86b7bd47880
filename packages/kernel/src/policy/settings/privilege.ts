// `gates.privilege`: which tier each class of effect needs, and how far a person may raise one.

import { TIERS, EFFECT_CLASSES, type EffectClass, type Tier } from '@tollgate/evidence/core'
import type { Place, Reader } from '../read.ts'

/** The settings of the privilege rung. */
export interface PrivilegeSettings {
  readonly needs: Readonly<Record<EffectClass, Tier>>
  /** How far a person may raise a session, and for how many milliseconds; undefined for not at all. */
  readonly elevation: { readonly upTo: Tier; readonly lasts: number } | undefined
}

const DAY = 86_400_000

/** What each class of effect needs where the policy says nothing. */
export const DEFAULT_NEEDS: PrivilegeSettings['needs'] = {
  read: 'observer',
  write: 'standard',
  delete: 'elevated',
  execute: 'elevated',
  send: 'standard',
  pay: 'elevated',
  admin: 'admin',
}

/** Reads `privilege`; what is not said has its default. */
export function readPrivilege(reader: Reader, place: Place): PrivilegeSettings {
  const fields = reader.fields(place, ['needs', 'elevation'])
  return { needs: readNeeds(reader, fields?.needs), elevation: readElevation(reader, fields?.elevation) }
}

function readNeeds(reader: Reader, place: Place | undefined): PrivilegeSettings['needs'] {
  const fields = place && reader.fields(place, EFFECT_CLASSES)
  const needs = { ...DEFAULT_NEEDS }
  for (const effect of EFFECT_CLASSES) {
    const at = fields?.[effect]
    if (at) needs[effect] = reader.word(at, `\`${effect}\``, TIERS) ?? 'admin'
  }
  return needs
}

function readElevation(reader: Reader, place: Place | undefined): PrivilegeSettings['elevation'] {
  const fields = place && reader.fields(place, ['up-to', 'for'])
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
