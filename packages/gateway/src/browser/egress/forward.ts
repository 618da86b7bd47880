// Forwards one request in clear to its server, and the answer to the browser. Nothing is kept, and no connection is used twice, so
// no answer can belong to another request.

import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { hostHeader } from './authority.ts'
import { endToEnd } from './headers.ts'
import type { Target } from '@tollgate/kernel/detection'

/** A request to forward on a connection that was made for it. */
interface Forwarding {
  readonly to: Target
  readonly path: string
  readonly connection: Socket
  readonly idle: number
}

const MAX_ANSWER_HEADERS = 128 << 10

/** Forwards a request. If its server fails, the connection to the browser ends, so that no answer looks complete. */
export function forward(asked: IncomingMessage, answer: ServerResponse, how: Forwarding): void {
  const { to, path, connection, idle } = how
  const sent = request({
    method: asked.method,
    path,
    headers: requestHeaders(asked, to),
    createConnection: () => connection,
    setHost: false,
    insecureHTTPParser: false,
    maxHeaderSize: MAX_ANSWER_HEADERS,
  })
  connection.setTimeout(idle, () => connection.destroy())
  sent.on('error', () => answer.destroy())
  // A server that changes the protocol without being asked.
  sent.on('upgrade', () => answer.destroy())
  sent.on('response', (reply) => giveBack(reply, answer))
  answer.once('close', () => connection.destroy())
  pipeline(asked, sent, () => undefined)
}

function requestHeaders(asked: IncomingMessage, to: Target): string[] {
  const chunked = asked.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  const body = chunked.length > 0 ? ['host', 'content-length'] : ['host']
  return ['Host', hostHeader(to), ...endToEnd(asked.rawHeaders, body), ...chunked, 'Connection', 'close']
}

function giveBack(reply: IncomingMessage, answer: ServerResponse): void {
  // 407 asks for the password of a proxy. Only the proxy itself may ask that.
  if (reply.statusCode === undefined || reply.statusCode === 407) return void answer.destroy()
  try {
    answer.sendDate = false
    answer.writeHead(reply.statusCode, endToEnd(reply.rawHeaders))
  } catch {
    return void answer.destroy()
  }
  pipeline(reply, answer, (fault) => void (fault && answer.destroy()))
}
