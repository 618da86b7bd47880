// The error class of this package and its codes. A false pack is not an error: `verifyPack` reports it.

/** The closed list of error codes. Branch on these, never on the message. */
export type EvidenceErrorCode =
  | 'JSON_MALFORMED'
  | 'JSON_NOT_UTF8'
  | 'JSON_TOO_LARGE'
  | 'JSON_TOO_DEEP'
  | 'JSON_TOO_MANY_VALUES'
  | 'JSON_DUPLICATE_KEY'
  | 'JSON_LONE_SURROGATE'
  | 'JSON_NUMBER_REFUSED'
  | 'JSON_NOT_CANONICAL'
  | 'VALUE_NOT_JSON'
  | 'BASE64_MALFORMED'
  | 'KEY_MALFORMED'
  | 'KEY_WEAK'
  | 'KEY_UNAVAILABLE'
  | 'RECEIPT_MALFORMED'
  | 'RECEIPT_TOO_LARGE'
  | 'RECEIPT_VERSION_UNKNOWN'
  | 'RECEIPT_KIND_UNKNOWN'
  | 'RECEIPT_SIGNATURE_WRONG'
  | 'DELEGATION_MALFORMED'
  | 'DELEGATION_SIGNATURE_WRONG'
  | 'TREE_RANGE'
  | 'NOTE_MALFORMED'
  | 'NOTE_UNSIGNED'
  | 'NOTE_SIGNATURE_WRONG'
  | 'CHECKPOINT_MALFORMED'
  | 'CHECKPOINT_ORIGIN_WRONG'
  | 'PROOF_MALFORMED'
  | 'PROOF_WRONG'
  | 'ARCHIVE_MALFORMED'
  | 'ARCHIVE_TOO_LARGE'
  | 'PACK_MALFORMED'
  | 'PACK_INCOMPLETE'
  | 'TRUST_MALFORMED'

/**
 * The error class of this package. The message never contains key material or argument values.
 */
export class EvidenceError extends Error {
  readonly code: EvidenceErrorCode

  constructor(code: EvidenceErrorCode, message: string) {
    super(message)
    this.name = 'EvidenceError'
    this.code = code
  }
}

/** The code of an EvidenceError. Rethrows any other error, because it is a bug and not bad input. */
export function codeOf(fault: unknown): EvidenceErrorCode {
  if (fault instanceof EvidenceError) return fault.code
  throw fault
}

/**
 * Untrusted text for a message: at most 40 characters, without control characters and invisible characters.
 */
export function shown(text: string): string {
  return text.slice(0, 40).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}
