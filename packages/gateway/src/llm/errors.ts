// What a client is told instead of a reply, in the words of its dialect. Never a key, an argument or an internal.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import { formatSse } from '../sse.ts'
import { word as wordIn } from './filter.ts'
import type { Provider } from './dialect.ts'

/** What went wrong. */
export interface Fault {
  readonly status: number
  /** A code of ours in capitals, or what the upstream calls it. */
  readonly code: string
  readonly message: string
  readonly param?: string | undefined
  /** What the dialect calls this kind; by the status if not given. */
  readonly type?: string
  /** What a client of the dialect looks for by itself. */
  readonly details?: JsonObject
  /** Seconds until the client may try again. */
  readonly after?: number
  /** It would fail again, whatever the status says. */
  readonly lasting?: boolean
}

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
}
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  ...OPENAI_TYPES,
  413: 'request_too_large',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** The members of an error, as the dialect has them. */
function bodyOf(provider: Provider, { status, code, message, param, type, details }: Fault): object {
  if (provider === 'openai') {
    const kind = type ?? OPENAI_TYPES[status] ?? 'api_error'
    return { error: { message, type: kind, param: param ?? null, code } }
  }
  const kind = type ?? ANTHROPIC_TYPES[status] ?? 'api_error'
  // The official client shows the message and nothing else.
  const text = /^[A-Z_]+$/.test(code) ? `${code}: ${message}` : message
  return { type: 'error', error: { type: kind, message: text, ...(details && { details }) } }
}

/** A fault as an answer. */
export function faultReply(provider: Provider, fault: Fault, headers: Record<string, string> = {}): Reply {
  return {
    status: fault.status,
    headers: {
      ...headers,
      'content-type': 'application/json',
      // As the official clients have them.
      ...(fault.after !== undefined && { 'retry-after': String(fault.after) }),
      ...(fault.lasting === true && { 'x-should-retry': 'false' }),
    },
    body: JSON.stringify(bodyOf(provider, fault)),
  }
}

/** A fault in the middle of a stream. */
export function faultEvent(provider: Provider, responses: boolean, fault: Fault): string {
  if (provider === 'anthropic') return formatSse(JSON.stringify(bodyOf(provider, fault)), { type: 'error' })
  if (!responses) return formatSse(JSON.stringify(bodyOf(provider, fault)))
  const { code, message, param } = fault
  const event = { type: 'error', code, message, param: param ?? null, sequence_number: 0 }
  return formatSse(JSON.stringify(event), { type: 'error' })
}

const MOST_TEXT = 500

/** What an upstream says of its own fault: only the members that are known, cut short, and without the key. */
export function upstreamFault(status: number, body: JsonObject | undefined, key: string | undefined): Fault {
  const error = isObject(body?.['error']) ? body['error'] : {}
  const text = (name: string): string | undefined => {
    const value = error[name]
    return typeof value === 'string' ? withoutKey(value, key).slice(0, MOST_TEXT) : undefined
  }
  const word = (name: string): string | undefined => {
    const value = wordIn(error[name])
    return value === undefined || value === '' ? undefined : withoutKey(value, key)
  }
  const type = word('type')
  return {
    status,
    code: word('code') ?? `upstream_${status}`,
    message: text('message') ?? `the model server answered ${status}`,
    param: word('param'),
    ...(type !== undefined && { type }),
  }
}

// As the providers write them, also where they show only a part.
const KEYS = /\b(?:sk|pk|rk|sess|key)-[\w*.-]{4,}/g

/** A text without the key, and without what looks like one. */
export function withoutKey(text: string, key: string | undefined): string {
  const plain = key === undefined || key === '' ? text : text.replaceAll(key, '(key)')
  return plain.replaceAll(KEYS, '(key)')
}
