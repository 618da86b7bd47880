// Who asks, and whether they may. Nothing is read of a request's body before this has answered.

import type { Identity, Role } from '../tokens.ts'
import { Problem } from './problem.ts'
import type { ApiOptions, DoorRequest, ApiRoute } from './route.ts'

const BEARER = /^bearer +([\w-]{1,128})$/i
const CHALLENGE = { headers: { 'www-authenticate': 'Bearer realm="tollgate"' } }

/** Who asks where nobody has to say. Can see and do nothing. */
const NO_ONE: Identity = { role: 'agent', tenant: '', principal: '', groups: [] }

/** Who asks. @throws Problem `token-missing`, `token-unknown` or `role-forbidden`. */
export function admit(route: ApiRoute, asked: DoorRequest, options: ApiOptions): Identity {
  if (route.roles === 'public') return NO_ONE
  const identity = identityOf(asked, options)
  // A host is an agent, and may say what its sessions are for.
  const own: readonly Role[] = identity.mayOpen === true ? ['host', identity.role] : [identity.role]
  if (route.roles === 'any role' || own.some((role) => route.roles.includes(role))) return identity
  const roles = route.roles.map((role) => `\`${role}\``).join(' or ')
  throw new Problem('role-forbidden', `the token has the role \`${own[0] ?? ''}\``, {
    remedy: `Use a token with the role ${roles}.`,
  })
}

/** Who asks: whom the token belongs to, or who this process works for. */
export function identityOf(asked: DoorRequest, { identity, tokens }: ApiOptions): Identity {
  if (identity) return identity
  const header = asked.header('authorization')
  if (header === undefined) throw new Problem('token-missing', undefined, CHALLENGE)
  const token = BEARER.exec(header)?.[1]
  const known = token === undefined ? undefined : tokens?.identify(token)
  if (!known) throw unknownToken()
  return known
}

/** What is answered to a token that is unknown, or no longer in force. */
export function unknownToken(): Problem {
  return new Problem('token-unknown', undefined, CHALLENGE)
}

/** Whether something that belongs to a principal is this caller's to see: agents see their own, others their tenant's. */
export function maySee(
  identity: Identity,
  owner: { readonly tenant: string; readonly principal: string },
): boolean {
  if (owner.tenant !== identity.tenant) return false
  return identity.role !== 'agent' || owner.principal === identity.principal
}
