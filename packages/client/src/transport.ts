// One request and its answer: with the token, within a time, no larger than it may be. What the answer means is not
// decided here.

import { MAX_ANSWER_BYTES, strange, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { momentOf, reasonOf, type Host, type Moment } from './host.ts'
import { createLimit } from './limit.ts'

/** Where the gateway is, and how to talk to it. */
export interface Connection {
  /** Without a slash at the end. */
  readonly base: string
  readonly token: string
  readonly host: Host
  /** Longest time for one request and its answer, in milliseconds. */
  readonly timeout: number
  /** How often a request is sent again, at most. */
  readonly retries: number
}

/** What is asked of the gateway. */
export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  /** JSON text. */
  readonly body?: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request once, and reads all of its answer.
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

/** Reads all of an answer. */
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

/** Sends a request and gives the response with its body unread. */
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
      // The token goes to the gateway and nowhere else; an old answer is no answer.
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

/** The gateway took too long. */
export function late(timeout: number): TollgateError {
  return new TollgateError('gateway-timeout', `the gateway did not answer within ${timeout} ms`, {
    remedy: 'Look whether it runs; a longer `timeout` helps only if it is slow.',
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
      void reader.cancel().catch(() => undefined) // nobody reads on, so nobody need know that it ended badly
      throw strange(response.status, `it is larger than ${MAX_ANSWER_BYTES} bytes`)
    }
    parts.push(value)
  }
  return join(parts, length)
}

/** Reads on. @throws TollgateError `gateway-unreachable` if the answer breaks off. */
export async function readPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read()
  } catch (cause) {
    throw unreachable('the answer of the gateway broke off', cause)
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
    remedy: 'Look whether the gateway runs at this address; nothing passes until it does.',
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

/** The number of seconds only: a date would have to be compared with a clock that may be wrong. */
function readSeconds(text: string | null): number | undefined {
  return text !== null && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
