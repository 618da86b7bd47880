// Parses `principals` in a policy file.

import { importPublicKey, TIERS, type JsonObject, type PublicKey, type Tier } from '@tollgate/evidence/core'
import { glob, type Glob } from '../glob.ts'
import { checkName } from '../reader/names.ts'
import { about, examples, keysOf, record, TIER, TRUE_OR_FALSE } from '../reader/schema.ts'
import type { Place, Reader } from '../reader/read.ts'

/** The declaration of a principal in the policy. */
export interface PrincipalDeclaration {
  readonly name: Glob
  readonly tier: Tier
  /** The key for its delegations; without one it cannot delegate. */
  readonly key: PublicKey | undefined
  /** It acts only under a delegation. */
  readonly delegateOnly: boolean
}

const FIELDS = record(
  'Principal',
  'The trust of a principal.',
  {
    tier: about('Its privilege tier, for `gates.privilege`.', TIER),
    key: about('The Ed25519 public key that signs its delegations, in base64.', {
      type: 'string',
      pattern: '^[A-Za-z0-9+/]{43}=$',
    }),
    'delegate-only': about('It acts only under a delegation.', TRUE_OR_FALSE),
  },
  { required: ['tier'], ...examples({ tier: 'standard' }) },
)
/** The schema of a principal. */
export const PRINCIPAL: JsonObject = FIELDS

/** Parses `principals`. */
export function readPrincipals(reader: Reader, place: Place): readonly PrincipalDeclaration[] {
  const keys = new Set<string>()
  return reader.entries(place, '`principals`').flatMap(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a principal')
    const { tier, key: signs, 'delegate-only': only } = reader.fields(value, keysOf(FIELDS)) ?? {}
    if (!tier) {
      reader.note(value, '`tier` is missing; write for example `{ tier: standard }`')
      return []
    }
    if (signs && name.includes('*')) {
      reader.note(signs, 'a key belongs to one principal; write its full name, without `*`')
    }
    return [
      {
        name: glob(name),
        tier: reader.word(tier, '`tier`', TIERS) ?? 'observer',
        key: signs && readKey(reader, signs, keys),
        delegateOnly: (only && reader.flag(only, '`delegate-only`')) ?? false,
      },
    ]
  })
}

function readKey(reader: Reader, place: Place, taken: Set<string>): PublicKey | undefined {
  const text = reader.text(place, '`key`')
  if (text === undefined) return undefined
  try {
    const key = importPublicKey(text)
    if (taken.has(key.id)) reader.note(place, 'another principal has the same `key`; give each its own')
    taken.add(key.id)
    return key
  } catch {
    reader.note(place, '`key` is not an Ed25519 public key; write the base64 of its 32 bytes')
    return undefined
  }
}
