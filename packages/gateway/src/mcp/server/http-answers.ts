// Reads the answers of a server over HTTP: JSON, event streams and errors.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { ServerCall } from './calls.ts'
import { outlineOf } from './outline.ts'
import { CODE, parseMessage, type RpcError } from '../message.ts'
import { createSseReader } from '../../sse.ts'
import type { UpstreamAnswer } from './upstream.ts'

type AnswerBody = Dispatcher.ResponseData['body']

// Also how long a stream may stay open after its answer. It should end, so that the connection can be reused.
export const LINGER = 1000

// The answer of a server that does not know the modern protocol.
export const UNKNOWN: UpstreamAnswer = {
  ok: false,
  error: { code: CODE.methodNotFound, message: 'the server refused the request' },
}

/** The error in a refusal, if it answers this request or can answer no other. */
export function errorIn(bytes: Uint8Array, call: ServerCall, status: number): RpcError | undefined {
  const message = parseMessage(bytes)
  if (message.kind !== 'response' || !('error' in message)) return undefined
  const fits = message.id === call.id || (message.id === undefined && status < 500)
  return fits ? message.error : undefined
}

/** Whether a refusal names the request as its own. */
export function isOurs(bytes: Uint8Array | undefined, { id }: ServerCall): boolean {
  return bytes !== undefined && outlineOf(bytes).id === id
}

/** The media type of an answer, without parameters. */
export function typeOf({ headers }: Dispatcher.ResponseData): string {
  const type = headers['content-type']
  return typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() : ''
}

/** The whole body; undefined if it has more than `limit` bytes. */
export async function bytesOf(body: AnswerBody, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunksOf(body)) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Reads the messages of an event stream. If an event is too large, the stream ends. */
export async function pumpEvents(
  body: AnswerBody,
  limit: number,
  onMessage: (data: Uint8Array | undefined) => void,
  onOverflow: () => void = () => undefined,
): Promise<void> {
  const reader = createSseReader(limit, {
    onEvent: ({ type, data }) => onMessage(type === 'message' ? data : undefined),
    onOverflow() {
      onOverflow()
      body.destroy()
    },
  })
  for await (const chunk of chunksOf(body)) reader.push(chunk)
}

function chunksOf(body: AnswerBody): AsyncIterable<Uint8Array> {
  // Sound: without an encoding, a body yields bytes.
  return body as AsyncIterable<Uint8Array>
}

/** Discards an answer. */
export async function discard({ body }: Dispatcher.ResponseData): Promise<void> {
  try {
    await body.dump({ limit: 16_384, signal: AbortSignal.timeout(LINGER) })
  } catch {
    body.destroy()
  }
}

interface AsideOptions {
  /** Requests the stream. */
  readonly reach: (over: AbortSignal) => Promise<Dispatcher.ResponseData>
  /** Reads it to its end and returns the number of messages. */
  readonly pump: (response: Dispatcher.ResponseData) => Promise<number>
}

const FIRST_PAUSE = 1000
const MAX_PAUSE = 30_000

/**
 * Keeps the event stream of a legacy server for messages that belong to no request: opens it again when it ends, until `over` is
 * aborted. A server may not have one.
 */
export async function keepAside(options: AsideOptions, over: AbortSignal): Promise<void> {
  const isOver = (): boolean => over.aborted
  let pause = FIRST_PAUSE
  while (!isOver()) {
    const count = await once(options, over)
    if (count === undefined || isOver()) return
    pause = count > 0 ? FIRST_PAUSE : Math.min(2 * pause, MAX_PAUSE)
    await sleep(pause, undefined, { signal: over, ref: false }).catch(() => undefined)
  }
}

/** The number of messages; undefined if the server has no such stream. */
async function once({ reach, pump }: AsideOptions, over: AbortSignal): Promise<number | undefined> {
  try {
    const response = await reach(over)
    if (response.statusCode === 200 && typeOf(response) === 'text/event-stream') return await pump(response)
    response.body.destroy()
    return undefined
  } catch {
    return 0
  }
}
