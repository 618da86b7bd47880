// Sets the session scope that a request brings. Only the token of a host application may set one; any other is refused.

import { parseJson } from '@tollgate/evidence'
import { KernelError, type Kernel } from '@tollgate/kernel'
import type { DoorRequest } from '../exchange.ts'
import { giveScope } from '../scoping.ts'
import type { KnownCaller } from '../tokens.ts'
import { ambiguous, Refused } from './dialect.ts'
import type { Claims } from './request-context.ts'

const HEADER = 'tollgate-scope'
const BASE64URL = /^[A-Za-z0-9_-]{1,65536}={0,2}$/

/** Sets the scope of a request before anything in it is judged. @throws Refused */
export async function takeScope(
  kernel: Kernel,
  asked: DoorRequest,
  { identity }: KnownCaller,
  { session }: Claims,
): Promise<void> {
  const header = asked.header(HEADER)
  if (header === undefined) return
  const { principal } = identity
  try {
    await giveScope(kernel, identity, { principal, session: session ?? principal, scope: scopeIn(header) })
  } catch (fault) {
    if (!(fault instanceof KernelError)) throw fault
    if (fault.code === 'SCOPE_REFUSED') throw new Refused(403, 'SCOPE_REFUSED', fault.message)
    if (fault.code === 'REQUEST_INVALID') throw ambiguous(fault.message)
    throw fault
  }
}

/** JSON, or JSON in base64url, because a header holds ASCII only. */
function scopeIn(header: string): unknown {
  const text = header.trim()
  try {
    return parseJson(BASE64URL.test(text) ? Buffer.from(text, 'base64url') : text)
  } catch {
    throw new KernelError(
      'REQUEST_INVALID',
      `the header \`${HEADER}\` is not valid: send JSON, or JSON in base64url`,
    )
  }
}
