// Sign-in with a token, the person who is signed in, and sign-out.

import type { ApiOptions } from '../api/app.ts'
import { identityOf } from '../api/auth.ts'
import { Problem } from '../api/problem.ts'
import { readBody } from '../api/request.ts'
import { json } from '../api/route.ts'
import { object } from '../api/schema.ts'
import type { DoorRequest, Reply } from '../exchange.ts'
import { originOf, withSignIn } from '../sign-in/entry.ts'
import { bearerIn, type Identity, type Role } from '../tokens.ts'
import { credentialsIn, setCookie } from './from-page.ts'
import { LASTS_MS, type SignedInPeople } from './signed-in.ts'

/** The roles of people. Programs have no use for a page. */
const PEOPLE: readonly Role[] = ['operator', 'admin', 'auditor']
const MAX_BODY = 16_384
const BODY = { schema: object({ token: { type: 'string', maxLength: 8192 } }) } as const

/** Where a session is opened and found. */
export interface SessionPlace {
  readonly api: ApiOptions
  readonly people: SignedInPeople
  readonly scheme: 'http' | 'https'
}

/** Opens a session for the owner of a token. */
export async function signIn(place: SessionPlace, asked: DoorRequest): Promise<Reply> {
  const { api, people } = place
  const { body } = await readBody(BODY, asked, MAX_BODY)
  const { token } = body
  if (typeof token !== 'string' || bearerIn(`Bearer ${token}`) !== token)
    throw new Problem('request-invalid', '`/token` is not a token')
  const { role, principal, tenant } = await ownerOf(place, asked, token)
  if (!PEOPLE.includes(role)) {
    throw new Problem('role-forbidden', `the token has the role \`${role}\``, {
      remedy: 'Sign in with a token of the role `operator`, `admin` or `auditor`.',
    })
  }
  const { cookie, key } = people.open(token, `${tenant}\n${principal}`)
  api.log('info', 'a person signed in to the console', { by: principal, role })
  return withCookie(place, asked, json(200, { key }), cookie, LASTS_MS / 1000)
}

async function ownerOf({ api, scheme }: SessionPlace, asked: DoorRequest, token: string): Promise<Identity> {
  const header = (name: string): string | undefined =>
    name === 'authorization' ? `Bearer ${token}` : undefined
  const origin = originOf(asked.header('host') ?? '', scheme)
  return identityOf(await withSignIn({ ...asked, header }, api.signIn, origin), api)
}

/** Shows the person. `known` is the request with the token of the session. */
export function showSession({ api, people }: SessionPlace, asked: DoorRequest, known: DoorRequest): Reply {
  const { role, principal, tenant, groups } = identityOf(known, api)
  const found = people.find(credentialsIn(asked))
  if (!found) throw new Problem('session-ended')
  const [ends, idles] = [found.ends, found.idles].map((time) => new Date(time).toISOString())
  return json(200, { principal, role, tenant, groups, version: api.version, ends, idles })
}

/** Ends the session of the request, if it has one. Removes the cookie in any case. */
export function signOut(place: SessionPlace, asked: DoorRequest): Reply {
  const given = credentialsIn(asked)
  const { cookie } = given
  if (cookie !== undefined && place.people.find(given)) place.people.end({ cookie })
  return withCookie(place, asked, json(200, {}), '', 0)
}

function withCookie(
  { scheme }: SessionPlace,
  asked: DoorRequest,
  reply: Reply,
  cookie: string,
  seconds: number,
): Reply {
  const secure = originOf(asked.header('host') ?? '', scheme).startsWith('https:')
  return {
    ...reply,
    headers: { ...reply.headers, 'set-cookie': setCookie(asked, cookie, { seconds, secure }) },
  }
}
