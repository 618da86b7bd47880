// Routes to list, issue and revoke access tokens.

import { isList } from '@tollgate/evidence'
import { ROLES, type Role, type TokenInfo, type Tokens } from '../tokens.ts'
import { unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import {
  answered,
  json,
  textIn,
  type ApiOptions,
  type ApiQuestion,
  type Reply,
  type ApiRoute,
} from './route.ts'
import { FLAG, HASH, list, NAME, object, orNull, described, TIME, word, type ApiSchema } from './schema.ts'

const INFO: Readonly<Record<string, ApiSchema>> = {
  hash: described(HASH, 'SHA-256 of the token.'),
  role: word(...ROLES),
  tenant: NAME,
  principal: NAME,
  groups: list(NAME),
  issued: TIME,
  expires: orNull(TIME),
  run: described(FLAG, 'Whether the token expires when the gateway stops.'),
}

function tokensOf({ tokens }: ApiOptions): Tokens {
  if (tokens) return tokens
  throw new Problem('gateway-needed')
}

function infoOf({ hash, role, tenant, principal, groups, issued, expires, run }: TokenInfo): object {
  return {
    ...{ hash, role, tenant, principal, groups, run },
    issued: new Date(issued).toISOString(),
    expires: expires === undefined ? null : new Date(expires).toISOString(),
  }
}

function listOwn({ options, identity }: ApiQuestion): Reply {
  const own = tokensOf(options)
    .list()
    .filter(({ tenant }) => tenant === identity.tenant)
  return json(200, { tokens: own.map(infoOf) })
}

async function issue(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body } = question
  const tokens = tokensOf(options)
  const lasts = body['lasts_seconds']
  const groups = body['groups']
  const { token, info } = await tokens.issue(
    {
      // Sound: the schema allows roles, and lists of names.
      role: textIn(body, 'role') as Role,
      tenant: identity.tenant,
      principal: textIn(body, 'principal') ?? '',
      ...(isList(groups) && { groups: groups as readonly string[] }),
      ...(typeof lasts === 'number' && { lasts: 1000 * lasts }),
    },
    identity.principal,
  )
  // A caller that was revoked in the meantime must not get a new token.
  if (!question.stillKnown()) {
    await tokens.revoke(info.hash, identity.principal)
    throw unknownToken(question.asked)
  }
  return json(201, { token, ...infoOf(info) })
}

async function revoke({ options, identity, params }: ApiQuestion): Promise<Reply> {
  const tokens = tokensOf(options)
  const prefix = params['hash'] ?? ''
  // Only tokens of the caller's tenant, so that nothing is revealed about other tenants.
  const found = tokens
    .list()
    .filter(({ tenant, hash }) => tenant === identity.tenant && hash.startsWith(prefix))
  const [info] = found
  if (!info || found.length > 1) throw new Problem('not-found', 'the hash does not match exactly one token')
  return json(200, infoOf(await tokens.revoke(info.hash, identity.principal)))
}

export const tokenRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/tokens',
    id: 'listTokens',
    about: 'Lists the tokens in force, oldest first. The tokens themselves are not stored.',
    roles: ['admin'],
    answers: answered('The tokens.', { tokens: list(object(INFO)) }),
    problems: ['gateway-needed'],
    answer: listOwn,
  },
  {
    method: 'POST',
    path: '/v1/tokens',
    id: 'issueToken',
    about:
      'Issues a token for the tenant of the caller and records it. The token is shown only in this answer.',
    roles: ['admin'],
    body: {
      schema: object({
        role: word(...ROLES),
        principal: NAME,
        'groups?': list(NAME, 64),
        'lasts_seconds?': { type: 'integer', minimum: 1, maximum: 315_360_000 },
      }),
    },
    answers: {
      201: {
        about: 'Issued.',
        schema: object({ token: { type: 'string', pattern: '^tg_' }, ...INFO }),
      },
    },
    problems: ['ledger-unavailable'],
    answer: issue,
  },
  {
    method: 'DELETE',
    path: '/v1/tokens/{hash}',
    id: 'revokeToken',
    about: 'Revokes a token by its hash, or by at least the first 8 characters of it.',
    roles: ['admin'],
    params: { hash: { type: 'string', pattern: '^[0-9a-f]{8,64}$' } },
    answers: { 200: { about: 'The token is revoked.', schema: object(INFO) } },
    problems: ['ledger-unavailable'],
    answer: revoke,
  },
]
