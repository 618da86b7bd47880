// An open connection to a server, over stdio or HTTP. Messages go both ways until it ends.

import type { JsonObject } from '@tollgate/evidence'
import type { BrowserCalls } from '../../browser/door/browser-calls.ts'
import type { Log } from '../../log.ts'
import { cancelled, faultOf, silent, type ServerCall, type ServerCalls, type OnChange } from './calls.ts'
import type { SentMethod } from '../methods.ts'
import { startTimer } from '../waiting.ts'
import type { Exchange, Server, UpstreamAnswer, UpstreamEvents, UpstreamFault } from './upstream.ts'

/** A connection to a server. Once it ended it is never opened again. */
export interface ServerChannel {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly calls: ServerCalls
  /** The guard of its browser; undefined if it has none. */
  readonly browser?: BrowserCalls | undefined
  /** Sets the protocol and revision for all later messages. */
  speak(protocol: 'modern' | 'legacy', version: string): void
  /** The server is ready: from now on, messages that belong to no request are taken. */
  attend?(): void
  /** Records the answer of a modern server and returns the result to use. */
  learn?(method: string, params: JsonObject, result: JsonObject): JsonObject
  /** Sends a request to the server. The outcome settles the call. Throws only if nothing was sent. */
  post(call: ServerCall, params: JsonObject): void
  /** Sends a notification or an answer. Resolves when it is sent or has failed. Never rejects. */
  send(message: string): Promise<void>
  /** Gives up a call and tells the server, if the protocol has a message for it. */
  cancel(call: ServerCall): void
  /** Ends the connection at once, as if the server had ended. */
  abandon?(): void
  /** Ends the connection. Active requests fail. */
  close(): Promise<void>
}

export interface ChannelOptions {
  readonly name: string
  readonly log: Log
  readonly events: UpstreamEvents
  readonly onStart?: Server['onStart']
  readonly times: Times
  /** Largest message in bytes. */
  readonly maxMessage: number
  /** The connection ended without `close`. */
  readonly onEnd: () => void
}

/** Timeouts in milliseconds. */
export interface Times {
  /** For an answer. */
  readonly patience: number
  /** For a server to start and identify itself. */
  readonly hello: number
  /** For an answer to the modern greeting, before the legacy greeting is sent too. */
  readonly silence: number
  /** Before each stronger step to end a process. */
  readonly grace: number
  /** Before the second restart. Doubled each time. */
  readonly backOff: number
  readonly longestBackOff: number
  /** Running time after which a server counts as healthy. */
  readonly well: number
}

/** A request to send. */
export interface ServerRequest {
  readonly method: SentMethod
  /** The parameters for this id, which is also the progress token. */
  params(id: number): JsonObject
  readonly exchange: Exchange
  /** A time of `now()`. */
  readonly deadline: number
  readonly onChange?: OnChange
}

/** Sends a request once and waits for its answer. @throws UpstreamFault. */
export async function perform(channel: ServerChannel, asked: ServerRequest): Promise<UpstreamAnswer> {
  const { method, exchange, deadline, onChange } = asked
  const { signal } = exchange
  if (signal?.aborted === true) throw cancelled(channel.name)
  const call = channel.calls.open(method, exchange, onChange)
  const giveUp = (fault: UpstreamFault): void => {
    if (call.over) return
    call.fail(fault)
    channel.cancel(call)
  }
  const onAbort = (): void => giveUp(cancelled(channel.name))
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = startTimer(deadline, () => giveUp(silent(channel.name)))
  try {
    post(channel, call, asked)
    return await call.answer
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Sends a request. A request that cannot be serialized fails as not sent. */
export function post(
  channel: ServerChannel,
  call: ServerCall,
  { params }: Pick<ServerRequest, 'params'>,
): void {
  try {
    channel.post(call, params(call.id))
  } catch (cause) {
    call.fail(faultOf('UNREACHABLE', channel.name, 'the request cannot be written', { cause }))
  }
}
