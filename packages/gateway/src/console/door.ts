// The console: the page for people, its sign-in, and the API for its script. A request of the page gets the token of its session, and
// is then answered as every other request with that token.

import type { ApiOptions, App } from '../api/app.ts'
import { Problem } from '../api/problem.ts'
import { json } from '../api/route.ts'
import type { Door, DoorRequest, Reply } from '../exchange.ts'
import { originOf, withSignIn } from '../sign-in/entry.ts'
import { fileReply, readPageFiles } from './files.ts'
import { ACTIVE_HEADER, credentialsIn, isFromOwnPage } from './from-page.ts'
import { showSession, signIn, signOut, type SessionPlace } from './session.ts'
import { SignedInPeople } from './signed-in.ts'

const API = '/console/api'
const ASSETS = '/console/assets/'
const PAGE = 'index.html'

interface ConsoleOptions {
  readonly app: Pick<App, 'answer'>
  readonly api: ApiOptions
  readonly scheme: 'http' | 'https'
}

/** The console of a gateway. */
export interface Console extends Door {
  /** The token behind a request of the page; undefined if it has none. */
  readonly tokenOf: (asked: Pick<DoorRequest, 'method' | 'header'>) => string | undefined
}

/** Creates the console. */
export function createConsole({ app, api, scheme }: ConsoleOptions): Console {
  const people = new SignedInPeople(() => api.kernel?.host.now() ?? Date.now())
  const place = { api, people, scheme }
  const files = readPageFiles()
  return {
    name: 'console',
    async answer(asked) {
      const { path } = asked
      if (path !== '/console' && !path.startsWith('/console/')) return undefined
      if (!path.startsWith(`${API}/`)) return fileFor(files, asked)
      if (!isFromOwnPage(asked, scheme)) throw new Problem('origin-forbidden')
      if (path === `${API}/session`) return answerSession(place, asked)
      const known = await knownRequest(place, asked)
      return path === `${API}/link` ? openLink(place, asked) : app.answer(known)
    },
    tokenOf: (asked) => people.find(credentialsIn(asked))?.token,
    end: () => undefined,
    close: () => Promise.resolve(),
  }
}

function fileFor(files: ReturnType<typeof readPageFiles>, asked: DoorRequest): Reply {
  const { method, path } = asked
  if (method !== 'GET' && method !== 'HEAD')
    throw new Problem('method-not-allowed', undefined, { headers: { allow: 'GET' } })
  const isAsset = path.startsWith(ASSETS)
  const name = isAsset ? path.slice(ASSETS.length) : PAGE
  const reply = isAsset && name === PAGE ? undefined : fileReply(files, name, asked.header('accept-encoding'))
  if (reply) return reply
  throw new Problem('not-found', 'this file is not part of the console', {
    remedy: 'Reload the page. In a copy of the repository, run `npm run build` first.',
  })
}

/** The request that a signed link names. */
function openLink({ api }: SessionPlace, { search }: DoorRequest): Reply {
  const request = api.links?.idIn(search)
  if (request !== undefined) return json(200, { request })
  throw new Problem('not-found', 'the link has expired, or is not of this gateway', {
    remedy: 'Look at the open requests.',
  })
}

async function answerSession(place: SessionPlace, asked: DoorRequest): Promise<Reply> {
  if (asked.method === 'POST') return signIn(place, asked)
  if (asked.method === 'DELETE') return signOut(place, asked)
  if (asked.method === 'GET') return showSession(place, asked, await knownRequest(place, asked))
  throw new Problem('method-not-allowed', undefined, { headers: { allow: 'GET, POST, DELETE' } })
}

/** Headers of the page that no route needs and that must not decide anything behind this door. */
const HIDDEN: ReadonlySet<string> = new Set(['cookie', 'x-api-key', 'api-key', 'tollgate-token'])

/**
 * The request with the token of its session. The session is looked up again at each use of the token, so that streams end with it.
 *
 * @throws Problem `session-ended` without a session.
 */
async function knownRequest({ api, people, scheme }: SessionPlace, asked: DoorRequest): Promise<DoorRequest> {
  const given = credentialsIn(asked)
  const header = (name: string): string | undefined => {
    if (name !== 'authorization') return HIDDEN.has(name) ? undefined : asked.header(name)
    const token = people.find(given)?.token
    return token === undefined ? undefined : `Bearer ${token}`
  }
  if (header('authorization') === undefined) throw new Problem('session-ended')
  const { cookie } = given
  if (cookie !== undefined && asked.header(ACTIVE_HEADER) === '1') people.use({ cookie })
  const origin = originOf(asked.header('host') ?? '', scheme)
  return withSignIn({ ...asked, path: asked.path.slice(API.length), header }, api.signIn, origin)
}
