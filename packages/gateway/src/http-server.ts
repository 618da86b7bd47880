// Applies limits to an HTTP server, for TCP and for local sockets.

import {
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import type { Socket } from 'node:net'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { problemReply, type ApiOptions, type App } from './api/app.ts'
import { listener, type Names } from './api/node.ts'
import { Problem } from './api/problem.ts'
import { Connections, shareOf } from './connections.ts'
import type { Console } from './console/door.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { tokensIn } from './tokens.ts'

interface Serving {
  readonly app: Pick<App, 'answer'>
  readonly names: Names
  readonly api: Pick<ApiOptions, 'tokens' | 'log'>
  readonly metrics: Metrics
  /** Concurrent connections. */
  readonly connections: number
  /** The token behind a request of the console. */
  readonly tokenOf?: Console['tokenOf']
}

/** Server options. A request must arrive within `patience` milliseconds. */
export function limitsOf(patience = 30_000): ServerOptions {
  return {
    maxHeaderSize: 16_384,
    headersTimeout: Math.min(10_000, patience),
    requestTimeout: patience,
    keepAliveTimeout: 10_000,
    // How often Node checks the two timeouts above.
    connectionsCheckingInterval: Math.min(1000, patience),
    requireHostHeader: true,
    insecureHTTPParser: false,
  }
}

/** Attaches request handling with its limits to a server. Does not listen yet. */
export function prepare(server: Server, { app, names, api, metrics, connections, tokenOf }: Serving): void {
  // No limit on the number of headers, only on their size: Node silently drops headers above the number.
  server.maxHeadersCount = 0
  // Drops a peer that neither reads nor writes. Streams send a comment every 15 seconds.
  server.timeout = 120_000
  const serving = { names, log: api.log, metrics }
  const answer = listener(app, serving)
  const refuseBusy = listener({ answer: () => Promise.resolve(problemReply(BUSY)) }, serving)
  const limits = { all: connections, ofOne: shareOf(connections) }
  const watched = new Connections(server, limits, { log: api.log, metrics })
  const take: RequestListener = (request, response) => {
    const free = watched.begin(request, response, ownerOf(request, api.tokens, tokenOf))
    if (!free) metrics.refused('busy')
    void (free ? answer(request, response) : refuseBusy(request, response))
  }
  server.on('request', take)
  server.on('checkContinue', take)
  server.on('clientError', (fault: NodeJS.ErrnoException, socket: Socket) => {
    metrics.refused('malformed')
    refuse(fault, socket)
  })
}

const BUSY = new Problem('too-many-waiting', undefined, { headers: { 'retry-after': '1' } })

/** The owner of the request's token, or undefined if the request has no known token. */
function ownerOf(
  { headers, method = '' }: IncomingMessage,
  tokens: ApiOptions['tokens'],
  tokenOf: Serving['tokenOf'],
): string | undefined {
  const header = (name: string): string | undefined => textOf(headers[name])
  for (const token of [...tokensIn(header), tokenOf?.({ method, header })]) {
    const identity = token === undefined ? undefined : tokens?.identify(token)
    if (identity) return `${identity.tenant}\n${identity.principal}`
  }
  return undefined
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const PARSE_PROBLEMS: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('request-timeout'),
  HPE_HEADER_OVERFLOW: new Problem('headers-too-large'),
}

/** Answers a request that is incomplete or not HTTP, then closes the connection. */
function refuse(fault: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || fault.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const problem =
    PARSE_PROBLEMS[fault.code ?? ''] ?? new Problem('request-invalid', 'the request is not HTTP/1.1')
  const { status, headers, body } = problemReply(problem)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${headers['content-type'] ?? ''}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** Accepts no new requests and waits up to `grace` milliseconds for running ones. */
export function close(server: Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    // Also closes connections that become idle in the meantime.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const limit = setTimeout(() => server.closeAllConnections(), grace)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(limit)
      resolve()
    })
  })
}
