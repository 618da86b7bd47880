// Reads a server's answer to a POST: JSON, an event stream, or an HTTP error.

import type { Dispatcher } from 'undici'
import { faultOf, violation, type ServerCall } from './calls.ts'
import type { Incoming } from './incoming.ts'
import { outlineOf } from './outline.ts'
import { CODE, parseMessage, type RpcError } from '../message.ts'
import { createSseReader } from '../../sse.ts'

interface HttpAnswers {
  /** Reads an answer, which settles the call. Rejects if the connection fails first. */
  take(response: Dispatcher.ResponseData, call: ServerCall): Promise<void>
  /** Takes the messages of a stream that belongs to no request. Resolves at its end with their number. */
  pumpAside(response: Dispatcher.ResponseData): Promise<number>
  /** Discards an answer. */
  discard(response: Dispatcher.ResponseData): Promise<void>
}

interface HttpAnswersOptions {
  readonly name: string
  readonly incoming: Incoming
  readonly maxMessage: number
  /** Whether there is a session that can be lost. */
  hasSession(): boolean
  onSession(id: string): void
  onSessionLost(): void
  /** A request was refused unread. The server may have forgotten the session. */
  onDoubt(): void
}

type AnswerBody = Dispatcher.ResponseData['body']

const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/
// A stream should end after its answer, so that the connection can be reused.
const LINGER = 1000

export function createHttpAnswers(options: HttpAnswersOptions): HttpAnswers {
  const { name, incoming, maxMessage } = options

  async function take(response: Dispatcher.ResponseData, call: ServerCall): Promise<void> {
    const { statusCode, body } = response
    const type = typeOf(response)
    if (statusCode < 200 || statusCode > 299) return takeRefusal(response, call)
    if (call.method === 'initialize') takeSession(response)
    if (type === SSE_TYPE) return pump(body, call)
    if (type === JSON_TYPE) {
      takeJson(await bytesOf(body, maxMessage), call)
      return
    }
    await discard(response)
    call.fail(faultOf('GARBLED', name, 'its answer is neither JSON nor an event stream'))
  }

  function takeSession({ headers }: Dispatcher.ResponseData): void {
    const id = headers['mcp-session-id']
    if (typeof id === 'string' && SESSION_ID.test(id)) options.onSession(id)
  }

  function takeJson(bytes: Uint8Array | undefined, call: ServerCall): void {
    if (!bytes) return call.fail(faultOf('GARBLED', name, `its answer has more than ${maxMessage} bytes`))
    incoming.take(bytes, { call, answers: true })
    call.fail(violation(name, 'sent an answer to another request'))
  }

  async function takeRefusal(response: Dispatcher.ResponseData, call: ServerCall): Promise<void> {
    const { statusCode: status, body } = response
    const bytes = typeOf(response) === JSON_TYPE ? await bytesOf(body, maxMessage) : undefined
    if (!bytes) await discard(response)
    const error = bytes && errorIn(bytes, call, status)
    const isUnknown = error?.code === CODE.methodNotFound
    if (status === 404 && options.hasSession() && !isUnknown) lose(call)
    else if (status === 400 && options.hasSession() && !isOurs(bytes, call)) doubt(call, error)
    else if (error) call.settle({ ok: false, error })
    else if (call.method === 'server/discover' && status >= 400 && status < 500) call.settle(UNKNOWN)
    else call.fail(violation(name, `answered with status ${status}`))
  }

  function lose(call: ServerCall): void {
    options.onSessionLost()
    call.fail(faultOf('LOST', name, 'it has forgotten the session'))
  }

  /** A harmless `ping` then shows whether the server refused the request or the session. */
  function doubt(call: ServerCall, error: RpcError | undefined): void {
    if (call.method === 'ping') return lose(call)
    if (error) call.settle({ ok: false, error })
    else call.fail(violation(name, 'answered with status 400'))
    options.onDoubt()
  }

  /** Reads a stream to its end. A message in it, or its end, settles the call. */
  async function pump(body: AnswerBody, call: ServerCall): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const reader = createSseReader(maxMessage, {
      onEvent: ({ type, data }) => {
        if (type === 'message' && !call.over) incoming.take(data, { call, answers: true })
      },
      onOverflow: () => {
        call.fail(faultOf('GARBLED', name, `an event has more than ${maxMessage} bytes`))
        body.destroy()
      },
    })
    try {
      for await (const chunk of chunksOf(body)) {
        reader.push(chunk)
        if (call.over) timer ??= setTimeout(() => body.destroy(), LINGER)
      }
      call.fail(faultOf('LOST', name, 'its stream ended before it answered'))
    } finally {
      clearTimeout(timer)
    }
  }

  async function pumpAside({ body }: Dispatcher.ResponseData): Promise<number> {
    let count = 0
    const reader = createSseReader(maxMessage, {
      onEvent: ({ type, data }) => {
        count++
        if (type === 'message') incoming.take(data, { answers: false })
      },
      onOverflow: () => body.destroy(),
    })
    for await (const chunk of chunksOf(body)) reader.push(chunk)
    return count
  }

  return { take, pumpAside, discard }
}

// The answer of a server that does not know the modern protocol.
const UNKNOWN = {
  ok: false,
  error: { code: CODE.methodNotFound, message: 'the server refused the request' },
} as const

/** The error in a refusal, if it answers this request or can answer no other. */
function errorIn(bytes: Uint8Array, call: ServerCall, status: number): RpcError | undefined {
  const message = parseMessage(bytes)
  if (message.kind !== 'response' || !('error' in message)) return undefined
  const fits = message.id === call.id || (message.id === undefined && status < 500)
  return fits ? message.error : undefined
}

function isOurs(bytes: Uint8Array | undefined, { id }: ServerCall): boolean {
  return bytes !== undefined && outlineOf(bytes).id === id
}

/** The media type of an answer, without parameters. */
export function typeOf({ headers }: Dispatcher.ResponseData): string {
  const type = headers['content-type']
  return typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() : ''
}

/** The whole body; undefined if it has more than `limit` bytes. */
async function bytesOf(body: AnswerBody, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunksOf(body)) {
    size += chunk.length
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function chunksOf(body: AnswerBody): AsyncIterable<Uint8Array> {
  // Sound: without an encoding, a body yields bytes.
  return body as AsyncIterable<Uint8Array>
}

async function discard({ body }: Dispatcher.ResponseData): Promise<void> {
  try {
    await body.dump({ limit: 16_384, signal: AbortSignal.timeout(LINGER) })
  } catch {
    body.destroy()
  }
}
