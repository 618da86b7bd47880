// A connection to a server that outlives its channels: a server that ended is started or reached anew when it is next needed,
// but never more often than is good for anybody. Nothing that was sent on one channel is sent again on another.

import type { Log } from '../../log.ts'
import { createBackOff } from './back-off.ts'
import { faultOf, now, within } from './calls.ts'
import type { ServerChannel, Times } from './channel.ts'
import { greet } from './greet.ts'
import type { Spoken } from './legacy.ts'
import {
  UpstreamFault,
  type ClientHello,
  type ServerHello,
  type Upstream,
  type UpstreamEvents,
  type WantedChanges,
} from './upstream.ts'

/** What such a connection needs. */
interface ReconnectOptions {
  readonly name: string
  readonly client: ClientHello
  readonly events: UpstreamEvents
  readonly log: Log
  readonly times: Times
  /** Opens a channel, which says when it ends by itself. */
  readonly open: (onEnd: () => void) => ServerChannel
}

/** Connects with nothing yet. */
export function createReconnecting(options: ReconnectOptions): Upstream {
  const { name, client, events, log, times, open } = options
  const backOff = createBackOff(times)
  const closings = new Set<Promise<void>>()
  let current: Promise<Spoken> | undefined
  let channel: ServerChannel | undefined
  let up: Spoken | undefined
  let wanted: WantedChanges | undefined
  let isClosed = false
  let incarnation = 0
  let known: { readonly of: number; readonly hello: Promise<ServerHello> } | undefined
  // A server that ends at the first question of an era it does not know is not asked it twice in a row.
  let probe = true

  function ready(): Promise<Spoken> {
    if (isClosed) return Promise.reject(faultOf('UNREACHABLE', name, 'the connection was closed'))
    if (current) return current
    const wait = backOff.wait()
    if (wait > 0)
      return Promise.reject(
        faultOf('UNREACHABLE', name, 'it has ended too often to be started again at once'),
      )
    const starting = start()
    current = starting
    return starting
  }

  async function start(): Promise<Spoken> {
    let own: ServerChannel | undefined
    try {
      own = open(() => ended(own))
      channel = own
      const deadline = now() + times.hello
      const onUntold = (): void => untold(own)
      const spoken = await greet(own, { client, events, times, probe, deadline, onUntold })
      // What ends while it is being greeted makes the greeting fail; this is for what ends in the same moment.
      if (channel !== own) throw faultOf('UNREACHABLE', name, 'it has ended')
      begin(spoken)
      return spoken
    } catch (cause) {
      probe = !(probe && own?.transport === 'stdio' && isLost(cause))
      drop(own)
      throw unreachable(name, cause)
    }
  }

  function begin(spoken: Spoken): void {
    up = spoken
    incarnation++
    known = { of: incarnation, hello: Promise.resolve(spoken.hello) }
    backOff.isUp()
    if (wanted) spoken.listen(listsOf(wanted))
    if (wanted && wanted.uris.length > 0) void watchAgain(spoken, incarnation)
  }

  /** The server may be another one than the one that was allowed to know what is watched. */
  async function watchAgain(spoken: Spoken, of: number): Promise<void> {
    const approved = await events.isApproved().catch(() => false)
    if (approved && wanted && up === spoken && of === incarnation) spoken.listen(wanted)
  }

  /** A channel has ended by itself. While it is being greeted, that is told by the greeting. */
  function ended(own: ServerChannel | undefined): void {
    if (own !== channel) return
    channel = undefined
    if (!up) return
    drop(own)
    tellDown()
  }

  /** What serves the next request may be another server than the one that was listened to. */
  function untold(own: ServerChannel | undefined): void {
    if (!up || own !== channel) return
    incarnation++
    tellDown()
  }

  /** Who the server is that is there now. */
  async function helloNow(): Promise<ServerHello> {
    for (;;) {
      const spoken = await ready()
      const of = incarnation
      if (known?.of !== of) known = { of, hello: ask(spoken) }
      const asked = known
      const hello = await asked.hello.catch((cause: unknown) => {
        if (known === asked) known = undefined
        throw unreachable(name, cause)
      })
      if (of === incarnation) return hello
    }
  }

  /** Asks a server that may be another one by now who it is. One that is of another era is greeted anew. */
  async function ask(spoken: Spoken): Promise<ServerHello> {
    const own = channel
    const hello = await spoken.askAgain?.(now() + times.hello)
    if (hello) return hello
    if (up === spoken) ended(own)
    throw faultOf('UNREACHABLE', name, 'it is no longer the server that it was')
  }

  function tellDown(): void {
    try {
      events.onDown()
    } catch {
      log('error', 'the end of a server could not be passed on', { server: name })
    }
  }

  function drop(own: ServerChannel | undefined): void {
    up?.stop()
    up = undefined
    current = undefined
    channel = undefined
    backOff.isDown()
    if (own) track(own.close())
  }

  function track(closing: Promise<void>): void {
    closings.add(closing)
    void closing.finally(() => closings.delete(closing))
  }

  /** The server that is there, if it is still the one that is meant. At once: nothing may happen before it is used. */
  function still(only: number): Spoken {
    if (up && only === incarnation) return up
    throw faultOf('UNREACHABLE', name, 'it has ended or changed since')
  }

  function any(signal: AbortSignal | undefined, deadline: number): Promise<Spoken> {
    const late = (): UpstreamFault => faultOf('UNREACHABLE', name, 'it is not there yet')
    return within(ready(), { signal, deadline, late, name })
  }

  return {
    get incarnation() {
      return incarnation
    },
    hello: helloNow,
    async request(method, params, exchange = {}) {
      const { only, signal } = exchange
      const deadline = now() + times.patience
      const spoken = only === undefined ? await any(signal, deadline) : still(only)
      const holds = (): boolean => only === undefined || (up === spoken && only === incarnation)
      return spoken.request(method, params, exchange, { deadline, holds })
    },
    notify: (method, params) => up?.notify(method, params),
    listen(next) {
      wanted = next
      up?.listen(next)
    },
    async close() {
      isClosed = true
      up?.stop()
      up = undefined
      if (channel) track(channel.close())
      channel = undefined
      await Promise.all(closings)
    },
  }
}

function listsOf(wanted: WantedChanges): WantedChanges {
  return { ...wanted, uris: [] }
}

/** Whatever went wrong before a server was there: nothing of the request was sent. */
function unreachable(name: string, cause: unknown): UpstreamFault {
  const because = cause instanceof UpstreamFault ? cause.because : undefined
  return faultOf('UNREACHABLE', name, because, { cause })
}

function isLost(cause: unknown): boolean {
  return cause instanceof UpstreamFault && cause.code === 'LOST'
}
