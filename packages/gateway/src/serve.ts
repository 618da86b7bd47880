// The API on a socket: limits everywhere, loopback unless it is safe, and an orderly end.

import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { isIP, type AddressInfo } from 'node:net'
import { createApp, replyTo, SECURITY_HEADERS, type ApiOptions, type App } from './api/app.ts'
import type { Names } from './api/node.ts'
import { GatewayError } from './error.ts'
import type { DoorRequest, Door, Reply } from './exchange.ts'
import { close, limitsOf, prepare } from './http-server.ts'
import { openOperators } from './operators.ts'

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
  /** Data directory beside whose ledger operators have a socket of their own; none if not given. */
  readonly operators?: string
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
  const server = listen.tls ? createTlsServer(tlsOptions(listen)) : createServer(limitsOf(listen.patience))
  const answering = { answer: (asked: DoorRequest) => answerAt(doors, app, asked, api) }
  prepare(server, { app: answering, names, api, connections: listen.connections ?? 1024 })
  const { address, port } = await bind(server, listen)
  server.on('error', ({ code }: NodeJS.ErrnoException) => api.log('error', 'the socket failed', { code }))
  if (!isLoopback(address) && !listen.tls) {
    // A name such as `localhost` can point anywhere.
    server.close()
    throw exposed(`\`${listen.host}\` is \`${address}\`, which is not loopback`)
  }
  const host = isIP(listen.host) === 6 ? `[${listen.host}]` : listen.host
  const operators = await openOperators(listen.operators, app, api)
  return {
    url: `${names.scheme}://${host}:${port}`,
    async close() {
      for (const door of doors) door.end()
      app.end()
      const { grace = 10_000 } = listen
      await Promise.all([close(server, grace), operators?.close(grace)])
      await Promise.all(doors.map((door) => door.close()))
    },
  }
}

/** Asks each door, then the API. A door that fails has answered: what it was asked is for nobody else. */
async function answerAt(
  doors: readonly Door[],
  app: App,
  asked: DoorRequest,
  api: ApiOptions,
): Promise<Reply> {
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
