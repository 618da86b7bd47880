// Every fault this package throws, by code. A false pack is not a fault: `verifyPack` reports it.

/** The closed list of fault codes. Branch on these, never on the message. */
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
 * The one error class of this package.
 *
 * The message says what was found and what to do; it never holds key material or argument values.
 */
export class EvidenceError extends Error {
  readonly code: EvidenceErrorCode

  constructor(code: EvidenceErrorCode, message: string) {
    super(message)
    this.name = 'EvidenceError'
    this.code = code
  }
}

/** The code of `fault` if it is one of ours; anything else is rethrown, because it is a bug and not bad input. */
export function codeOf(fault: unknown): EvidenceErrorCode {
  if (fault instanceof EvidenceError) return fault.code
  throw fault
}

/**
 * A piece of somebody else's text for a message: cut short, and without characters that a terminal would obey or that
 * would not be seen.
 */
export function shown(text: string): string {
  return text.slice(0, 40).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
}
