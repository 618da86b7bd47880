// Finds the operator socket of a data directory, and sends requests over it.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { streamOf } from '../../api/fetch.ts'
import { answers } from '../../mcp/client/local-bind.ts'
import { checkSocket, operatorsPath } from '../../mcp/client/local-path.ts'

const OPERATORS = /^tg_(?:operator|admin)_/

/** Returns the socket for an operator or admin token; undefined for other tokens, or if there is no usable socket. */
export async function operatorSocket(data: string, token: string): Promise<string | undefined> {
  if (!OPERATORS.test(token)) return undefined
  const path = operatorsPath(data)
  try {
    return checkSocket(path) && (await answers(path)) ? path : undefined
  } catch {
    // The socket is not private, so the token is not sent there. `tollgate doctor` reports it.
    return undefined
  }
}

/** Sends a request over a socket, as `fetch` does over TCP. */
export async function fetchOver(socketPath: string, url: URL, init: RequestInit): Promise<Response> {
  const request = new Request(url, { ...init, signal: null })
  const body = Buffer.from(await request.arrayBuffer())
  const { signal } = init
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = httpRequest(
      {
        socketPath,
        path: `${url.pathname}${url.search}`,
        method: request.method,
        headers: { ...Object.fromEntries(request.headers), 'content-length': body.length },
        ...(signal && { signal }),
      },
      resolve,
    )
    // The reason of an abort says more than the error.
    sent.on('error', (fault) => reject(signal?.aborted === true ? (signal.reason as Error) : fault))
    sent.end(body)
  })
  return new Response(EMPTY.has(reply.statusCode ?? 0) ? null : streamOf(reply), {
    status: reply.statusCode ?? 502,
    headers: new Headers(
      Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
  })
}

const EMPTY: ReadonlySet<number> = new Set([204, 304])
