// Reads the public keys of an issuer (RFC 7517). Keys that the gateway would not use are left out.

import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { SignInAlgorithm } from '../config/sign-in.ts'

/** A public key of the issuer. */
export interface IssuerKey {
  /** Its thumbprint (RFC 7638). */
  readonly id: string
  readonly kid: string | undefined
  /** The algorithms that it may verify. */
  readonly algorithms: readonly SignInAlgorithm[]
  /** The key for one of its algorithms. */
  import(algorithm: SignInAlgorithm): Promise<CryptoKey>
}

const MAX_KEYS = 64

/** The usable keys in a key set. @throws Error if there are none, or too many. */
export async function readKeySet({ keys }: JsonObject): Promise<readonly IssuerKey[]> {
  if (!isList(keys)) throw new Error('the key set of the issuer has no list `keys`')
  if (keys.length > MAX_KEYS) throw new Error(`the key set of the issuer has more than ${MAX_KEYS} keys`)
  const read = await Promise.all(keys.map(readKey))
  const usable = read.filter((key) => key !== undefined)
  if (usable.length > 0) return usable
  throw new Error('the key set of the issuer has no key for RS256, PS256, ES256 or EdDSA')
}

async function readKey(value: Json): Promise<IssuerKey | undefined> {
  if (!isObject(value) || !isForSignatures(value)) return undefined
  const found = publicPart(value)
  if (!found) return undefined
  const { jwk, algorithms } = found
  const { alg, kid } = value
  const named = alg === 'Ed25519' ? 'EdDSA' : alg
  const own = named === undefined ? algorithms : algorithms.filter((each) => each === named)
  if (own.length === 0 || (kid !== undefined && typeof kid !== 'string')) return undefined
  try {
    const id = await calculateJwkThumbprint(jwk)
    await importKey(jwk, own[0] ?? 'RS256')
    return { id, kid, algorithms: own, import: (algorithm) => importKey(jwk, algorithm) }
  } catch {
    // A number that is no point of its curve, for example. The other keys are still good.
    return undefined
  }
}

/** A set must not contain secret keys: whoever can read it could sign with them. */
function isForSignatures({ use, key_ops, d }: JsonObject): boolean {
  const verifies = key_ops === undefined || (isList(key_ops) && key_ops.includes('verify'))
  return (use === undefined || use === 'sig') && verifies && d === undefined
}

interface PublicPart {
  readonly jwk: JWK
  readonly algorithms: readonly SignInAlgorithm[]
}

const BASE64URL = /^[A-Za-z0-9_-]{1,1400}$/

/** Copies the known public members only. */
function publicPart({ kty, n, e, crv, x, y }: JsonObject): PublicPart | undefined {
  const number = (value: Json | undefined): value is string =>
    typeof value === 'string' && BASE64URL.test(value)
  if (kty === 'RSA' && number(n) && number(e) && e.length <= 6 && isLongEnough(n)) {
    return { jwk: { kty, n, e }, algorithms: ['RS256', 'PS256'] }
  }
  if (kty === 'EC' && crv === 'P-256' && number(x) && number(y)) {
    return { jwk: { kty, crv, x, y }, algorithms: ['ES256'] }
  }
  if (kty === 'OKP' && crv === 'Ed25519' && number(x)) return { jwk: { kty, crv, x }, algorithms: ['EdDSA'] }
  return undefined
}

/** From 2048 bits, as RFC 7518 requires, to 8192 bits. */
function isLongEnough(modulus: string): boolean {
  const { length } = Buffer.from(modulus, 'base64url')
  return length >= 256 && length <= 1024
}

async function importKey(jwk: JWK, algorithm: SignInAlgorithm): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm)
  if (key instanceof Uint8Array) throw new TypeError('a shared secret is no public key')
  return key
}
