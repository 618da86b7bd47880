// A way to a server that is open: messages go and come on it until it ends. Both transports look like this.

import type { JsonObject } from '@tollgate/evidence'
import type { Log } from '../../log.ts'
import {
  cancelled,
  faultOf,
  silent,
  startTimer,
  type ServerCall,
  type ServerCalls,
  type OnChange,
} from './calls.ts'
import type { SentMethod } from '../methods.ts'
import type { Exchange, UpstreamAnswer, UpstreamEvents, UpstreamFault } from './upstream.ts'

/** A way to a server, from its opening to its end; never opened again. */
export interface ServerChannel {
  readonly name: string
  readonly transport: 'stdio' | 'http'
  readonly calls: ServerCalls
  /** The server's era and revision are known: what is sent and taken follows them. */
  speak(era: 'modern' | 'legacy', version: string): void
  /** The server is ready: what it says that belongs to no request is taken from now on. */
  attend?(): void
  /** Takes note of what a modern server answered, and gives what is to be made of it. */
  learn?(method: string, params: JsonObject, result: JsonObject): JsonObject
  /** Hands a request to the server. Whatever comes of it settles the call. Throws only if nothing can have been sent. */
  post(call: ServerCall, params: JsonObject): void
  /** Hands over a notification or an answer; resolves when that is done or cannot be. Never rejects. */
  send(message: string): Promise<void>
  /** A call is given up: the server is told as far as the era has a way to. */
  cancel(call: ServerCall): void
  /** Ends it. What is under way is lost. */
  close(): Promise<void>
}

/** What a channel is opened with. */
export interface ChannelOptions {
  readonly name: string
  readonly log: Log
  readonly events: UpstreamEvents
  readonly times: Times
  /** Largest message, in bytes. */
  readonly maxMessage: number
  /** It has ended by itself. */
  readonly onEnd: () => void
}

/** How long is waited for what, in milliseconds. */
export interface Times {
  /** For an answer. */
  readonly patience: number
  /** For a server to be there and say who it is. */
  readonly hello: number
  /** For an answer to the first question of the modern era, before the legacy one is asked too. */
  readonly silence: number
  /** At the end of a process, before each harder way. */
  readonly grace: number
  /** Before the second restart; doubled each time. */
  readonly backOff: number
  readonly longestBackOff: number
  /** After which a server is held to be well. */
  readonly well: number
}

/** A request that is to be made. */
export interface ServerRequest {
  readonly method: SentMethod
  /** What is sent under this id, which is the progress token too. */
  params(id: number): JsonObject
  readonly exchange: Exchange
  /** A time of `now()`. */
  readonly deadline: number
  readonly onChange?: OnChange
}

/** Makes a request, once. @throws UpstreamFault. */
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

/** Hands a request over; one that cannot be written has not been sent. */
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
