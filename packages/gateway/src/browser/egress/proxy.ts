// The forward proxy of one browser: an HTTP server on loopback that takes requests in absolute form and CONNECT.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Target } from '@tollgate/kernel/detection'
import { readAbsolute, readConnect } from './authority.ts'
import type { DialFault } from './dial.ts'
import { forward } from './forward.ts'
import { join } from './tunnel.ts'

/** The limits on one browser. */
export interface ProxyLimits {
  readonly connections: number
  /** Milliseconds for the headers of a request. */
  readonly headers: number
  /** Milliseconds without a byte. */
  readonly idle: number
}

export const LIMITS: ProxyLimits = { connections: 512, headers: 10_000, idle: 300_000 }
const MAX_HEADERS = 64 << 10

/** The decisions behind the proxy. */
interface Doorkeeper {
  /** Whether the connection comes from the browser. */
  isOwn(socket: Socket): Promise<boolean>
  /** Connects to a target that the rules allow. */
  connect(to: Target): Promise<Socket | DialFault>
}

/** A running proxy. */
export interface Proxy {
  readonly port: number
  /** Ends all connections, at once. */
  cut(): void
  close(): Promise<void>
}

/** Starts a proxy on a port of its own. */
export async function startProxy(keeper: Doorkeeper, limits: ProxyLimits): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const owned = new WeakMap<Socket, Promise<boolean>>()
  const server = createServer({
    maxHeaderSize: MAX_HEADERS,
    headersTimeout: limits.headers,
    // A large upload takes its time; only silence ends it.
    requestTimeout: 0,
    keepAliveTimeout: 30_000,
    connectionsCheckingInterval: Math.min(1_000, limits.headers),
    insecureHTTPParser: false,
    requireHostHeader: false,
    noDelay: true,
  })
  server.maxHeadersCount = 0
  server.maxConnections = limits.connections
  server.timeout = limits.idle
  server.on('connection', (socket: Socket) => {
    keep(socket)
    const own = keeper.isOwn(socket).catch(() => false)
    owned.set(socket, own)
    void own.then((is) => is || socket.destroy())
  })
  server.on('request', (asked, answer) => void serve(asked, answer))
  server.on('checkContinue', (asked, answer) => void serve(asked, answer))
  server.on('upgrade', (_, socket) => socket.destroy())
  server.on('connect', (asked, socket, head: Buffer) => {
    // Sound: the server listens on TCP.
    void tunnel(asked, socket as Socket, head)
  })
  server.on('clientError', (_, socket) => socket.destroy())
  await listen(server)
  return {
    // Sound: it listens on a port.
    port: (server.address() as AddressInfo).port,
    cut,
    close: () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      cut()
      return closed
    },
  }

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  function cut(): void {
    for (const socket of sockets) socket.destroy()
  }

  async function serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { socket } = asked
    if (!(await isOwn(socket))) return
    const form = asked.httpVersion === '1.1' ? readAbsolute(asked.url ?? '') : undefined
    const connection = form ? await reach(socket, form.to) : 'refused'
    // No answer: a page of the proxy would count as a page of the host.
    if (!form || typeof connection === 'string') return void socket.destroy()
    try {
      forward(asked, answer, { ...form, connection, idle: limits.idle })
    } catch {
      // Node refuses to send a header.
      connection.destroy()
      socket.destroy()
    }
  }

  async function tunnel(asked: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    if (!(await isOwn(socket))) return
    const to = asked.httpVersion === '1.1' ? readConnect(asked.url ?? '') : undefined
    const connection = to ? await reach(socket, to) : 'refused'
    if (typeof connection === 'string') {
      const status = connection === 'refused' ? '403 Forbidden' : '502 Bad Gateway'
      socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () =>
        socket.destroy(),
      )
      return
    }
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    join(socket, connection, head, limits.idle)
  }

  async function isOwn(socket: Socket): Promise<boolean> {
    return (await owned.get(socket)) === true && !socket.destroyed
  }

  /** Connects for a browser that still waits. */
  async function reach(socket: Socket, to: Target): Promise<Socket | DialFault> {
    const connection = await keeper.connect(to).catch((): DialFault => 'refused')
    if (typeof connection === 'string') return connection
    keep(connection)
    // The browser has given up, or everything was cut meanwhile.
    if (!socket.destroyed) return connection
    connection.destroy()
    return 'unreachable'
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
}
