// The closed table of problems (RFC 9457) that the API answers with.

import { EvidenceError } from '@tollgate/evidence'
import { KernelError } from '@tollgate/kernel'
import { GatewayError } from '../error.ts'

interface ProblemKind {
  readonly status: number
  readonly title: string
  /** The remedy, if it is the same in every case. */
  readonly remedy?: string
}

export type ProblemCode =
  | 'request-invalid'
  | 'token-missing'
  | 'token-unknown'
  | 'session-ended'
  | 'role-forbidden'
  | 'origin-forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'effect-refused'
  | 'approval-refused'
  | 'pin-refused'
  | 'delegation-refused'
  | 'scope-refused'
  | 'body-too-large'
  | 'url-too-long'
  | 'not-json'
  | 'host-unknown'
  | 'policy-changed'
  | 'policy-invalid'
  | 'too-many-waiting'
  | 'too-much-sent'
  | 'headers-too-large'
  | 'internal-fault'
  | 'sign-in-unavailable'
  | 'ledger-unavailable'
  | 'gateway-needed'

/** All problems, by code. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  'request-invalid': { status: 400, title: 'The request is malformed.' },
  'token-missing': {
    status: 401,
    title: 'The request has no token.',
    remedy:
      'Send `Authorization: Bearer tg_…`; an admin issues tokens. If sign-in is configured, send an access token of the issuer.',
  },
  'token-unknown': {
    status: 401,
    title: 'The token is unknown, revoked or expired.',
    remedy: 'Ask an admin for a new token, or the issuer for a new access token.',
  },
  'session-ended': {
    status: 401,
    title: 'The session of the console has ended.',
    remedy: 'Sign in again.',
  },
  'role-forbidden': { status: 403, title: 'The role of the token does not permit this.' },
  'origin-forbidden': {
    status: 403,
    title: 'The request comes from a web page of another origin.',
    remedy:
      'Call the gateway from a program or from its own origin, or ask an operator to list the origin in `cors`.',
  },
  'not-found': { status: 404, title: 'Not found, or the token may not see it.' },
  'method-not-allowed': { status: 405, title: 'The route does not support this method.' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time.' },
  'effect-refused': { status: 409, title: 'The effect cannot be reported.' },
  'approval-refused': { status: 409, title: 'The answer to the approval request is not accepted.' },
  'pin-refused': {
    status: 409,
    title: 'The tool cannot be pinned or unpinned.',
    remedy: 'Ask an operator to review its definition again.',
  },
  'delegation-refused': {
    status: 409,
    title: 'The delegation cannot be registered.',
    remedy: 'Sign a new delegation, or ask an operator about the registered ones.',
  },
  'scope-refused': {
    status: 409,
    title: 'The scope of the session cannot be set.',
    remedy: 'Open a new session, or ask an operator to set the scope.',
  },
  'policy-changed': {
    status: 409,
    title: 'The policy that `replaces` names is not in force any more; nothing was changed.',
    remedy: 'Read the policy in force, make your change in it, and activate the result.',
  },
  'body-too-large': { status: 413, title: 'The body is too large.', remedy: 'Send a smaller body.' },
  'url-too-long': { status: 414, title: 'The URL is too long.' },
  'not-json': {
    status: 415,
    title: 'The body is not declared as JSON.',
    remedy: 'Send `Content-Type: application/json`, without a content encoding.',
  },
  'host-unknown': {
    status: 421,
    title: 'The hostname of the request is not a name of this gateway.',
    remedy: 'Use the address that the gateway listens on, or add the hostname to `hosts` in `tollgate.yaml`.',
  },
  'policy-invalid': { status: 422, title: 'The policy has mistakes.' },
  'too-many-waiting': {
    status: 429,
    title: 'The caller has too many open requests.',
    remedy: 'Close some of them, or wait until they are answered.',
  },
  'too-much-sent': {
    status: 429,
    title: 'The caller has sent too much data in a short time.',
    remedy: 'Wait for the seconds in `Retry-After`, then send smaller and well-formed requests.',
  },
  'headers-too-large': { status: 431, title: 'The headers of the request are too many or too long.' },
  'internal-fault': {
    status: 500,
    title: 'An internal error occurred in the gateway.',
    remedy: 'Check the log of the gateway.',
  },
  'sign-in-unavailable': {
    status: 503,
    title: 'The gateway cannot check access tokens now.',
    remedy: 'Try again after the seconds in `Retry-After`, or ask an operator to check the issuer.',
  },
  'ledger-unavailable': {
    status: 503,
    title: 'The ledger cannot record, so every call is denied.',
    remedy: 'Ask an operator to free or repair the storage and to restart the gateway.',
  },
  'gateway-needed': {
    status: 503,
    title:
      'Only a running gateway can do this. The program that answered is not a gateway: it only reads the ledger.',
    remedy: 'Start the gateway with `tollgate up`, then send the request again.',
  },
}

interface ProblemOptions {
  /** The remedy for this case. */
  readonly remedy?: string
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** Ends a request with a problem. The caller sees its contents: it must not contain internals, secrets or argument values. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly detail: string | undefined
  readonly options: ProblemOptions

  constructor(code: ProblemCode, detail?: string, options: ProblemOptions = {}) {
    super(detail ?? PROBLEMS[code].title)
    this.name = 'Problem'
    this.code = code
    this.detail = detail
    this.options = options
  }
}

/** The members of a problem's body. */
export function problemBody({ code, detail, options }: Problem): Readonly<Record<string, unknown>> {
  const kind = PROBLEMS[code]
  const remedy = options.remedy ?? kind.remedy
  return {
    ...options.more,
    type: `urn:tollgate:problem:${code}`,
    title: kind.title,
    status: kind.status,
    detail: detail ?? kind.title,
    code,
    ...(remedy !== undefined && { remedy }),
  }
}

const KERNEL_FAULTS: Partial<Record<KernelError['code'], ProblemCode>> = {
  EFFECT_REFUSED: 'effect-refused',
  APPROVAL_REFUSED: 'approval-refused',
  DELEGATION_REFUSED: 'delegation-refused',
  SCOPE_REFUSED: 'scope-refused',
  REQUEST_INVALID: 'request-invalid',
  SCHEMA_REFUSED: 'pin-refused',
  LEDGER_POISONED: 'ledger-unavailable',
}

/** The problem for an error; undefined for an internal error, which is not shown to the caller. */
export function problemOf(fault: unknown): Problem | undefined {
  if (fault instanceof Problem) return fault
  if (fault instanceof KernelError) {
    const code = KERNEL_FAULTS[fault.code]
    return code && new Problem(code, fault.message)
  }
  if (fault instanceof GatewayError && fault.code === 'TOKEN_INVALID') return new Problem('not-found')
  if (fault instanceof GatewayError && fault.code === 'REQUEST_INVALID')
    return new Problem('request-invalid', fault.message)
  if (fault instanceof EvidenceError && fault.code === 'PACK_MALFORMED') {
    return new Problem('request-invalid', fault.message)
  }
  return undefined
}
