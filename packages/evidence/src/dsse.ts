// DSSE envelopes, one form for each type of payload. An envelope has one canonical spelling, so it is matched as text
// instead of being parsed; and its payload must be the canonical text of what it holds, to the byte.

import { ascii, concat, decodeUtf8, fromBase64, latin1, toBase64 } from './bytes.ts'
import { parseCanonical } from './canonical.ts'
import type { Json } from './json.ts'
import { verifySignature, type PublicKey } from './keys.ts'

/** What an envelope holds, nothing verified. */
export interface Enveloped {
  readonly payload: Uint8Array
  /** Id of the key that is said to have signed: 64 characters, whatever they are. */
  readonly keyId: string
  readonly signature: Uint8Array
}

/** The envelopes of one type of payload. */
interface EnvelopeForm {
  /** Puts an envelope together. Checks nothing. */
  format(payload: Uint8Array, keyId: string, signature: Uint8Array): Uint8Array
  /** Takes an envelope apart; or says what it is not: of this form, or base64 where it should be. */
  open(bytes: Uint8Array): Enveloped | 'not of this form' | 'not base64'
  /** What stands before a payload when it is signed: its type and its length cannot be taken for another's. */
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
      // Pieces of the bytes become text by themselves: cutting up one long text makes every later step slower.
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

/** Whether the signature of an envelope of this form is of this key. */
export function isSignedBy(
  key: PublicKey,
  form: EnvelopeForm,
  { payload, signature }: Pick<Enveloped, 'payload' | 'signature'>,
): Promise<boolean> {
  return verifySignature(key, concat(ascii(form.head(payload.length)), payload), signature)
}

/** How a payload of some kind is written, and why something is none. */
export interface PayloadForm {
  readonly maxBytes: number
  /** The canonical text of a value of this kind; undefined for anything else. */
  readonly write: (value: Json) => string | undefined
  /** Says why a value is not of this kind. */
  readonly explain: (value: Json) => never
}

/** The value that a payload is the canonical text of, to the byte. @throws what `explain` throws, or a `JSON_…` fault. */
export function readPayload(payload: Uint8Array, { maxBytes, write, explain }: PayloadForm): Json {
  const text = decodeUtf8(payload)
  const value = text === undefined ? null : parseLeniently(text)
  // Whatever the lenient parser made of the text: only one text is the canonical form of that, and it must be this one.
  if (text === undefined || write(value) !== text) explain(parseCanonical(payload, maxBytes))
  return value
}

function parseLeniently(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // The strict parser says what is wrong.
    return null
  }
}
