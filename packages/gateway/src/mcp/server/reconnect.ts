// A connection to a server that outlives its channels: a server that ended is started or reached anew when it is next needed,
// but never more often than is good for anybody. Nothing that was sent on one channel is sent again on another.

import type { Log } from '../../log.ts'
import { faultOf, now, within } from './calls.ts'
import type { Channel, Times } from './channel.ts'
import { greet } from './greet.ts'
import type { Spoken } from './legacy.ts'
import {
  UpstreamFault,
  type ClientHello,
  type Upstream,
  type UpstreamEvents,
  type Wanted,
} from './upstream.ts'

/** What such a connection needs. */
export interface ReconnectOptions {
  readonly name: string
  readonly client: ClientHello
  readonly events: UpstreamEvents
  readonly log: Log
  readonly times: Times
  /** Opens a channel, which says when it ends by itself. */
  readonly open: (onEnd: () => void) => Channel
}

/** Connects with nothing yet. */
export function createReconnecting(options: ReconnectOptions): Upstream {
  const { name, client, events, log, times, open } = options
  const backOff = createBackOff(times)
  const closings = new Set<Promise<void>>()
  let current: Promise<Spoken> | undefined
  let channel: Channel | undefined
  let up: Spoken | undefined
  let wanted: Wanted | undefined
  let isClosed = false
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
    let own: Channel | undefined
    try {
      own = open(() => ended(own))
      channel = own
      const spoken = await greet(own, { client, events, times, probe, deadline: now() + times.hello })
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
    backOff.isUp()
    if (wanted) spoken.listen(wanted)
  }

  /** A channel has ended by itself. While it is being greeted, that is told by the greeting. */
  function ended(own: Channel | undefined): void {
    if (own !== channel) return
    channel = undefined
    if (!up) return
    drop(own)
    try {
      events.onDown()
    } catch {
      log('error', 'the end of a server could not be passed on', { server: name })
    }
  }

  function drop(own: Channel | undefined): void {
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

  return {
    hello: async () => (await ready()).hello,
    async request(method, params, exchange = {}) {
      const deadline = now() + times.patience
      const late = (): UpstreamFault => faultOf('UNREACHABLE', name, 'it is not there yet')
      const spoken = await within(ready(), { signal: exchange.signal, deadline, late, name })
      return spoken.request(method, params, exchange, deadline)
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

/** Whatever went wrong before a server was there: nothing of the request was sent. */
function unreachable(name: string, cause: unknown): UpstreamFault {
  const because =
    cause instanceof Error
      ? cause.message.replace(/^`[^`]*` (cannot be reached: )?/, 'it ').replace(/^it it /, 'it ')
      : undefined
  return faultOf('UNREACHABLE', name, because, { cause })
}

function isLost(cause: unknown): boolean {
  return cause instanceof UpstreamFault && cause.code === 'LOST'
}

interface BackOff {
  /** Milliseconds until the next start. */
  wait(): number
  isUp(): void
  isDown(): void
}

/** At once the first time, and then later each time, until it has been well for a while. */
function createBackOff({ backOff, longestBackOff, well }: Times): BackOff {
  let failures = 0
  let upSince: number | undefined
  let notBefore = 0
  return {
    wait: () => notBefore - now(),
    isUp: () => (upSince = now()),
    isDown() {
      if (upSince !== undefined && now() - upSince >= well) failures = 0
      upSince = undefined
      const pause = failures === 0 ? 0 : Math.min(backOff * 2 ** (failures - 1), longestBackOff)
      failures = Math.min(failures + 1, 30)
      notBefore = now() + pause
    },
  }
}
