// Every fault of the gateway, by code. What a person can do about it comes with it.

/** What went wrong. */
export type GatewayErrorCode =
  | 'CONFIG_INVALID'
  | 'DATA_MISSING'
  | 'DATA_EXISTS'
  | 'KEY_UNUSABLE'
  | 'LEDGER_LOCKED'
  | 'LEDGER_FOREIGN'
  | 'LEDGER_DAMAGED'
  | 'LEDGER_GONE'
  | 'LEDGER_ROLLED_BACK'
  | 'STORE_FAILED'
  | 'TOKEN_INVALID'
  | 'LISTEN_REFUSED'
  | 'REQUEST_INVALID'
  | 'TRACE_MALFORMED'

/** A fault with its code, and what to do about it. Never holds a secret or an argument's value. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode
  /** What to do, one line each; may be empty. */
  readonly hints: readonly string[]

  constructor(
    code: GatewayErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly hints?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'GatewayError'
    this.code = code
    this.hints = options.hints ?? []
  }
}
