// Ed25519 keys under the strict profile: one encoding, full order, S below the group order, R not of small order, 64 bytes,
// no cofactor. Every host gives the same answer under it.

import { fromBase64 } from './bytes.ts'
import { isFullOrderPoint, isNeutralPoint, isReducedScalar } from './curve.ts'
import { hostEd25519, type Sign, type Verify } from './ed25519.ts'
import { EvidenceError } from './error.ts'
import { sha256Hex } from './hash.ts'

/** A checked public key. Only `importPublicKey` makes one that `verifySignature` accepts. */
export interface PublicKey {
  /** SHA-256 of the 32 key bytes, in hexadecimal: the full name of the key, everywhere. */
  readonly id: string
  /** The 32 bytes of RFC 8032. Do not change them. */
  readonly bytes: Uint8Array
}

/** A private key that can sign and never be read: not by `inspect`, not by JSON, not in an error. */
export interface SigningKey {
  readonly publicKey: PublicKey
  readonly sign: Sign
}

// The host's handles, apart from the data: a PublicKey made by hand has none and is refused.
const verifiers = new WeakMap<PublicKey, Verify>()

/**
 * Imports a public key: 32 bytes, or their standard base64.
 *
 * Checked once, here: length, canonical encoding, a point of full prime order. Keys of small or mixed order make
 * signatures that fit other messages, and hosts do not refuse them.
 *
 * @throws EvidenceError `KEY_MALFORMED` or `KEY_WEAK`.
 */
export function importPublicKey(key: Uint8Array | string): PublicKey {
  const given = typeof key === 'string' ? fromBase64(key) : key
  if (given?.length !== 32)
    throw new EvidenceError('KEY_MALFORMED', 'a public key is 32 bytes, or their base64')
  // A copy, so that what was checked cannot change. (`slice` of a Buffer would still be the same bytes.)
  const bytes = Uint8Array.from(given)
  const id = sha256Hex(bytes)
  if (!isStrong(id, bytes)) {
    throw new EvidenceError(
      'KEY_WEAK',
      'the public key is not canonical, or not of full order; make a new one',
    )
  }
  const imported: PublicKey = Object.freeze({ id, bytes })
  verifiers.set(imported, hostEd25519().verifier(bytes))
  return imported
}

// The check takes as long as ten signatures, and the same few keys come again and again. Full, it is not added to.
const strongKeys = new Set<string>()

function isStrong(id: string, bytes: Uint8Array): boolean {
  if (strongKeys.has(id)) return true
  const strong = isFullOrderPoint(bytes)
  if (strong && strongKeys.size < 1000) strongKeys.add(id)
  return strong
}

/**
 * Whether `signature` is the key's signature of `message`, under the strict profile. Never throws for a wrong
 * signature, whatever its bytes.
 */
export async function verifySignature(
  key: PublicKey,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const verify = verifiers.get(key)
  if (!verify) throw new TypeError('the key was not made by importPublicKey')
  if (signature.length !== 64 || !isReducedScalar(signature.subarray(32))) return false
  // Hosts disagree on an R of small order. Under a key of full order only this one of the eight can occur at all.
  if (isNeutralPoint(signature.subarray(0, 32))) return false
  return verify(message, signature)
}

/**
 * Imports a private key from its 32-byte seed (RFC 8032). The caller may, and should, overwrite the seed afterwards.
 *
 * @throws EvidenceError `KEY_MALFORMED` or `KEY_UNAVAILABLE`, without a trace of the seed.
 */
export async function importSigningKey(seed: Uint8Array): Promise<SigningKey> {
  if (seed.length !== 32) throw new EvidenceError('KEY_MALFORMED', 'a private key is a seed of 32 bytes')
  const { publicKey, sign } = await hostEd25519().signer(seed)
  return Object.freeze({ publicKey: importPublicKey(publicKey), sign })
}
