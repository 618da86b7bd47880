// Takes messages from a server. Each is read strictly and passed to the request it belongs to, or dropped and counted.

import { canonicalize, isObject, type JsonObject } from '@tollgate/evidence'
import type { Log } from '../../log.ts'
import { faultOf, type ServerCall, type ServerCalls } from './calls.ts'
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
import type { UpstreamAnswer, UpstreamEvents } from './upstream.ts'

interface Source {
  /** The request whose stream it came on. */
  readonly call?: ServerCall
  /** Whether answers may come from this source. */
  readonly answers: boolean
}

export interface Incoming {
  take(bytes: Uint8Array, source: Source): void
}

interface IncomingOptions {
  readonly name: string
  readonly calls: ServerCalls
  readonly events: UpstreamEvents
  readonly log: Log
  readonly maxMessage: number
  /** Undefined until it is known. */
  readonly protocol: () => 'modern' | 'legacy' | undefined
  /** Sends an answer to the server. */
  readonly send: (message: string) => void
  /** The server has sent too many unreadable messages. */
  readonly onTooMuch: () => void
}

/** The requests that a server may send to a client. */
export const ASKS: readonly string[] = ['sampling/createMessage', 'elicitation/create', 'roots/list']

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

export function createIncoming(options: IncomingOptions): Incoming {
  const { name, calls, events, log, maxMessage, protocol, send, onTooMuch } = options
  let garbage = 0
  let strays = 0
  let asks = 0

  function take(bytes: Uint8Array, source: Source): void {
    const message = parseMessage(bytes, maxMessage)
    if (message.kind === 'response') takeResponse(message, source)
    else if (message.kind === 'request') takeRequest(message, source)
    else if (message.kind === 'notification') takeNotification(message, source)
    else takeUnreadable(bytes, message, source)
  }

  function takeResponse(response: Response, source: Source): void {
    const call = answered(response.id, source)
    if (call) call.settle(answerOf(response))
    else drop('an answer without a request')
  }

  function answered(id: unknown, { call: own, answers }: Source): ServerCall | undefined {
    const call = answers ? calls.find(id) : undefined
    return own === undefined || own === call ? call : undefined
  }

  /** An unreadable answer fails its call. Other unreadable messages are only counted. */
  function takeUnreadable(bytes: Uint8Array, { error }: Unreadable, source: Source): void {
    const { id, isAnswer, isResult } = outlineOf(bytes)
    const call = isAnswer ? answered(id, source) : undefined
    if (call) call.fail(faultOf('GARBLED', name, error.message, isResult ? { bytes } : {}))
    else if (!isAnswer && id !== undefined) refuse(id, error)
    garbage++
    if (isPowerOfTen(garbage))
      log('warn', 'a server sends unreadable messages', { server: name, times: garbage })
    if (garbage === MAX_GARBAGE) onTooMuch()
  }

  function drop(what: string): void {
    strays++
    if (isPowerOfTen(strays))
      log('warn', 'a server sends messages that are dropped', { server: name, what, times: strays })
  }

  function refuse(id: RequestId, error: RpcError): void {
    send(formatError(id, error))
  }

  function takeRequest({ id, method, params }: Request, { call }: Source): void {
    if (method === 'ping') return send(formatResult(id, '{}'))
    if (!ASKS.includes(method) || protocol() === 'modern') {
      return refuse(id, { code: CODE.methodNotFound, message: 'the client has no such method' })
    }
    const target = call ?? likeliestAsked()
    if (target?.exchange.onAsk === undefined || asks >= MAX_ASKS) {
      return refuse(id, { code: CODE.internal, message: 'the client cannot be asked now; try again later' })
    }
    void ask(target, { id, method, params })
  }

  /**
   * On a shared connection a question does not name its request. The oldest request that can be asked is taken. If the requests
   * belong to different clients, none is asked.
   */
  function likeliestAsked(): ServerCall | undefined {
    const askable = calls.all().filter(({ exchange }) => exchange.onAsk !== undefined)
    const askers = new Set(askable.map(({ exchange }) => exchange.asker))
    return askers.size > 1 ? undefined : askable[0]
  }

  async function ask({ exchange }: ServerCall, { id, method, params }: Omit<Request, 'kind'>): Promise<void> {
    asks++
    try {
      send(formatResult(id, canonicalize(await exchange.onAsk?.(method, params))))
    } catch (fault) {
      refuse(id, errorOf(fault))
    } finally {
      asks--
    }
  }

  function takeNotification({ method, params }: Notification, source: Source): void {
    if (method === 'notifications/progress') takeProgress(params, source)
    else if (method === 'notifications/message') takeLogMessage(params, source)
    else if (CHANGES.includes(method)) takeChange(method, params, source)
    else if (method === ELICITED) takeElicited(params)
    else if (!QUIET.includes(method)) drop('an unknown notification')
  }

  function takeProgress(params: JsonObject, { call: own }: Source): void {
    const call = calls.find(params['progressToken'])
    const isKnown = call?.exchange.onProgress !== undefined && (own === undefined || own === call)
    if (!isKnown || typeof params['progress'] !== 'number') return drop('progress without a request')
    guard(() => call.exchange.onProgress?.(without(params, 'progressToken')))
  }

  function takeLogMessage(params: JsonObject, { call: own }: Source): void {
    const exchange = (own ?? soleListener())?.exchange
    guard(() => {
      if (exchange?.onMessage) exchange.onMessage(params)
      else events.onNotification('notifications/message', params)
    })
  }

  /** On a shared connection a modern log message belongs to some request. It is assigned only if there is exactly one. */
  function soleListener(): ServerCall | undefined {
    const listeners = calls.all().filter(({ exchange }) => exchange.onMessage !== undefined)
    return protocol() === 'modern' && listeners.length === 1 ? listeners[0] : undefined
  }

  function takeChange(method: string, params: JsonObject, { call: own }: Source): void {
    if (protocol() !== 'modern') return guard(() => events.onNotification(method, params))
    const meta = isObject(params['_meta']) ? params['_meta'] : {}
    const call = calls.find(meta[META.subscription])
    if (!call?.onChange || (own !== undefined && own !== call)) return drop('a change without a subscription')
    const { onChange } = call
    guard(() => onChange(method, { ...params, _meta: without(meta, META.subscription) }))
  }

  /** Reports that a question at a URL was completed. The modern protocol has no such notification. */
  function takeElicited({ elicitationId }: JsonObject): void {
    if (protocol() !== 'legacy' || typeof elicitationId !== 'string')
      return drop('the completion of an unknown question')
    guard(() => events.onNotification(ELICITED, { elicitationId }))
  }

  /** A failing handler must not stop the reader. */
  function guard(tell: () => void): void {
    try {
      tell()
    } catch (cause) {
      log('error', 'a message of a server could not be forwarded', { server: name, because: nameOf(cause) })
    }
  }

  return { take }
}

// Notifications of the protocol that need no handling.
const QUIET: readonly string[] = [
  'notifications/cancelled',
  'notifications/subscriptions/acknowledged',
  'notifications/tasks/status',
]

function answerOf(response: Response): UpstreamAnswer {
  return 'result' in response ? { ok: true, result: response.result } : { ok: false, error: response.error }
}

/** Logs the 1st, 10th, 100th time, and so on. */
function isPowerOfTen(count: number): boolean {
  return Number.isInteger(Math.log10(count))
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : 'unknown'
}
