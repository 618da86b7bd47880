import { beforeAll, describe, expect, it } from 'vitest'
import { verifyAccessToken } from '../../src/sign-in/access-token.ts'
import { IssuerKeys } from '../../src/sign-in/issuer-keys.ts'
import { SignInRefusal } from '../../src/sign-in/refusal.ts'
import {
  CLAIMS,
  CONFIG,
  createIssuer,
  curveKey,
  edwardsKey,
  ISSUER,
  jwkOf,
  NOW,
  rsaKey,
  secretToken,
  tokenOf,
  type TestKey,
} from './issuer.ts'

let rsa: TestKey
let pss: TestKey
let curve: TestKey
let edwards: TestKey
let stranger: TestKey
let keys: IssuerKeys

beforeAll(() => {
  ;[rsa, pss, curve, edwards] = [rsaKey('r'), rsaKey('p', 'PS256'), curveKey('c'), edwardsKey('e')]
  stranger = rsaKey('r')
  const { fetch } = createIssuer(...[rsa, pss, curve, edwards].map((key) => jwkOf(key)))
  keys = new IssuerKeys({ issuer: ISSUER, fetch, now: () => NOW, log: () => undefined })
})

/** Why a token is refused; undefined if it is accepted. */
async function refusalOf(token: string, config = CONFIG): Promise<string | undefined> {
  try {
    await verifyAccessToken(token, config, (wanted) => keys.find(wanted), NOW)
    return undefined
  } catch (fault) {
    if (fault instanceof SignInRefusal) return fault.message
    throw fault
  }
}

type Made = () => string

const HEADER = { alg: 'RS256', kid: 'r', typ: 'at+jwt' }
const without = (name: keyof typeof CLAIMS): object => ({ ...CLAIMS, [name]: undefined })
const seconds = NOW / 1000

const GOOD: readonly (readonly [what: string, token: Made])[] = [
  ['RS256', () => tokenOf(rsa)],
  ['PS256', () => tokenOf(pss)],
  ['ES256', () => tokenOf(curve)],
  ['EdDSA', () => tokenOf(edwards)],
  ['Ed25519, the newer name of EdDSA', () => tokenOf(edwards, CLAIMS, { alg: 'Ed25519', kid: 'e' })],
  ['one of several audiences', () => tokenOf(rsa, { ...CLAIMS, aud: ['https://other.example', CLAIMS.aud] })],
  ['expired 29 seconds ago', () => tokenOf(rsa, { ...CLAIMS, exp: seconds - 29 })],
  ['valid in 29 seconds', () => tokenOf(rsa, { ...CLAIMS, nbf: seconds + 29, iat: seconds + 29 })],
  ['`typ` with its media type', () => tokenOf(rsa, CLAIMS, { ...HEADER, typ: 'application/at+jwt' })],
  ['`typ` JWT and a client', () => tokenOf(rsa, CLAIMS, { ...HEADER, typ: 'JWT' })],
  [
    'no `typ`, as of Keycloak',
    () => tokenOf(rsa, { ...CLAIMS, typ: 'Bearer', nonce: 'n' }, { alg: 'RS256', kid: 'r' }),
  ],
]

const HOSTILE: readonly (readonly [what: string, token: Made, why: string])[] = [
  ['no JWT', () => 'a.b', 'must be a signed JWT'],
  ['encrypted', () => 'a.b.c.d.e', 'must be a signed JWT'],
  ['empty signature', () => tokenOf(rsa).replace(/[^.]*$/, ''), 'must be a signed JWT'],
  ['oversized', () => tokenOf(rsa, { ...CLAIMS, pad: 'x'.repeat(8000) }), 'must be a signed JWT'],
  ['oversized header', () => tokenOf(rsa, CLAIMS, { ...HEADER, pad: 'x'.repeat(2048) }), 'not strict JSON'],
  ['no JSON', () => tokenOf(rsa, 'hello'), 'not strict JSON'],
  ['JSON list', () => tokenOf(rsa, '[1]'), 'not a JWT'],
  [
    'claim twice',
    () => tokenOf(rsa, JSON.stringify(CLAIMS).replace('{', '{"sub":"eve",')),
    'not strict JSON',
  ],
  ['header twice', () => tokenOf(rsa, CLAIMS, '{"alg":"none","alg":"RS256","kid":"r"}'), 'not strict JSON'],
  ['`none`', () => tokenOf({ ...rsa, alg: 'none' }), 'must be signed with RS256'],
  ['`NONE`', () => tokenOf({ ...rsa, alg: 'NONE' }), 'must be signed with RS256'],
  ['HS256', () => secretToken('secret', { alg: 'HS256', kid: 'r' }), 'must be signed with RS256'],
  [
    'HS256 with the public key',
    () => secretToken(pemOf(rsa), { alg: 'HS256', kid: 'r' }),
    'must be signed with RS256',
  ],
  ['RS256 by name, HMAC by bytes', () => secretToken(pemOf(rsa), HEADER), 'signature'],
  ['no algorithm', () => tokenOf(rsa, CLAIMS, { kid: 'r' }), 'must be signed with RS256'],
  [
    'algorithm of another key',
    () => tokenOf(rsa, CLAIMS, { ...HEADER, alg: 'ES256' }),
    'no key with the `kid` and `alg`',
  ],
  ['PS256 with a key for RS256', () => tokenOf({ ...rsa, alg: 'PS256' }), 'no key with the `kid` and `alg`'],
  ['unknown key', () => tokenOf({ ...rsa, kid: 'x' }), 'no key with the `kid` and `alg`'],
  [
    '`kid` is no text',
    () => tokenOf(rsa, CLAIMS, { ...HEADER, kid: 7 }),
    '`kid` of the access token is not text',
  ],
  ['key of a stranger', () => tokenOf(stranger), 'signature'],
  ['key in the header', () => tokenOf(stranger, CLAIMS, { ...HEADER, jwk: jwkOf(stranger) }), 'signature'],
  ['changed claims', () => changed(tokenOf(rsa)), 'signature'],
  ['unknown extension', () => tokenOf(rsa, CLAIMS, { ...HEADER, crit: ['b64'], b64: false }), 'extensions'],
  ['another issuer', () => tokenOf(rsa, { ...CLAIMS, iss: 'https://evil.example' }), 'of another issuer'],
  ['the issuer with a slash', () => tokenOf(rsa, { ...CLAIMS, iss: `${ISSUER}/` }), 'of another issuer'],
  ['no issuer', () => tokenOf(rsa, without('iss')), 'of another issuer'],
  [
    'another audience',
    () => tokenOf(rsa, { ...CLAIMS, aud: 'https://other.example' }),
    'for another audience',
  ],
  ['a longer audience', () => tokenOf(rsa, { ...CLAIMS, aud: `${CLAIMS.aud}/x` }), 'for another audience'],
  ['no audience', () => tokenOf(rsa, without('aud')), 'audience'],
  ['expired', () => tokenOf(rsa, { ...CLAIMS, exp: seconds - 31 }), 'has expired'],
  ['no expiry', () => tokenOf(rsa, without('exp')), '`exp`'],
  ['expiry as text', () => tokenOf(rsa, { ...CLAIMS, exp: '9999999999' }), '`exp`'],
  ['not yet valid', () => tokenOf(rsa, { ...CLAIMS, nbf: seconds + 31 }), '`nbf`'],
  ['of the future', () => tokenOf(rsa, { ...CLAIMS, iat: seconds + 31 }), 'of the future'],
  ['no time of issue', () => tokenOf(rsa, without('iat')), '`iat`'],
  ['no subject', () => tokenOf(rsa, without('sub')), '`sub`'],
  ['empty subject', () => tokenOf(rsa, { ...CLAIMS, sub: '' }), '`sub`'],
  ['subject is no text', () => tokenOf(rsa, { ...CLAIMS, sub: ['olga'] }), '`sub`'],
  ['ID token', () => tokenOf(rsa, idClaims(), { ...HEADER, typ: 'JWT' }), 'ID token'],
  [
    'ID token with a nonce',
    () => tokenOf(rsa, { ...CLAIMS, nonce: 'n' }, { ...HEADER, typ: 'JWT' }),
    'ID token',
  ],
  [
    'ID token of Cognito',
    () => tokenOf(rsa, { ...CLAIMS, token_use: 'id' }, { ...HEADER, typ: 'JWT' }),
    'ID token',
  ],
  [
    'ID token of Keycloak',
    () => tokenOf(rsa, { ...CLAIMS, typ: 'ID' }, { ...HEADER, typ: 'JWT' }),
    'ID token',
  ],
  ['refresh token of Keycloak', () => tokenOf(rsa, { ...CLAIMS, typ: 'Refresh' }), 'ID token'],
  ['logout token', () => tokenOf(rsa, CLAIMS, { ...HEADER, typ: 'logout+jwt' }), '`typ`'],
  ['proof of possession', () => tokenOf(rsa, CLAIMS, { ...HEADER, typ: 'dpop+jwt' }), '`typ`'],
  ['bound to a key', () => tokenOf(rsa, { ...CLAIMS, cnf: { jkt: 'x' } }), '`cnf`'],
]

function pemOf({ publicKey }: TestKey): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

function changed(token: string): string {
  const [header, , signature] = token.split('.')
  const claims = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'eve' })).toString('base64url')
  return `${header}.${claims}.${signature}`
}

/** As an issuer whose client id is the audience signs it. */
function idClaims(): object {
  const { scope: _, client_id: client, ...claims } = CLAIMS
  return { ...claims, azp: client, at_hash: 'x' }
}

describe('an access token', () => {
  it.each(GOOD)('is accepted: %s', async (_, token) => {
    expect(await refusalOf(token())).toBeUndefined()
  })

  it.each(HOSTILE)('is refused: %s', async (_, token, why) => {
    const refusal = await refusalOf(token())
    expect(refusal).toContain(why)
    // Names and addresses of the token are for its sender alone, and logs repeat messages.
    for (const secret of ['olga', 'eve', 'evil.example', 'other.example'])
      expect(refusal).not.toContain(secret)
  })

  it('needs the configured algorithm and scope', async () => {
    const only = { ...CONFIG, algorithms: ['ES256'] as const }
    expect(await refusalOf(tokenOf(rsa), only)).toContain('must be signed with ES256')
    expect(await refusalOf(tokenOf(curve), only)).toBeUndefined()
    const scoped = { ...CONFIG, scope: 'tools' }
    expect(await refusalOf(tokenOf(rsa), scoped)).toBeUndefined()
    expect(await refusalOf(tokenOf(rsa, { ...CLAIMS, scope: 'tools:read toolset' }), scoped)).toContain(
      'lacks the scope',
    )
    expect(
      await refusalOf(tokenOf(rsa, { ...CLAIMS, scope: undefined, scp: ['a', 'tools'] }), scoped),
    ).toBeUndefined()
  })
})
