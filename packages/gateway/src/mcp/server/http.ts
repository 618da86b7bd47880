// An HTTP channel to a server. Each message is a POST, answered with JSON or an event stream.

import type { Dispatcher } from 'undici'
import type { JsonObject } from '@tollgate/evidence'
import { faultOf, ServerCalls, violation, type ServerCall } from './calls.ts'
import { perform, type ServerChannel, type ChannelOptions } from './channel.ts'
import { MODERN } from '../protocol.ts'
import { Incoming } from './incoming.ts'
import { CODE, formatNotification, formatRequest, type RpcError } from '../message.ts'
import { now } from '../waiting.ts'
import {
  bytesOf,
  discard,
  errorIn,
  isOurs,
  keepAside,
  LINGER,
  pumpEvents,
  typeOf,
  UNKNOWN,
} from './http-answers.ts'
import { ParamHeaders, requestHeaders } from './http-headers.ts'
import { codeOf, HttpRequests, isUnreached, type HttpRequest } from './http-requests.ts'
import type { ServerAddress, UpstreamFaultCode } from './upstream.ts'

interface HttpOptions extends ChannelOptions {
  readonly address: ServerAddress & { readonly transport: 'http' }
}

const POSTED: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/
const MAX_SENDING = 256

/** A channel to a server. Sends nothing before the first message. */
export class HttpServerChannel implements ServerChannel {
  readonly name: string
  readonly transport = 'http'
  readonly calls: ServerCalls = new ServerCalls()
  readonly #options: HttpOptions
  readonly #requests: HttpRequests
  readonly #incoming: Incoming
  readonly #paramHeaders: ParamHeaders
  readonly #aborts = new Map<ServerCall, AbortController>()
  #spoken: { readonly protocol: 'modern' | 'legacy'; readonly version: string } | undefined
  #session: string | undefined
  #hasEnded = false
  /** The number of notifications and answers that are being sent. */
  #sending = 0
  #closing: Promise<void> | undefined

  constructor(options: HttpOptions) {
    const { name, log, address } = options
    this.name = name
    this.#options = options
    this.#requests = new HttpRequests(address)
    this.#paramHeaders = new ParamHeaders((tool) =>
      log('warn', 'a tool is left out: its `x-mcp-header` marks are invalid', { server: name, tool }),
    )
    this.#incoming = new Incoming(options, this.calls, {
      protocol: () => this.#spoken?.protocol,
      send: (message) => void this.#send(message),
      onTooMuch: () => this.#giveUp('GARBLED', 'it sends too much that violates the protocol'),
    })
  }

  speak(protocol: 'modern' | 'legacy', version: string): void {
    this.#spoken = { protocol, version }
  }

  attend(): void {
    if (this.#hasEnded) return
    const aside = {
      reach: (signal: AbortSignal) => this.#reach('GET', { accept: SSE_TYPE }, signal),
      pump: (response: Dispatcher.ResponseData) => this.#pumpAside(response),
    }
    void this.#requests.run(({ signal }) => keepAside(aside, signal))
  }

  learn(method: string, params: JsonObject, result: JsonObject): JsonObject {
    return method === 'tools/list' ? this.#paramHeaders.learn(result, params['cursor'] === undefined) : result
  }

  post(call: ServerCall, params: JsonObject): void {
    if (this.#hasEnded) call.fail(faultOf('UNREACHABLE', this.name, 'the session has ended'))
    else void this.#exchange(call, params, formatRequest(call.id, call.method, params))
  }

  send(message: string): Promise<void> {
    return this.#hasEnded ? Promise.resolve() : this.#send(message)
  }

  cancel(call: ServerCall): void {
    // In the modern protocol closing the request cancels it. In the legacy one a notification does.
    if (this.#spoken?.protocol === 'legacy' && call.method !== 'initialize') {
      void this.send(formatNotification('notifications/cancelled', { requestId: call.id }))
    }
    this.#aborts.get(call)?.abort()
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const wasUp = !this.#hasEnded
    this.#hasEnded = true
    this.calls.failAll(faultOf('LOST', this.name, 'the connection was closed'))
    this.#requests.abortAll()
    if (wasUp && this.#session !== undefined) await this.#forgetSession()
    await this.#requests.close()
  }

  /** Best effort: the server may not support it. */
  async #forgetSession(): Promise<void> {
    try {
      await discard(await this.#reach('DELETE', {}, AbortSignal.timeout(this.#options.times.grace)))
    } catch {
      // The session expires.
    }
  }

  /** Ends the channel: nothing more is taken, and active requests fail. */
  #giveUp(code: UpstreamFaultCode, because: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.calls.failAll(faultOf(code, this.name, because))
    this.#requests.abortAll()
    this.#options.onEnd()
  }

  #reach(
    method: HttpRequest['method'],
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    body?: string,
  ): Promise<Dispatcher.ResponseData> {
    const own = {
      ...(this.#spoken && { 'mcp-protocol-version': this.#spoken.version }),
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
    }
    const request = { method, headers: { ...own, ...headers }, signal }
    return this.#requests.send({ ...request, ...(body !== undefined && { body }) })
  }

  /** Headers that describe a request in the modern protocol. The first question is a modern one. */
  #aboutHeaders({ method }: ServerCall, params: JsonObject): Record<string, string> {
    const spoken = this.#spoken
    if (spoken ? spoken.protocol === 'legacy' : method !== 'server/discover') return {}
    const mirrored = method === 'tools/call' ? this.#paramHeaders.headersFor(params) : {}
    return { ...requestHeaders(spoken?.version ?? MODERN, method, params), ...mirrored }
  }

  #exchange(call: ServerCall, params: JsonObject, body: string): Promise<void> {
    return this.#requests.run(async (abort) => {
      this.#aborts.set(call, abort)
      try {
        const headers = { ...POSTED, ...this.#aboutHeaders(call, params) }
        await this.#take(await this.#reach('POST', headers, abort.signal, body), call)
      } catch (cause) {
        this.#fail(call, cause)
      } finally {
        this.#aborts.delete(call)
      }
    })
  }

  /** Fails a request that broke on its way. Only one without a connection was surely not sent. */
  #fail(call: ServerCall, cause: unknown): void {
    const unreached = isUnreached(cause)
    call.fail(faultOf(unreached ? 'UNREACHABLE' : 'LOST', this.name, codeOf(cause), { cause }))
    if (unreached) this.#giveUp('LOST', 'it is no longer reachable')
  }

  async #send(message: string): Promise<void> {
    // Limits memory: a server might ask faster than it takes answers.
    if (this.#sending >= MAX_SENDING) {
      this.#giveUp('GARBLED', 'it asks faster than it takes answers')
      return
    }
    this.#sending++
    await this.#requests
      .run(async ({ signal }) => {
        const response = await this.#reach('POST', POSTED, signal, message)
        if (response.statusCode === 404 && this.#session !== undefined) this.#sessionLost()
        await discard(response)
      })
      // The notification is lost. A failed request is reported through its own call.
      .catch(() => undefined)
    this.#sending--
  }

  #sessionLost(): void {
    this.#giveUp('LOST', 'it has forgotten the session')
  }

  /** Reads an answer, which settles the call. Rejects if the connection fails first. */
  async #take(response: Dispatcher.ResponseData, call: ServerCall): Promise<void> {
    const { statusCode, body, headers } = response
    const type = typeOf(response)
    if (statusCode < 200 || statusCode > 299) return this.#takeRefusal(response, call)
    const id = headers['mcp-session-id']
    const opens = call.method === 'initialize' && typeof id === 'string' && SESSION_ID.test(id)
    if (opens) this.#session = id
    if (type === SSE_TYPE) return this.#pump(response, call)
    if (type !== JSON_TYPE) {
      await discard(response)
      call.fail(faultOf('GARBLED', this.name, 'its answer is neither JSON nor an event stream'))
    } else this.#takeJson(await bytesOf(body, this.#options.maxMessage), call)
  }

  #takeJson(bytes: Uint8Array | undefined, call: ServerCall): void {
    const { maxMessage } = this.#options
    if (!bytes)
      return call.fail(faultOf('GARBLED', this.name, `its answer has more than ${maxMessage} bytes`))
    this.#incoming.take(bytes, { call, answers: true })
    call.fail(violation(this.name, 'sent an answer to another request'))
  }

  async #takeRefusal(response: Dispatcher.ResponseData, call: ServerCall): Promise<void> {
    const { statusCode: status, body } = response
    const isJson = typeOf(response) === JSON_TYPE
    const bytes = isJson ? await bytesOf(body, this.#options.maxMessage) : undefined
    if (!bytes) await discard(response)
    const error = bytes && errorIn(bytes, call, status)
    const isUnknown = error?.code === CODE.methodNotFound
    const hasSession = this.#session !== undefined
    if (status === 404 && hasSession && !isUnknown) this.#lose(call)
    else if (status === 400 && hasSession && !isOurs(bytes, call)) this.#doubt(call, error)
    else if (error) call.settle({ ok: false, error })
    else if (call.method === 'server/discover' && status >= 400 && status < 500) call.settle(UNKNOWN)
    else call.fail(violation(this.name, `answered with status ${status}`))
  }

  #lose(call: ServerCall): void {
    this.#sessionLost()
    call.fail(faultOf('LOST', this.name, 'it has forgotten the session'))
  }

  /** The server may have forgotten the session. A harmless `ping` shows whether it refused the request or the session. */
  #doubt(call: ServerCall, error: RpcError | undefined): void {
    if (call.method === 'ping') return this.#lose(call)
    if (error) call.settle({ ok: false, error })
    else call.fail(violation(this.name, 'answered with status 400'))
    const deadline = now() + this.#options.times.grace
    const asked = { method: 'ping' as const, params: () => ({}), exchange: {}, deadline }
    perform(this, asked).catch(() => undefined)
  }

  /** Reads a stream to its end. A message in it, or its end, settles the call. */
  async #pump({ body }: Dispatcher.ResponseData, call: ServerCall): Promise<void> {
    const { maxMessage } = this.#options
    let timer: NodeJS.Timeout | undefined
    const onMessage = (data: Uint8Array | undefined): void => {
      if (data && !call.over) this.#incoming.take(data, { call, answers: true })
      if (call.over) timer ??= setTimeout(() => body.destroy(), LINGER)
    }
    const onOverflow = (): void =>
      call.fail(faultOf('GARBLED', this.name, `an event has more than ${maxMessage} bytes`))
    try {
      await pumpEvents(body, maxMessage, onMessage, onOverflow)
      call.fail(faultOf('LOST', this.name, 'its stream ended before it answered'))
    } finally {
      clearTimeout(timer)
    }
  }

  /** Takes the messages of a stream that belongs to no request. Resolves at its end with their number. */
  async #pumpAside({ body }: Dispatcher.ResponseData): Promise<number> {
    let count = 0
    await pumpEvents(body, this.#options.maxMessage, (data) => {
      count++
      if (data) this.#incoming.take(data, { answers: false })
    })
    return count
  }
}
