// Sends requests to the model server: only to its configured address, with its configured key. Redirects are not followed. Reads
// the answers, with checks of their type and size.

import { createBrotliDecompress, createGunzip, createInflate, constants } from 'node:zlib'
import { Readable, pipeline, type Duplex } from 'node:stream'
import process from 'node:process'
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import type { JsonObject } from '@tollgate/evidence'
import { Garbled } from './dialect.ts'
import { objectIn } from './filter.ts'

/** The address and settings of a model server. */
export interface UpstreamAddress {
  /** For example `https://api.openai.com/v1`. */
  readonly url: string
  /** The key; undefined if each client brings its own. */
  readonly key: string | undefined
  /** The keys of single principals, if they have their own. */
  readonly own?: ReadonlyMap<string, string>
  /** Further request parameters that are allowed. */
  readonly parameters: ReadonlySet<string>
  /** Milliseconds until the answer must begin, and between its parts. */
  readonly patience: number
}

interface UpstreamRequest {
  readonly method: 'GET' | 'POST'
  /** The path behind the address, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: readonly Uint8Array[]
  readonly signal: AbortSignal
}

/** Its answer, decompressed. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

export interface LlmUpstream {
  /** @throws UpstreamFault, or Garbled for an unrequested encoding. */
  send(request: UpstreamRequest): Promise<UpstreamReply>
  close(): Promise<void>
}

/** No answer, or only a part of it. */
export class LlmUpstreamFault extends Error {
  readonly status: 502 | 504
  /** The system's code of the failure. It holds no text of the other side. */
  readonly code: string

  constructor(status: 502 | 504, code: string, message: string) {
    super(message)
    this.name = 'UpstreamFault'
    this.status = status
    this.code = code
  }
}

const CONNECT_WITHIN = 10_000
const MAX_CONNECTIONS = 1024

/** Connects to the server at an address, through the proxy of the environment if there is one. */
export function createUpstream({ url, patience }: UpstreamAddress): LlmUpstream {
  const { origin, pathname } = new URL(url)
  const base = pathname.replace(/\/$/, '')
  const dispatcher = dispatcherTo(origin, patience)
  return {
    async send({ method, path, headers, body, signal }) {
      const length = body?.reduce((sum, { length: each }) => sum + each, 0)
      const [only] = body ?? []
      try {
        const response = await dispatcher.request({
          ...{ origin, method, path: base + path, signal },
          headers: { ...headers, ...(length !== undefined && { 'content-length': String(length) }) },
          ...(body && { body: body.length === 1 && only ? only : Readable.from(body) }),
        })
        // The reader sees the error. Without a reader it must not end the process.
        response.body.on('error', () => undefined)
        const heads = headersOf(response)
        return {
          status: response.statusCode,
          headers: heads,
          body: withNamedFaults(unpacked(response.body, heads['content-encoding'])),
        }
      } catch (cause) {
        throw faultOf(cause)
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function dispatcherTo(origin: string, patience: number): Dispatcher {
  const options = {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    headersTimeout: patience,
    bodyTimeout: patience,
    connect: { timeout: CONNECT_WITHIN },
  }
  const { HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy } = process.env
  const behindProxy = [HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy].some((each) => each)
  return behindProxy ? new EnvHttpProxyAgent(options) : new Pool(origin, options)
}

function headersOf({ headers }: Dispatcher.ResponseData): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value ?? '')])
  // Sound: each entry has a name and a value.
  return Object.fromEntries(entries) as Record<string, string>
}

const FLUSH = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const PACKINGS: Readonly<Record<string, (() => Duplex) | undefined>> = {
  gzip: () => createGunzip(FLUSH),
  'x-gzip': () => createGunzip(FLUSH),
  deflate: () => createInflate(FLUSH),
  br: () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH }),
}

function unpacked(body: Readable, encoding = 'identity'): AsyncIterable<Uint8Array> {
  if (encoding === 'identity' || encoding === '') return body
  const unpack = PACKINGS[encoding.toLowerCase()]
  if (!unpack) {
    body.destroy()
    throw new Garbled('the answer has an unrequested content encoding')
  }
  // The reader sees faults of either side.
  return pipeline(body, unpack(), () => undefined)
}

/** Translates the faults of a body. Not a generator, because every piece of a stream passes here. */
function withNamedFaults(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const named = (cause: unknown): never => {
    throw faultOf(cause)
  }
  return {
    [Symbol.asyncIterator]() {
      const pieces = body[Symbol.asyncIterator]()
      return {
        next: () => pieces.next().catch(named),
        return: () => pieces.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      }
    },
  }
}

const MAX_REPLY = 64 << 20
const MAX_ERROR = 1 << 16

/** Requires a reply to have this media type. @throws Garbled */
export function requireType({ headers }: UpstreamReply, type: string): void {
  const given = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (given !== type) throw new Garbled(`it is not ${type}`)
}

/** The text of a whole reply. @throws Garbled, UpstreamFault */
export async function textOf({ body }: UpstreamReply, limit: number = MAX_REPLY): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > limit) throw new Garbled('it is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The error body of an upstream; undefined if it is unreadable. Never rejects. */
export async function errorIn(reply: UpstreamReply): Promise<JsonObject | undefined> {
  try {
    return objectIn(await textOf(reply, MAX_ERROR))
  } catch {
    // An error page of a proxy, or too large. The status is enough.
    return undefined
  }
}

const LATE = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']

function faultOf(cause: unknown): Error {
  if (cause instanceof Garbled || cause instanceof LlmUpstreamFault) return cause
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown'
  if (LATE.includes(code)) return new LlmUpstreamFault(504, code, 'the model server did not answer in time')
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI'))
    return new Garbled('the answer cannot be decompressed')
  return new LlmUpstreamFault(502, code, 'the model server cannot be reached, or the connection was lost')
}
