// An HTTP channel to a server. Each message is a POST, answered with JSON or an event stream.

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

interface HttpOptions extends ChannelOptions {
  readonly address: ServerAddress & { readonly transport: 'http' }
}

const MAX_SENDING = 256

/** Opens a channel. Sends nothing yet. */
export function openHttp(options: HttpOptions): ServerChannel {
  const { name, log, events, times, address, maxMessage, onEnd } = options
  const requests = createRequests(address)
  const calls = createCalls()
  const aborts = new Map<ServerCall, AbortController>()
  let spoken: { readonly protocol: 'modern' | 'legacy'; readonly version: string } | undefined
  let session: string | undefined
  let hasEnded = false
  let sending = 0
  let closing: Promise<void> | undefined

  const paramHeaders = createParamHeaders((tool) =>
    log('warn', 'a tool is left out: its `x-mcp-header` marks are invalid', { server: name, tool }),
  )
  const incoming = createIncoming({
    name,
    calls,
    events,
    log,
    maxMessage,
    protocol: () => spoken?.protocol,
    send: (message) => void send(message),
    onTooMuch: () => giveUp(faultOf('GARBLED', name, 'it sends too much that violates the protocol')),
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
  const asideAbort = requests.track()
  const aside = createAside({
    reach: () => reach('GET', { accept: 'text/event-stream' }, asideAbort.signal),
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

  function abortAll(): void {
    requests.abortAll()
    aside.stop()
  }

  function sessionHeaders(): Record<string, string> {
    return {
      ...(spoken && { 'mcp-protocol-version': spoken.version }),
      ...(session !== undefined && { 'mcp-session-id': session }),
    }
  }

  /** Headers that describe a request in the modern protocol. The first question is a modern one. */
  function aboutHeaders({ method }: ServerCall, params: JsonObject): Record<string, string> {
    if (spoken ? spoken.protocol === 'legacy' : method !== 'server/discover') return {}
    const mirrored = method === 'tools/call' ? paramHeaders.headersFor(params) : {}
    return { ...requestHeaders(spoken?.version ?? MODERN, method, params), ...mirrored }
  }

  async function exchange(call: ServerCall, params: JsonObject, body: string): Promise<void> {
    const abort = requests.track()
    aborts.set(call, abort)
    try {
      const headers = { ...POSTED, ...aboutHeaders(call, params) }
      await answers.take(await reach('POST', headers, abort.signal, body), call)
    } catch (cause) {
      fail(call, cause)
    } finally {
      aborts.delete(call)
      requests.untrack(abort)
    }
  }

  /** Fails a request that broke on its way. Only one without a connection was surely not sent. */
  function fail(call: ServerCall, cause: unknown): void {
    const unreached = isUnreached(cause)
    call.fail(faultOf(unreached ? 'UNREACHABLE' : 'LOST', name, codeOf(cause), { cause }))
    if (unreached) giveUp(faultOf('LOST', name, 'it is no longer reachable'))
  }

  async function send(message: string): Promise<void> {
    // Limits memory: a server might ask faster than it takes answers.
    if (sending >= MAX_SENDING) {
      giveUp(faultOf('GARBLED', name, 'it asks faster than it takes answers'))
      return
    }
    sending++
    const abort = requests.track()
    try {
      const response = await reach('POST', POSTED, abort.signal, message)
      if (response.statusCode === 404 && session !== undefined) sessionLost()
      await answers.discard(response)
    } catch {
      // The notification is lost. A failed request is reported through its own call.
    } finally {
      sending--
      requests.untrack(abort)
    }
  }

  function sessionLost(): void {
    giveUp(faultOf('LOST', name, 'it has forgotten the session'))
  }

  function giveUp(fault: UpstreamFault): void {
    if (hasEnded) return
    hasEnded = true
    calls.failAll(fault)
    abortAll()
    onEnd()
  }

  async function close(): Promise<void> {
    const wasUp = !hasEnded
    hasEnded = true
    calls.failAll(faultOf('LOST', name, 'the connection was closed'))
    abortAll()
    if (wasUp && session !== undefined) await forgetSession()
    await requests.close()
  }

  /** Best effort: the server may not support it. */
  async function forgetSession(): Promise<void> {
    try {
      await answers.discard(await reach('DELETE', {}, AbortSignal.timeout(times.grace)))
    } catch {
      // The session expires.
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
    speak: (protocol, version) => (spoken = { protocol, version }),
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
      // In the modern protocol closing the request cancels it. In the legacy one a notification does.
      if (spoken?.protocol === 'legacy' && !hasEnded && call.method !== 'initialize') {
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
