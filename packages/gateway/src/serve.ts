// Serves the API and the doors on a TCP socket, with limits, TLS and an orderly shutdown.

import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, type AddressInfo } from 'node:net'
import { App, replyTo, SECURITY_HEADERS, type ApiOptions } from './api/app.ts'
import type { Names } from './api/node.ts'
import { createConsole } from './console/door.ts'
import { GatewayError } from './error.ts'
import type { DoorRequest, Door, Reply } from './exchange.ts'
import { close, limitsOf, prepare } from './http-server.ts'
import { openLocalApi } from './operators.ts'
import { originOf, withSignIn } from './sign-in/entry.ts'
import { createMetadataDoor } from './sign-in/metadata.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  /** Paths of the certificate chain and its private key. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Additional hostnames that clients may use for the gateway. */
  readonly hosts?: readonly string[]
  /** The other origins whose web pages may use the gateway. */
  readonly cors?: readonly string[]
  readonly connections?: number
  /** Milliseconds for a whole request to arrive. Default: 30 seconds. */
  readonly patience?: number
  /** Milliseconds that running requests have to finish on close. Default: 10 seconds. */
  readonly grace?: number
  /** The data directory in which to open the local sockets for operators and hooks. No sockets if not given. */
  readonly operators?: string
}

/** A listening server. */
export interface Served {
  readonly url: string
  /** Accepts no new requests, waits for running ones and ends streams. */
  close(): Promise<void>
}

/**
 * Serves the API and the doors on one socket. Doors are asked before the API, and closed with it.
 *
 * @throws GatewayError `LISTEN_REFUSED` if the address is not loopback and TLS or tokens are missing, or if it cannot be
 * bound.
 */
export async function serve(
  api: ApiOptions,
  listen: ListenOptions,
  doors: readonly Door[] = [],
): Promise<Served> {
  checkExposure(api, listen)
  const { metrics = createMetrics() } = api
  const app = new App({ ...api, metrics })
  const names = namesOf(listen)
  const server = listen.tls ? createTlsServer(tlsOptions(listen)) : createServer(limitsOf(listen.patience))
  const console = createConsole({ app, api, scheme: names.scheme })
  const allDoors = [...doors, console, ...(api.signIn ? [createMetadataDoor()] : [])]
  const answering = {
    async answer(asked: DoorRequest) {
      const origin = originOf(asked.header('host') ?? '', names.scheme)
      return answerAt(allDoors, app, await withSignIn(asked, api.signIn, origin), api, metrics)
    },
  }
  const { connections = 1024 } = listen
  const { tokenOf } = console
  prepare(server, { app: answering, names, api, metrics, connections, tokenOf })
  const { address, port } = await bind(server, listen)
  server.on('error', ({ code }: NodeJS.ErrnoException) => api.log('error', 'the socket failed', { code }))
  if (!isLoopback(address) && !listen.tls) {
    // A hostname such as `localhost` can resolve to any address.
    server.close()
    throw exposed(`\`${listen.host}\` is \`${address}\`, which is not loopback`)
  }
  const host = isIP(listen.host) === 6 ? `[${listen.host}]` : listen.host
  const sockets = await openLocalApi(listen.operators, app, api)
  return {
    url: `${names.scheme}://${host}:${port}`,
    async close() {
      for (const door of doors) door.end()
      app.end()
      const { grace = 10_000 } = listen
      await Promise.all([close(server, grace), ...sockets.map((socket) => socket.close(grace))])
      await Promise.all(doors.map((door) => door.close()))
    },
  }
}

/** Asks each door, then the API. An error of a door is the answer: the request is not passed to the next one. */
async function answerAt(
  doors: readonly Door[],
  app: App,
  asked: DoorRequest,
  api: ApiOptions,
  metrics: Metrics,
): Promise<Reply> {
  for (const door of doors) {
    const reply = await door.answer(asked).catch((fault: unknown) => replyTo(fault, undefined, api))
    if (!reply) continue
    metrics.answered(door.name, reply.status)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }
  return app.answer(asked)
}

/** Refuses to listen beyond loopback without TLS and at least one token. */
function checkExposure({ tokens, identity }: ApiOptions, { host, tls }: ListenOptions): void {
  if (identity)
    throw new GatewayError('LISTEN_REFUSED', 'callers over a socket must authenticate with a token')
  if (host === 'localhost' || isLoopback(host)) return
  if (!tls) throw exposed(`\`${host}\` is not loopback, and there is no TLS`)
  if ((tokens?.list().length ?? 0) === 0) throw exposed(`\`${host}\` is not loopback, and there is no token`)
}

function exposed(message: string): GatewayError {
  return new GatewayError('LISTEN_REFUSED', message, {
    hints: [
      'listen on 127.0.0.1 and put a TLS-terminating proxy in front of it',
      'or set `listen.tls.cert` and `listen.tls.key` in `tollgate.yaml`, and issue a token first',
    ],
  })
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

function namesOf({ host, hosts = [], cors = [], tls }: ListenOptions): Names {
  // A wildcard address is not a name that a client can use.
  const own = host === '0.0.0.0' || host === '::' ? [] : [host]
  const all = [
    'localhost',
    '127.0.0.1',
    '[::1]',
    ...[...own, ...hosts].map((name) => (isIP(name) === 6 ? `[${name}]` : name)),
  ]
  const known = new Set(all.map((name) => name.toLowerCase()))
  return { hosts: known, scheme: tls ? 'https' : 'http', origins: new Set(cors) }
}

function tlsOptions(listen: ListenOptions): Parameters<typeof createTlsServer>[0] {
  const { cert = '', key = '' } = listen.tls ?? {}
  return {
    ...limitsOf(listen.patience),
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
      // Sound: the server listens on TCP, not on a pipe.
      resolve(server.address() as AddressInfo)
    })
  })
}

function unbound(cause: NodeJS.ErrnoException, host: string, port: number): GatewayError {
  const taken = cause.code === 'EADDRINUSE'
  return new GatewayError(
    'LISTEN_REFUSED',
    `${host}:${port} is not available: ${cause.code ?? 'no reason given'}`,
    {
      cause,
      hints: [
        taken
          ? 'another program uses the port; stop it, or set another `listen.port` in `tollgate.yaml`'
          : 'choose an address of this machine and a port above 1023',
      ],
    },
  )
}
