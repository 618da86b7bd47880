// Sends HTTP requests to one server: only to its configured address, with its configured credentials. Redirects are not
// followed.

import { Pool, type Dispatcher } from 'undici'
import type { ServerAddress } from './upstream.ts'

interface Requests {
  /** Sends a request. Rejects without an answer; `isUnreached` then tells whether it may have been sent. */
  send(request: HttpRequest): Promise<Dispatcher.ResponseData>
  /** Registers an operation that can be aborted. */
  track(): AbortController
  /** Removes it. */
  untrack(abort: AbortController): void
  /** Aborts all registered operations. */
  abortAll(): void
  close(): Promise<void>
}

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

const CONNECT_WITHIN = 10_000
const MAX_CONNECTIONS = 128

/** Returns the sender of requests for an address. */
export function createRequests(address: ServerAddress & { readonly transport: 'http' }): Requests {
  const { origin, pathname, search } = new URL(address.url)
  const given = lowerCased(address.headers)
  const tracked = new Set<AbortController>()
  // The callers set the time limits: a tool may take long, and a stream may be quiet.
  const pool = new Pool(origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_WITHIN },
  })

  return {
    async send({ headers, ...request }) {
      const all = { ...given, ...headers }
      const response = await pool.request({ ...request, path: `${pathname}${search}`, headers: all })
      // The reader sees the error. Without a reader it must not end the process.
      response.body.on('error', () => undefined)
      return response
    },
    track() {
      const abort = new AbortController()
      tracked.add(abort)
      return abort
    },
    untrack: (abort) => void tracked.delete(abort),
    abortAll() {
      for (const abort of tracked) abort.abort()
    },
    close: () => pool.destroy(),
  }
}

/** Lower-cases the names, so that headers of the gateway replace configured ones in any case. */
function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

const BEFORE_SENDING: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** Whether a request failed before it had a connection. */
export function isUnreached(cause: unknown): boolean {
  return BEFORE_SENDING.includes(codeOf(cause) ?? '')
}

/** The system's code of a failure. It holds no text of the other side. */
export function codeOf(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined
}
