// Requests as they come over a socket. What is refused here never reaches a route.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { REFUSAL_PAUSE_MS } from '../budget.ts'
import type { Log } from '../log.ts'
import { problemReply, SECURITY_HEADERS, type App } from './app.ts'
import { tooLarge } from './fetch.ts'
import { Problem } from './problem.ts'
import type { DoorRequest, Reply } from './route.ts'

/** Under which names the gateway may be asked. */
export interface Names {
  /** Lower case, without port; IPv6 addresses in brackets. */
  readonly hosts: ReadonlySet<string>
  readonly scheme: 'http' | 'https'
}

const MAX_URL = 8192
const MAX_HEADERS = 64

/** Answers requests that come over sockets. Never throws, and its promise never rejects. */
export function listener(
  app: Pick<App, 'answer'>,
  names: Names,
  log: Log,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      const refused = refusalOf(request, names)
      const reply = refused ? refusal(refused) : await app.answer(askedBy(request, response))
      if (reply.status === 429) await delay(REFUSAL_PAUSE_MS)
      await send(request, response, reply)
    } catch (fault) {
      // Half an answer must not look like a whole one; what was said of it still goes out.
      log('warn', 'an answer broke off', { fault: fault instanceof Error ? fault.name : typeof fault })
      if (response.socket) response.socket.destroySoon()
      else response.destroy()
    }
  }
}

function refusal(problem: Problem): Reply {
  const reply = problemReply(problem)
  return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
}

// Headers that must mean one thing: with two of them, two readers could each believe another.
const SINGLE: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'origin',
  'tollgate-approval',
  'tollgate-delegation',
  'tollgate-session',
  'tollgate-token',
  'transfer-encoding',
  'x-api-key',
])

/** Why a request is not even looked at; undefined if it may be. */
function refusalOf(request: IncomingMessage, names: Names): Problem | undefined {
  const { url = '', headers, rawHeaders, httpVersion } = request
  // Proxies still speak 1.0; the parser takes anything.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('request-invalid', 'the request is in another version of HTTP')
  }
  if (url.length > MAX_URL) return new Problem('url-too-long', `a URL has at most ${MAX_URL} characters`)
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return new Problem('headers-too-large', `a request has at most ${MAX_HEADERS} headers`)
  }
  // As many names as lines: nothing can be there twice.
  const single = 2 * Object.keys(headers).length === rawHeaders.length
  if (!single && hasTwice(rawHeaders))
    return new Problem('request-invalid', 'a header that may come once comes twice')
  if (headers['content-length'] !== undefined && headers['transfer-encoding'] !== undefined) {
    return new Problem('request-invalid', 'the length of the body is given in two ways')
  }
  // A page that makes a name of its own point here still sends that name.
  const host = headers.host?.toLowerCase() ?? ''
  if (!names.hosts.has(host.replace(/:[0-9]{1,5}$/, ''))) return new Problem('host-unknown')
  if (headers.origin !== undefined && !isOwn(headers.origin.toLowerCase(), host, names)) {
    return new Problem('origin-forbidden')
  }
  return url.startsWith('/') ? undefined : new Problem('request-invalid', 'the request is not for a path')
}

/** Whether a page is of the gateway's own: the same name and port, by the same scheme or by that of a proxy that ends TLS. */
function isOwn(origin: string, host: string, { scheme }: Names): boolean {
  return origin === `${scheme}://${host}` || origin === `https://${host}`
}

function hasTwice(rawHeaders: readonly string[]): boolean {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!SINGLE.has(name)) continue
    if (seen.has(name)) return true
    seen.add(name)
  }
  return false
}

function askedBy(request: IncomingMessage, response: ServerResponse): DoorRequest {
  const { url = '' } = request
  const mark = url.indexOf('?')
  return {
    method: request.method ?? '',
    path: mark < 0 ? url : url.slice(0, mark),
    search: mark < 0 ? '' : url.slice(mark + 1),
    header(name) {
      const value = request.headers[name]
      return typeof value === 'string' ? value : value?.join(', ')
    },
    async body(limit) {
      if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
      // Who asks first is told to go on only now, after it was seen who it is.
      if (request.headers.expect !== undefined) response.writeContinue()
      return readBody(request, limit)
    },
    // Until the next request on the same connection: the server then sets it again.
    mayTakeLong: () => void request.socket.setTimeout(0),
    onGone(listener) {
      if (response.closed) listener()
      response.once('close', listener)
      return () => void response.off('close', listener)
    },
  }
}

function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = createGathering(Number(request.headers['content-length'] ?? 0))
    request.on('data', (chunk: Buffer) => {
      if (body.length + chunk.length <= limit) body.add(chunk)
      else {
        request.pause()
        reject(tooLarge(limit))
      }
    })
    request.on('end', () => resolve(body.all()))
    // Gone, or too slow: nobody will read the answer.
    request.on('error', () => reject(new Problem('request-timeout')))
    request.on('close', () => {
      if (!request.complete) reject(new Problem('request-timeout'))
    })
  })
}

interface Gathering {
  readonly length: number
  add(chunk: Buffer): void
  all(): Uint8Array
}

// A body of less than this is put together at its end; the place for a longer one is made at once, where its length is told.
const LARGE = 65_536

/** Gathers the pieces of a body. What is large is in memory once. */
function createGathering(told: number): Gathering {
  const pieces: Buffer[] = []
  const whole = told >= LARGE ? Buffer.allocUnsafe(told) : undefined
  let length = 0
  return {
    get length() {
      return length
    },
    add(chunk) {
      if (whole) chunk.copy(whole, length)
      else pieces.push(chunk)
      length += chunk.length
    },
    // Sound to hand on as it is: the parser of HTTP gives neither more nor less than was told.
    all: () =>
      whole?.subarray(0, length) ?? (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)),
  }
}

async function send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return
  const headers: Record<string, string | number> = { ...reply.headers }
  // What is left of a body that was not wanted is not read: the connection ends with the answer.
  if (!request.complete && hasBody(request)) headers['connection'] = 'close'
  if (typeof reply.body === 'string') {
    headers['content-length'] = Buffer.byteLength(reply.body)
    response.writeHead(reply.status, headers)
    response.end(reply.body)
    return
  }
  response.writeHead(reply.status, headers)
  // Who waits for a stream knows by them that there is one, however long its first piece takes.
  response.flushHeaders()
  await pour(reply.body, response)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Writes piece by piece, each only when the one before has left. */
async function pour(pieces: AsyncIterable<Uint8Array | string>, response: ServerResponse): Promise<void> {
  for await (const piece of pieces) {
    if (response.destroyed) break
    if (!response.write(piece)) await drained(response)
  }
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.once('drain', go)
    response.once('close', go)
  })
}
