// The way of a wrapped client to its gateway: the local socket, joined anew each time.

import { createConnection, type Socket } from 'node:net'
import { clearTimeout, setTimeout } from 'node:timers'
import { GatewayError } from '../../error.ts'
import { createLineReader, lineWriter } from '../../mcp/lines.ts'
import { formatJoin, GOODBYE, parseWelcome, STDERR, type Join } from '../../mcp/client/local-join.ts'
import { checkSocket } from '../../mcp/client/local-path.ts'
import { MAX_MESSAGE } from '../../mcp/message.ts'

/** A gateway that was joined. */
export interface WrapLink {
  /** Sends a line. */
  send(line: Uint8Array | string): void
  /** Takes no more lines until `resume`. */
  pause(): void
  resume(): void
  /** Says that nothing more will be sent. */
  end(): void
  close(): void
}

/** What the gateway does. */
export interface LinkEvents {
  /** A message. */
  onLine(line: Buffer): void
  /** What the server wrote to its standard error. */
  onStderr(text: string): void
  /** It is over; `told` if the gateway said that it stops. */
  onEnd(told: boolean): void
}

/** Nobody listens on the socket. */
export class NoGateway extends Error {
  constructor() {
    super('no gateway listens')
    this.name = 'NoGateway'
  }
}

// A server may have to be installed before a client can go on with it.
const PATIENCE = 70_000
// A message of the gateway may be as long as what it took, and then some.
const LONGEST = 2 * MAX_MESSAGE

/** Joins the gateway. @throws NoGateway; GatewayError if it does not take us in. */
export async function joinGateway(path: string, join: Join, events: LinkEvents): Promise<WrapLink> {
  if (!checkSocket(path)) throw new NoGateway()
  const socket = await connect(path)
  return new Promise((resolve, reject) => {
    let joined = false
    let told = false
    const fail = (message: string, hints: readonly string[] = []): void => {
      clearTimeout(timer)
      reject(new GatewayError('LISTEN_REFUSED', message, { hints }))
      socket.destroy()
    }
    const timer = setTimeout(() => fail('the gateway does not answer'), PATIENCE)
    const onLine = (line: Uint8Array): void => {
      // A server that is being started may have something to say before we are in.
      if (line[0] === STDERR.charCodeAt(0)) hear(line, events)
      else if (!joined) enter(line)
      else if (isGoodbye(line)) told = true
      else events.onLine(Buffer.from(line))
    }
    const enter = (line: Uint8Array): void => {
      const welcome = parseWelcome(line)
      if (!welcome?.ok) {
        fail(welcome?.message ?? 'what listens is no gateway of this version', welcome?.hints)
        return
      }
      joined = true
      clearTimeout(timer)
      resolve(linkOn(socket))
    }
    const reader = createLineReader(LONGEST, { onLine, onOverflow: () => socket.destroy() })
    socket.on('data', (chunk: Buffer) => reader.push(chunk))
    socket.on('close', () => {
      if (joined) events.onEnd(told)
      else fail('the gateway hung up')
    })
    socket.write(`${formatJoin(join)}\n`)
  })
}

function isGoodbye(line: Uint8Array): boolean {
  return line.length === 1 && line[0] === GOODBYE.charCodeAt(0)
}

function hear(line: Uint8Array, events: LinkEvents): void {
  const text: unknown = JSON.parse(Buffer.from(line).toString('utf8', 1))
  if (typeof text === 'string') events.onStderr(text)
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    socket.once('connect', () => resolve(socket))
    // Later ones are followed by the close, which says enough.
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
