// A connection to a server that outlives its channels. A server that ended is started or connected again on next use, with a
// delay. A sent request is never sent again on another channel.

import type { JsonObject } from '@tollgate/evidence'
import type { BrowserCalls } from '../../browser/door/browser-calls.ts'
import type { SentMethod } from '../methods.ts'
import { now } from '../waiting.ts'
import { faultOf, within } from './calls.ts'
import type { ChannelOptions, ServerChannel, Times } from './channel.ts'
import { greet } from './greet.ts'
import type { ServerSession } from './legacy.ts'
import {
  UpstreamFault,
  type ClientHello,
  type Exchange,
  type ServerHello,
  type Upstream,
  type UpstreamAnswer,
  type WantedChanges,
} from './upstream.ts'

/** Counts failures, so that a failing server is not restarted in a loop. */
class RestartDelay {
  readonly #times: Times
  #failures = 0
  #upSince: number | undefined
  #notBefore = 0

  constructor(times: Times) {
    this.#times = times
  }

  get isOver(): boolean {
    return now() >= this.#notBefore
  }

  /** The server was started. */
  isUp(): void {
    this.#upSince = now()
  }

  /** The server ended, or could not be started. The first restart comes at once; the delay doubles until it has run well. */
  isDown(): void {
    const { backOff, longestBackOff, well } = this.#times
    if (this.#upSince !== undefined && now() - this.#upSince >= well) this.#failures = 0
    this.#upSince = undefined
    const pause = this.#failures === 0 ? 0 : Math.min(backOff * 2 ** (this.#failures - 1), longestBackOff)
    this.#failures = Math.min(this.#failures + 1, 30)
    this.#notBefore = now() + pause
  }
}

type ReconnectOptions = Pick<ChannelOptions, 'name' | 'events' | 'log' | 'times' | 'onStart'>

export class ReconnectingServer implements Upstream {
  incarnation = 0
  readonly #client: ClientHello
  readonly #options: ReconnectOptions
  readonly #open: (onEnd: () => void) => ServerChannel | Promise<ServerChannel>
  readonly #delay: RestartDelay
  readonly #closings = new Set<Promise<void>>()
  /** The newest start, until its channel is dropped. */
  #current: Promise<ServerSession> | undefined
  /** The newest channel. */
  #channel: ServerChannel | undefined
  /** The session on that channel, after the greeting. */
  #up: ServerSession | undefined
  #wanted: WantedChanges | undefined
  #isClosed = false
  /** The identity of the server, and the incarnation that it belongs to. */
  #known: { readonly of: number; readonly hello: Promise<ServerHello> } | undefined
  /** A server that exits on the modern question is not asked it twice in a row. */
  #probe = true

  /** \`open\` opens a channel. It calls \`onEnd\` if it ends without \`close\`. */
  constructor(
    client: ClientHello,
    options: ReconnectOptions,
    open: (onEnd: () => void) => ServerChannel | Promise<ServerChannel>,
  ) {
    this.#client = client
    this.#options = options
    this.#open = open
    this.#delay = new RestartDelay(options.times)
  }

  get browser(): BrowserCalls | undefined {
    return this.#up && this.#channel?.browser
  }

  /** The identity of the server that is connected now. */
  async hello(): Promise<ServerHello> {
    for (;;) {
      const spoken = await this.#ready()
      const of = this.incarnation
      if (this.#known?.of !== of) this.#known = { of, hello: this.#ask(spoken) }
      const asked = this.#known
      const hello = await asked.hello.catch((cause: unknown) => {
        if (this.#known === asked) this.#known = undefined
        throw this.#unreachable(cause)
      })
      if (of === this.incarnation) return hello
    }
  }

  async request(method: SentMethod, params: JsonObject, exchange: Exchange = {}): Promise<UpstreamAnswer> {
    const { only, signal } = exchange
    const deadline = now() + this.#options.times.patience
    const spoken = only === undefined ? await this.#any(signal, deadline) : this.#still(only)
    const holds = (): boolean => only === undefined || (this.#up === spoken && only === this.incarnation)
    return spoken.request(method, params, exchange, { deadline, holds })
  }

  notify(method: string, params: JsonObject): void {
    this.#up?.notify(method, params)
  }

  listen(wanted: WantedChanges): void {
    this.#wanted = wanted
    this.#up?.listen(wanted)
  }

  async abandon(browser: BrowserCalls): Promise<void> {
    if (this.#channel?.browser === browser) this.#channel.abandon?.()
    await Promise.all(this.#closings)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#up?.stop()
    this.#up = undefined
    void this.#track(this.#channel)
    this.#channel = undefined
    await Promise.all(this.#closings)
  }

  #ready(): Promise<ServerSession> {
    if (this.#isClosed) return Promise.reject(this.#down('the connection was closed'))
    if (this.#current) return this.#current
    if (!this.#delay.isOver)
      return Promise.reject(this.#down('it ended too often; wait before it is started again'))
    const starting = this.#start()
    this.#current = starting
    // A start that failed at once has dropped its channel before this line.
    starting.catch(() => {
      if (this.#current === starting) this.#current = undefined
    })
    return starting
  }

  async #start(): Promise<ServerSession> {
    let own: ServerChannel | undefined
    try {
      const opened = this.#open(() => this.#ended(own))
      own = opened instanceof Promise ? await opened : opened
      // A browser takes time to start.
      if (this.#isClosed) throw this.#down('the connection was closed')
      this.#channel = own
      const spoken = await greet(own, {
        ...this.#options,
        client: this.#client,
        probe: this.#probe,
        deadline: now() + this.#options.times.hello,
        onChangesLost: () => this.#changesLost(own),
      })
      // A channel may end in the moment the greeting succeeds.
      if (this.#channel !== own) throw this.#down('it has ended')
      this.#begin(spoken)
      return spoken
    } catch (cause) {
      this.#probe = !(this.#probe && own?.transport === 'stdio' && isLost(cause))
      const closing = this.#drop(own)
      const fault = this.#unreachable(cause)
      if (!this.#isClosed) void this.#noteFailure(closing, fault)
      throw fault
    }
  }

  /** Waits until the process has ended, because its last lines arrive until then. */
  async #noteFailure(closing: Promise<void> | undefined, fault: UpstreamFault): Promise<void> {
    await closing?.catch(() => undefined)
    this.#options.onStart?.(fault)
  }

  #begin(spoken: ServerSession): void {
    this.#up = spoken
    this.incarnation++
    this.#known = { of: this.incarnation, hello: Promise.resolve(spoken.hello) }
    this.#delay.isUp()
    this.#options.onStart?.(undefined)
    const wanted = this.#wanted
    if (!wanted) return
    spoken.listen({ ...wanted, uris: [] })
    if (wanted.uris.length > 0) void this.#watchAgain(spoken, this.incarnation)
  }

  /** Another server may answer now. It learns the subscribed resources only if it is approved. */
  async #watchAgain(spoken: ServerSession, of: number): Promise<void> {
    const approved = await this.#options.events.isApproved().catch(() => false)
    if (approved && this.#wanted && this.#up === spoken && of === this.incarnation)
      spoken.listen(this.#wanted)
  }

  /** A channel ended. During the greeting, the greeting reports it. */
  #ended(own: ServerChannel | undefined): void {
    if (own !== this.#channel) return
    this.#channel = undefined
    if (!this.#up) return
    void this.#drop(own)
    this.#tellDown()
  }

  /** Another server may answer the next request, because changes are no longer reported. */
  #changesLost(own: ServerChannel | undefined): void {
    if (!this.#up || own !== this.#channel) return
    this.incarnation++
    this.#tellDown()
  }

  /** Asks again who the server is. A server that now speaks another protocol is greeted again. */
  async #ask(spoken: ServerSession): Promise<ServerHello> {
    const own = this.#channel
    const hello = await spoken.askAgain?.(now() + this.#options.times.hello)
    if (hello) return hello
    if (this.#up === spoken) this.#ended(own)
    throw this.#down('it is no longer the same server')
  }

  #tellDown(): void {
    const { name, events, log } = this.#options
    try {
      events.onDown()
    } catch {
      log('error', 'the end of a server could not be reported', { server: name })
    }
  }

  #drop(own: ServerChannel | undefined): Promise<void> | undefined {
    this.#up?.stop()
    this.#up = undefined
    this.#current = undefined
    this.#channel = undefined
    this.#delay.isDown()
    return this.#track(own)
  }

  #track(own: ServerChannel | undefined): Promise<void> | undefined {
    const closing = own?.close()
    if (!closing) return undefined
    this.#closings.add(closing)
    void closing.finally(() => this.#closings.delete(closing))
    return closing
  }

  /** The connected server, if it is still the intended one. Synchronous, so that it cannot change before use. */
  #still(only: number): ServerSession {
    if (this.#up && only === this.incarnation) return this.#up
    throw this.#down('it ended or changed during the decision')
  }

  #any(signal: AbortSignal | undefined, deadline: number): Promise<ServerSession> {
    const late = (): UpstreamFault => this.#down('it is not ready yet')
    return within(this.#ready(), { signal, deadline, late, name: this.#options.name })
  }

  #down(because: string): UpstreamFault {
    return faultOf('UNREACHABLE', this.#options.name, because)
  }

  /** Wraps a failure before the connection was ready: nothing of the request was sent. */
  #unreachable(cause: unknown): UpstreamFault {
    const because = cause instanceof UpstreamFault ? cause.because : undefined
    return faultOf('UNREACHABLE', this.#options.name, because, { cause })
  }
}

function isLost(cause: unknown): boolean {
  return cause instanceof UpstreamFault && cause.code === 'LOST'
}
