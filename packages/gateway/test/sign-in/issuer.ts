// An issuer with keys of its own: signs any header and any claims, also wrong ones, and serves its keys as a test wants.

import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import type { JsonObject } from '@tollgate/evidence'
import type { SignInConfig } from '../../src/config/sign-in.ts'
import type { FetchJson } from '../../src/sign-in/fetch-json.ts'

export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'https://gate.example/mcp'
export const NOW: number = Date.UTC(2026, 0, 5, 9, 0, 0)

export const CONFIG: SignInConfig = {
  issuer: ISSUER,
  audience: [AUDIENCE],
  scope: undefined,
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
  principal: '{client}/{sub}',
  person: ['sub'],
  groups: ['groups'],
  roles: new Map([
    ['hosts', 'host'],
    ['gate-operators', 'operator'],
    ['gate-admins', 'admin'],
  ]),
  people: ['console'],
  emails: 'hidden',
}

/** The claims of a good access token of the agent `claude`, for the person `olga`. */
export const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'olga',
  client_id: 'claude',
  scope: 'tools',
  iat: NOW / 1000 - 5,
  exp: NOW / 1000 + 600,
} as const

/** A pair of keys of the issuer. */
export interface TestKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const RSA = { modulusLength: 2048 } as const

export function rsaKey(kid: string, alg = 'RS256', modulusLength: number = RSA.modulusLength): TestKey {
  return { kid, alg, ...generateKeyPairSync('rsa', { modulusLength }) }
}

export function curveKey(kid: string): TestKey {
  return { kid, alg: 'ES256', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) }
}

export function edwardsKey(kid: string): TestKey {
  return { kid, alg: 'EdDSA', ...generateKeyPairSync('ed25519') }
}

/** The public key as the key set of the issuer has it. */
export function jwkOf({ kid, alg, publicKey }: TestKey, more: JsonObject = {}): JsonObject {
  return { ...(publicKey.export({ format: 'jwk' }) as JsonObject), kid, alg, use: 'sig', ...more }
}

function part(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text).toString('base64url')
}

/** Signs a token. `header` and `claims` may be JSON texts, to be wrong in any way. */
export function tokenOf(key: TestKey, claims: object | string = CLAIMS, header?: object | string): string {
  const { kid, alg, privateKey } = key
  const signed = `${part(header ?? { alg, kid, typ: 'at+jwt' })}.${part(claims)}`
  return `${signed}.${signatureOf(alg, privateKey, Buffer.from(signed))}`
}

function signatureOf(alg: string, key: KeyObject, bytes: Buffer): string {
  const pss = { key, padding: 6, saltLength: 32 }
  const byAlgorithm: Readonly<Record<string, () => Buffer>> = {
    RS256: () => sign('sha256', bytes, key),
    PS256: () => sign('sha256', bytes, pss),
    ES256: () => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }),
    EdDSA: () => sign(null, bytes, key),
  }
  return (byAlgorithm[alg]?.() ?? Buffer.alloc(64)).toString('base64url')
}

/** A token that is signed with a shared secret. */
export function secretToken(secret: string, header: object, claims: object = CLAIMS): string {
  const signed = `${part(header)}.${part(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

export interface TestIssuer {
  readonly fetch: FetchJson
  /** The documents that were fetched. */
  readonly fetched: string[]
  /** The keys in the key set. */
  keys: readonly JsonObject[]
  /** Replaces an answer: throws, or returns another document. */
  fault: ((url: string) => JsonObject | Promise<JsonObject>) | undefined
}

/** An issuer with these keys. */
export function createIssuer(...keys: readonly JsonObject[]): TestIssuer {
  const issuer: TestIssuer = {
    fetched: [],
    keys,
    fault: undefined,
    async fetch(url) {
      issuer.fetched.push(url)
      const json = issuer.fault ? await issuer.fault(url) : documentAt(url, issuer.keys)
      return { json, date: undefined }
    },
  }
  return issuer
}

export function documentAt(url: string, keys: readonly JsonObject[]): JsonObject {
  return url.endsWith('/openid-configuration')
    ? { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` }
    : { keys: [...keys] }
}
