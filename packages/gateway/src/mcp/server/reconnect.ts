// A connection to a server that outlives its channels. A server that ended is started or connected again on next use, with a
// delay. A sent request is never sent again on another channel.

import type { Log } from '../../log.ts'
import { createBackOff } from './back-off.ts'
import { faultOf, now, within } from './calls.ts'
import type { ServerChannel, Times } from './channel.ts'
import { greet } from './greet.ts'
import type { ServerSession } from './legacy.ts'
import {
  UpstreamFault,
  type ClientHello,
  type ServerHello,
  type Upstream,
  type UpstreamEvents,
  type WantedChanges,
} from './upstream.ts'

interface ReconnectOptions {
  readonly name: string
  readonly client: ClientHello
  readonly events: UpstreamEvents
  readonly log: Log
  readonly times: Times
  /** Opens a channel. It calls `onEnd` if it ends without `close`. */
  readonly open: (onEnd: () => void) => ServerChannel
}

export function createReconnecting(options: ReconnectOptions): Upstream {
  const { name, client, events, log, times, open } = options
  const backOff = createBackOff(times)
  const closings = new Set<Promise<void>>()
  let current: Promise<ServerSession> | undefined
  let channel: ServerChannel | undefined
  let up: ServerSession | undefined
  let wanted: WantedChanges | undefined
  let isClosed = false
  let incarnation = 0
  let known: { readonly of: number; readonly hello: Promise<ServerHello> } | undefined
  // A server that exits on the modern question is not asked it twice in a row.
  let probe = true

  function ready(): Promise<ServerSession> {
    if (isClosed) return Promise.reject(faultOf('UNREACHABLE', name, 'the connection was closed'))
    if (current) return current
    const wait = backOff.wait()
    if (wait > 0)
      return Promise.reject(
        faultOf('UNREACHABLE', name, 'it ended too often; wait before it is started again'),
      )
    const starting = start()
    current = starting
    return starting
  }

  async function start(): Promise<ServerSession> {
    let own: ServerChannel | undefined
    try {
      own = open(() => ended(own))
      channel = own
      const deadline = now() + times.hello
      const onChangesLost = (): void => changesLost(own)
      const spoken = await greet(own, { client, events, times, probe, deadline, onChangesLost })
      // A channel may end in the moment the greeting succeeds.
      if (channel !== own) throw faultOf('UNREACHABLE', name, 'it has ended')
      begin(spoken)
      return spoken
    } catch (cause) {
      probe = !(probe && own?.transport === 'stdio' && isLost(cause))
      drop(own)
      throw unreachable(name, cause)
    }
  }

  function begin(spoken: ServerSession): void {
    up = spoken
    incarnation++
    known = { of: incarnation, hello: Promise.resolve(spoken.hello) }
    backOff.isUp()
    if (wanted) spoken.listen(listsOf(wanted))
    if (wanted && wanted.uris.length > 0) void watchAgain(spoken, incarnation)
  }

  /** Another server may answer now. It learns the subscribed resources only if it is approved. */
  async function watchAgain(spoken: ServerSession, of: number): Promise<void> {
    const approved = await events.isApproved().catch(() => false)
    if (approved && wanted && up === spoken && of === incarnation) spoken.listen(wanted)
  }

  /** A channel ended. During the greeting, the greeting reports it. */
  function ended(own: ServerChannel | undefined): void {
    if (own !== channel) return
    channel = undefined
    if (!up) return
    drop(own)
    tellDown()
  }

  /** Another server may answer the next request, because changes are no longer reported. */
  function changesLost(own: ServerChannel | undefined): void {
    if (!up || own !== channel) return
    incarnation++
    tellDown()
  }

  /** The identity of the server that is connected now. */
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

  /** Asks again who the server is. A server that now speaks another protocol is greeted again. */
  async function ask(spoken: ServerSession): Promise<ServerHello> {
    const own = channel
    const hello = await spoken.askAgain?.(now() + times.hello)
    if (hello) return hello
    if (up === spoken) ended(own)
    throw faultOf('UNREACHABLE', name, 'it is no longer the same server')
  }

  function tellDown(): void {
    try {
      events.onDown()
    } catch {
      log('error', 'the end of a server could not be reported', { server: name })
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

  /** The connected server, if it is still the intended one. Synchronous, so that it cannot change before use. */
  function still(only: number): ServerSession {
    if (up && only === incarnation) return up
    throw faultOf('UNREACHABLE', name, 'it ended or changed during the decision')
  }

  function any(signal: AbortSignal | undefined, deadline: number): Promise<ServerSession> {
    const late = (): UpstreamFault => faultOf('UNREACHABLE', name, 'it is not ready yet')
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

/** Wraps a failure before the connection was ready: nothing of the request was sent. */
function unreachable(name: string, cause: unknown): UpstreamFault {
  const because = cause instanceof UpstreamFault ? cause.because : undefined
  return faultOf('UNREACHABLE', name, because, { cause })
}

function isLost(cause: unknown): boolean {
  return cause instanceof UpstreamFault && cause.code === 'LOST'
}
