// The server behind the door: requests go to its address alone, with the key that is kept here, and never to where it points.

import { createBrotliDecompress, createGunzip, createInflate, constants } from 'node:zlib'
import { Readable, pipeline, type Duplex } from 'node:stream'
import process from 'node:process'
import { EnvHttpProxyAgent, Pool, type Dispatcher } from 'undici'
import { Garbled } from './dialect.ts'

/** Where a server is, and how it is asked. */
export interface UpstreamAddress {
  /** Such as `https://api.openai.com/v1`. */
  readonly url: string
  /** The key; undefined if each client brings its own. */
  readonly key: string | undefined
  /** Parameters of requests that pass besides those that are known. */
  readonly parameters: ReadonlySet<string>
  /** Milliseconds in which it must begin to answer, and in which more must come. */
  readonly patience: number
}

/** A request to it. */
interface UpstreamRequest {
  readonly method: 'GET' | 'POST'
  /** Behind the address, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: readonly Uint8Array[]
  readonly signal: AbortSignal
}

/** Its answer, unpacked. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** A server that is asked. */
export interface LlmUpstream {
  /** @throws UpstreamFault, or Garbled for an encoding that nobody asked for. */
  send(request: UpstreamRequest): Promise<UpstreamReply>
  close(): Promise<void>
}

/** Nothing came, or not all of it. */
export class LlmUpstreamFault extends Error {
  readonly status: 502 | 504
  /** What the system calls it: nothing that the other side said. */
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

/** Asks the server at an address, through the proxy of the environment if there is one. */
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
        // Whoever reads it hears of it; where nobody does, it must not end the process.
        response.body.on('error', () => undefined)
        const heads = headersOf(response)
        return {
          status: response.statusCode,
          headers: heads,
          body: told(unpacked(response.body, heads['content-encoding'])),
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
  // Sound: each has a name and a value.
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
    throw new Garbled('the answer is packed in a way that nobody asked for')
  }
  // Faults of either side come out where it is read.
  return pipeline(body, unpack(), () => undefined)
}

/** The same, whose faults are told by name. Not a generator: each piece of a stream comes by here. */
function told(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
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

const LATE = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']

function faultOf(cause: unknown): Error {
  if (cause instanceof Garbled || cause instanceof LlmUpstreamFault) return cause
  const code =
    cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'unknown'
  if (LATE.includes(code)) return new LlmUpstreamFault(504, code, 'the model server did not answer in time')
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI'))
    return new Garbled('the answer cannot be unpacked')
  return new LlmUpstreamFault(502, code, 'the model server cannot be reached, or went away')
}
