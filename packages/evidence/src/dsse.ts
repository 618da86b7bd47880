// DSSE envelopes with one signature. An envelope has one canonical form, so it is matched as text instead of parsed. Its payload
// must be canonical JSON.

import { ascii, concat, decodeUtf8, fromBase64, latin1, toBase64 } from './bytes.ts'
import { parseCanonical } from './canonical.ts'
import type { Json } from './json.ts'
import { verifySignature, type PublicKey } from './keys.ts'

/** The content of an envelope. Nothing in it is verified. */
export interface Enveloped {
  readonly payload: Uint8Array
  /** The claimed id of the signing key: 64 arbitrary characters. */
  readonly keyId: string
  readonly signature: Uint8Array
}

/** The envelopes of one type of payload. */
interface EnvelopeForm {
  /** Builds an envelope. Checks nothing. */
  format(payload: Uint8Array, keyId: string, signature: Uint8Array): Uint8Array
  /** Splits an envelope, or returns why it is malformed. */
  open(bytes: Uint8Array): Enveloped | 'not of this form' | 'not base64'
  /** The signed prefix of a payload: its type and its length. */
  head(length: number): string
}

const BEFORE = '{"payload":"'
const KEY_END = '","sig":"'
const AFTER = '"}]}'

/** The form of envelopes for a payload type. */
export function envelopeForm(payloadType: string): EnvelopeForm {
  const between = `","payloadType":"${payloadType}","signatures":[{"keyid":"`
  const keyAt = between.length
  const signatureAt = keyAt + 64 + KEY_END.length
  const tailLength = signatureAt + 88 + AFTER.length
  const headStart = `DSSEv1 ${payloadType.length} ${payloadType} `
  return {
    format: (payload, keyId, signature) =>
      ascii(BEFORE + toBase64(payload) + between + keyId + KEY_END + toBase64(signature) + AFTER),
    open(bytes) {
      // Each piece is decoded separately: slices of one long string make every later step slower.
      const end = Math.max(bytes.length - tailLength, 0)
      const start = latin1(bytes.subarray(0, BEFORE.length))
      const tail = latin1(bytes.subarray(end))
      const framed =
        start === BEFORE &&
        end >= BEFORE.length &&
        tail.startsWith(between) &&
        tail.startsWith(KEY_END, keyAt + 64) &&
        tail.endsWith(AFTER)
      if (!framed) return 'not of this form'
      const payload = fromBase64(latin1(bytes.subarray(BEFORE.length, end)))
      const signature = fromBase64(tail.slice(signatureAt, signatureAt + 88))
      if (!payload || signature?.length !== 64) return 'not base64'
      return { payload, keyId: tail.slice(keyAt, keyAt + 64), signature }
    },
    head: (length) => `${headStart}${length} `,
  }
}

/** Whether the signature of an envelope of this form is valid under this key. */
export function isSignedBy(
  key: PublicKey,
  form: EnvelopeForm,
  { payload, signature }: Pick<Enveloped, 'payload' | 'signature'>,
): Promise<boolean> {
  return verifySignature(key, concat(ascii(form.head(payload.length)), payload), signature)
}

/** How to write a payload of one type, and how to explain that a value is not one. */
export interface PayloadForm {
  readonly maxBytes: number
  /** The canonical text of a value of this type; undefined for other values. */
  readonly write: (value: Json) => string | undefined
  /** Throws the reason why a value is not of this type. */
  readonly explain: (value: Json) => never
}

/** The value of a canonical payload. @throws the error of `explain`, or an EvidenceError with a `JSON_…` code. */
export function readPayload(payload: Uint8Array, { maxBytes, write, explain }: PayloadForm): Json {
  const text = decodeUtf8(payload)
  const value = text === undefined ? null : parseLeniently(text)
  // A value has exactly one canonical text, so this comparison makes the lenient parser safe.
  if (text === undefined || write(value) !== text) explain(parseCanonical(payload, maxBytes))
  return value
}

function parseLeniently(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // The strict parser gives the precise error.
    return null
  }
}
