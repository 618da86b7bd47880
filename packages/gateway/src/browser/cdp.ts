// A client of the Chrome DevTools Protocol over a pair of pipes: JSON messages that end with a null byte.

import type { Readable, Writable } from 'node:stream'

/** A connection to a browser. */
export interface Cdp {
  /**
   * Sends a command and returns its result. Rejects if the browser refuses it, does not answer in time, or is gone.
   */
  send(method: string, params?: object, options?: SendOptions): Promise<CdpResult>
  /** Calls `listener` for each event of a session, until the returned function is called. */
  on(method: string, session: string | undefined, listener: (params: CdpResult) => void): () => void
  /** Rejects everything that waits. */
  close(): void
}

/** A JSON object of the protocol. Each member is checked where it is used. */
export type CdpResult = Readonly<Record<string, unknown>>

interface SendOptions {
  readonly session?: string | undefined
  /** In milliseconds. */
  readonly timeout?: number
}

const TIMEOUT = 30_000
/** A page can make its own answer large, but not larger than this. */
const MAX_MESSAGE = 256 << 20

interface Waiting {
  readonly resolve: (result: CdpResult) => void
  readonly reject: (fault: Error) => void
  readonly timer: NodeJS.Timeout
}

/** Speaks the protocol on two pipes. */
export function connectCdp(to: Writable, from: Readable): Cdp {
  const waiting = new Map<number, Waiting>()
  const listeners = new Set<{
    method: string
    session: string | undefined
    listener: (params: CdpResult) => void
  }>()
  let last = 0
  let closed: Error | undefined
  const end = (fault: Error): void => {
    closed ??= fault
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(closed)
    }
    waiting.clear()
  }
  // A browser that exits closes its pipes; what waits then fails, here and not as an uncaught error.
  to.on('error', () => end(new Error('the connection to the browser is broken')))
  from.on('error', () => end(new Error('the connection to the browser is broken')))
  from.on('close', () => end(new Error('the browser has exited')))
  from.on(
    'data',
    readMessages(take, () => end(new Error('the browser sent a message that is too long'))),
  )
  return { send, on, close: () => end(new Error('the connection to the browser is closed')) }

  function send(method: string, params: object = {}, { session, timeout = TIMEOUT }: SendOptions = {}) {
    return new Promise<CdpResult>((resolve, reject) => {
      if (closed) return reject(closed)
      const id = ++last
      const timer = setTimeout(() => {
        waiting.delete(id)
        reject(new Error(`the browser did not answer \`${method}\` within ${timeout / 1000} s`))
      }, timeout)
      waiting.set(id, { resolve, reject, timer })
      to.write(
        `${JSON.stringify({ id, method, params, ...(session !== undefined && { sessionId: session }) })}\0`,
      )
    })
  }

  function on(
    method: string,
    session: string | undefined,
    listener: (params: CdpResult) => void,
  ): () => void {
    const entry = { method, session, listener }
    listeners.add(entry)
    return () => void listeners.delete(entry)
  }

  function take(text: string): void {
    const message = parse(text)
    if (!message) return end(new Error('the browser sent a message that is not JSON'))
    const { id, method, params, sessionId, result, error } = message
    if (typeof id === 'number') {
      const found = waiting.get(id)
      if (!found) return
      waiting.delete(id)
      clearTimeout(found.timer)
      if (error === undefined) found.resolve(asObject(result))
      else found.reject(new Error(`the browser refused: ${textOf(asObject(error)['message'])}`))
      return
    }
    for (const each of [...listeners]) {
      if (each.method === method && each.session === sessionId) each.listener(asObject(params))
    }
  }
}

/** Splits a stream at its null bytes. */
function readMessages(take: (text: string) => void, tooLong: () => void): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      take(Buffer.concat([...parts, chunk.subarray(start, end)]).toString())
      parts = []
      size = 0
      start = end + 1
    }
    if (start === chunk.length) return
    parts.push(chunk.subarray(start))
    size += chunk.length - start
    if (size > MAX_MESSAGE) tooLong()
  }
}

function parse(text: string): CdpResult | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? asObject(value) : undefined
  } catch {
    return undefined
  }
}

/** A member as an object; empty if it is none. */
export function asObject(value: unknown): CdpResult {
  // Sound: an object has only string keys that matter here, and its members stay unknown.
  return typeof value === 'object' && value !== null ? (value as CdpResult) : {}
}

/** A member as text; empty if it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
