// The open requests and streams at the HTTP door. Each ends when its token is revoked. Their number per principal is limited,
// so that one principal cannot use all connections.

import { performance } from 'node:perf_hooks'
import { clearInterval, setInterval } from 'node:timers'
import type { DoorRequest, Reply } from '../../exchange.ts'
import { bearerIn, callerBy, type KnownCaller, type Tokens } from '../../tokens.ts'
import type { Out } from '../conversation.ts'
import type { Scope } from '../mcp.ts'
import { errorOf, formatError, type Request, type RpcError, type Unreadable } from '../message.ts'
import { HttpChannel, type Ending } from './http-channel.ts'
import type { HttpLimits } from './http-limits.ts'
import { endedReply, errorReply, messageReply, streamReply, TOO_MANY } from './http-reply.ts'
import type { KeptConversation } from './http-sessions.ts'

/** The caller that the token identifies; undefined if there is none. */
export function callerOf(asked: DoorRequest, tokens: Pick<Tokens, 'identify'>): KnownCaller | undefined {
  return callerBy(tokens, bearerIn(asked.header('authorization')) ?? '')
}

/** A request at the door: its caller, and the servers that it addresses. */
export interface CallerRequest {
  readonly asked: DoorRequest
  readonly caller: KnownCaller
  readonly scope: Scope
}

interface OpenRequest {
  readonly channel: HttpChannel
  readonly caller: KnownCaller
  readonly endless: boolean
}

/** How a door passes a message to a conversation. */
interface Passing {
  /** Called once when the exchange has ended. */
  readonly over: (why: Ending) => void
  /** Called if there is no channel. */
  readonly refused?: () => Promise<void>
  /** The output for the conversation; the channel's if not given. */
  readonly outOf?: (out: Out) => Out
  /** The status of a whole answer; 200 if not given. */
  readonly statusOf?: (error: RpcError | undefined) => number
  /** Headers of a reply without an error. */
  readonly headers?: Reply['headers']
}

export class OpenChannels {
  readonly #limits: HttpLimits
  readonly #look: () => void
  readonly #entries = new Set<OpenRequest>()
  /** The number of entries of each owner. */
  readonly #counts = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #isStopping = false
  #ticks = 0

  /** `look` is called about once a second. */
  constructor(limits: HttpLimits, look: () => void) {
    this.#limits = limits
    this.#look = look
    this.#timer = setInterval(() => this.#tick(), limits.look).unref()
  }

  #tick(): void {
    this.#ticks++
    const beats = this.#ticks % Math.max(1, Math.round(this.#limits.heartbeat / this.#limits.look)) === 0
    for (const { channel, caller } of [...this.#entries]) {
      if (!caller.known()) channel.end('ended')
      else if (beats) channel.beat()
    }
    this.#look()
  }

  #count(owner: string, change: number): void {
    const left = (this.#counts.get(owner) ?? 0) + change
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }

  /**
   * Opens a channel for a conversation; undefined if the caller has too many, or the gateway stops. An endless one stays open
   * until it is closed. `over` is called once when it ends.
   */
  open(
    { asked, caller }: CallerRequest,
    kept: KeptConversation,
    endless: boolean,
    over: (why: Ending) => void,
  ): HttpChannel | undefined {
    if (this.#isStopping || (this.#counts.get(caller.owner) ?? 0) >= this.#limits.open) return undefined
    let forget = (): void => undefined
    const channel = new HttpChannel(this.#limits.unread, (why) => {
      this.#entries.delete(entry)
      this.#count(caller.owner, -1)
      forget()
      kept.busy--
      kept.since = performance.now()
      over(why)
    })
    const entry = { channel, caller, endless }
    this.#entries.add(entry)
    this.#count(caller.owner, 1)
    kept.busy++
    forget = asked.onGone(() => channel.end('gone'))
    return channel
  }

  /** Passes a message to its conversation. Replies as soon as it is known whether the answer is one message or a stream. */
  async pass(
    incoming: CallerRequest,
    kept: KeptConversation,
    message: Request | Unreadable,
    { over, refused, outOf, statusOf, headers = {} }: Passing,
  ): Promise<Reply> {
    const isRequest = message.kind === 'request'
    const id = isRequest ? (message.clientId ?? message.id) : message.id
    const endless = isRequest && message.method === 'subscriptions/listen'
    const channel = this.open(incoming, kept, endless, over)
    if (!channel) {
      await refused?.()
      return errorReply(429, TOO_MANY, id)
    }
    const out = outOf?.(channel.out) ?? channel.out
    kept.conversation.take(message, out).catch(() => {
      const error = errorOf(undefined)
      out.send(formatError(id, error), true, error)
    })
    const opening = await channel.opening(this.#limits.patience)
    if (opening.kind === 'stream') return streamReply(channel.pieces(), headers)
    if (opening.kind === 'ended') return endedReply(incoming.caller, id)
    const { text, error } = opening
    return messageReply(statusOf?.(error) ?? 200, text, error ? {} : headers)
  }

  /** Ends the endless streams. */
  end(): void {
    this.#endAll(({ endless }) => endless)
  }

  /** Ends everything. */
  close(): void {
    clearInterval(this.#timer)
    this.#endAll(() => true)
  }

  #endAll(which: (entry: OpenRequest) => boolean): void {
    this.#isStopping = true
    for (const entry of [...this.#entries].filter(which)) entry.channel.end('ended')
  }
}
