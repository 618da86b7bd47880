// Sends one request with the token and reads its answer, within limits of time and size.

import { MAX_ANSWER_BYTES, invalidAnswer, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { momentOf, reasonOf, type Host, type Moment } from './host.ts'
import { createLimit } from './limit.ts'

/** The connection to a gateway. */
export interface Connection {
  /** URL of the gateway, without a slash at the end. */
  readonly base: string
  readonly token: string
  readonly host: Host
  /** Timeout of one request in milliseconds. */
  readonly timeout: number
  /** Maximum number of retries. */
  readonly retries: number
}

/** A request to the gateway. */
export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** JSON text. */
  readonly body?: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request once and reads the whole answer.
 *
 * @throws TollgateError `gateway-unreachable`, `gateway-timeout` or `answer-invalid`; or the reason of the signal.
 */
export async function send(connection: Connection, request: Request): Promise<Answer> {
  const { host, timeout } = connection
  const sent = momentOf(host)
  const limit = createLimit(host, request.signal)
  limit.allow(timeout, () => late(timeout))
  try {
    const response = await limit.within(fetchOnce(connection, request, limit.signal))
    return await limit.within(readAnswer(response, sent))
  } finally {
    limit.end()
  }
}

/** Reads a whole answer. */
export async function readAnswer(response: Response, sent: Moment): Promise<Answer> {
  const { status, headers } = response
  return {
    status,
    type: typeOf(response),
    body: await readBody(response),
    sent,
    date: readDate(headers.get('date')),
    retryAfter: readSeconds(headers.get('retry-after')),
  }
}

/** Sends a request and returns the response with its body unread. */
export async function fetchOnce(
  { base, token, host }: Connection,
  { method, path, query = {}, body }: Request,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  try {
    return await host.fetch(base + path + queryText(query), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
      signal,
      // The token must go only to the gateway, and cached answers are not valid.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    })
  } catch (cause) {
    if (signal.aborted) throw reasonOf(signal)
    throw unreachable('the gateway cannot be reached', cause)
  }
}

/** The error for a timeout. */
export function late(timeout: number): TollgateError {
  return new TollgateError('gateway-timeout', `the gateway did not answer within ${timeout} ms`, {
    remedy: 'Check that the gateway runs. Increase `timeout` if it is only slow.',
  })
}

async function readBody(response: Response): Promise<Uint8Array> {
  const reader = response.body?.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  while (reader) {
    const { done, value } = await readPart(reader)
    if (done) break
    length += value.length
    if (length > MAX_ANSWER_BYTES) {
      void reader.cancel().catch(() => undefined)
      throw invalidAnswer(response.status, `it is larger than ${MAX_ANSWER_BYTES} bytes`)
    }
    parts.push(value)
  }
  return join(parts, length)
}

/** Reads the next part. @throws TollgateError `gateway-unreachable` if the connection breaks. */
export async function readPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read()
  } catch (cause) {
    throw unreachable('the connection to the gateway broke during its answer', cause)
  }
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function unreachable(message: string, cause: unknown): TollgateError {
  return new TollgateError('gateway-unreachable', message, {
    remedy: 'Check that the gateway runs at this address. No guarded tool runs until then.',
    cause,
  })
}

function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

/** The media type of a response, without parameters. */
export function typeOf(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function readDate(text: string | null): number | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Reads only a number of seconds. A date would depend on a clock that can be wrong. */
function readSeconds(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
