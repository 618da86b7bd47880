// The errors that this package throws, by code. A verdict is not an error: it is returned.

/** The closed list of error codes. Branch on these, never on the message. */
export type KernelErrorCode =
  | 'CONDITION_INVALID'
  | 'CONDITION_FAILED'
  | 'SCHEMA_REFUSED'
  | 'LEDGER_POISONED'
  | 'LEDGER_FULL'
  | 'BATCH_STALE'
  | 'EFFECT_UNRECORDED'
  | 'EFFECT_REFUSED'
  | 'PERMIT_INVALID'
  | 'APPROVAL_REFUSED'
  | 'DELEGATION_REFUSED'
  | 'SCOPE_REFUSED'
  | 'REQUEST_INVALID'
  | 'STATE_MALFORMED'

/** The error class of this package. The message says what happened and what to do, without argument values. */
export class KernelError extends Error {
  readonly code: KernelErrorCode

  constructor(code: KernelErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options)
    this.name = 'KernelError'
    this.code = code
  }
}
