// Sends a request as `fetch` does, in ways that `fetch` of Node cannot: over a socket, or trusting other authorities.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { streamOf } from '../../api/stream-of.ts'

/** The way to the server. With authorities, those of the machine are not trusted. */
type FetchWay = { readonly socketPath: string } | { readonly ca: readonly string[] }

/** Sends a request. Follows no redirect. Rejects if there is no answer, and if the certificate is not trusted. */
export async function fetchBy(way: FetchWay, url: URL, init: RequestInit): Promise<Response> {
  const request = new Request(url, { ...init, signal: null })
  const body = Buffer.from(await request.arrayBuffer())
  const { signal } = init
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      ...('ca' in way ? { ca: [...way.ca], rejectUnauthorized: true } : way),
      method: request.method,
      headers: { ...Object.fromEntries(request.headers), 'content-length': body.length },
      ...(signal && { signal }),
    }
    const sent = send(url, options, resolve)
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
