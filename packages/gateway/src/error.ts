// The error type of the gateway: a code, a message and hints.

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

/** An error with its code and hints. It never contains a secret or an argument value. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode
  /** Hints for the user, one line each. May be empty. */
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
