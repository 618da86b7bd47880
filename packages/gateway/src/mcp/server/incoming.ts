// Takes messages from a server. Each is read strictly and passed to the request it belongs to, or dropped and counted.

import { canonicalize, isObject, type JsonObject } from '@tollgate/evidence'
import { faultOf, type ServerCall, type ServerCalls } from './calls.ts'
import type { ChannelOptions } from './channel.ts'
import { META, without } from '../protocol.ts'
import { outlineOf } from './outline.ts'
import {
  CODE,
  errorOf,
  formatError,
  formatResult,
  parseMessage,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  type RpcError,
  type Unreadable,
} from '../message.ts'
import { ASKS } from '../methods.ts'
import type { UpstreamAnswer, UpstreamEvents } from './upstream.ts'

interface Source {
  /** The request whose stream it came on. */
  readonly call?: ServerCall
  /** Whether answers may come from this source. */
  readonly answers: boolean
}

/** The channel that the messages come from. */
interface IncomingEnds {
  /** Undefined until it is known. */
  readonly protocol: () => 'modern' | 'legacy' | undefined
  /** Sends an answer to the server. */
  readonly send: (message: string) => void
  /** The server has sent too many unreadable messages. */
  readonly onTooMuch: () => void
}

const CHANGES: readonly string[] = [
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]
const ELICITED = 'notifications/elicitation/complete'
const MAX_GARBAGE = 100
// Each is a question that may reach a person.
const MAX_ASKS = 32

export class Incoming {
  readonly #options: Pick<ChannelOptions, 'name' | 'log' | 'events' | 'maxMessage'>
  readonly #calls: ServerCalls
  readonly #ends: IncomingEnds
  /** The numbers of unreadable messages and of dropped ones. */
  #garbage = 0
  #strays = 0
  /** The open questions. */
  readonly #asks = new Set<{ readonly id: RequestId; readonly abort: AbortController }>()

  constructor(
    options: Pick<ChannelOptions, 'name' | 'log' | 'events' | 'maxMessage'>,
    calls: ServerCalls,
    ends: IncomingEnds,
  ) {
    this.#options = options
    this.#calls = calls
    this.#ends = ends
  }

  take(bytes: Uint8Array, source: Source): void {
    const message = parseMessage(bytes, this.#options.maxMessage)
    if (message.kind === 'response') this.#takeResponse(message, source)
    else if (message.kind === 'request') this.#takeRequest(message, source)
    else if (message.kind === 'notification') this.#takeNotification(message, source)
    else this.#takeUnreadable(bytes, message, source)
  }

  #takeResponse(response: Response, source: Source): void {
    const call = this.#answered(response.id, source)
    if (call) call.settle(answerOf(response))
    else this.#drop('an answer without a request')
  }

  #answered(id: unknown, { call: own, answers }: Source): ServerCall | undefined {
    const call = answers ? this.#calls.find(id) : undefined
    return own === undefined || own === call ? call : undefined
  }

  /** An unreadable answer fails its call. Other unreadable messages are only counted. */
  #takeUnreadable(bytes: Uint8Array, { error }: Unreadable, source: Source): void {
    const { name, log } = this.#options
    const { id, isAnswer, isResult } = outlineOf(bytes)
    const call = isAnswer ? this.#answered(id, source) : undefined
    if (call) call.fail(faultOf('GARBLED', name, error.message, isResult ? { bytes } : {}))
    else if (!isAnswer && id !== undefined) this.#refuse(id, error)
    const times = ++this.#garbage
    if (isPowerOfTen(times)) log('warn', 'a server sends unreadable messages', { server: name, times })
    if (times === MAX_GARBAGE) this.#ends.onTooMuch()
  }

  #drop(what: string): void {
    const { name, log } = this.#options
    const times = ++this.#strays
    if (isPowerOfTen(times))
      log('warn', 'a server sends messages that are dropped', { server: name, what, times })
  }

  #refuse(id: RequestId, error: RpcError): void {
    this.#ends.send(formatError(id, error))
  }

  #takeRequest({ id, method, params }: Request, { call }: Source): void {
    if (method === 'ping') return this.#ends.send(formatResult(id, '{}'))
    if (!ASKS.has(method) || this.#ends.protocol() === 'modern') {
      return this.#refuse(id, { code: CODE.methodNotFound, message: 'the client has no such method' })
    }
    const ask = this.#askerFor(method, call)
    if (ask === undefined || this.#asks.size >= MAX_ASKS) {
      const message = 'the client cannot be asked now; try again later'
      return this.#refuse(id, { code: CODE.internal, message })
    }
    void this.#ask(id, (signal) => ask(method, params, signal))
  }

  /** Asks the client of a running call. File servers ask for folders without one. */
  #askerFor(method: string, call: ServerCall | undefined): UpstreamEvents['onAsk'] {
    const { onAsk } = (call ?? this.#likeliestAsked())?.exchange ?? {}
    return onAsk ?? (method === 'roots/list' ? this.#options.events.onAsk : undefined)
  }

  /**
   * On a shared connection a question does not name its request. The oldest request that can be asked is taken. If the requests
   * belong to different clients, none is asked.
   */
  #likeliestAsked(): ServerCall | undefined {
    const askable = this.#calls.all().filter(({ exchange }) => exchange.onAsk !== undefined)
    const askers = new Set(askable.map(({ exchange }) => exchange.asker))
    return askers.size > 1 ? undefined : askable[0]
  }

  async #ask(id: RequestId, ask: (signal: AbortSignal) => Promise<JsonObject>): Promise<void> {
    const question = { id, abort: new AbortController() }
    this.#asks.add(question)
    try {
      this.#ends.send(formatResult(id, canonicalize(await ask(question.abort.signal))))
    } catch (fault) {
      this.#refuse(id, errorOf(fault))
    } finally {
      this.#asks.delete(question)
    }
  }

  /** The server no longer waits for an answer. */
  #takeCancelled({ requestId }: JsonObject): void {
    for (const { id, abort } of this.#asks) if (id === requestId) abort.abort()
  }

  #takeNotification({ method, params }: Notification, source: Source): void {
    if (method === 'notifications/progress') this.#takeProgress(params, source)
    else if (method === 'notifications/message') this.#takeLogMessage(params, source)
    else if (CHANGES.includes(method)) this.#takeChange(method, params, source)
    else if (method === ELICITED) this.#takeElicited(params)
    else if (method === 'notifications/cancelled') this.#takeCancelled(params)
    else if (!QUIET.includes(method)) this.#drop('an unknown notification')
  }

  #takeProgress(params: JsonObject, { call: own }: Source): void {
    const call = this.#calls.find(params['progressToken'])
    const isKnown = call?.exchange.onProgress !== undefined && (own === undefined || own === call)
    if (!isKnown || typeof params['progress'] !== 'number') return this.#drop('progress without a request')
    this.#guard(() => call.exchange.onProgress?.(without(params, 'progressToken')))
  }

  #takeLogMessage(params: JsonObject, { call: own }: Source): void {
    const exchange = (own ?? this.#soleListener())?.exchange
    if (exchange?.onMessage) this.#guard(() => exchange.onMessage?.(params))
    else this.#tell('notifications/message', params)
  }

  /** On a shared connection a modern log message belongs to some request. It is assigned only if there is exactly one. */
  #soleListener(): ServerCall | undefined {
    const listeners = this.#calls.all().filter(({ exchange }) => exchange.onMessage !== undefined)
    return this.#ends.protocol() === 'modern' && listeners.length === 1 ? listeners[0] : undefined
  }

  #takeChange(method: string, params: JsonObject, { call: own }: Source): void {
    if (this.#ends.protocol() !== 'modern') return this.#tell(method, params)
    const meta = isObject(params['_meta']) ? params['_meta'] : {}
    const call = this.#calls.find(meta[META.subscription])
    if (!call?.onChange || (own !== undefined && own !== call))
      return this.#drop('a change without a subscription')
    const { onChange } = call
    this.#guard(() => onChange(method, { ...params, _meta: without(meta, META.subscription) }))
  }

  /** Reports that a question at a URL was completed. The modern protocol has no such notification. */
  #takeElicited({ elicitationId }: JsonObject): void {
    if (this.#ends.protocol() !== 'legacy' || typeof elicitationId !== 'string')
      return this.#drop('the completion of an unknown question')
    this.#tell(ELICITED, { elicitationId })
  }

  #tell(method: string, params: JsonObject): void {
    this.#guard(() => this.#options.events.onNotification(method, params))
  }

  /** A failing handler must not stop the reader. */
  #guard(tell: () => void): void {
    try {
      tell()
    } catch (cause) {
      const because = cause instanceof Error ? cause.name : 'unknown'
      const { name, log } = this.#options
      log('error', 'a message of a server could not be forwarded', { server: name, because })
    }
  }
}

// Notifications of the protocol that need no handling.
const QUIET: readonly string[] = ['notifications/subscriptions/acknowledged', 'notifications/tasks/status']

function answerOf(response: Response): UpstreamAnswer {
  return 'result' in response ? { ok: true, result: response.result } : { ok: false, error: response.error }
}

/** Logs the 1st, 10th, 100th time, and so on. */
function isPowerOfTen(count: number): boolean {
  return Number.isInteger(Math.log10(count))
}
