// Sets the scope of a session for a caller, and checks that the caller may set it.

import { KernelError, NOBODY, type Kernel } from '@tollgate/kernel'
import { setScope, type ScopeSet } from '@tollgate/kernel/admin'
import { parseScope, type Scope } from '@tollgate/kernel/detection'
import type { Identity } from './tokens.ts'

/** A session and the scope for it. */
interface ScopeGiven {
  readonly principal: string
  readonly session: string
  /** As received, not validated yet. */
  readonly scope: unknown
}

/** The message for callers that may not set the scope of a session. */
export const SCOPE_NOT_PERMITTED: string =
  'an agent cannot set the scope of its own session; open the session with a token of the role `host`, or ask an operator'

/** Whether a caller may set scopes: operators for any principal, a host token for its own principal. */
export function maySetScope({ role, mayOpen, principal }: Identity, of: string): boolean {
  if (role === 'operator' || role === 'admin') return true
  return role === 'agent' && mayOpen === true && principal === of
}

/**
 * Sets the scope of a session.
 *
 * @throws KernelError `SCOPE_REFUSED` if the caller may not set it or it is too late; `REQUEST_INVALID` if the scope is
 * malformed.
 */
export async function giveScope(kernel: Kernel, who: Identity, given: ScopeGiven): Promise<ScopeSet> {
  const { principal, session } = given
  if (!maySetScope(who, principal)) throw new KernelError('SCOPE_REFUSED', SCOPE_NOT_PERMITTED)
  if (principal === NOBODY)
    throw new KernelError('SCOPE_REFUSED', 'calls without a principal have no sessions')
  return setScope(kernel, {
    tenant: who.tenant,
    principal,
    session,
    scope: scopeIn(given.scope),
    by: who.principal,
    as: who.role === 'agent' ? 'host' : 'operator',
  })
}

/** The origin of a scope defaults to the host application. */
function scopeIn(value: unknown): Scope {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return parseScope(isObject ? { by: 'host', ...value } : value)
}
