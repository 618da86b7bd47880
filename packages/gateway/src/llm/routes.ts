// The routes of the door: model replies, which are judged, and a few requests that cannot carry a call.

import { anthropicMessages } from './anthropic/anthropic.ts'
import { Refused, type Dialect, type Provider } from './dialect.ts'
import { entryOf } from './filter.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'

export interface LlmRoute {
  readonly method: 'GET' | 'POST'
  /** The path behind the address of the upstream. */
  readonly path: string
  /** Judges its replies; undefined if they cannot carry a call. */
  readonly dialect: Dialect | undefined
  /** The dialect of the requests whose tokens are counted. */
  readonly counts: Dialect | undefined
}

const JUDGED: Readonly<Record<Provider, Readonly<Record<string, Dialect>>>> = {
  openai: { '/chat/completions': openaiChat, '/responses': openaiResponses },
  anthropic: { '/messages': anthropicMessages },
}

// Vectors, moderation results, counts and names: nothing that an agent would run.
const PLAIN: Readonly<Record<Provider, readonly string[]>> = {
  openai: ['POST /embeddings', 'POST /moderations', 'POST /responses/input_tokens', 'GET /models'],
  anthropic: ['POST /messages/count_tokens', 'GET /models'],
}
/** Every `METHOD /path` that goes to a model server, with the provider. `GET /models` may be followed by a model. */
export const LLM_ROUTES: readonly string[] = (['openai', 'anthropic'] as const).flatMap((provider) =>
  [...Object.keys(JUDGED[provider]).map((path) => `POST ${path}`), ...PLAIN[provider]].map((route) =>
    route.replace(' ', ` /${provider}/v1`),
  ),
)
// No segment may consist of dots only, because path normalization would change it.
const COUNTED: Readonly<Record<string, Dialect | undefined>> = {
  '/responses/input_tokens': openaiResponses,
  '/messages/count_tokens': anthropicMessages,
}
const MODEL = /^\/models(?:\/(?!\.+(?:\/|$))[\w.:-]{1,128}){1,2}$/
const QUERY = /^[\w.=&%-]{1,512}$/
// The official client sends this for beta features.
const JUDGED_QUERY = /^(?:beta=true|api-version=[\w.-]{1,40})$/

/** The provider of a path and the rest of it; undefined for another door. */
export function providerOf(path: string): { provider: Provider; rest: string } | undefined {
  const found = /^\/(openai|anthropic)(?:\/v1)?(\/.*)?$/.exec(path)
  if (!found) return undefined
  const [, provider, rest = ''] = found
  // Sound: the pattern has no other names.
  return { provider: provider as Provider, rest: path.startsWith(`/${provider}/v1`) ? rest : '' }
}

/** The route of a request. @throws Refused for every other route. */
export function routeOf(provider: Provider, method: string, rest: string, search: string): LlmRoute {
  const dialect = entryOf(JUDGED[provider], rest)
  if (method === 'POST' && dialect && (search === '' || JUDGED_QUERY.test(search))) {
    return { method, path: withQuery(rest, search), dialect, counts: undefined }
  }
  const plain = PLAIN[provider].includes(`${method} ${rest}`) || (method === 'GET' && MODEL.test(rest))
  if (plain && (method === 'GET' || method === 'POST') && (search === '' || QUERY.test(search))) {
    return { method, path: withQuery(rest, search), dialect: undefined, counts: COUNTED[rest] }
  }
  throw notGoverned(provider)
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`
}

function notGoverned(provider: Provider): Refused {
  const judged = Object.keys(JUDGED[provider]).map((path) => `POST ${path}`)
  const all = [...judged, ...PLAIN[provider]].map((each) => `\`${each.replace(' ', ` /${provider}/v1`)}\``)
  const base =
    provider === 'openai'
      ? '`/openai/v1`'
      : '`/anthropic` for the official client, `/anthropic/v1` for most others'
  const message = `this route is not governed, so nothing was sent. Governed routes: ${all.join(', ')}. The base URL of a client must end with ${base}.`
  return new Refused(403, 'ROUTE_NOT_GOVERNED', message)
}
