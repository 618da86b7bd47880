// Handles HTTP requests from Node sockets. Requests that are invalid at this level never reach a route.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { REFUSAL_PAUSE_MS } from '../budget.ts'
import type { Log } from '../log.ts'
import type { HttpRefusal } from '../telemetry/families.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { problemReply, SECURITY_HEADERS, type App } from './app.ts'
import { listedOrigin, preflightReply, readableBy } from './cors.ts'
import { tooLarge } from './fetch.ts'
import { Problem, type ProblemCode } from './problem.ts'
import type { DoorRequest, Reply } from './route.ts'

/** The names that clients may use for the gateway. */
export interface Names {
  /** Lower case, without port; IPv6 addresses in brackets. */
  readonly hosts: ReadonlySet<string>
  readonly scheme: 'http' | 'https'
  /** The other origins whose web pages may use the gateway. */
  readonly origins: ReadonlySet<string>
}

interface ListenerOptions {
  readonly names: Names
  readonly log: Log
  readonly metrics: Pick<Metrics, 'refused'>
}

const REFUSED_AS: Readonly<Partial<Record<ProblemCode, HttpRefusal>>> = {
  'host-unknown': 'host',
  'origin-forbidden': 'origin',
  'headers-too-large': 'headers',
}
const MAX_URL = 8192
const MAX_HEADERS = 64

/** Creates a request listener. It never throws, and its promise never rejects. */
export function listener(
  app: Pick<App, 'answer'>,
  { names, log, metrics }: ListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      const refused = refusalOf(request, names)
      if (refused) metrics.refused(REFUSED_AS[refused.code] ?? 'malformed')
      const reply = refused
        ? refusal(refused)
        : (preflightFor(request, names) ?? (await app.answer(askedBy(request, response))))
      if (reply.status === 429) await delay(REFUSAL_PAUSE_MS)
      const origin = listedOrigin(request, names.origins)
      await send(request, response, origin === undefined ? reply : readableBy(origin, reply))
    } catch (fault) {
      // Closes the connection, so that half an answer is not taken for a complete one. Data already written is still sent.
      log('warn', 'an answer was interrupted', { fault: fault instanceof Error ? fault.name : typeof fault })
      if (response.socket) response.socket.destroySoon()
      else response.destroy()
    }
  }
}

/** Browsers send a preflight without a token, before the request of a page. */
function preflightFor(request: IncomingMessage, { origins }: Names): Reply | undefined {
  const origin = listedOrigin(request, origins)
  const reply = origin === undefined ? undefined : preflightReply(request)
  return reply && { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
}

function refusal(problem: Problem): Reply {
  const reply = problemReply(problem)
  return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
}

// Headers that must occur once: with two values, two readers could each use a different one.
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

/** The reason to refuse a request before it is processed; undefined if there is none. */
function refusalOf(request: IncomingMessage, names: Names): Problem | undefined {
  const { url = '', headers, rawHeaders, httpVersion } = request
  // Proxies may still use 1.0. Node's parser accepts any version.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('request-invalid', 'the HTTP version is not supported')
  }
  if (url.length > MAX_URL) return new Problem('url-too-long', `a URL has at most ${MAX_URL} characters`)
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return new Problem('headers-too-large', `a request has at most ${MAX_HEADERS} headers`)
  }
  // As many names as header lines: no header is repeated.
  const single = 2 * Object.keys(headers).length === rawHeaders.length
  if (!single && hasTwice(rawHeaders))
    return new Problem('request-invalid', 'a header that must occur once is repeated')
  if (headers['content-length'] !== undefined && headers['transfer-encoding'] !== undefined) {
    return new Problem('request-invalid', 'the length of the body is given in two ways')
  }
  // Protects against DNS rebinding: the browser sends the attacker's hostname.
  const host = headers.host?.toLowerCase() ?? ''
  if (!names.hosts.has(host.replace(/:[0-9]{1,5}$/, ''))) return new Problem('host-unknown')
  const { origin } = headers
  if (origin !== undefined && !names.origins.has(origin) && !isOwn(origin.toLowerCase(), host, names)) {
    return new Problem('origin-forbidden')
  }
  return url.startsWith('/') ? undefined : new Problem('request-invalid', 'the request target is not a path')
}

/** Whether an origin is the gateway itself: the same name and port, with its scheme or `https` behind a TLS proxy. */
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
      // A client that sent `Expect: 100-continue` gets it only now, after authentication.
      if (request.headers.expect !== undefined) response.writeContinue()
      return readBody(request, limit)
    },
    // Until the next request on the connection, for which the server sets the timeout again.
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
    // The caller is gone or too slow.
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

// Smaller bodies are joined at the end. For larger bodies with a known length, the buffer is allocated at once.
const LARGE = 65_536

/** Collects the chunks of a body. A large body is in memory only once. */
function createGathering(announcedLength: number): Gathering {
  const pieces: Buffer[] = []
  const whole = announcedLength >= LARGE ? Buffer.allocUnsafe(announcedLength) : undefined
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
    // Sound: the HTTP parser delivers exactly the announced number of bytes.
    all: () =>
      whole?.subarray(0, length) ?? (pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)),
  }
}

async function send(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  if (response.destroyed) return
  const headers: Record<string, string | number> = { ...reply.headers }
  // The rest of an unread body is discarded: the connection ends with the answer.
  if (!request.complete && hasBody(request)) headers['connection'] = 'close'
  if (typeof reply.body === 'string') {
    headers['content-length'] = Buffer.byteLength(reply.body)
    response.writeHead(reply.status, headers)
    response.end(reply.body)
    return
  }
  response.writeHead(reply.status, headers)
  // Sends the headers at once, so that the client knows the stream is open.
  response.flushHeaders()
  await pour(reply.body, response)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Writes chunk by chunk and waits while the socket is full. */
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
