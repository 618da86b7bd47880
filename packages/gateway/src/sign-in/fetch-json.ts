// Fetches a JSON document of the issuer, with limits: no redirects, 5 seconds, 256 KiB.

import process from 'node:process'
import { Agent, EnvHttpProxyAgent, request, type Dispatcher } from 'undici'
import { isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'

/** A document, and the clock of the server that sent it. */
interface FetchedJson {
  readonly json: JsonObject
  /** The header `date` in milliseconds; undefined if it is missing. */
  readonly date: number | undefined
}

/** Fetches a document. Rejects with an Error whose message says why, without any text of the server. */
export type FetchJson = (url: string) => Promise<FetchedJson>

const WITHIN_MS = 5000
const MAX_BYTES = 1 << 18

/** Fetches a document, through the proxy of the environment if there is one. `within` is the time limit in milliseconds. */
export async function fetchJson(url: string, within: number = WITHIN_MS): Promise<FetchedJson> {
  const dispatcher = dispatcherOf(process.env)
  try {
    return await read(url, dispatcher, within)
  } catch (cause) {
    throw new Error(`\`${url}\` ${reasonOf(cause)}`, { cause })
  } finally {
    void dispatcher.destroy()
  }
}

async function read(url: string, dispatcher: Dispatcher, within: number): Promise<FetchedJson> {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity' }
  const signal = AbortSignal.timeout(within)
  const { statusCode, headers: answered, body } = await request(url, { dispatcher, headers, signal })
  if (statusCode !== 200) throw new UnusableDocument(`answered with status ${statusCode}`)
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    // Sound: a body without an encoding yields bytes.
    const bytes = piece as Uint8Array
    length += bytes.length
    if (length > MAX_BYTES) throw new UnusableDocument(`answered with more than ${MAX_BYTES} bytes`)
    pieces.push(bytes)
  }
  const date = Date.parse(String(answered['date'] ?? ''))
  return { json: objectIn(Buffer.concat(pieces)), date: Number.isNaN(date) ? undefined : date }
}

function objectIn(bytes: Uint8Array): JsonObject {
  let value: Json
  try {
    value = parseJson(bytes, { maxBytes: MAX_BYTES })
  } catch {
    throw new UnusableDocument('answered with something that is not strict JSON')
  }
  if (isObject(value)) return value
  throw new UnusableDocument('answered with JSON that is not an object')
}

/** An answer that arrived but cannot be used. Its message is complete. */
class UnusableDocument extends Error {}

function reasonOf(cause: unknown): string {
  if (cause instanceof UnusableDocument) return cause.message
  if (cause instanceof Error && cause.name === 'TimeoutError') return 'did not answer in time'
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  return `cannot be reached${/^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? `: ${code}` : ''}`
}

/** A fresh connection for each fetch: there are few, and none is kept open for minutes. */
function dispatcherOf({ HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy }: NodeJS.ProcessEnv): Dispatcher {
  const behindProxy = [HTTPS_PROXY, https_proxy, HTTP_PROXY, http_proxy].some((each) => each)
  return behindProxy ? new EnvHttpProxyAgent() : new Agent()
}
