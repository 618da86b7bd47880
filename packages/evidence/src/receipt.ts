// Seals and opens receipts: a canonical payload in a DSSE envelope, signed with Ed25519.

import { ascii, latin1, utf8, utf8Length } from './bytes.ts'
import { envelopeForm, isSignedBy, readPayload, type Enveloped, type PayloadForm } from './dsse.ts'
import { EvidenceError, shown } from './error.ts'
import { problemWith, writeShape, type Shape } from './fields.ts'
import { sha256Hex } from './hash.ts'
import { isObject, type Json } from './json.ts'
import type { PublicKey, SigningKey } from './keys.ts'
import type { Kind, Receipt } from './kinds.ts'
import { contradictionIn, SHAPES } from './shapes.ts'

/** The DSSE payload type, with the version of the format. */
export const PAYLOAD_TYPE = 'application/vnd.tollgate.receipt+json;v=1'

const FORM = envelopeForm(PAYLOAD_TYPE)

/** Maximum size of a payload in bytes. Larger content is stored as a hash. */
export const MAX_PAYLOAD_BYTES: number = 16 * 1024

/** Maximum size of an envelope in bytes. */
export const MAX_ENVELOPE_BYTES: number = 4 * Math.ceil(MAX_PAYLOAD_BYTES / 3) + 400

/** A receipt with its bytes and its id. */
interface Identified {
  readonly receipt: Receipt
  /** SHA-256 of the payload: the id of the receipt, and `prev_receipt_hash` of the next one. */
  readonly id: string
  readonly payload: Uint8Array
}

/** A receipt with fixed bytes, not signed yet. */
export interface Encoded extends Identified {
  /** The bytes to sign: the DSSE pre-authentication encoding of the payload. */
  readonly message: Uint8Array
}

/** A signed receipt. `envelope` is stored, proven and exported byte for byte. */
export interface Sealed extends Identified {
  readonly envelope: Uint8Array
}

/** A receipt read from its envelope. Its shape is checked; its signature is not. */
export interface Parsed extends Identified {
  /** Id of the key that the envelope names as its signer. */
  readonly keyId: string
  readonly signature: Uint8Array
}

/**
 * Fixes the bytes and the id of a receipt, so that signing can follow later. The receipt must be plain data that does not change
 * during this call.
 *
 * @throws EvidenceError `RECEIPT_MALFORMED`, `RECEIPT_KIND_UNKNOWN`, `RECEIPT_VERSION_UNKNOWN`, `RECEIPT_TOO_LARGE`, or as
 * `canonicalize` does.
 */
export function encodeReceipt(receipt: Receipt): Encoded {
  // `writeReceipt` rejects anything but plain data.
  const text = writeReceipt(receipt as unknown as Json) ?? explain(receipt as unknown as Json)
  const length = utf8Length(text)
  if (length > MAX_PAYLOAD_BYTES) {
    throw new EvidenceError('RECEIPT_TOO_LARGE', `the payload is larger than ${MAX_PAYLOAD_BYTES} bytes`)
  }
  // The payload is the end of the signed message, so both share one buffer.
  const whole = FORM.head(length) + text
  // Equal lengths mean ASCII, which is faster to write. Most receipts are ASCII.
  const message = length === text.length ? ascii(whole) : utf8(whole)
  const payload = message.subarray(message.length - length)
  return { receipt, id: sha256Hex(payload), payload, message }
}

/**
 * Fixes the bytes of a receipt and signs them.
 *
 * @throws EvidenceError as `encodeReceipt` does, or `RECEIPT_MALFORMED` if the receipt names another key.
 */
export async function sealReceipt(receipt: Receipt, key: SigningKey): Promise<Sealed> {
  const encoded = encodeReceipt(receipt)
  return envelop(encoded, await signMessage(encoded, key))
}

/** The second half of `sealReceipt`, for a writer that signs later. */
export async function sealEncoded(encoded: Encoded, key: SigningKey): Promise<Sealed> {
  return envelop(encoded, await signMessage(encoded, key))
}

function signMessage({ receipt, message }: Encoded, key: SigningKey): ReturnType<SigningKey['sign']> {
  if (receipt.key !== key.publicKey.id) throw malformed('`key` is not the key that signs')
  return key.sign(message)
}

function envelop({ receipt, id, payload }: Identified, signature: Uint8Array): Sealed {
  return { receipt, id, payload, envelope: formatEnvelope(payload, receipt.key, signature) }
}

/**
 * The envelope of a payload, a key id and a signature. It has one canonical form, so a store can keep the parts and rebuild it
 * byte for byte. Checks nothing.
 */
export function formatEnvelope(payload: Uint8Array, keyId: string, signature: Uint8Array): Uint8Array {
  return FORM.format(payload, keyId, signature)
}

/**
 * Opens a receipt: checks its form, its shape and its signature under the key that `keyOf` returns.
 *
 * Does not check its place in a ledger: use a proof (`openProof`) or a pack (`verifyPack`) for that.
 *
 * @throws EvidenceError as `parseReceipt` does, or `RECEIPT_SIGNATURE_WRONG`, `KEY_UNAVAILABLE`.
 */
export async function openReceipt(
  envelope: Uint8Array | string,
  keyOf: (id: string) => PublicKey | undefined,
): Promise<Parsed> {
  const parsed = parseReceipt(envelope)
  const key = keyOf(parsed.keyId)
  if (!key) throw new EvidenceError('KEY_UNAVAILABLE', `the key \`${parsed.keyId}\` is not known`)
  if (await signatureHolds(parsed, key)) return parsed
  throw new EvidenceError('RECEIPT_SIGNATURE_WRONG', 'the signature of the receipt is invalid')
}

/**
 * Reads a receipt from its envelope and checks its shape, not its signature. Envelope and payload must be canonical.
 *
 * @throws EvidenceError `RECEIPT_MALFORMED`, `RECEIPT_TOO_LARGE`, `RECEIPT_VERSION_UNKNOWN`, `RECEIPT_KIND_UNKNOWN`, or a
 * `JSON_…` code for the payload.
 */
export function parseReceipt(envelope: Uint8Array | string): Parsed {
  const { payload, keyId, signature } = openEnvelope(envelope)
  const receipt = parsePayload(payload)
  if (receipt.key !== keyId) throw malformed('the envelope and the payload name different keys')
  return { receipt, id: sha256Hex(payload), payload, keyId, signature }
}

/** Whether the signature of the receipt is valid under this key. */
export function signatureHolds(
  parsed: Pick<Parsed, 'payload' | 'signature'>,
  key: PublicKey,
): Promise<boolean> {
  return isSignedBy(key, FORM, parsed)
}

/** The receipt of a canonical payload. */
function parsePayload(payload: Uint8Array): Receipt {
  // Sound: `writeReceipt` writes only receipts.
  return readPayload(payload, RECEIPT) as unknown as Receipt
}

const RECEIPT: PayloadForm = { maxBytes: MAX_PAYLOAD_BYTES, write: writeReceipt, explain }

/** The canonical text of a receipt; undefined for anything else. */
function writeReceipt(value: Json): string | undefined {
  const shape = isObject(value) ? shapeOf(value['kind']) : undefined
  const text = shape && writeShape(value, shape)
  // Sound: the value has the shape of its kind.
  return text !== undefined && contradictionIn(value as unknown as Receipt) === undefined ? text : undefined
}

function shapeOf(kind: Json | undefined): Shape | undefined {
  // Sound: `hasOwn` has found the kind.
  return typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as Kind] : undefined
}

/** Throws the reason why a value is not a receipt. */
function explain(value: Json): never {
  if (!isObject(value)) throw malformed('the payload is not an object')
  const { v, kind } = value
  const shape = shapeOf(kind)
  if (v !== 1) throw new EvidenceError('RECEIPT_VERSION_UNKNOWN', `unknown version \`${named(v)}\``)
  if (!shape) throw new EvidenceError('RECEIPT_KIND_UNKNOWN', `unknown kind \`${named(kind)}\``)
  // Sound: without a problem, the value has the shape of its kind.
  const problem = problemWith(value, shape) ?? contradictionIn(value as unknown as Receipt) ?? 'it changed'
  throw malformed(`${named(kind)}: ${problem}`)
}

function openEnvelope(envelope: Uint8Array | string): Enveloped {
  if (envelope.length > MAX_ENVELOPE_BYTES) {
    throw new EvidenceError('RECEIPT_TOO_LARGE', `the envelope is larger than ${MAX_ENVELOPE_BYTES} bytes`)
  }
  const bytes = typeof envelope === 'string' ? utf8(envelope) : envelope
  const opened = FORM.open(bytes)
  if (opened === 'not of this form') throw unknownEnvelope(latin1(bytes))
  if (opened === 'not base64') throw malformed('the payload or the signature is not base64')
  return opened
}

function unknownEnvelope(text: string): EvidenceError {
  const version =
    /^\{"payload":"[A-Za-z0-9+/=]*","payloadType":"application\/vnd\.tollgate\.receipt\+json;v=([0-9]{1,9})"/.exec(
      text,
    )?.[1]
  if (version === undefined || version === '1') return malformed('the envelope is not in canonical form')
  return new EvidenceError('RECEIPT_VERSION_UNKNOWN', `unknown version \`${version}\``)
}

function named(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? shown(String(value)) : typeof value
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('RECEIPT_MALFORMED', `not a receipt: ${problem}`)
}
