// Verifies an access token: a JWT of the configured issuer, for this gateway, with a valid signature (RFC 7519, RFC 9068).

import { errors, jwtVerify } from 'jose'
import { isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import type { SignInAlgorithm, SignInConfig } from '../config/sign-in.ts'
import type { IssuerKey } from './key-set.ts'
import type { KeyWanted } from './issuer-keys.ts'
import { invalid, type SignInRefusal } from './refusal.ts'

/** Largest token in characters. A request has at most 16 KiB of headers. */
const MAX_TOKEN = 8192
const MAX_HEADER = 2048
/** Tolerated difference of clocks, in seconds. */
const LEEWAY_S = 30
const FORM = /^([\w-]{1,2800})\.([\w-]{1,8000})\.([\w-]{1,1400})$/

/** Whether a text has the form of a JWT. Tokens of this gateway contain no dot. */
export function isJwt(token: string): boolean {
  return token.includes('.')
}

/** A verified token. */
interface AccessToken {
  readonly claims: JsonObject
  /** The id of the key that signed it. */
  readonly key: string
  /** When it expires, in milliseconds. */
  readonly expires: number
}

type Rules = Pick<SignInConfig, 'issuer' | 'audience' | 'algorithms' | 'scope'>
type FindKey = (wanted: KeyWanted) => Promise<IssuerKey>

/** Verifies a token at a time in milliseconds. @throws SignInRefusal */
export async function verifyAccessToken(
  token: string,
  rules: Rules,
  find: FindKey,
  now: number,
): Promise<AccessToken> {
  const { header, claims } = readParts(token)
  const alg = checkHeader(header, rules)
  // Before the key: only tokens that claim this issuer can make the gateway fetch keys.
  if (claims['iss'] !== rules.issuer) throw invalid('the access token is of another issuer')
  const key = await find({ kid: kidIn(header), alg })
  await checkSignature(token, { alg, key, rules, now })
  const { iat, exp } = claims
  if (typeof iat !== 'number' || iat > now / 1000 + LEEWAY_S)
    throw invalid('the access token is of the future')
  refuseOtherTokens(header, claims)
  checkScope(claims, rules)
  // Sound: `exp` is required and checked to be a number.
  return { claims, key: key.id, expires: 1000 * (exp as number) }
}

/** Reads header and claims strictly: a document with two readings is refused before the library reads it. */
function readParts(token: string): { readonly header: JsonObject; readonly claims: JsonObject } {
  const [, header, claims] = (token.length <= MAX_TOKEN ? FORM.exec(token) : null) ?? []
  if (header === undefined || claims === undefined)
    throw invalid(`the access token must be a signed JWT of at most ${MAX_TOKEN} characters`)
  return { header: objectIn(header, MAX_HEADER), claims: objectIn(claims, MAX_TOKEN) }
}

function objectIn(part: string, maxBytes: number): JsonObject {
  let value: Json
  try {
    value = parseJson(Buffer.from(part, 'base64url'), { maxBytes })
  } catch {
    throw invalid('the access token is not strict JSON')
  }
  if (isObject(value)) return value
  throw invalid('the access token is not a JWT')
}

function checkHeader({ alg, typ, crit }: JsonObject, { algorithms }: Rules): SignInAlgorithm {
  const named = alg === 'Ed25519' ? 'EdDSA' : alg
  const found = algorithms.find((each) => each === named)
  if (!found) throw invalid(`the access token must be signed with ${algorithms.join(', ')}`)
  if (crit !== undefined)
    throw invalid('the access token has extensions that the gateway does not know (`crit`)')
  const type = typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ
  if (type === undefined || type === 'jwt' || type === 'at+jwt') return found
  throw invalid('the `typ` of the token is not that of an access token')
}

function kidIn({ kid }: JsonObject): string | undefined {
  if (kid === undefined || typeof kid === 'string') return kid
  throw invalid('the `kid` of the access token is not text')
}

interface Signed {
  readonly alg: SignInAlgorithm
  readonly key: IssuerKey
  readonly rules: Rules
  readonly now: number
}

async function checkSignature(token: string, { alg, key, rules, now }: Signed): Promise<void> {
  const { issuer, audience } = rules
  try {
    await jwtVerify(token, await key.import(alg), {
      ...{ issuer, audience: [...audience], algorithms: alg === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [alg] },
      clockTolerance: LEEWAY_S,
      currentDate: new Date(now),
      requiredClaims: ['iss', 'aud', 'exp', 'iat', 'sub'],
    })
  } catch (fault) {
    throw refusalOf(fault, rules)
  }
}

function refusalOf(fault: unknown, { audience }: Rules): SignInRefusal {
  if (fault instanceof errors.JWTExpired) return invalid('the access token has expired; get a new one')
  if (fault instanceof errors.JWSSignatureVerificationFailed)
    return invalid('the signature of the access token does not fit the key of the issuer')
  if (!(fault instanceof errors.JWTClaimValidationFailed))
    return invalid('the access token is not a valid JWT')
  if (fault.claim === 'aud')
    return invalid(`the access token is for another audience; request one for \`${audience[0] ?? ''}\``)
  const { claim } = fault
  return invalid(
    `the claim \`${/^[a-z]{1,8}$/.test(claim) ? claim : 'of a time'}\` of the access token is missing or not valid`,
  )
}

// Members of ID tokens (OpenID Connect Core) that access tokens do not have.
const OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash']
// Members that only access tokens have, at one issuer or another.
const OF_ACCESS_TOKENS = ['scope', 'scp', 'client_id', 'cid']

/** Refuses what the issuer signed for another purpose: ID tokens, refresh tokens, tokens that need a proof of possession. */
function refuseOtherTokens({ typ }: JsonObject, claims: JsonObject): void {
  if (claims['cnf'] !== undefined)
    throw invalid(
      'the access token is bound to a key (`cnf`), which the gateway cannot check; request a bearer token',
    )
  if (typeof claims['sub'] !== 'string' || claims['sub'] === '')
    throw invalid('the access token has no `sub`')
  const isTyped = typeof typ === 'string' && /at\+jwt$/i.test(typ)
  const { token_use: use, typ: kind, idtyp } = claims
  const isDeclared = isTyped || use === 'access' || kind === 'Bearer'
  const has = (name: string): boolean => claims[name] !== undefined
  const isAccess = isDeclared || OF_ACCESS_TOKENS.some(has) || idtyp === 'app'
  const isOther =
    (use ?? 'access') !== 'access' ||
    (kind ?? 'Bearer') !== 'Bearer' ||
    (!isDeclared && OF_ID_TOKENS.some(has))
  if (isOther || !isAccess)
    throw invalid('this is no access token, but another token of the issuer, such as an ID token')
}

function checkScope({ scope, scp }: JsonObject, { scope: wanted }: Rules): void {
  if (wanted === undefined) return
  const given = [scope, scp].flat().flatMap((each) => (typeof each === 'string' ? each.split(' ') : []))
  if (!given.includes(wanted)) throw invalid(`the access token lacks the scope \`${wanted}\`; request it`)
}
