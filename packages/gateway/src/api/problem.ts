// What the API answers instead of a result: RFC 9457 problems, from one closed table.

import { EvidenceError } from '@tollgate/evidence'
import { KernelError } from '@tollgate/kernel'
import { GatewayError } from '../error.ts'

/** A kind of problem: its status and its sentence. */
interface ProblemKind {
  readonly status: number
  readonly title: string
  /** What the reader can do, where it is always the same. */
  readonly remedy?: string
}

/** The code of a problem. */
export type ProblemCode =
  | 'request-invalid'
  | 'token-missing'
  | 'token-unknown'
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
  | 'policy-invalid'
  | 'too-many-waiting'
  | 'too-much-sent'
  | 'headers-too-large'
  | 'internal-fault'
  | 'ledger-unavailable'
  | 'gateway-needed'

/** Every problem there is, by code. */
export const PROBLEMS: Readonly<Record<ProblemCode, ProblemKind>> = {
  'request-invalid': { status: 400, title: 'The request cannot be read.' },
  'token-missing': {
    status: 401,
    title: 'The request has no token.',
    remedy:
      'Send `Authorization: Bearer tg_…`; `tollgate tokens issue --role ROLE --principal NAME` makes a token.',
  },
  'token-unknown': {
    status: 401,
    title: 'The token is unknown, revoked or has ended.',
    remedy: 'Ask an admin for a new token.',
  },
  'role-forbidden': { status: 403, title: 'The role of the token may not do this.' },
  'origin-forbidden': {
    status: 403,
    title: 'The request comes from a page of another origin.',
    remedy: 'Call the gateway from a program, or from its own pages.',
  },
  'not-found': { status: 404, title: 'There is no such thing here, or it is not yours to see.' },
  'method-not-allowed': { status: 405, title: 'The route does not know this method.' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time.' },
  'effect-refused': { status: 409, title: 'The effect cannot be reported.' },
  'approval-refused': { status: 409, title: 'The answer to the request is not accepted.' },
  'pin-refused': {
    status: 409,
    title: 'The tool cannot be pinned or unpinned.',
    remedy: 'Look at its definition again with `tollgate mcp show TOOL`.',
  },
  'delegation-refused': {
    status: 409,
    title: 'The delegation is not registered.',
    remedy: 'Sign another; `tollgate delegations list` shows how those that are registered stand.',
  },
  'scope-refused': {
    status: 409,
    title: 'The scope of the session is not set.',
    remedy: 'Open another session, or have an operator set the scope.',
  },
  'body-too-large': { status: 413, title: 'The body is too large.', remedy: 'Send less at a time.' },
  'url-too-long': { status: 414, title: 'The URL is too long.' },
  'not-json': {
    status: 415,
    title: 'The body is not declared to be JSON.',
    remedy: 'Send `Content-Type: application/json`, without a content encoding.',
  },
  'host-unknown': {
    status: 421,
    title: 'The gateway does not go by this name.',
    remedy: 'Use the address it listens on, or add the name to `hosts` in `tollgate.yaml`.',
  },
  'policy-invalid': { status: 422, title: 'The policy has mistakes.' },
  'too-many-waiting': {
    status: 429,
    title: 'The caller already has as many requests open as it may.',
    remedy: 'Close some, or wait until they are answered.',
  },
  'too-much-sent': {
    status: 429,
    title: 'The caller has sent more than the gateway reads for it at a time.',
    remedy: 'Wait as long as `Retry-After` says; send less at a time, and only requests that can be read.',
  },
  'headers-too-large': { status: 431, title: 'The request has too many headers, or too long ones.' },
  'internal-fault': { status: 500, title: 'The gateway failed.', remedy: 'Look at the log of the gateway.' },
  'ledger-unavailable': {
    status: 503,
    title: 'The ledger cannot record, so nothing may pass.',
    remedy: 'Run `tollgate doctor`; free or repair the storage and restart the gateway.',
  },
  'gateway-needed': {
    status: 503,
    title: 'This needs a running gateway; here the ledger is only read.',
    remedy: 'Start the gateway with `tollgate up`, or send this to the one that runs.',
  },
}

/** What a problem says besides its code. */
interface ProblemOptions {
  /** What the reader can do. */
  readonly remedy?: string
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** Ends a request. What it holds is shown to the caller: never an internal, a secret or an argument's value. */
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

/** What a fault is to the caller; undefined if it is ours, and none of its business. */
export function problemOf(fault: unknown): Problem | undefined {
  if (fault instanceof Problem) return fault
  if (fault instanceof KernelError) {
    const code = KERNEL_FAULTS[fault.code]
    return code && new Problem(code, fault.message)
  }
  if (fault instanceof GatewayError && fault.code === 'TOKEN_INVALID') return new Problem('not-found')
  if (fault instanceof EvidenceError && fault.code === 'PACK_MALFORMED') {
    return new Problem('request-invalid', fault.message)
  }
  return undefined
}
