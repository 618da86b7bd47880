// Sends HTTP requests to one server: only to its configured address, with its configured credentials. Redirects are not
// followed.

import { Pool, type Dispatcher } from 'undici'
import type { ServerAddress } from './upstream.ts'

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

const CONNECT_WITHIN = 10_000
const MAX_CONNECTIONS = 128

export class HttpRequests {
  readonly #pool: Pool
  readonly #path: string
  /** The configured headers. */
  readonly #given: Readonly<Record<string, string>>
  readonly #running = new Set<AbortController>()

  constructor(address: ServerAddress & { readonly transport: 'http' }) {
    const { origin, pathname, search } = new URL(address.url)
    this.#path = `${pathname}${search}`
    this.#given = lowerCased(address.headers)
    // The callers set the time limits: a tool may take long, and a stream may be quiet.
    this.#pool = new Pool(origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_WITHIN },
    })
  }

  /** Sends a request. Rejects without an answer; `isUnreached` then tells whether it may have been sent. */
  async send({ headers, ...request }: HttpRequest): Promise<Dispatcher.ResponseData> {
    const all = { ...this.#given, ...headers }
    const response = await this.#pool.request({ ...request, path: this.#path, headers: all })
    // The reader sees the error. Without a reader it must not end the process.
    response.body.on('error', () => undefined)
    return response
  }

  /** Runs an operation that `abortAll` aborts. */
  async run(work: (abort: AbortController) => Promise<void>): Promise<void> {
    const abort = new AbortController()
    this.#running.add(abort)
    try {
      await work(abort)
    } finally {
      this.#running.delete(abort)
    }
  }

  abortAll(): void {
    for (const abort of this.#running) abort.abort()
  }

  close(): Promise<void> {
    return this.#pool.destroy()
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
