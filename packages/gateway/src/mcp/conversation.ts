// A conversation with one client, over the modern or the legacy protocol: its active requests, its questions and its
// notifications. It does not depend on the transport.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { ClientQuestions } from './asking.ts'
import { decisionMeta, denialFault, denialResult } from './denial.ts'
import { describe, infoOf, negotiate } from './describe.ts'
import { interimFor, legacySender, metaOf, modernSender, OURS, resultFor, type Sender } from './protocol.ts'
import {
  CODE,
  errorOf,
  formatError,
  formatNotification,
  formatResult,
  RpcFault,
  textOf,
  type Message,
  type Notification,
  type Request,
  type RequestId,
  type Response,
  type RpcError,
  type Unreadable,
} from './message.ts'
import { NAMED } from './methods.ts'
import { answer, type Reach, type Turn } from './proxy.ts'
import { Reaches, type ReachOptions } from './reach.ts'
import { ParkedRounds } from './rounds.ts'
import { UpstreamFault } from './server/upstream.ts'
import { Notifications } from './notifications.ts'
import { safeMessage } from './safe-text.ts'

/** Receives the messages that belong to one request: first notifications and requests, last the answer. */
export interface Out {
  /** `last` marks the answer. `error` is its error, if it is one. */
  send(message: string, last: boolean, error?: RpcError): void
  /** There will be no answer: the client has cancelled. */
  end?(): void
}

export interface Conversation {
  /** Takes a message. Never rejects. A request ends with its answer. */
  take(message: Message | Unreadable, out: Out): Promise<void>
  /** The client no longer waits for this request. */
  abandon(id: RequestId): void
  /** Sets the receiver of messages that belong to no request. */
  attach(out: Out | undefined): void
  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void
  /** If the client is frozen: closes the servers that no allowed call uses, and ends streams that would stay open. */
  freeze(): void
  /** Closes the servers and aborts every active request. */
  close(): Promise<void>
}

interface ConversationOptions extends Omit<ReachOptions, 'isUsed' | 'onNotification'> {
  /** Called when it has been closed. */
  readonly onClosed: () => void
}

/** A request of the client that is being answered. */
interface ActiveRequest {
  readonly out: Out
  readonly abort: AbortController
  /** It stays open until it is cancelled. */
  readonly endless: boolean
  /** Lowest level of the log messages that a modern client wants with it. */
  logLevel: string | undefined
  /** The servers that it uses. */
  reached: Reach | undefined
}

const OVER = 'over'
const MAX_ACTIVE = 1024

/** A conversation with a client of either protocol. Starts no server before the client asks for something. */
export class ClientConversation implements Conversation {
  readonly #options: ConversationOptions
  readonly #active = new Map<RequestId, ActiveRequest>()
  readonly #rounds = new ParkedRounds()
  readonly #questions = new ClientQuestions()
  readonly #reaches: Reaches
  readonly #notifications: Notifications
  /** The client after `initialize`. */
  #legacy: Sender | undefined
  /** The running `initialize`. */
  #starting: Promise<string> | undefined
  #isClosed = false

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#reaches = new Reaches({
      ...options,
      isUsed: (reached) => this.#uses(reached),
      onNotification: (link, method, params) => {
        if (this.#isFrozen()) return
        this.#notifications.tell(link, method, params, (message) => this.#tellMessage(message))
      },
    })
    this.#notifications = new Notifications(this.#reaches)
  }

  take(message: Message | Unreadable, out: Out): Promise<void> {
    switch (message.kind) {
      case 'request':
        return this.#takeRequest(message, out)
      case 'response':
        this.#takeResponse(message)
        return Promise.resolve()
      case 'notification':
        this.#takeNotification(message)
        return Promise.resolve()
      case 'unreadable':
        return this.#takeUnreadable(message, out)
    }
  }

  abandon(id: RequestId): void {
    this.#active.get(id)?.abort.abort()
  }

  attach(out: Out | undefined): void {
    this.#notifications.attach(out)
  }

  toolsChanged(): void {
    this.#notifications.toolsChanged()
  }

  /** A frozen client keeps no server: calls that were allowed before finish, everything else ends now. */
  freeze(): void {
    if (!this.#isFrozen()) return
    this.#rounds.end()
    for (const { abort, endless } of this.#active.values()) if (endless) abort.abort()
    this.#reaches.closeIdle()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#questions.close()
    for (const { abort } of this.#active.values()) abort.abort()
    this.#rounds.end()
    await this.#reaches.close()
    this.#options.onClosed()
  }

  #isFrozen(): boolean {
    return this.#options.govern.isFrozen(this.#options.caller)
  }

  #uses(used: Reach): boolean {
    return this.#rounds.uses(used) || [...this.#active.values()].some(({ reached }) => reached === used)
  }

  /** An answer of a frozen client does not reach the server that asked. */
  #takeResponse(message: Response): void {
    const error = { code: CODE.internal, message: 'the client is frozen' }
    this.#questions.take(this.#isFrozen() ? { kind: 'response', id: message.id, error } : message)
  }

  #takeNotification({ method, params }: Notification): void {
    if (method === 'notifications/cancelled') {
      const { requestId } = params
      if (typeof requestId === 'string' || typeof requestId === 'number') this.abandon(requestId)
    } else if (method === 'notifications/roots/list_changed' && !this.#isFrozen()) {
      for (const { links } of this.#reaches.all())
        for (const { upstream } of links) upstream.notify(method, {})
    }
    // Other notifications are ignored. A call without an id is not a call.
  }

  /** An unreadable message may be a call, so its refusal is recorded. */
  async #takeUnreadable({ id, error, source }: Unreadable, out: Out): Promise<void> {
    const decided = await this.#options.govern.refuse(this.#options.caller, source)
    const told = { ...error, data: decisionMeta(decided) }
    out.send(formatError(id, told), true, told)
  }

  async #takeRequest(request: Request, out: Out): Promise<void> {
    const { id, method } = request
    if (this.#isClosed || this.#active.has(id) || this.#active.size >= MAX_ACTIVE) {
      const isKnown = this.#active.has(id)
      const why = isKnown
        ? 'a request with this id is still in progress'
        : 'too many requests are in progress'
      this.#refuse(out, id, new RpcFault(CODE.invalidRequest, why))
      return
    }
    const abort = new AbortController()
    const endless = method === 'subscriptions/listen'
    const active: ActiveRequest = { out, abort, endless, logLevel: undefined, reached: undefined }
    this.#active.set(id, active)
    try {
      const text = await this.#answer(request, active)
      if (text === undefined || abort.signal.aborted) out.end?.()
      else out.send(formatResult(id, text), true)
    } catch (fault) {
      if (abort.signal.aborted) out.end?.()
      else this.#refuse(out, id, fault)
    } finally {
      this.#active.delete(id)
      this.freeze()
      // Also aborts open questions of the request. The constant reason avoids creating an error for each request.
      abort.abort(OVER)
    }
  }

  #refuse(out: Out, id: RequestId, fault: unknown): void {
    const error = fault instanceof UpstreamFault ? downError(fault) : errorOf(fault)
    if (!(fault instanceof RpcFault || fault instanceof UpstreamFault)) {
      this.#options.log('error', 'an MCP request could not be answered', {
        fault: fault instanceof Error ? fault.name : typeof fault,
      })
    }
    out.send(formatError(id, error), true, error)
  }

  /** Returns the canonical text of the result, or undefined if there is none. */
  async #answer(request: Request, active: ActiveRequest): Promise<string | undefined> {
    const { govern, caller } = this.#options
    const { method, params } = request
    const meta = metaOf(params)
    const modern = modernSender(meta)
    // Checked before a server is started, because starting a server and listing its tools already reach it. Only `ping` needs
    // neither.
    const frozen =
      modern || method !== 'ping' ? await govern.refuseFrozen(caller, meta[OURS.session]) : undefined
    if (frozen) return frozenAnswer(frozen, method, modern ? 'modern' : 'legacy')
    return modern
      ? this.#answerModern(request, modern, meta, active)
      : this.#answerLegacy(request, meta, active)
  }

  async #answerModern(
    request: Request,
    sender: Sender,
    meta: JsonObject,
    active: ActiveRequest,
  ): Promise<string | undefined> {
    const { id, method, params } = request
    const reached = this.#reachFor(sender)
    active.reached = reached
    active.logLevel = sender.logLevel
    const turn = this.#turnOf(sender, meta, active, `modern ${id}`)
    if (method === 'subscriptions/listen')
      return this.#notifications.listen(request, active.out, turn, reached)
    if (method === 'server/discover') {
      return textOf(resultFor('modern', method, await describe(reached), infoOf(reached)))
    }
    const got = NAMED.has(method)
      ? await this.#rounds.answer(reached, request, turn)
      : { done: await answer(reached, method, params, turn) }
    const info = infoOf(reached)
    if ('done' in got) return textOf(resultFor('modern', method, got.done.result, info))
    return textOf(interimFor(got.questions, got.state, info))
  }

  async #answerLegacy({ method, params }: Request, meta: JsonObject, active: ActiveRequest): Promise<string> {
    if (method === 'ping') return '{}'
    if (method === 'initialize') {
      if (this.#legacy || this.#starting)
        throw new RpcFault(CODE.invalidRequest, '`initialize` was already sent')
      const { sender, requested } = legacySender(params)
      return (this.#starting = this.#begin(sender, requested))
    }
    // A client may send requests before `initialize` is answered.
    await this.#starting?.catch(() => undefined)
    if (!this.#legacy) {
      throw method === 'server/discover'
        ? new RpcFault(CODE.invalidParams, '`_meta` lacks the protocol version')
        : new RpcFault(CODE.invalidRequest, 'send `initialize` first')
    }
    const reached = this.#reachFor(this.#legacy)
    active.reached = reached
    const sender = { ...this.#legacy, logLevel: this.#notifications.logLevel }
    const turn = this.#turnOf(sender, meta, active, 'legacy')
    const own = await this.#notifications.legacyMethod(reached, method, params, turn)
    if (own) return textOf(own)
    const got = await answer(reached, method, params, turn)
    return got.text ?? textOf(resultFor('legacy', method, got.result, {}))
  }

  /** Initializes for a legacy client. After a failure the client may try again. */
  async #begin(sender: Sender, requested: string): Promise<string> {
    try {
      const described = await describe(this.#reachFor(sender))
      this.#legacy = sender
      return textOf(negotiate(described, requested))
    } finally {
      this.#starting = undefined
    }
  }

  /** The servers for a client with these capabilities. */
  #reachFor(sender: Sender): Reach {
    const known = this.#reaches.get(sender)
    if (known) return known
    const reached = this.#reaches.open(sender)
    this.#notifications.askServers()
    return reached
  }

  /** Forwards a log message that belongs to no request, if exactly one request wants log messages. */
  #tellMessage(params: JsonObject): void {
    const wanting = [...this.#active.values()].filter(({ logLevel }) => logLevel !== undefined)
    const [only] = wanting
    // With several, the owner is unknown, and they may belong to different clients.
    const message = only && wanting.length === 1 ? safeMessage(params, only.logLevel) : undefined
    if (message) only?.out.send(formatNotification('notifications/message', message), false)
  }

  #turnOf(sender: Sender, meta: JsonObject, { out, abort }: ActiveRequest, asker: string): Turn {
    const { signal } = abort
    const token = meta['progressToken']
    const known = typeof token === 'string' || typeof token === 'number'
    const tell = (method: string, params: JsonObject): void =>
      out.send(formatNotification(method, params), false)
    return {
      caller: this.#options.caller,
      sender,
      meta,
      signal,
      asker,
      logLevel: sender.logLevel,
      progress: known
        ? (params) => tell('notifications/progress', { ...params, progressToken: token })
        : undefined,
      message: (params) => tell('notifications/message', params),
      ask: (method, params) => {
        this.#notifications.asked(params['elicitationId'])
        return this.#questions.ask((message) => out.send(message, false), method, params, signal)
      },
    }
  }
}

/** Answers a frozen client: a tool call with a denial that the model can read, any other request with an error. @throws RpcFault */
function frozenAnswer(frozen: Decided, method: string, protocol: Sender['protocol']): string {
  if (method !== 'tools/call') throw denialFault(frozen)
  return textOf(resultFor(protocol, method, denialResult(frozen, false), {}))
}

/** The error for a server that did not answer. It names the server and the failure code. */
function downError({ code, message }: UpstreamFault): RpcError {
  return { code: CODE.internal, message, data: { upstream: code } }
}
