// Who has a connection. Anyone may open one, so those that have not shown a token give way: when there are as many as there may
// be, the oldest of them is dropped for the next, and nobody who does nothing keeps others out.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Log } from './log.ts'

/** The connections of a server. */
interface Connections {
  /** Takes note of a request and of whose token it has. False if its principal has as many under way as one may. */
  begin(request: IncomingMessage, response: ServerResponse, owner: string | undefined): boolean
}

/** How many. */
interface ConnectionLimits {
  readonly all: number
  /** Requests that one principal has under way. */
  readonly ofOne: number
}

/** How many requests one principal may have under way, of so many connections. */
export function shareOf(all: number): number {
  return Math.max(16, Math.floor(all / 4))
}

interface OpenSocket {
  readonly socket: Socket
  /** Requests with a known token that are under way. */
  busy: number
}

// Sockets that are dropped are counted by the server until they are closed, a moment later.
const CLOSING = 512
const LOGGED_EVERY = 1000

/** Watches over the connections of a server that does not listen yet. */
export function watchConnections(
  server: Server,
  { all: most, ofOne }: ConnectionLimits,
  log: Log,
): Connections {
  const entries = new Map<Socket, OpenSocket>()
  // Oldest first: those that never had a known token, and those that wait for another request.
  const silent = new Set<OpenSocket>()
  const idle = new Set<OpenSocket>()
  const owners = new Map<string, number>()
  let dropped = 0
  server.maxConnections = most + CLOSING

  function open(socket: Socket): void {
    const entry = { socket, busy: 0 }
    entries.set(socket, entry)
    silent.add(entry)
    socket.once('close', () => forget(entry))
    if (entries.size > most) makeRoom(entry)
  }

  /** Drops the one that is missed the least; the newcomer itself, if everybody else is being served. */
  function makeRoom(newest: OpenSocket): void {
    const [oldest = newest] = silent
    const [waiting = newest] = idle
    const entry = oldest === newest ? waiting : oldest
    forget(entry)
    entry.socket.destroy()
    if (dropped++ % LOGGED_EVERY === 0) {
      log('warn', 'there are as many connections as there may be; the oldest without a token was dropped', {
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

  // Under TLS a request comes on another socket than the one that was opened; the other end is the same.
  const raw = new WeakMap<Socket, Socket>()
  const peers = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    peers.set(peer, socket)
    socket.once('close', () => {
      if (peers.get(peer) === socket) peers.delete(peer)
    })
    open(socket)
  })
  server.on('secureConnection', (secure: TLSSocket) => {
    const socket = peers.get(peerOf(secure))
    if (socket) raw.set(secure, socket)
  })
  return { begin }
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
