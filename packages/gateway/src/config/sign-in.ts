// Reads `sign-in` of `tollgate.yaml`: the OpenID Connect issuer whose access tokens the gateway accepts, and what they mean.

import type { TokenChange } from '@tollgate/evidence'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { readUrl } from './value.ts'

/** The signature algorithms that an issuer may use. None of them has a shared secret. */
const SIGN_IN_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const
/** A signature algorithm of access tokens. */
export type SignInAlgorithm = (typeof SIGN_IN_ALGORITHMS)[number]

/** The names of nested members that lead to a claim. */
export type ClaimPath = readonly string[]

/** The issuer of access tokens, and how the gateway reads its tokens. */
export interface SignInConfig {
  /** Its URL, exactly as its tokens contain it. */
  readonly issuer: string
  /** The audiences of which a token must have one. */
  readonly audience: readonly string[]
  /** The scope that a token must have; undefined if none is needed. */
  readonly scope: string | undefined
  readonly algorithms: readonly SignInAlgorithm[]
  /** The template for the name of an agent, such as `{client}/{sub}`. */
  readonly principal: string
  /** The claim that identifies a person. */
  readonly person: ClaimPath
  /** The claim that lists groups; undefined if no token has groups. */
  readonly groups: ClaimPath | undefined
  /** The role of each group. A token gets the role of the first group that it has. All other groups are ignored. */
  readonly roles: ReadonlyMap<string, TokenChange['role']>
  /** The clients that people use themselves. Only their tokens get a role other than `agent` and `host`. */
  readonly people: readonly string[]
  /** Whether names contain e-mail addresses as they are, or only a hash of them. */
  readonly emails: 'hidden' | 'clear'
}

const FIELDS = [
  'issuer',
  'audience',
  'scope',
  'algorithms',
  'principal',
  'person',
  'groups',
  'roles',
  'people',
  'emails',
] as const
type SignInFields = Partial<Record<(typeof FIELDS)[number], Place>>

const ROLES: readonly TokenChange['role'][] = [
  'agent',
  'host',
  'sentinel',
  'operator',
  'admin',
  'auditor',
  'metrics',
]
/** The roles that a token of any client can have. */
const OF_AGENTS: readonly TokenChange['role'][] = ['agent', 'host']
// As many as a receipt can list.
const MAX_ROLES = 32
const DEFAULT_PRINCIPAL = '{client}/{sub}'

/** Reads the section; undefined after a mistake. */
export function readSignIn(reader: Reader, place: Place): SignInConfig | undefined {
  const fields = reader.fields(place, FIELDS)
  if (!fields) return undefined
  if (!fields.issuer || !fields.audience)
    reader.note(
      place,
      '`sign-in` needs `issuer` and `audience`, as the access tokens of the issuer have them',
    )
  const issuer = fields.issuer && readIssuer(reader, fields.issuer)
  const audience = fields.audience ? readTexts(reader, fields.audience, '`audience`') : []
  const algorithms = fields.algorithms && readAlgorithms(reader, fields.algorithms)
  const access = readAccess(reader, fields)
  if (issuer === undefined) return undefined
  return {
    issuer,
    audience,
    scope: fields.scope && readScope(reader, fields.scope),
    algorithms: algorithms ?? SIGN_IN_ALGORITHMS,
    principal: (fields.principal && readTemplate(reader, fields.principal)) ?? DEFAULT_PRINCIPAL,
    person: (fields.person && readPath(reader, fields.person, '`person`')) ?? ['sub'],
    ...access,
    emails: (fields.emails && reader.word(fields.emails, '`emails`', ['hidden', 'clear'])) ?? 'hidden',
  }
}

/** The URL as written: issuers are compared character by character. */
function readIssuer(reader: Reader, place: Place): string | undefined {
  const url = readUrl(reader, place, '`issuer`')
  const text = url && reader.textLine(place, '`issuer`')
  if (text === undefined || /^[\x21-\x7e]{1,200}$/.test(text.replace(/[?#]/, ' '))) return text
  reader.note(place, '`issuer` must be a URL of at most 200 characters, without `?` and `#`')
  return undefined
}

function readTexts(reader: Reader, place: Place, what: string): readonly string[] {
  const found = reader.texts(place, what)
  if (found.length === 0) reader.note(place, `${what} must not be empty`)
  if (found.length > MAX_ROLES) reader.note(place, `${what} must have at most ${MAX_ROLES} items`)
  return found.flatMap(({ text, place: at }) => {
    if (/^[\x20-\x7e]{1,256}$/.test(text)) return [text]
    reader.note(at, `an item of ${what} must have at most 256 printable ASCII characters`)
    return []
  })
}

function readScope(reader: Reader, place: Place): string | undefined {
  const text = reader.textLine(place, '`scope`')
  if (text === undefined || /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(text)) return text
  reader.note(place, '`scope` must be one scope, without spaces and quotes')
  return undefined
}

function readAlgorithms(reader: Reader, place: Place): readonly SignInAlgorithm[] | undefined {
  const found = reader
    .items(place, '`algorithms`')
    .map((item) => reader.word(item, 'an algorithm', SIGN_IN_ALGORITHMS))
  if (found.length === 0) reader.note(place, '`algorithms` must not be empty; remove it to accept all four')
  return found.filter((each) => each !== undefined)
}

const PART = /\{([A-Za-z0-9_.:-]{1,100})\}/g

/** Between two claims there must be a slash, which values never contain: two different pairs of values give different names. */
function readTemplate(reader: Reader, place: Place): string | undefined {
  const text = reader.textLine(place, '`principal`')
  if (text === undefined) return undefined
  const literals = text.split(PART).filter((_, index) => index % 2 === 0)
  const between = literals.slice(1, -1)
  const plain = literals.every((literal) => /^[A-Za-z0-9._:/-]{0,60}$/.test(literal))
  if (literals.length > 1 && literals.length < 6 && plain && between.every((each) => each.includes('/')))
    return text
  reader.note(
    place,
    '`principal` must contain one to four claims in braces, with a `/` between two claims, such as `{client}/{sub}`',
  )
  return undefined
}

/** Reads the name of a claim, or the list of names that leads to a nested one. */
function readPath(reader: Reader, place: Place, what: string): ClaimPath | undefined {
  const names = reader.texts(place, what).map(({ text }) => text)
  if (names.length > 0 && names.length <= 4) return names
  reader.note(
    place,
    `${what} must be the name of a claim; write a nested one as a list, \`[realm_access, roles]\``,
  )
  return undefined
}

type Access = Pick<SignInConfig, 'groups' | 'roles' | 'people'>

function readAccess(reader: Reader, { groups, roles, people }: SignInFields): Access {
  const path = groups && readPath(reader, groups, '`groups`')
  const clients = people ? readTexts(reader, people, '`people`') : []
  if (roles && !groups)
    reader.note(roles, '`roles` needs `groups`, the claim that lists the groups of a token')
  const known = roles ? readRoles(reader, roles, clients.length > 0) : new Map()
  return { groups: path, roles: known, people: clients }
}

function readRoles(reader: Reader, place: Place, hasPeople: boolean): SignInConfig['roles'] {
  const entries = reader.entries(place, '`roles`')
  if (entries.length > MAX_ROLES) reader.note(place, `\`roles\` must have at most ${MAX_ROLES} groups`)
  const roles = new Map<string, TokenChange['role']>()
  for (const { name, key, value } of entries) {
    const role = reader.word(value, `the role of \`${name}\``, ROLES)
    if (!/^[\x20-\x7e]{1,256}$/.test(name))
      reader.note(key, 'a group must have at most 256 printable ASCII characters')
    else if (role && !OF_AGENTS.includes(role) && !hasPeople)
      reader.note(
        value,
        `\`${role}\` is for people: add \`people\`, the ids of the clients that people use themselves`,
      )
    else if (role) roles.set(name, role)
  }
  return roles
}
