// Error replies in the format of each dialect. They never hold a key, an argument or internal details.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import { formatSse } from '../sse.ts'
import { word as wordIn } from './filter.ts'
import type { Provider } from './providers.ts'

export interface Fault {
  readonly status: number
  /** A Tollgate code in capitals, or the code of the upstream. */
  readonly code: string
  readonly message: string
  readonly param?: string | undefined
  /** The dialect's error type; derived from the status if not given. */
  readonly type?: string
  /** Details that clients of the dialect evaluate. */
  readonly details?: JsonObject
  /** Seconds until the next attempt. */
  readonly after?: number
  /** A retry would fail again. */
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

const GEMINI_TYPES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  504: 'DEADLINE_EXCEEDED',
}

/** An error of Google: its code is the status, and the reason has a place of its own. */
function geminiBodyOf({ status, code, message, type }: Fault): object {
  const kind = type ?? GEMINI_TYPES[status] ?? 'UNAVAILABLE'
  const isOwn = OWN_CODE.test(code)
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'tollgate' }]
  const text = isOwn ? `${code}: ${message}` : message
  return { error: { code: status, message: text, status: kind, ...(isOwn && { details }) } }
}

const OWN_CODE = /^[A-Z_]+$/

/** An error in the format of the dialect. */
function bodyOf(provider: Provider, fault: Fault): object {
  const { status, code, message, param, type, details } = fault
  if (provider === 'gemini') return geminiBodyOf(fault)
  if (provider !== 'anthropic') {
    const kind = type ?? OPENAI_TYPES[status] ?? 'api_error'
    return { error: { message, type: kind, param: param ?? null, code } }
  }
  const kind = type ?? ANTHROPIC_TYPES[status] ?? 'api_error'
  // The official client shows only the message.
  const text = OWN_CODE.test(code) ? `${code}: ${message}` : message
  return { type: 'error', error: { type: kind, message: text, ...(details && { details }) } }
}

/** A fault as a reply. */
export function faultReply(provider: Provider, fault: Fault, headers: Record<string, string> = {}): Reply {
  return {
    status: fault.status,
    headers: {
      ...headers,
      'content-type': 'application/json',
      // Headers that the official clients read.
      ...(fault.after !== undefined && { 'retry-after': String(fault.after) }),
      ...(fault.lasting === true && { 'x-should-retry': 'false' }),
    },
    body: JSON.stringify(bodyOf(provider, fault)),
  }
}

/** A fault as an event of a stream. */
export function faultEvent(provider: Provider, responses: boolean, fault: Fault): string {
  if (provider === 'anthropic') return formatSse(JSON.stringify(bodyOf(provider, fault)), { type: 'error' })
  if (!responses) return formatSse(JSON.stringify(bodyOf(provider, fault)))
  const { code, message, param } = fault
  const event = { type: 'error', code, message, param: param ?? null, sequence_number: 0 }
  return formatSse(JSON.stringify(event), { type: 'error' })
}

const MAX_TEXT = 500

/** The error of an upstream: known members only, shortened, without the key. */
export function upstreamFault(
  provider: Provider,
  status: number,
  body: JsonObject | undefined,
  key: string | undefined,
): Fault {
  const error = isObject(body?.['error']) ? body['error'] : {}
  const text = (name: string): string | undefined => {
    const value = error[name]
    return typeof value === 'string' ? withoutKey(value, key).slice(0, MAX_TEXT) : undefined
  }
  const word = (name: string): string | undefined => {
    const value = wordIn(error[name])
    return value === undefined || value === '' ? undefined : withoutKey(value, key)
  }
  const type = word(provider === 'gemini' ? 'status' : 'type')
  return {
    status,
    code: word('code') ?? `upstream_${status}`,
    message: text('message') ?? `the model server answered ${status}`,
    param: word('param'),
    ...(type !== undefined && { type }),
  }
}

// Keys in the formats of the providers, also abbreviated ones.
const KEYS = /\b(?:(?:sk|pk|rk|sess|key)-[\w*.-]{4,}|AIza[\w*.-]{4,})/g

/** A text without the key, and without anything that looks like a key. */
export function withoutKey(text: string, key: string | undefined): string {
  const plain = key === undefined || key === '' ? text : text.replaceAll(key, '(key)')
  return plain.replaceAll(KEYS, '(key)')
}
