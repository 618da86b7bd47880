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
  /** Calls `listener` for each event of every session, in the order of arrival, until the returned function is called. */
  onAny(listener: (event: CdpEvent) => void): () => void
  /**
   * Sends a command of another client. Calls `reply` once, in the order of arrival among the events. There is no time limit.
   */
  forward(method: string, params: object, session: string, reply: (answer: CdpAnswer) => void): void
  /** Calls `listener` once when the connection has ended, at once if it has. */
  onEnd(listener: () => void): void
  /** Rejects everything that waits. */
  close(): void
}

/** An event of a session; without one, of the browser itself. */
interface CdpEvent {
  readonly method: string
  readonly params: CdpResult
  readonly session: string | undefined
}

/** The answer of a browser to a command. */
export type CdpAnswer = { readonly result: CdpResult } | { readonly error: CdpResult }

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
  readonly session: string | undefined
  /** Gets the answer, or the fault because of which there is none. */
  readonly answered: (answer: CdpAnswer | Error) => void
}

/** Speaks the protocol on two pipes. */
export function connectCdp(to: Writable, from: Readable): Cdp {
  const waiting = new Map<number, Waiting>()
  const listeners = new Set<(event: CdpEvent) => void>()
  const enders: (() => void)[] = []
  let last = 0
  let closed: Error | undefined
  const end = (fault: Error): void => {
    if (closed) return
    closed = fault
    giveUp(fault, () => true)
    for (const ended of enders.splice(0)) ended()
  }
  // A browser that exits closes its pipes; what waits then fails, here and not as an uncaught error.
  to.on('error', () => end(new Error('the connection to the browser is broken')))
  from.on('error', () => end(new Error('the connection to the browser is broken')))
  from.on('close', () => end(new Error('the browser has exited')))
  from.on(
    'data',
    readMessages(take, () => end(new Error('the browser sent a message that is too long'))),
  )
  return {
    send,
    on: (method, session, listener) =>
      onAny((event) => {
        if (event.method === method && event.session === session) listener(event.params)
      }),
    onAny,
    forward: (method, params, session, reply) => {
      write(method, params, session, (answer) => {
        reply(answer instanceof Error ? { error: { code: -32_000, message: answer.message } } : answer)
      })
    },
    onEnd: (listener) => {
      if (closed) listener()
      else enders.push(listener)
    },
    close: () => end(new Error('the connection to the browser is closed')),
  }

  function send(method: string, params: object = {}, { session, timeout = TIMEOUT }: SendOptions = {}) {
    return new Promise<CdpResult>((resolve, reject) => {
      const id = write(method, params, session, (answer) => {
        clearTimeout(timer)
        if (answer instanceof Error) reject(answer)
        else if ('result' in answer) resolve(answer.result)
        else reject(new Error(`the browser refused: ${textOf(answer.error['message'])}`))
      })
      const timer = setTimeout(() => {
        waiting.delete(id)
        reject(new Error(`the browser did not answer \`${method}\` within ${timeout / 1000} s`))
      }, timeout)
      if (closed) clearTimeout(timer)
    })
  }

  /** Writes a command and returns its number. */
  function write(
    method: string,
    params: object,
    session: string | undefined,
    answered: Waiting['answered'],
  ): number {
    const id = ++last
    if (closed) {
      const fault = closed
      queueMicrotask(() => answered(fault))
      return id
    }
    waiting.set(id, { session, answered })
    to.write(
      `${JSON.stringify({ id, method, params, ...(session !== undefined && { sessionId: session }) })}\0`,
    )
    return id
  }

  function onAny(listener: (event: CdpEvent) => void): () => void {
    // Wrapped, so that a listener that is added twice is removed once.
    const entry = (event: CdpEvent): void => listener(event)
    listeners.add(entry)
    return () => void listeners.delete(entry)
  }

  function take(text: string): void {
    const message = parse(text)
    if (!message) return end(new Error('the browser sent a message that is not JSON'))
    const { id, method, params, sessionId, result, error } = message
    if (typeof id === 'number') {
      const found = waiting.get(id)
      waiting.delete(id)
      found?.answered(error === undefined ? { result: asObject(result) } : { error: asObject(error) })
      return
    }
    const session = sessionId === undefined ? undefined : textOf(sessionId)
    const event = { method: textOf(method), params: asObject(params), session }
    for (const each of [...listeners]) each(event)
    // The browser answers nothing more of what is gone.
    if (event.method === 'Target.detachedFromTarget') {
      giveUp(new Error('the target is gone'), (of) => of === event.params['sessionId'])
    }
    if (event.method === 'Inspector.targetCrashed') {
      giveUp(new Error('the page has crashed'), (of) => of === session && of !== undefined)
    }
  }

  function giveUp(fault: Error, concerns: (session: string | undefined) => boolean): void {
    for (const [id, { session, answered }] of waiting) {
      if (!concerns(session)) continue
      waiting.delete(id)
      answered(fault)
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
