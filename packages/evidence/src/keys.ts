// Ed25519 keys under a strict profile: canonical encoding, full order, S below the group order, R not of small order, 64 bytes, no
// cofactor. All runtimes then give the same results.

import { fromBase64 } from './bytes.ts'
import { isFullOrderPoint, isNeutralPoint, isReducedScalar } from './curve.ts'
import { hostEd25519, type Sign, type Verify } from './ed25519.ts'
import { EvidenceError } from './error.ts'
import { sha256Hex } from './hash.ts'

/** A checked public key. `verifySignature` accepts only keys from `importPublicKey`. */
export interface PublicKey {
  /** SHA-256 of the 32 key bytes, in hexadecimal: the id of the key. */
  readonly id: string
  /** The 32 bytes of RFC 8032. Do not change them. */
  readonly bytes: Uint8Array
}

/** A private key that can only sign. `inspect`, JSON and errors never show it. */
export interface SigningKey {
  readonly publicKey: PublicKey
  readonly sign: Sign
}

// Kept apart from the data: a hand-made PublicKey has no entry and is refused.
const verifiers = new WeakMap<PublicKey, Verify>()

/**
 * Imports a public key: 32 bytes, or their standard base64.
 *
 * Checks length, canonical encoding and full prime order. Signatures under keys of small or mixed order can be valid for other
 * messages, and runtimes do not refuse such keys.
 *
 * @throws EvidenceError `KEY_MALFORMED` or `KEY_WEAK`.
 */
export function importPublicKey(key: Uint8Array | string): PublicKey {
  const given = typeof key === 'string' ? fromBase64(key) : key
  if (given?.length !== 32)
    throw new EvidenceError('KEY_MALFORMED', 'a public key must be 32 bytes, or their base64')
  // A copy, so that the checked bytes cannot change. (`slice` of a Buffer shares its memory.)
  const bytes = Uint8Array.from(given)
  const id = sha256Hex(bytes)
  if (!isStrong(id, bytes)) {
    throw new EvidenceError(
      'KEY_WEAK',
      'the public key is not canonical or not of full order; make a new one',
    )
  }
  const imported: PublicKey = Object.freeze({ id, bytes })
  verifiers.set(imported, hostEd25519().verifier(bytes))
  return imported
}

// A cache: the check takes as long as ten signatures. A full cache stays as it is.
const strongKeys = new Set<string>()

function isStrong(id: string, bytes: Uint8Array): boolean {
  if (strongKeys.has(id)) return true
  const strong = isFullOrderPoint(bytes)
  if (strong && strongKeys.size < 1000) strongKeys.add(id)
  return strong
}

/**
 * Whether `signature` is a valid signature of `message` under the strict profile. Never throws for an invalid signature.
 */
export async function verifySignature(
  key: PublicKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const verify = verifiers.get(key)
  if (!verify) throw new TypeError('the key is not from importPublicKey')
  if (signature.length !== 64 || !isReducedScalar(signature.subarray(32))) return false
  // Runtimes disagree on an R of small order. Under a key of full order only the neutral point can occur.
  if (isNeutralPoint(signature.subarray(0, 32))) return false
  return verify(message, signature)
}

/**
 * Imports a private key from its 32-byte seed (RFC 8032). The caller should overwrite the seed afterwards.
 *
 * @throws EvidenceError `KEY_MALFORMED` or `KEY_UNAVAILABLE`. The message never contains the seed.
 */
export async function importSigningKey(seed: Uint8Array): Promise<SigningKey> {
  if (seed.length !== 32) throw new EvidenceError('KEY_MALFORMED', 'a private key must be a seed of 32 bytes')
  const { publicKey, sign } = await hostEd25519().signer(seed)
  return Object.freeze({ publicKey: importPublicKey(publicKey), sign })
}
