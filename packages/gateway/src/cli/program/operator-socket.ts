// The operators' socket, from the side of a command: whether there is one to use, and requests over it.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { streamOf } from '../../api/fetch.ts'
import { answers } from '../../mcp/client/local-bind.ts'
import { checkSocket, operatorsPath } from '../../mcp/client/local-path.ts'

const OPERATORS = /^tg_(?:operator|admin)_/

/** The socket by which a token of this kind reaches the gateway of a data directory; undefined if there is none. */
export async function operatorSocket(data: string, token: string): Promise<string | undefined> {
  if (!OPERATORS.test(token)) return undefined
  const path = operatorsPath(data)
  try {
    return checkSocket(path) && (await answers(path)) ? path : undefined
  } catch {
    // Not only this user's: no token goes there. `tollgate doctor` names it.
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
    // What an abort is about is in its reason.
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
