// A scope that comes through a door: who may bring one, and what is said to everybody else.

import { KernelError, NOBODY, type Kernel } from '@tollgate/kernel'
import { setScope, type ScopeSet } from '@tollgate/kernel/admin'
import { parseScope, type Scope } from '@tollgate/kernel/detection'
import type { Identity } from './tokens.ts'

/** Whose session is given a scope, and what came in for one. */
interface ScopeGiven {
  readonly principal: string
  readonly session: string
  /** As it came: nothing of it is believed yet. */
  readonly scope: unknown
}

/** What is said to whoever may not say what a session is for. */
export const NOT_YOURS: string =
  'an agent does not say what its own session is for; open the session with a token of the role `host`, or ask an operator'

/** Whether somebody may say what sessions are for: operators of any, a host of its own principal. */
export function maySetScope({ role, mayOpen, principal }: Identity, of: string): boolean {
  if (role === 'operator' || role === 'admin') return true
  return role === 'agent' && mayOpen === true && principal === of
}

/**
 * Gives a session the scope that came in.
 *
 * @throws KernelError `SCOPE_REFUSED` if this is not for the caller to say, or too late; `REQUEST_INVALID` if it is no scope.
 */
export async function giveScope(kernel: Kernel, who: Identity, given: ScopeGiven): Promise<ScopeSet> {
  const { principal, session } = given
  if (!maySetScope(who, principal)) throw new KernelError('SCOPE_REFUSED', NOT_YOURS)
  if (principal === NOBODY) throw new KernelError('SCOPE_REFUSED', 'nobody has no sessions')
  return setScope(kernel, {
    tenant: who.tenant,
    principal,
    session,
    scope: scopeIn(given.scope),
    by: who.principal,
    as: who.role === 'agent' ? 'host' : 'operator',
  })
}

/** A scope whose origin is not said comes from the application. */
function scopeIn(value: unknown): Scope {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return parseScope(isObject ? { by: 'host', ...value } : value)
}
