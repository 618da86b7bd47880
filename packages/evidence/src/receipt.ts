// Receipts: a canonical payload in a DSSE envelope, signed with Ed25519. Sealing and opening stand side by side.

import { ascii, latin1, utf8, utf8Length } from './bytes.ts'
import { envelopeForm, isSignedBy, readPayload, type Enveloped, type PayloadForm } from './dsse.ts'
import { EvidenceError, shown } from './error.ts'
import { problemWith, writeShape, type Shape } from './fields.ts'
import { sha256Hex } from './hash.ts'
import { isObject, type Json } from './json.ts'
import type { PublicKey, SigningKey } from './keys.ts'
import type { Kind, Receipt } from './kinds.ts'
import { contradictionIn, SHAPES } from './shapes.ts'

/** The DSSE payload type; the version of the format is part of it. */
export const PAYLOAD_TYPE = 'application/vnd.tollgate.receipt+json;v=1'

const FORM = envelopeForm(PAYLOAD_TYPE)

/** Longest payload, in bytes. Larger material is put behind hashes. */
export const MAX_PAYLOAD_BYTES: number = 16 * 1024

/** Longest envelope that can hold such a payload, in bytes. */
export const MAX_ENVELOPE_BYTES: number = 4 * Math.ceil(MAX_PAYLOAD_BYTES / 3) + 400

/** A receipt with its bytes and its name. */
interface Identified {
  readonly receipt: Receipt
  /** SHA-256 of the payload: the name of the receipt, and the next one's `prev_receipt_hash`. */
  readonly id: string
  readonly payload: Uint8Array
}

/** A receipt whose bytes are fixed, but not yet signed. */
export interface Encoded extends Identified {
  /** What is to be signed: the DSSE pre-authentication encoding of the payload. */
  readonly message: Uint8Array
}

/** A signed receipt: `envelope` is what is stored, proven and exported, byte for byte. */
export interface Sealed extends Identified {
  readonly envelope: Uint8Array
}

/** A receipt taken out of its envelope, its shape checked and its signature not. */
export interface Parsed extends Identified {
  /** Id of the key that is said to have signed. */
  readonly keyId: string
  readonly signature: Uint8Array
}

/**
 * Fixes a receipt's bytes and its id. Its place in the chain is settled here, so signing can come later. The receipt is
 * the caller's own plain data, not somebody else's object: it must not change while it is read.
 *
 * @throws EvidenceError `RECEIPT_MALFORMED`, `RECEIPT_KIND_UNKNOWN`, `RECEIPT_VERSION_UNKNOWN`, `RECEIPT_TOO_LARGE`, or as
 * `canonicalize` does.
 */
export function encodeReceipt(receipt: Receipt): Encoded {
  // Plain data, as `writeReceipt` will say if it is not.
  const text = writeReceipt(receipt as unknown as Json) ?? explain(receipt as unknown as Json)
  const length = utf8Length(text)
  if (length > MAX_PAYLOAD_BYTES) {
    throw new EvidenceError('RECEIPT_TOO_LARGE', `the payload is larger than ${MAX_PAYLOAD_BYTES} bytes`)
  }
  // The payload is the end of what is signed, so one piece of memory is enough for both.
  const whole = FORM.head(length) + text
  // As many bytes as characters: plain ASCII, which most receipts are, and which is written faster as such.
  const message = length === text.length ? ascii(whole) : utf8(whole)
  const payload = message.subarray(message.length - length)
  return { receipt, id: sha256Hex(payload), payload, message }
}

/**
 * Seals a receipt: fixes its bytes and signs them.
 *
 * @throws EvidenceError as `encodeReceipt` does, or `RECEIPT_MALFORMED` if the receipt names another key.
 */
export async function sealReceipt(receipt: Receipt, key: SigningKey): Promise<Sealed> {
  const encoded = encodeReceipt(receipt)
  return envelop(encoded, await signMessage(encoded, key))
}

/** The second half of `sealReceipt`, for a writer that signs apart from deciding. */
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
 * The envelope of a payload, its key's id and its signature: it has one spelling, so a store may keep the parts and put
 * them together again, byte for byte. Checks nothing.
 */
export function formatEnvelope(payload: Uint8Array, keyId: string, signature: Uint8Array): Uint8Array {
  return FORM.format(payload, keyId, signature)
}

/**
 * Opens a receipt: checks its form, its shape and its signature under the key that `keyOf` knows by that id.
 *
 * Says nothing about its place in a ledger: that takes a proof (`openProof`) or a pack (`verifyPack`).
 *
 * @throws EvidenceError as `parseReceipt` does, or `RECEIPT_SIGNATURE_WRONG`, `KEY_UNAVAILABLE`.
 */
export async function openReceipt(
  envelope: Uint8Array | string,
  keyOf: (id: string) => PublicKey | undefined,
): Promise<Parsed> {
  const parsed = parseReceipt(envelope)
  const key = keyOf(parsed.keyId)
  if (!key) throw new EvidenceError('KEY_UNAVAILABLE', `the key \`${parsed.keyId}\` is not known here`)
  if (await signatureHolds(parsed, key)) return parsed
  throw new EvidenceError('RECEIPT_SIGNATURE_WRONG', 'the signature is not of this receipt')
}

/**
 * Takes a receipt out of its envelope and checks its shape, not its signature. Envelope and payload must be
 * canonical to the byte.
 *
 * @throws EvidenceError `RECEIPT_MALFORMED`, `RECEIPT_TOO_LARGE`, `RECEIPT_VERSION_UNKNOWN`, `RECEIPT_KIND_UNKNOWN`, or a
 * `JSON_…` code for the payload.
 */
export function parseReceipt(envelope: Uint8Array | string): Parsed {
  const { payload, keyId, signature } = openEnvelope(envelope)
  const receipt = parsePayload(payload)
  if (receipt.key !== keyId) throw malformed('the envelope names another key than the payload')
  return { receipt, id: sha256Hex(payload), payload, keyId, signature }
}

/** Whether the receipt's signature is of this key. */
export function signatureHolds(
  parsed: Pick<Parsed, 'payload' | 'signature'>,
  key: PublicKey,
): Promise<boolean> {
  return isSignedBy(key, FORM, parsed)
}

/** A payload's receipt. It must be the canonical text of one, to the byte. */
function parsePayload(payload: Uint8Array): Receipt {
  // Sound: only a receipt is written as one.
  return readPayload(payload, RECEIPT) as unknown as Receipt
}

const RECEIPT: PayloadForm = { maxBytes: MAX_PAYLOAD_BYTES, write: writeReceipt, explain }

/** The canonical text of a receipt; undefined for anything else. */
function writeReceipt(value: Json): string | undefined {
  const shape = isObject(value) ? shapeOf(value['kind']) : undefined
  const text = shape && writeShape(value, shape)
  // Sound: it has the shape of its kind.
  return text !== undefined && contradictionIn(value as unknown as Receipt) === undefined ? text : undefined
}

function shapeOf(kind: Json | undefined): Shape | undefined {
  // Sound: just found in the table.
  return typeof kind === 'string' && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as Kind] : undefined
}

/** Says why a value is not a receipt. */
function explain(value: Json): never {
  if (!isObject(value)) throw malformed('the payload is not an object')
  const { v, kind } = value
  const shape = shapeOf(kind)
  if (v !== 1) throw new EvidenceError('RECEIPT_VERSION_UNKNOWN', `version \`${named(v)}\` is not known here`)
  if (!shape) throw new EvidenceError('RECEIPT_KIND_UNKNOWN', `kind \`${named(kind)}\` is not known here`)
  // Sound: without a problem it has the shape of its kind.
  const problem = problemWith(value, shape) ?? contradictionIn(value as unknown as Receipt) ?? 'it changes'
  throw malformed(`${named(kind)}: ${problem}`)
}

function openEnvelope(envelope: Uint8Array | string): Enveloped {
  if (envelope.length > MAX_ENVELOPE_BYTES) {
    throw new EvidenceError('RECEIPT_TOO_LARGE', `the envelope is larger than ${MAX_ENVELOPE_BYTES} bytes`)
  }
  const bytes = typeof envelope === 'string' ? utf8(envelope) : envelope
  const opened = FORM.open(bytes)
  if (opened === 'not of this form') throw strangeEnvelope(latin1(bytes))
  if (opened === 'not base64') throw malformed('the envelope is not base64 where it should be')
  return opened
}

function strangeEnvelope(text: string): EvidenceError {
  const version =
    /^\{"payload":"[A-Za-z0-9+/=]*","payloadType":"application\/vnd\.tollgate\.receipt\+json;v=([0-9]{1,9})"/.exec(
      text,
    )?.[1]
  if (version === undefined || version === '1') return malformed('not a receipt envelope in canonical form')
  return new EvidenceError('RECEIPT_VERSION_UNKNOWN', `version \`${version}\` is not known here`)
}

function named(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? shown(String(value)) : typeof value
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('RECEIPT_MALFORMED', `not a receipt: ${problem}`)
}
