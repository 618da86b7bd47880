// The open requests and streams at the HTTP door. Each ends when its token is revoked. Their number per principal is limited,
// so that one principal cannot use all connections.

import { clearInterval, setInterval } from 'node:timers'
import type { DoorRequest } from '../../exchange.ts'
import { callerBy, type KnownCaller, type Tokens } from '../../tokens.ts'
import { createChannel, type HttpChannel, type Ending } from './http-channel.ts'
import type { HttpLimits } from './http-limits.ts'

interface OpenedRequest {
  /** It stays open until it is closed. */
  readonly endless: boolean
  /** Called once when it ends. */
  over(why: Ending): void
}

export interface OpenChannels {
  /** Opens a channel; undefined if the caller has too many, or the gateway stops. */
  open(asked: DoorRequest, caller: KnownCaller, opened: OpenedRequest): HttpChannel | undefined
  /** Ends the endless streams. */
  end(): void
  /** Ends everything. */
  close(): void
}

const BEARER = /^bearer +([\w-]{1,128})$/i

/** The caller that the token identifies; undefined if there is none. */
export function callerOf(asked: DoorRequest, tokens: Pick<Tokens, 'identify'>): KnownCaller | undefined {
  return callerBy(tokens, BEARER.exec(asked.header('authorization') ?? '')?.[1] ?? '')
}

interface OpenRequest {
  readonly channel: HttpChannel
  readonly caller: KnownCaller
  readonly endless: boolean
}

/** `look` is called about once a second. */
export function createOpen(limits: HttpLimits, look: () => void): OpenChannels {
  const entries = new Set<OpenRequest>()
  const counts = new Map<string, number>()
  let stopping = false
  let ticks = 0

  function tick(): void {
    ticks++
    const beats = ticks % Math.max(1, Math.round(limits.heartbeat / limits.look)) === 0
    for (const { channel, caller } of [...entries]) {
      if (!caller.known()) channel.end('ended')
      else if (beats) channel.beat()
    }
    look()
  }

  const timer = setInterval(tick, limits.look)
  timer.unref()

  function count(owner: string, change: number): void {
    const left = (counts.get(owner) ?? 0) + change
    if (left > 0) counts.set(owner, left)
    else counts.delete(owner)
  }

  function open(asked: DoorRequest, caller: KnownCaller, opened: OpenedRequest): HttpChannel | undefined {
    if (stopping || (counts.get(caller.owner) ?? 0) >= limits.open) return undefined
    const channel = createChannel(limits.unread, (why) => {
      entries.delete(entry)
      count(caller.owner, -1)
      forget()
      opened.over(why)
    })
    const entry = { channel, caller, endless: opened.endless }
    entries.add(entry)
    count(caller.owner, 1)
    let forget = (): void => undefined
    forget = asked.onGone(() => channel.end('gone'))
    return channel
  }

  function endAll(which: (entry: OpenRequest) => boolean): void {
    stopping = true
    for (const entry of [...entries].filter(which)) entry.channel.end('ended')
  }

  return {
    open,
    end: () => endAll(({ endless }) => endless),
    close() {
      clearInterval(timer)
      endAll(() => true)
    },
  }
}
