// Verifies the access tokens of a request before any door sees it, and tells callers without a valid one where to get it.

import type { DoorRequest, SignInResult } from '../exchange.ts'
import { tokensIn } from '../tokens.ts'
import { METADATA_PATH, RESOURCE_PATH } from './metadata.ts'
import type { SignIn } from './sign-in.ts'

/** A request whose access tokens have been verified. Never rejects. */
export async function withSignIn(
  asked: DoorRequest,
  signIn: SignIn | undefined,
  origin: string,
): Promise<DoorRequest> {
  if (!signIn) return asked
  const refusals = await Promise.all(
    tokensIn((name) => asked.header(name)).map((token) => signIn.verify(token)),
  )
  const refusal = refusals.find((each) => each !== undefined)
  const challenge = challengeFor(asked.path, origin, refusal?.kind === 'invalid')
  const { issuer, scope } = signIn.config
  const result: SignInResult = { origin, issuer, scope, challenge, ...(refusal && { refusal }) }
  return { ...asked, signIn: result }
}

/** The value of `www-authenticate`: MCP clients find the issuer by it. */
function challengeFor(path: string, origin: string, isInvalid: boolean): string {
  const resource = RESOURCE_PATH.test(path) ? path : ''
  const error = isInvalid ? ', error="invalid_token"' : ''
  return `Bearer realm="tollgate"${error}, resource_metadata="${origin}${METADATA_PATH}${resource}"`
}

/**
 * The origin that clients use, from a checked `Host` header. Only this machine is reached without TLS: for other names, a proxy
 * ends it.
 */
export function originOf(host: string, scheme: 'http' | 'https'): string {
  const isLocal = /^(?:localhost|127\.[0-9.]+|\[::1\])(?::[0-9]+)?$/.test(host)
  return `${isLocal ? scheme : 'https'}://${host}`
}
