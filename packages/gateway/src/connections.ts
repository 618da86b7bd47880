// Limits the connections of a server. Anyone can open one, so connections without a token give way: at the limit the server accepts a
// newcomer and drops the oldest of them. It drops a few at a time, because a peer that reconnects at once would keep a core busy.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer, type TLSSocket } from 'node:tls'
import { setTimeout } from 'node:timers'
import type { Log } from './log.ts'
import type { Metrics } from './telemetry/metrics.ts'

interface ConnectionLimits {
  readonly all: number
  /** Concurrent requests of one principal. */
  readonly ofOne: number
}

/** The concurrent requests of one principal, given the limit on all connections. */
export function shareOf(all: number): number {
  return Math.max(16, Math.floor(all / 4))
}

/** Where connections are logged and counted. */
interface ConnectionEvents {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'connections' | 'dropped'>
}

interface OpenSocket {
  readonly socket: Socket
  /** Running requests with a known token. */
  busy: number
}

// Connections above the limit wait to be dropped, a few at a time. Above this reserve each new connection drops one at once.
const RESERVE = 1024
const SWEEP_MS = 5
const SWEPT = 5
// The server still counts dropped sockets until they are closed.
const CLOSING = 512
const LOGGED_EVERY = 1000

/** Enforces the limits on a server that does not listen yet. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #log: Log
  readonly #metrics: Pick<Metrics, 'connections' | 'dropped'>
  readonly #raw: WeakMap<Socket, Socket>
  readonly #entries = new Map<Socket, OpenSocket>()
  // Oldest first: connections that never had a known token, and connections between two requests.
  readonly #silent = new Set<OpenSocket>()
  readonly #idle = new Set<OpenSocket>()
  readonly #owners = new Map<string, number>()
  #newest: OpenSocket | undefined
  #dropped = 0
  #sweeping = false

  constructor(server: Server, limits: ConnectionLimits, { log, metrics }: ConnectionEvents) {
    this.#limits = limits
    this.#log = log
    this.#metrics = metrics
    this.#raw = pairSockets(server)
    server.maxConnections = limits.all + RESERVE + CLOSING
    server.on('connection', (socket: Socket) => this.#open(socket))
  }

  /** Counts a request for the owner of its token. Returns false if the owner or the server is at its limit. */
  begin(request: IncomingMessage, response: ServerResponse, owner: string | undefined): boolean {
    if (owner === undefined) return true
    const entry = this.#entries.get(this.#raw.get(request.socket) ?? request.socket)
    const busy = this.#entries.size - this.#silent.size - this.#idle.size
    const full = entry?.busy === 0 && busy >= this.#limits.all
    if (full || (this.#owners.get(owner) ?? 0) >= this.#limits.ofOne) return false
    this.#count(owner, 1)
    if (entry) {
      entry.busy++
      this.#silent.delete(entry)
      this.#idle.delete(entry)
    }
    response.once('close', () => {
      this.#count(owner, -1)
      if (entry && --entry.busy === 0 && this.#entries.has(entry.socket)) this.#idle.add(entry)
    })
    return true
  }

  #count(owner: string, change: number): void {
    const now = (this.#owners.get(owner) ?? 0) + change
    if (now > 0) this.#owners.set(owner, now)
    else this.#owners.delete(owner)
  }

  #open(socket: Socket): void {
    const entry = { socket, busy: 0 }
    this.#newest = entry
    this.#entries.set(socket, entry)
    this.#silent.add(entry)
    this.#metrics.connections(1)
    socket.once('close', () => {
      this.#metrics.connections(-1)
      this.#forget(entry)
    })
    if (this.#entries.size > this.#limits.all + RESERVE) this.#drop()
    this.#sweepSoon()
  }

  #sweepSoon(): void {
    if (this.#sweeping || this.#entries.size <= this.#limits.all) return
    this.#sweeping = true
    setTimeout(() => this.#sweep(), SWEEP_MS).unref()
  }

  #sweep(): void {
    this.#sweeping = false
    for (let i = 0; i < SWEPT && this.#entries.size > this.#limits.all; i++) this.#drop()
    this.#sweepSoon()
  }

  /** Drops the oldest connection without a token. The newest connection is dropped only if all others are busy. */
  #drop(): void {
    const [silent] = this.#silent
    const [idle] = this.#idle
    const entry = silent === this.#newest ? (idle ?? silent) : (silent ?? idle)
    if (!entry) return
    this.#forget(entry)
    this.#metrics.dropped()
    entry.socket.destroy()
    if (this.#dropped++ % LOGGED_EVERY !== 0) return
    const detail = { connections: this.#limits.all, dropped: this.#dropped }
    this.#log('warn', 'too many connections: dropped the oldest one without a token', detail)
  }

  #forget(entry: OpenSocket): void {
    this.#entries.delete(entry.socket)
    this.#silent.delete(entry)
    this.#idle.delete(entry)
  }
}

/**
 * The socket of the connection, by that of its requests. With TLS, a request arrives on another socket object than `connection`
 * reports. The remote address and port identify the pair.
 */
function pairSockets(server: Server): WeakMap<Socket, Socket> {
  const raw = new WeakMap<Socket, Socket>()
  if (!(server instanceof TlsServer)) return raw
  const peers = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    peers.set(peer, socket)
    socket.once('close', () => {
      if (peers.get(peer) === socket) peers.delete(peer)
    })
  })
  server.on('secureConnection', (secure: TLSSocket) => {
    const socket = peers.get(peerOf(secure))
    if (socket) raw.set(secure, socket)
  })
  return raw
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
