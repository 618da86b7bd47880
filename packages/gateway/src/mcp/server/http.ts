// A channel to a server by HTTP: each message is a POST, and what comes of it is a JSON text or a stream of events.

import type { Dispatcher } from 'undici'
import type { JsonObject } from '@tollgate/evidence'
import { createCalls, faultOf, now, type ServerCall } from './calls.ts'
import { perform, type ServerChannel, type ChannelOptions } from './channel.ts'
import { MODERN } from '../protocol.ts'
import { createIncoming } from './incoming.ts'
import { formatNotification, formatRequest } from '../message.ts'
import { createHttpAnswers } from './http-answers.ts'
import { createAside } from './http-aside.ts'
import { createParamHeaders, requestHeaders } from './http-headers.ts'
import { codeOf, createRequests, isUnreached, type HttpRequest } from './http-requests.ts'
import type { ServerAddress, UpstreamFault } from './upstream.ts'

/** What a channel by HTTP is opened with. */
interface HttpOptions extends ChannelOptions {
  readonly address: ServerAddress & { readonly transport: 'http' }
}

const MAX_SENDING = 256

/** Opens a channel. Nothing is sent by that. */
export function openHttp(options: HttpOptions): ServerChannel {
  const { name, log, events, times, address, maxMessage, onEnd } = options
  const requests = createRequests(address)
  const calls = createCalls()
  const aborts = new Map<ServerCall, AbortController>()
  let spoken: { readonly era: 'modern' | 'legacy'; readonly version: string } | undefined
  let session: string | undefined
  let hasEnded = false
  let sending = 0
  let closing: Promise<void> | undefined

  const paramHeaders = createParamHeaders((tool) =>
    log('warn', 'a tool is left out: it wants headers that cannot be', { server: name, tool }),
  )
  const incoming = createIncoming({
    name,
    calls,
    events,
    log,
    maxMessage,
    era: () => spoken?.era,
    send: (message) => void send(message),
    onTooMuch: () => giveUp(faultOf('GARBLED', name, 'it says too much that is not the protocol')),
  })
  const answers = createHttpAnswers({
    name,
    incoming,
    maxMessage,
    hasSession: () => session !== undefined,
    onSession: (id) => (session = id),
    onSessionLost: sessionLost,
    onDoubt: () => void ping(),
  })
  const asideFlight = requests.takeOff()
  const aside = createAside({
    reach: () => reach('GET', { accept: 'text/event-stream' }, asideFlight.signal),
    isOver: () => hasEnded,
    pump: (response) => answers.pumpAside(response),
  })

  function reach(
    method: HttpRequest['method'],
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    body?: string,
  ): Promise<Dispatcher.ResponseData> {
    const all = { ...sessionHeaders(), ...headers }
    return requests.send({ method, headers: all, signal, ...(body !== undefined && { body }) })
  }

  function hangUp(): void {
    requests.hangUp()
    aside.stop()
  }

  function sessionHeaders(): Record<string, string> {
    return {
      ...(spoken && { 'mcp-protocol-version': spoken.version }),
      ...(session !== undefined && { 'mcp-session-id': session }),
    }
  }

  /** Headers that say what a request is about, in the era that has them. The first question is of that era. */
  function aboutHeaders({ method }: ServerCall, params: JsonObject): Record<string, string> {
    if (spoken ? spoken.era === 'legacy' : method !== 'server/discover') return {}
    const mirrored = method === 'tools/call' ? paramHeaders.headersFor(params) : {}
    return { ...requestHeaders(spoken?.version ?? MODERN, method, params), ...mirrored }
  }

  async function exchange(call: ServerCall, params: JsonObject, body: string): Promise<void> {
    const flight = requests.takeOff()
    aborts.set(call, flight)
    try {
      const headers = { ...POSTED, ...aboutHeaders(call, params) }
      await answers.take(await reach('POST', headers, flight.signal, body), call)
    } catch (cause) {
      fail(call, cause)
    } finally {
      aborts.delete(call)
      requests.land(flight)
    }
  }

  /** A request that failed on its way. Only one that never had a connection is known not to have been sent. */
  function fail(call: ServerCall, cause: unknown): void {
    const unreached = isUnreached(cause)
    call.fail(faultOf(unreached ? 'UNREACHABLE' : 'LOST', name, codeOf(cause), { cause }))
    if (unreached) giveUp(faultOf('LOST', name, 'it can no longer be reached'))
  }

  async function send(message: string): Promise<void> {
    // A server that asks faster than it takes answers would fill the memory.
    if (sending >= MAX_SENDING) {
      giveUp(faultOf('GARBLED', name, 'it asks more than it hears'))
      return
    }
    sending++
    const flight = requests.takeOff()
    try {
      const response = await reach('POST', POSTED, flight.signal, message)
      if (response.statusCode === 404 && session !== undefined) sessionLost()
      await answers.discard(response)
    } catch {
      // What cannot be told is lost; whoever waits for an answer hears of it there.
    } finally {
      sending--
      requests.land(flight)
    }
  }

  function sessionLost(): void {
    giveUp(faultOf('LOST', name, 'it has forgotten the session'))
  }

  function giveUp(fault: UpstreamFault): void {
    if (hasEnded) return
    hasEnded = true
    calls.failAll(fault)
    hangUp()
    onEnd()
  }

  async function close(): Promise<void> {
    const wasUp = !hasEnded
    hasEnded = true
    calls.failAll(faultOf('LOST', name, 'the connection was closed'))
    hangUp()
    if (wasUp && session !== undefined) await forgetSession()
    await requests.close()
  }

  /** A courtesy: the server may know of no such thing. */
  async function forgetSession(): Promise<void> {
    try {
      await answers.discard(await reach('DELETE', {}, AbortSignal.timeout(times.grace)))
    } catch {
      // It forgets by itself.
    }
  }

  async function ping(): Promise<void> {
    const asked = { method: 'ping' as const, params: () => ({}), exchange: {}, deadline: now() + times.grace }
    await perform(channel, asked).catch(() => undefined)
  }

  const channel: ServerChannel = {
    name,
    transport: 'http',
    calls,
    speak: (era, version) => (spoken = { era, version }),
    attend: () => void aside.open(),
    learn(method, params, result) {
      return method === 'tools/list' ? paramHeaders.learn(result, params['cursor'] === undefined) : result
    },
    post(call, params) {
      if (hasEnded) call.fail(faultOf('UNREACHABLE', name, 'the session has ended'))
      else void exchange(call, params, formatRequest(call.id, call.method, params))
    },
    send: (message) => (hasEnded ? Promise.resolve() : send(message)),
    cancel(call) {
      // In the modern era to hang up is to cancel; in the legacy one it means nothing, and is only done with the answer.
      if (spoken?.era === 'legacy' && !hasEnded && call.method !== 'initialize') {
        void send(formatNotification('notifications/cancelled', { requestId: call.id }))
      }
      aborts.get(call)?.abort()
    },
    close: () => (closing ??= close()),
  }
  return channel
}

const POSTED: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
