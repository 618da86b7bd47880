// A conversation with one client, over the modern or the legacy protocol: its active requests, its questions and its
// notifications. It does not depend on the transport.

import type { JsonObject } from '@tollgate/evidence'
import { ClientRequests, type ActiveRequest } from './client-requests.ts'
import { ClientQuestions } from './asking.ts'
import { decisionMeta, frozenAnswer } from './denial.ts'
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
  /** The connection of this request is lost, or of all requests. It then waits for no approval. */
  lose(id?: RequestId): void
  /** Sets the receiver of messages that belong to no request. */
  attach(out: Out | undefined): void
  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void
  /** Makes servers repeat questions that a person has approved since. Called about once a second. */
  look(): void
  /** If the client is frozen: closes the servers that no allowed call uses, and ends streams that would stay open. */
  freeze(): void
  /** Closes the servers and aborts every active request. */
  close(): Promise<void>
}

interface ConversationOptions extends Omit<ReachOptions, 'isUsed' | 'onNotification' | 'askNow'> {
  /** Called when it has been closed. */
  readonly onClosed: () => void
}

const OVER = 'over'

/** A conversation with a client of either protocol. Starts no server before the client asks for something. */
export class ClientConversation implements Conversation {
  readonly #options: ConversationOptions
  readonly #active = new ClientRequests()
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
        this.#notifications.tell(link, method, params, (message) => this.#active.tellMessage(message))
      },
      askNow: () => this.#questions.now(),
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

  lose(id?: RequestId): void {
    this.#active.lose(id)
  }

  attach(out: Out | undefined): void {
    this.#notifications.attach(out)
    this.#questions.attach(out)
    this.#reaches.ask(this.#questions.now())
  }

  toolsChanged(): void {
    this.#notifications.toolsChanged()
  }

  look(): void {
    if (!this.#isFrozen()) this.#reaches.askAgain()
  }

  /** A frozen client keeps no server: calls that were allowed before finish, everything else ends now. */
  freeze(): void {
    if (!this.#isFrozen()) return
    this.#rounds.end()
    this.#active.abort('endless')
    this.#reaches.closeIdle()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#questions.close()
    this.#active.abort('all')
    this.#rounds.end()
    await this.#reaches.close()
    this.#options.onClosed()
  }

  #isFrozen(): boolean {
    return this.#options.govern.isFrozen(this.#options.caller)
  }

  #uses(used: Reach): boolean {
    return this.#rounds.uses(used) || this.#active.uses(used)
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
    } else if (method === 'notifications/initialized') {
      if (this.#legacy) this.#questions.greeted()
      this.#reaches.ask(this.#questions.now())
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
    const active = this.#isClosed
      ? 'the conversation is closed'
      : this.#active.add(id, out, method === 'subscriptions/listen')
    if (typeof active === 'string') {
      this.#refuse(out, id, new RpcFault(CODE.invalidRequest, active))
      return
    }
    const { abort } = active
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

  #turnOf(sender: Sender, meta: JsonObject, active: ActiveRequest, asker: string): Turn {
    const { out, abort, lost } = active
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
      lost: lost.signal,
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

/** The error for a server that did not answer. It names the server and the failure code. */
function downError({ code, message }: UpstreamFault): RpcError {
  return { code: CODE.internal, message, data: { upstream: code } }
}
