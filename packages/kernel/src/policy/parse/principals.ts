// `principals` in a policy file.

import { importPublicKey, TIERS, type JsonObject, type PublicKey, type Tier } from '@tollgate/evidence/core'
import { glob, type Glob } from '../glob.ts'
import { checkName } from '../reader/names.ts'
import { about, examples, keysOf, record, TIER, TRUE_OR_FALSE } from '../reader/schema.ts'
import type { Place, Reader } from '../reader/read.ts'

/** What the policy says about a principal. */
export interface PrincipalDeclaration {
  readonly name: Glob
  readonly tier: Tier
  /** What its delegations are signed with; who has none cannot delegate. */
  readonly key: PublicKey | undefined
  /** It acts only for others. */
  readonly delegateOnly: boolean
}

const FIELDS = record(
  'Principal',
  'How far a principal is trusted.',
  {
    tier: about('What it may do, with `gates.privilege`.', TIER),
    key: about('The Ed25519 public key that signs its delegations, in base64.', {
      type: 'string',
      pattern: '^[A-Za-z0-9+/]{43}=$',
    }),
    'delegate-only': about('It acts only for others.', TRUE_OR_FALSE),
  },
  { required: ['tier'], ...examples({ tier: 'standard' }) },
)
/** The schema of a principal. */
export const PRINCIPAL: JsonObject = FIELDS

/** Reads `principals`. */
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
      reader.note(signs, 'a key belongs to one principal; write its whole name, without `*`')
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
