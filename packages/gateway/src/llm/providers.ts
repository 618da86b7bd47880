// The providers of models: their addresses and their headers. Several providers can share one dialect.

/** The providers, as `tollgate.yaml` names them. */
export const PROVIDERS = ['openai', 'azure', 'anthropic', 'gemini'] as const

export type Provider = (typeof PROVIDERS)[number]

/** The differences between providers, besides their routes. */
interface ProviderTraits {
  /** The start of its paths at the gateway. The configured `url` replaces it. */
  readonly base: string
  /** The base URL of its clients at the gateway, for messages. */
  readonly clients: string
  /** An example of `url`, and the pattern of its end. */
  readonly url: { readonly example: string; readonly end: RegExp }
  /** The header of the key, if it is not `authorization`. */
  readonly key: string | undefined
  /** The parameter of a query in which a client can send its key, too. It is never forwarded. */
  readonly keyParameter?: string
  /** Further headers of a request that are forwarded. */
  readonly headers: readonly string[]
}

const VERSION = /\/v\d[\w.]*\/?$/

/** The traits of each provider. */
export const TRAITS: Readonly<Record<Provider, ProviderTraits>> = {
  openai: {
    base: '/openai/v1',
    clients: '`/openai/v1`',
    url: { example: 'https://api.openai.com/v1', end: VERSION },
    key: undefined,
    headers: ['openai-beta', 'openai-organization', 'openai-project'],
  },
  azure: {
    base: '/azure/openai',
    clients: '`/azure` as the endpoint of an Azure client, `/azure/openai/v1` for others',
    url: { example: 'https://NAME.openai.azure.com/openai', end: /\/openai\/?$/ },
    key: 'api-key',
    headers: ['openai-beta', 'x-ms-client-request-id'],
  },
  anthropic: {
    base: '/anthropic/v1',
    clients: '`/anthropic` for the official client, `/anthropic/v1` for most others',
    url: { example: 'https://api.anthropic.com/v1', end: VERSION },
    key: 'x-api-key',
    headers: ['anthropic-beta', 'anthropic-version', 'anthropic-dangerous-direct-browser-access'],
  },
  gemini: {
    base: '/gemini',
    clients: '`/gemini` for the official client, `/gemini/v1beta` for most others',
    // Clients differ in the version, so it stays in the path.
    url: { example: 'https://generativelanguage.googleapis.com', end: /^(?!.*\/v\d[\w.]*\/?$)/ },
    key: 'x-goog-api-key',
    keyParameter: 'key',
    headers: ['x-goog-api-client'],
  },
}

/** Every header in which a client can send its key, besides `authorization`. */
export const KEY_HEADERS: readonly string[] = PROVIDERS.flatMap((provider) => TRAITS[provider].key ?? [])
