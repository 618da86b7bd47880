// The headers that are forwarded in each direction. All others are dropped: keys, cookies and connection headers.

import { TRAITS, type Provider } from './providers.ts'

/** A header by its lower-case name. */
type Header = (name: string) => string | undefined

const ASKED_OF_ALL = ['user-agent', 'x-client-request-id', 'x-stainless-retry-count']

/** The headers of a forwarded request. */
export function headersTo(provider: Provider, header: Header, stream: boolean): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    // Compression would delay a stream.
    'accept-encoding': stream ? 'identity' : 'gzip, br',
    ...given([...TRAITS[provider].headers, ...ASKED_OF_ALL], header),
  }
}

/** The headers of these names that a request has. */
export function given(names: readonly string[], header: Header): Record<string, string> {
  const values = names.map((name): [string, string | undefined] => [name, header(name)])
  return Object.fromEntries(values.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

const ANSWERED = new Set([
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
  'x-request-id',
  'openai-processing-ms',
  'openai-version',
  'anthropic-organization-id',
  'apim-request-id',
  'x-ms-region',
])
const LIMITS = /^(?:x-ratelimit|anthropic-ratelimit|anthropic-priority)-[a-z0-9-]{1,60}$/
const VALUE = /^[\x20-\x7e]{0,256}$/

/** The forwarded headers of an answer: rate limits, retry hints and ids for support. */
export function headersFrom(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => (ANSWERED.has(name) || LIMITS.test(name)) && VALUE.test(value),
    ),
  )
}
