// The routes of the door: model replies, which are judged, and a few requests that cannot carry a call.

import { anthropicMessages } from './anthropic/anthropic.ts'
import { Refused, type Dialect } from './dialect.ts'
import { geminiContent, geminiCount, geminiStream } from './gemini/gemini.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import { PROVIDERS, TRAITS, type Provider } from './providers.ts'

export interface LlmRoute {
  readonly method: 'GET' | 'POST'
  /** The path behind the address of the upstream. */
  readonly path: string
  /** Judges its replies; undefined if they cannot carry a call. */
  readonly dialect: Dialect | undefined
  /** The dialect of the requests whose tokens are counted. */
  readonly counts: RequestReader | undefined
}

type RequestReader = Pick<Dialect, 'readRequest'>

/** The routes of a provider, behind its base. `{name}` matches one segment of a path. */
interface ProviderRoutes {
  /** Always POST. A path with a query needs exactly this query. */
  readonly judged: Readonly<Record<string, Dialect>>
  /** Vectors, moderation results, counts and names: nothing that an agent would run. */
  readonly plain: readonly string[]
  /** The plain ones that count the tokens of a request in a dialect. */
  readonly counted: Readonly<Record<string, RequestReader>>
  /** The queries of its plain routes. */
  readonly query?: RegExp
}

/** The versions of the Gemini API, which its clients write into the path. */
const VERSIONS = ['/v1beta', '/v1']

const GEMINI: ProviderRoutes = {
  judged: Object.fromEntries(
    VERSIONS.flatMap((version): [string, Dialect][] => [
      [`${version}/models/{model}:generateContent`, geminiContent],
      [`${version}/models/{model}:streamGenerateContent?alt=sse`, geminiStream],
    ]),
  ),
  plain: VERSIONS.flatMap((version) => [
    `POST ${version}/models/{model}:countTokens`,
    `POST ${version}/models/{model}:embedContent`,
    `POST ${version}/models/{model}:batchEmbedContents`,
    `GET ${version}/models`,
  ]),
  counted: Object.fromEntries(
    VERSIONS.map((version) => [`${version}/models/{model}:countTokens`, geminiCount]),
  ),
  query: /^page(?:Size|Token)=[\w=%-]{1,400}(?:&page(?:Size|Token)=[\w=%-]{1,400})?$/,
}

const ROUTES: Readonly<Record<Provider, ProviderRoutes>> = {
  openai: {
    judged: { '/chat/completions': openaiChat, '/responses': openaiResponses },
    plain: ['POST /embeddings', 'POST /moderations', 'POST /responses/input_tokens', 'GET /models'],
    counted: { '/responses/input_tokens': openaiResponses },
  },
  // The paths with a date as `api-version`, and the newer ones without.
  azure: {
    judged: {
      '/deployments/{deployment}/chat/completions': openaiChat,
      '/responses': openaiResponses,
      '/v1/chat/completions': openaiChat,
      '/v1/responses': openaiResponses,
    },
    plain: [
      'POST /deployments/{deployment}/embeddings',
      'GET /models',
      'POST /v1/embeddings',
      'GET /v1/models',
    ],
    counted: {},
  },
  anthropic: {
    judged: { '/messages': anthropicMessages },
    plain: ['POST /messages/count_tokens', 'GET /models'],
    counted: { '/messages/count_tokens': anthropicMessages },
  },
  gemini: GEMINI,
}

/** Every `METHOD /path` that goes to a model server, with the provider. `GET …/models` may be followed by a model. */
export const LLM_ROUTES: readonly string[] = PROVIDERS.flatMap(routesOf)

function routesOf(provider: Provider): readonly string[] {
  const { judged, plain } = ROUTES[provider]
  const all = [...Object.keys(judged).map((path) => `POST ${path}`), ...plain]
  return all.map((route) => route.replace(' ', ` ${TRAITS[provider].base}`))
}

// No segment may consist of dots only, because path normalization would change it.
const SEGMENT = /(?!\.+(?:\/|$))[\w.-]{1,128}/
const MODEL = /^(.*\/models)(?:\/(?!\.+(?:\/|$))[\w.:-]{1,128}){1,2}$/
const QUERY = /^[\w.=&%-]{1,512}$/
// The official client sends this for beta features.
const JUDGED_QUERY = /^(?:beta=true|api-version=[\w.-]{1,40})$/

/** The provider of a path and the rest of it; undefined for another door. */
export function providerOf(path: string): { provider: Provider; rest: string } | undefined {
  const [, first] = /^\/([a-z]+)(?:\/.*)?$/.exec(path) ?? []
  const provider = PROVIDERS.find((name) => name === first)
  if (!provider) return undefined
  const { base } = TRAITS[provider]
  return { provider, rest: path.startsWith(`${base}/`) ? path.slice(base.length) : '' }
}

/** The route of a request. @throws Refused for every other route. */
export function routeOf(provider: Provider, method: string, rest: string, search: string): LlmRoute {
  const { judged, plain, counted, query = QUERY } = ROUTES[provider]
  const path = withQuery(rest, search)
  const known = JUDGED_QUERY.test(search) ? rest : path
  const dialect = judged[templateOf(Object.keys(judged), known) ?? '']
  if (method === 'POST' && dialect) return { method, path, dialect, counts: undefined }
  const isPlain = templateOf(plain, `${method} ${rest}`) !== undefined || isModel(plain, method, rest)
  if (isPlain && (method === 'GET' || method === 'POST') && (search === '' || query.test(search))) {
    const counts = counted[templateOf(Object.keys(counted), rest) ?? '']
    return { method, path, dialect: undefined, counts }
  }
  throw notGoverned(provider)
}

/** Whether a path is a model of a governed list. */
function isModel(plain: readonly string[], method: string, rest: string): boolean {
  return method === 'GET' && plain.includes(`GET ${MODEL.exec(rest)?.[1]}`)
}

const PATTERNS = new Map<string, RegExp>()

/** The template that a path follows. */
function templateOf(templates: readonly string[], path: string): string | undefined {
  return templates.find((template) => {
    const text = template.replace('?', '\\?').replaceAll(/\{\w+\}/g, SEGMENT.source)
    const known = PATTERNS.get(template) ?? new RegExp(`^${text}$`)
    PATTERNS.set(template, known)
    return known.test(path)
  })
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`
}

function notGoverned(provider: Provider): Refused {
  const all = routesOf(provider).map((route) => `\`${route}\``)
  const message = `this route is not governed, so nothing was sent. Governed routes: ${all.join(', ')}. The base URL of a client must end with ${TRAITS[provider].clients}.`
  return new Refused(403, 'ROUTE_NOT_GOVERNED', message)
}
