// The connection of a wrapped client to its gateway, over the local socket.

import { createConnection, type Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { GatewayError } from '../../error.ts'
import { createLineReader, lineWriter } from '../../mcp/lines.ts'
import { formatJoin, GOODBYE, parseWelcome, STDERR, type Join } from '../../mcp/client/local-join.ts'
import { checkSocket } from '../../mcp/client/local-path.ts'
import { MAX_MESSAGE } from '../../mcp/message.ts'

/** A connection to a gateway. */
export interface WrapLink {
  send(line: Uint8Array | string): void
  /** Stops reading lines until `resume`. */
  pause(): void
  resume(): void
  /** Half-closes the connection: nothing more is sent. */
  end(): void
  close(): void
}

/** Events of the gateway. */
export interface LinkEvents {
  onLine(line: Buffer): void
  /** The server wrote to its standard error. */
  onStderr(text: string): void
  /** The connection ended; `announced` if the gateway said that it stops. */
  onEnd(announced: boolean): void
}

/** No gateway listens on the socket. */
export class NoGateway extends Error {
  constructor() {
    super('no gateway listens')
    this.name = 'NoGateway'
  }
}

// A server may have to be installed before it answers.
const JOIN_TIMEOUT_MS = 70_000
// Messages of the gateway can be longer than those it accepts.
const MAX_LINE_LENGTH = 2 * MAX_MESSAGE

/** Joins the gateway. @throws NoGateway if none listens; GatewayError if it refuses. */
export async function joinGateway(path: string, join: Join, events: LinkEvents): Promise<WrapLink> {
  if (!checkSocket(path)) throw new NoGateway()
  const socket = await connect(path)
  return new Promise((resolve, reject) => {
    let joined = false
    let announced = false
    const fail = (message: string, hints: readonly string[] = []): void => {
      clearTimeout(timer)
      reject(new GatewayError('LISTEN_REFUSED', message, { hints }))
      socket.destroy()
    }
    const timer = setTimeout(() => fail('the gateway does not answer'), JOIN_TIMEOUT_MS)
    const onLine = (line: Uint8Array): void => {
      // A starting server can write to its standard error before the join is complete.
      if (line[0] === STDERR.charCodeAt(0)) forwardStderr(line, events)
      else if (!joined) enter(line)
      else if (isGoodbye(line)) announced = true
      else events.onLine(Buffer.from(line))
    }
    const enter = (line: Uint8Array): void => {
      const welcome = parseWelcome(line)
      if (!welcome?.ok) {
        fail(welcome?.message ?? 'the program on the socket is not a gateway of this version', welcome?.hints)
        return
      }
      joined = true
      clearTimeout(timer)
      resolve(linkOn(socket))
    }
    const reader = createLineReader(MAX_LINE_LENGTH, { onLine, onOverflow: () => socket.destroy() })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    socket.on('close', () => {
      if (joined) events.onEnd(announced)
      else fail('the gateway closed the connection')
    })
    socket.write(`${formatJoin(join)}\n`)
  })
}

function isGoodbye(line: Uint8Array): boolean {
  return line.length === 1 && line[0] === GOODBYE.charCodeAt(0)
}

function forwardStderr(line: Uint8Array, events: LinkEvents): void {
  const text: unknown = JSON.parse(Buffer.from(line).toString('utf8', 1))
  if (typeof text === 'string') events.onStderr(text)
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.once('connect', () => resolve(socket))
    // Later errors are followed by a close event.
    socket.on('error', () => reject(new NoGateway()))
  })
}

function linkOn(socket: Socket): WrapLink {
  const write = lineWriter(socket)
  return {
    send: (line) => void write(line),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    close: () => void socket.destroy(),
  }
}
