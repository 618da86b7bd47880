// Authenticates callers and checks their roles. This runs before any of a request's body is read.

import { bearerIn, ROLES, type Identity, type Role } from '../tokens.ts'
import { Problem } from './problem.ts'
import type { Admission, ApiOptions, DoorRequest, ApiRoute, Reply } from './route.ts'

const CHALLENGE = 'Bearer realm="tollgate"'

/** The identity on public routes. It has no permissions. */
const NO_ONE: Identity = { role: 'agent', tenant: '', principal: '', groups: [] }

/** Whether a token with this role may use a route. A host token is an agent token that may also open sessions. */
function admits(roles: Admission, role: Role): boolean {
  if (typeof roles === 'string') return roles === 'public' || role !== 'metrics'
  return roles.includes(role) || (role === 'host' && roles.includes('agent'))
}

/** The roles that may use a route. */
export function rolesOf(roles: Admission): readonly Role[] {
  return ROLES.filter((role) => admits(roles, role))
}

/** Authenticates and authorises the caller of a route. @throws Problem `token-missing`, `token-unknown` or `role-forbidden`. */
export function admit(route: ApiRoute, asked: DoorRequest, options: ApiOptions): Identity {
  if (route.roles === 'public') return NO_ONE
  const identity = identityOf(asked, options)
  const role = identity.mayOpen === true ? 'host' : identity.role
  if (admits(route.roles, role)) return identity
  const roles = rolesOf(route.roles).map((each) => `\`${each}\``)
  throw new Problem('role-forbidden', `the token has the role \`${role}\``, {
    remedy: `Use a token with the role ${roles.join(' or ')}.`,
  })
}

/** The caller: the owner of the token, or the fixed identity of this process. */
export function identityOf(asked: DoorRequest, { identity, tokens }: ApiOptions): Identity {
  if (identity) return identity
  const header = asked.header('authorization')
  if (header === undefined) throw new Problem('token-missing', undefined, challengeIn(asked))
  const token = bearerIn(header)
  const known = token === undefined ? undefined : tokens?.identify(token)
  if (!known) throw unknownToken(asked)
  return known
}

/** The problem for a token that is unknown or no longer valid. */
export function unknownToken(asked: Pick<DoorRequest, 'signIn'>): Problem {
  const { refusal } = asked.signIn ?? {}
  if (refusal?.kind === 'unavailable')
    return new Problem('sign-in-unavailable', refusal.message, { headers: { 'retry-after': '10' } })
  return new Problem('token-unknown', refusal?.message, challengeIn(asked))
}

function challengeIn({ signIn }: Pick<DoorRequest, 'signIn'>): { readonly headers: Reply['headers'] } {
  return { headers: { 'www-authenticate': signIn?.challenge ?? CHALLENGE } }
}

/**
 * Whether a caller may see something that belongs to a principal. Agents see their own, other roles everything of their
 * tenant.
 */
export function maySee(
  identity: Identity,
  owner: { readonly tenant: string; readonly principal: string },
): boolean {
  if (owner.tenant !== identity.tenant) return false
  return identity.role !== 'agent' || owner.principal === identity.principal
}
