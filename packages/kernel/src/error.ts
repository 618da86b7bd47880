// Every fault this package throws, by code. A verdict is not a fault: it is returned.

/** The closed list of fault codes. Branch on these, never on the message. */
export type KernelErrorCode =
  | 'CONDITION_INVALID'
  | 'CONDITION_FAILED'
  | 'SCHEMA_REFUSED'
  | 'LEDGER_POISONED'
  | 'LEDGER_FULL'
  | 'EFFECT_UNRECORDED'
  | 'EFFECT_REFUSED'
  | 'PERMIT_INVALID'
  | 'APPROVAL_REFUSED'
  | 'DELEGATION_REFUSED'
  | 'SCOPE_REFUSED'
  | 'REQUEST_INVALID'
  | 'STATE_MALFORMED'

/**
 * The one error class of this package.
 *
 * The message says what was found and what to do; it never holds argument values.
 */
export class KernelError extends Error {
  readonly code: KernelErrorCode

  constructor(code: KernelErrorCode, message: string, options?: { readonly cause: unknown }) {
    super(message, options)
    this.name = 'KernelError'
    this.code = code
  }
}
