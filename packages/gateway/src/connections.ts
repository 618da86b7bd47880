// Limits the connections of a server. Anyone can open one, so connections without a token give way: at the limit the server accepts a
// newcomer and drops the oldest of them. It drops a few at a time, because a peer that reconnects at once would keep a core busy.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer, type TLSSocket } from 'node:tls'
import { setTimeout } from 'node:timers'
import type { Log } from './log.ts'

interface Connections {
  /** Counts a request for the owner of its token. Returns false if the owner or the server is at its limit. */
  begin(request: IncomingMessage, response: ServerResponse, owner: string | undefined): boolean
}

interface ConnectionLimits {
  readonly all: number
  /** Concurrent requests of one principal. */
  readonly ofOne: number
}

/** The concurrent requests of one principal, given the limit on all connections. */
export function shareOf(all: number): number {
  return Math.max(16, Math.floor(all / 4))
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
export function watchConnections(
  server: Server,
  { all: most, ofOne }: ConnectionLimits,
  log: Log,
): Connections {
  const entries = new Map<Socket, OpenSocket>()
  // Oldest first: connections that never had a known token, and connections between two requests.
  const silent = new Set<OpenSocket>()
  const idle = new Set<OpenSocket>()
  const owners = new Map<string, number>()
  let dropped = 0
  let newest: OpenSocket | undefined
  let sweeping = false
  server.maxConnections = most + RESERVE + CLOSING

  function open(socket: Socket): void {
    const entry = { socket, busy: 0 }
    newest = entry
    entries.set(socket, entry)
    silent.add(entry)
    socket.once('close', () => forget(entry))
    if (entries.size > most + RESERVE) drop()
    if (entries.size > most) sweepSoon()
  }

  function sweepSoon(): void {
    if (sweeping) return
    sweeping = true
    setTimeout(sweep, SWEEP_MS).unref()
  }

  function sweep(): void {
    sweeping = false
    for (let i = 0; i < SWEPT && entries.size > most; i++) drop()
    if (entries.size > most) sweepSoon()
  }

  /** Drops the oldest connection without a token. The newest connection is dropped only if all others are busy. */
  function drop(): void {
    const [silentOne] = silent
    const [idleOne] = idle
    const entry = silentOne === newest ? (idleOne ?? silentOne) : (silentOne ?? idleOne)
    if (!entry) return
    forget(entry)
    entry.socket.destroy()
    if (dropped++ % LOGGED_EVERY === 0) {
      log('warn', 'too many connections: dropped the oldest one without a token', {
        connections: most,
        dropped,
      })
    }
  }

  function forget(entry: OpenSocket): void {
    entries.delete(entry.socket)
    silent.delete(entry)
    idle.delete(entry)
  }

  function count(owner: string, change: number): number {
    const now = (owners.get(owner) ?? 0) + change
    if (now > 0) owners.set(owner, now)
    else owners.delete(owner)
    return now
  }

  function begin(request: IncomingMessage, response: ServerResponse, owner: string | undefined): boolean {
    if (owner === undefined) return true
    if (count(owner, 1) > ofOne) {
      count(owner, -1)
      return false
    }
    const entry = entries.get(raw.get(request.socket) ?? request.socket)
    if (entry?.busy === 0 && entries.size - silent.size - idle.size >= most) {
      count(owner, -1)
      return false
    }
    if (entry) {
      entry.busy++
      silent.delete(entry)
      idle.delete(entry)
    }
    response.once('close', () => {
      count(owner, -1)
      if (entry && --entry.busy === 0 && entries.has(entry.socket)) idle.add(entry)
    })
    return true
  }

  // With TLS, a request arrives on another socket object than `connection` reports. The remote address and port identify the
  // pair.
  const raw = new WeakMap<Socket, Socket>()
  const peers = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    if (server instanceof TlsServer) rememberPeer(socket)
    open(socket)
  })
  function rememberPeer(socket: Socket): void {
    const peer = peerOf(socket)
    peers.set(peer, socket)
    socket.once('close', () => {
      if (peers.get(peer) === socket) peers.delete(peer)
    })
  }
  server.on('secureConnection', (secure: TLSSocket) => {
    const socket = peers.get(peerOf(secure))
    if (socket) raw.set(secure, socket)
  })
  return { begin }
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
