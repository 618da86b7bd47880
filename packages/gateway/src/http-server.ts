// A server for HTTP with limits on everything, wherever it listens.

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
import { shareOf, watchConnections } from './connections.ts'

/** What a server is for. */
interface Serving {
  readonly app: Pick<App, 'answer'>
  readonly names: Names
  readonly api: Pick<ApiOptions, 'tokens' | 'log'>
  /** Connections at a time. */
  readonly connections: number
}

/** Options of a server: a request has so many milliseconds to arrive; 30 seconds if not given. */
export function limitsOf(patience = 30_000): ServerOptions {
  return {
    maxHeaderSize: 16_384,
    headersTimeout: Math.min(10_000, patience),
    requestTimeout: patience,
    keepAliveTimeout: 10_000,
    // How often the two above are looked at.
    connectionsCheckingInterval: Math.min(1000, patience),
    requireHostHeader: true,
    insecureHTTPParser: false,
  }
}

/** Has a server answer requests, within limits. It does not listen yet. */
export function prepare(server: Server, { app, names, api, connections }: Serving): void {
  // All of them, within the limit on their size: the parser would drop what is over silently.
  server.maxHeadersCount = 0
  // A peer that neither reads nor writes is dropped; streams say something every 15 seconds.
  server.timeout = 120_000
  const answer = listener(app, names, api.log)
  const refuseBusy = listener({ answer: () => Promise.resolve(problemReply(BUSY)) }, names, api.log)
  const watched = watchConnections(server, { all: connections, ofOne: shareOf(connections) }, api.log)
  const take: RequestListener = (request, response) => {
    const free = watched.begin(request, response, ownerOf(request, api.tokens))
    void (free ? answer(request, response) : refuseBusy(request, response))
  }
  server.on('request', take)
  server.on('checkContinue', take)
  server.on('clientError', refuse)
}

const BUSY = new Problem('too-many-waiting', undefined, { headers: { 'retry-after': '1' } })
// Where doors look for a token.
const BEARER = /^bearer +([\w-]{1,128})$/i
const KEYS = ['x-api-key', 'tollgate-token']

/** Whose token a request has, wherever a door may look for one; undefined if it has none that is known. */
function ownerOf({ headers }: IncomingMessage, tokens: ApiOptions['tokens']): string | undefined {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1]
  for (const token of [bearer, ...KEYS.map((name) => headers[name])]) {
    const identity = typeof token === 'string' ? tokens?.identify(token) : undefined
    if (identity) return `${identity.tenant}\n${identity.principal}`
  }
  return undefined
}

const PARSE_PROBLEMS: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('request-timeout'),
  HPE_HEADER_OVERFLOW: new Problem('headers-too-large'),
}

/** Answers what is not even HTTP, or never came to its end, and hangs up. */
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

/** Takes no more requests, and lets those under way finish. */
export function close(server: Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy and has become idle is closed too, rather than kept for another request.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const limit = setTimeout(() => server.closeAllConnections(), grace)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(limit)
      resolve()
    })
  })
}
