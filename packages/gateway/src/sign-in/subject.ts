// Turns the claims of a verified access token into a caller of this gateway: its names, groups and role.

import { isList, isObject, sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import type { ClaimPath, SignInConfig } from '../config/sign-in.ts'
import { AGENT_PREFIX, PERSON_PREFIX, type Role } from '../tokens.ts'
import { invalid } from './refusal.ts'

/** The owner of an access token. */
export interface Subject {
  readonly role: Role
  readonly principal: string
  /** The person that the agent acts for, if the token names one. */
  readonly person: string | undefined
  /** Those of its groups that the configuration lists. */
  readonly groups: readonly string[]
}

type SubjectNaming = Pick<
  SignInConfig,
  'issuer' | 'principal' | 'person' | 'groups' | 'roles' | 'people' | 'emails'
>

/** The subject of a token. @throws SignInRefusal if its claims do not suffice for a name, or contradict each other. */
export function subjectOf(claims: JsonObject, naming: SubjectNaming): Subject {
  const client = clientIn(claims)
  const person = isMachine(claims, client) ? undefined : personIn(claims, naming)
  const groups = groupsIn(claims, naming)
  // A token with an actor is used by the actor, whoever got it.
  const isOwn = client !== undefined && naming.people.includes(client) && claims['act'] === undefined
  if (isOwn && person !== undefined)
    return { role: roleOf(groups, naming), principal: person, person: undefined, groups }
  const role = roleOf(groups, naming)
  const principal = AGENT_PREFIX + fillIn(naming, claims, client)
  return { role: role === 'host' ? 'host' : 'agent', principal: checkLength(principal), person, groups }
}

/** The client that the token was issued to. Issuers name the claim differently. */
function clientIn(claims: JsonObject): string | undefined {
  const named = ['client_id', 'azp', 'cid', 'appid']
    .map((name) => claims[name])
    .filter((each) => each !== undefined)
  const [client, ...others] = new Set(named)
  if (others.length > 0) throw invalid('the access token names two clients')
  if (client === undefined || (typeof client === 'string' && client !== '')) return client
  throw invalid('the client of the access token is not text')
}

/** Whether no person is behind the token: the client got it for itself. */
function isMachine(
  { sub, gty, idtyp, preferred_username: user }: JsonObject,
  client: string | undefined,
): boolean {
  const ownNames = [client, `${client}@clients`]
  return (
    (typeof sub === 'string' && ownNames.includes(sub)) ||
    gty === 'client-credentials' ||
    idtyp === 'app' ||
    (client !== undefined && user === `service-account-${client.toLowerCase()}`)
  )
}

function personIn(claims: JsonObject, naming: SubjectNaming): string | undefined {
  const value = textOf(claimAt(claims, naming.person))
  return value === undefined ? undefined : checkLength(PERSON_PREFIX + nameOf(value, naming))
}

function groupsIn(claims: JsonObject, { groups: path, roles }: SubjectNaming): readonly string[] {
  const value = path && claimAt(claims, path)
  const given: readonly Json[] = isList(value) ? value : value === undefined ? [] : [value]
  return [...roles.keys()].filter((group) => given.includes(group))
}

function roleOf([first]: readonly string[], { roles }: SubjectNaming): Role {
  return (first === undefined ? undefined : roles.get(first)) ?? 'agent'
}

function fillIn(naming: SubjectNaming, claims: JsonObject, client: string | undefined): string {
  const { act } = claims
  const actor = isObject(act) ? act['sub'] : undefined
  const own: Readonly<Record<string, Json | undefined>> = { client, actor: actor ?? client }
  return naming.principal.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const value = textOf(Object.hasOwn(own, name) ? own[name] : claimAt(claims, [name]))
    if (value === undefined)
      throw invalid(`the access token has no \`${name}\`, which the name of the agent needs`)
    return nameOf(value, naming)
  })
}

function claimAt(claims: JsonObject, path: ClaimPath): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    claims,
  )
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined
}

const EMAIL = /^[^@]+@[^@]+\.[^@]+$/
const PLAIN = /[A-Za-z0-9._@|:+=,-]/

/** A value in a name. Everything else is percent-encoded, so that two values never have the same form, and none contains `/`. */
function nameOf(value: string, { issuer, emails }: SubjectNaming): string {
  // No encoded value begins with `~`.
  if (emails === 'hidden' && EMAIL.test(value)) return `~${sha256Hex(`${issuer}\n${value}`).slice(0, 32)}`
  return [...Buffer.from(value, 'utf8')].map(encoded).join('')
}

function encoded(byte: number): string {
  const char = String.fromCharCode(byte)
  return PLAIN.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

function checkLength(name: string): string {
  if (name.length <= 256) return name
  throw invalid('the claims of the access token are too long for a name')
}
