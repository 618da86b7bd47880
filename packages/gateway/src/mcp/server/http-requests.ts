// Requests by HTTP to one server: to its address alone, with what its address says of credentials, and never to where it points.

import { Pool, type Dispatcher } from 'undici'
import type { ServerAddress } from './upstream.ts'

/** Requests to one server. */
interface Requests {
  /** Sends a request. Rejects if there is no answer; `isUnreached` says whether it can have been sent. */
  send(request: HttpRequest): Promise<Dispatcher.ResponseData>
  /** What can be given up before it is done. */
  takeOff(): AbortController
  /** It is done. */
  land(flight: AbortController): void
  /** Gives up all that is not done. */
  hangUp(): void
  close(): Promise<void>
}

/** A request to a server. */
export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

const CONNECT_WITHIN = 10_000
const MAX_CONNECTIONS = 128

/** Makes requests to the server at an address. */
export function createRequests(address: ServerAddress & { readonly transport: 'http' }): Requests {
  const { origin, pathname, search } = new URL(address.url)
  const given = lowerCased(address.headers)
  const flights = new Set<AbortController>()
  // Time is kept by the requests themselves: a tool may take long, and a stream may be quiet.
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
      // Whoever reads it hears of it; where nobody does, it must not end the process.
      response.body.on('error', () => undefined)
      return response
    },
    takeOff() {
      const flight = new AbortController()
      flights.add(flight)
      return flight
    },
    land: (flight) => void flights.delete(flight),
    hangUp() {
      for (const flight of flights) flight.abort()
    },
    close: () => pool.destroy(),
  }
}

/** Headers of ours replace those of the address, whatever the case of either. */
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

/** Whether a request failed before there was a connection to send it on. */
export function isUnreached(cause: unknown): boolean {
  return BEFORE_SENDING.includes(codeOf(cause) ?? '')
}

/** What the system calls a fault: nothing that the other side said. */
export function codeOf(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : undefined
}
