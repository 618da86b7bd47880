// CORS: the web pages of listed origins may use the gateway with a token. Everything else about a request is checked as usual,
// and no cookie or other credential of a browser is ever used.

import type { IncomingMessage } from 'node:http'
import type { Reply } from './route.ts'

// The headers that the SDKs of this gateway, of MCP and of model providers send.
const SENT =
  /^(?:accept|authorization|content-type|idempotency-key|last-event-id|traceparent|tracestate|x-api-key|api-key|(?:mcp|tollgate|anthropic|openai|x-stainless)-[a-z-]{1,60})$/
const MAX_SENT = 64
const SHOWN =
  'mcp-protocol-version, mcp-session-id, retry-after, tollgate-checkpoint-size, tollgate-entry, tollgate-observed, tollgate-receipts, tollgate-removed, tollgate-replayed, tollgate-verdicts, www-authenticate'
const LASTS_S = 600

/** The origin of a request, if it is one of the listed ones. */
export function listedOrigin({ headers }: IncomingMessage, origins: ReadonlySet<string>): string | undefined {
  const { origin } = headers
  return origin !== undefined && origins.has(origin) ? origin : undefined
}

/** The answer to a preflight of a listed origin; undefined if the request is none. It needs no token: browsers send none. */
export function preflightReply({ method, headers }: IncomingMessage): Reply | undefined {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return undefined
  const asked = (headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
  return {
    status: 200,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': asked
        .filter((name) => SENT.test(name))
        .slice(0, MAX_SENT)
        .join(', '),
      'access-control-max-age': String(LASTS_S),
    },
    body: '',
  }
}

/** A reply that the page of an origin may read. */
export function readableBy(origin: string, reply: Reply): Reply {
  const headers = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': SHOWN,
    vary: 'origin',
  }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}
