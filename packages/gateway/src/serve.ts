// The API on a socket: limits everywhere, loopback unless it is safe, and an orderly end.

import { readFileSync } from 'node:fs'
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, type AddressInfo, type Socket } from 'node:net'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { createApp, problemReply, replyTo, SECURITY_HEADERS, type ApiOptions, type App } from './api/app.ts'
import { listener, type Names } from './api/node.ts'
import { Problem } from './api/problem.ts'
import { GatewayError } from './error.ts'
import type { Asked, Door, Reply } from './exchange.ts'

/** Where and how to listen. */
export interface ListenOptions {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Files of the certificate chain and of its key. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Further names under which the gateway may be asked. */
  readonly hosts?: readonly string[]
  readonly connections?: number
  /** Milliseconds for the whole of a request to arrive; 30 seconds if not given. */
  readonly patience?: number
  /** Milliseconds that requests under way have to finish when it closes; 10 seconds if not given. */
  readonly grace?: number
}

/** A server that listens. */
export interface Served {
  readonly url: string
  /** Takes no more requests, lets those under way finish, ends streams. */
  close(): Promise<void>
}

/**
 * Serves the API, and whatever else has its paths on the same socket: doors are asked before the API is, and closed with it.
 *
 * @throws GatewayError `LISTEN_REFUSED` if the address is not loopback and there is no TLS or no token, or if it cannot be
 * had.
 */
export async function serve(
  api: ApiOptions,
  listen: ListenOptions,
  doors: readonly Door[] = [],
): Promise<Served> {
  checkExposure(api, listen)
  const app = createApp(api)
  const names = namesOf(listen)
  const server = listen.tls ? createTlsServer(tlsOptions(listen)) : createServer(limitsOf(listen))
  server.maxConnections = listen.connections ?? 1024
  // All of them, within the limit on their size: the parser would drop what is over silently.
  server.maxHeadersCount = 0
  // A peer that neither reads nor writes is dropped; streams say something every 15 seconds.
  server.timeout = 120_000
  const answer = listener({ answer: (asked) => answerAt(doors, app, asked, api) }, names, api.log)
  const take: RequestListener = (request, response) => void answer(request, response)
  server.on('request', take)
  server.on('checkContinue', take)
  server.on('clientError', refuse)
  const { address, port } = await bind(server, listen)
  server.on('error', ({ code }: NodeJS.ErrnoException) => api.log('error', 'the socket failed', { code }))
  if (!isLoopback(address) && !listen.tls) {
    // A name such as `localhost` can point anywhere.
    server.close()
    throw exposed(`\`${listen.host}\` is \`${address}\`, which is not loopback`)
  }
  const host = isIP(listen.host) === 6 ? `[${listen.host}]` : listen.host
  return {
    url: `${names.scheme}://${host}:${port}`,
    async close() {
      for (const door of doors) door.end()
      await close(server, app, listen.grace ?? 10_000)
      await Promise.all(doors.map((door) => door.close()))
    },
  }
}

/** Asks each door, then the API. A door that fails has answered: what it was asked is for nobody else. */
async function answerAt(doors: readonly Door[], app: App, asked: Asked, api: ApiOptions): Promise<Reply> {
  for (const door of doors) {
    try {
      const reply = await door.answer(asked)
      if (reply) return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
    } catch (fault) {
      const reply = replyTo(fault, undefined, api)
      return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
    }
  }
  return app.answer(asked)
}

/** Beyond loopback anybody may knock: it takes a certificate, and a reason to know who is there. */
function checkExposure({ tokens, identity }: ApiOptions, { host, tls }: ListenOptions): void {
  if (identity) throw new GatewayError('LISTEN_REFUSED', 'callers over a socket must say who they are')
  if (host === 'localhost' || isLoopback(host)) return
  if (!tls) throw exposed(`\`${host}\` is not loopback, and there is no TLS`)
  if ((tokens?.list().length ?? 0) === 0) throw exposed(`\`${host}\` is not loopback, and there is no token`)
}

function exposed(message: string): GatewayError {
  return new GatewayError('LISTEN_REFUSED', message, {
    hints: [
      'listen on 127.0.0.1, and put a proxy that ends TLS in front of it',
      'or set `listen.tls.cert` and `listen.tls.key` in `tollgate.yaml`, and issue a token first',
    ],
  })
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

function namesOf({ host, hosts = [], tls }: ListenOptions): Names {
  // Nobody's name: it stands for every address.
  const own = host === '0.0.0.0' || host === '::' ? [] : [host]
  const all = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    ...[...own, ...hosts].map((name) => (isIP(name) === 6 ? `[${name}]` : name)),
  ]
  return { hosts: new Set(all.map((name) => name.toLowerCase())), scheme: tls ? 'https' : 'http' }
}

function limitsOf({ patience = 30_000 }: ListenOptions): ServerOptions {
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

function tlsOptions(listen: ListenOptions): Parameters<typeof createTlsServer>[0] {
  const { cert = '', key = '' } = listen.tls ?? {}
  return {
    ...limitsOf(listen),
    minVersion: 'TLSv1.2',
    cert: readPem(cert),
    key: readPem(key),
    handshakeTimeout: 10_000,
  }
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new GatewayError('LISTEN_REFUSED', `\`${path}\` cannot be read`, {
      cause,
      hints: ['check `listen.tls` in `tollgate.yaml`'],
    })
  }
}

function bind(server: Server, { host, port }: ListenOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(unbound(cause, host, port)))
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      // Sound: the server listens, and not on a pipe.
      resolve(server.address() as AddressInfo)
    })
  })
}

function unbound(cause: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const taken = cause.code === 'EADDRINUSE'
  return new GatewayError(
    'LISTEN_REFUSED',
    `${host}:${port} cannot be listened on: ${cause.code ?? 'no reason given'}`,
    {
      cause,
      hints: [
        taken
          ? 'another program has the port; stop it, or set another `listen.port` in `tollgate.yaml`'
          : 'choose an address of this machine and a port above 1023',
      ],
    },
  )
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

function close(server: Server, app: App, grace: number): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy and has become idle is closed too, rather than kept for another request.
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const limit = setTimeout(() => server.closeAllConnections(), grace)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(limit)
      resolve()
    })
    app.end()
  })
}
