// A conversation with one client, over the modern or the legacy protocol: its active requests, its questions and its
// notifications. It does not depend on the transport.

import type { JsonObject } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import type { Log } from '../log.ts'
import { createAsks } from './asking.ts'
import { decisionMeta, denialFault, denialResult } from './denial.ts'
import { describe, infoOf, negotiate } from './describe.ts'
import { interimFor, legacySender, metaOf, modernSender, OURS, resultFor, type Sender } from './protocol.ts'
import type { McpCaller, Govern } from './govern.ts'
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
import { answer, type Turn } from './proxy.ts'
import { Reaches, type OpenReach, type Reached } from './reach.ts'
import { ParkedRounds } from './rounds.ts'
import { UpstreamFault } from './server/upstream.ts'
import { createNotifications, type Notifications } from './notifications.ts'
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

interface ConversationOptions {
  readonly caller: McpCaller
  readonly open: OpenReach
  readonly govern: Govern
  readonly log: Log
}

interface ActiveRequest {
  readonly abort: AbortController
  readonly out: Out
  readonly logLevel: string | undefined
  /** The servers that it uses. */
  readonly reached: Reached | undefined
  /** It stays open until it is cancelled. */
  readonly endless: boolean
}

const OVER = 'over'
const MAX_ACTIVE = 1024
const ROUNDS: readonly string[] = ['tools/call', 'prompts/get', 'resources/read']

/** Begins a conversation. Starts no server before the client asks for something. */
export function createConversation({ caller, open, govern, log }: ConversationOptions): Conversation {
  const active = new Map<RequestId, ActiveRequest>()
  const rounds = new ParkedRounds()
  const reaches = new Reaches(open, (reached) => rounds.uses(reached) || isActive(reached))
  const asks = createAsks()
  const notifications: Notifications = createNotifications(
    () => reaches.all(),
    () => reaches.hasLegacy(),
  )
  let legacy: Sender | undefined
  let starting: Promise<string> | undefined
  let closed = false

  /** The servers for a client with these capabilities. */
  function reachFor(sender: Sender): Reached {
    const known = reaches.get(sender)
    if (known) return known
    const reached = reaches.open(sender, {
      onNotification(link, method, params) {
        if (!govern.isFrozen(caller)) notifications.tell(link, method, params, messagesWanted)
      },
    })
    notifications.askServers()
    return reached
  }

  /** A frozen client keeps no server: calls that were allowed before finish, everything else ends now. */
  function freeze(): void {
    if (!govern.isFrozen(caller)) return
    rounds.end()
    for (const { abort, endless } of active.values()) if (endless) abort.abort()
    reaches.closeIdle()
  }

  function isActive(used: Reached): boolean {
    return [...active.values()].some(({ reached }) => reached === used)
  }

  /** Forwards a log message that belongs to no request, if exactly one request wants log messages. */
  function messagesWanted(params: JsonObject): void {
    const wanting = [...active.values()].filter(({ logLevel }) => logLevel !== undefined)
    const [only] = wanting
    // With several, the owner is unknown, and they may belong to different clients.
    const message = only && wanting.length === 1 ? safeMessage(params, only.logLevel) : undefined
    if (message) only?.out.send(formatNotification('notifications/message', message), false)
  }

  function take(message: Message | Unreadable, out: Out): Promise<void> {
    switch (message.kind) {
      case 'request':
        return takeRequest(message, out)
      case 'response':
        takeResponse(message)
        return Promise.resolve()
      case 'notification':
        takeNotification(message)
        return Promise.resolve()
      case 'unreadable':
        return takeUnreadable(message, out)
    }
  }

  /** An answer of a frozen client does not reach the server that asked. */
  function takeResponse(message: Response): void {
    if (!govern.isFrozen(caller)) asks.take(message)
    else
      asks.take({
        kind: 'response',
        id: message.id,
        error: { code: CODE.internal, message: 'the client is frozen' },
      })
  }

  /** An unreadable message may be a call, so its refusal is recorded. */
  async function takeUnreadable({ id, error, source }: Unreadable, out: Out): Promise<void> {
    const decided = await govern.refuse(caller, source)
    const told = { ...error, data: decisionMeta(decided) }
    out.send(formatError(id, told), true, told)
  }

  async function takeRequest(request: Request, out: Out): Promise<void> {
    const { id } = request
    if (closed || active.has(id) || active.size >= MAX_ACTIVE) {
      const why = active.has(id)
        ? 'a request with this id is still in progress'
        : 'too many requests are in progress'
      refuse(out, id, new RpcFault(CODE.invalidRequest, why))
      return
    }
    const abort = new AbortController()
    const endless = request.method === 'subscriptions/listen'
    active.set(id, { abort, out, endless, logLevel: undefined, reached: undefined })
    try {
      const text = await answerRequest(request, out, abort.signal)
      if (text === undefined || abort.signal.aborted) out.end?.()
      else out.send(formatResult(id, text), true)
    } catch (fault) {
      if (abort.signal.aborted) out.end?.()
      else refuse(out, id, fault)
    } finally {
      active.delete(id)
      freeze()
      // Also aborts open questions of the request. The constant reason avoids creating an error for each request.
      abort.abort(OVER)
    }
  }

  function refuse(out: Out, id: RequestId, fault: unknown): void {
    const error = fault instanceof UpstreamFault ? downError(fault) : errorOf(fault)
    if (!(fault instanceof RpcFault || fault instanceof UpstreamFault)) {
      log('error', 'an MCP request could not be answered', {
        fault: fault instanceof Error ? fault.name : typeof fault,
      })
    }
    out.send(formatError(id, error), true, error)
  }

  /** Returns the canonical text of the result, or undefined if there is none. */
  async function answerRequest(request: Request, out: Out, signal: AbortSignal): Promise<string | undefined> {
    const { id, method, params } = request
    const meta = metaOf(params)
    const modern = modernSender(meta)
    // Checked before a server is started, because starting a server and listing its tools already reach it. Only `ping` needs
    // neither.
    const frozen =
      modern || method !== 'ping' ? await govern.refuseFrozen(caller, meta[OURS.session]) : undefined
    if (frozen) return frozenAnswer(frozen, method, modern ? 'modern' : 'legacy')
    if (!modern) return answerLegacy(request, meta, out, signal)
    const reached = reachFor(modern)
    active.set(id, { ...activeRequest(id), logLevel: modern.logLevel, reached })
    const turn = turnOf(modern, meta, out, signal, `modern ${id}`)
    if (method === 'subscriptions/listen') return notifications.listen(request, out, turn, reached)
    if (method === 'server/discover') {
      return textOf(resultFor('modern', method, await describe(reached), infoOf(reached)))
    }
    const got = ROUNDS.includes(method)
      ? await rounds.answer(reached, request, turn)
      : { done: await answer(reached, method, params, turn) }
    const info = infoOf(reached)
    if ('done' in got) return textOf(resultFor('modern', method, got.done.result, info))
    return textOf(interimFor(got.questions, got.state, info))
  }

  function activeRequest(id: RequestId): ActiveRequest {
    const known = active.get(id)
    if (!known) throw new RpcFault(CODE.internal, 'the request is no longer in progress')
    return known
  }

  async function answerLegacy(
    { id, method, params }: Request,
    meta: JsonObject,
    out: Out,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (method === 'ping') return '{}'
    if (method === 'initialize') {
      if (legacy || starting) throw new RpcFault(CODE.invalidRequest, '`initialize` was already sent')
      const { sender, requested } = legacySender(params)
      return (starting = begin(sender, requested))
    }
    // A client may send requests before `initialize` is answered.
    await starting?.catch(() => undefined)
    if (!legacy) {
      throw method === 'server/discover'
        ? new RpcFault(CODE.invalidParams, '`_meta` lacks the protocol version')
        : new RpcFault(CODE.invalidRequest, 'send `initialize` first')
    }
    const reached = reachFor(legacy)
    active.set(id, { ...activeRequest(id), reached })
    const turn = turnOf({ ...legacy, logLevel: notifications.logLevel }, meta, out, signal, 'legacy')
    const own = await notifications.legacyMethod(reached, method, params, turn)
    if (own) return textOf(own)
    const got = await answer(reached, method, params, turn)
    return got.text ?? textOf(resultFor('legacy', method, got.result, {}))
  }

  /** Initializes for a legacy client. After a failure the client may try again. */
  async function begin(sender: Sender, requested: string): Promise<string> {
    try {
      const described = await describe(reachFor(sender))
      legacy = sender
      return textOf(negotiate(described, requested))
    } finally {
      starting = undefined
    }
  }

  function turnOf(sender: Sender, meta: JsonObject, out: Out, signal: AbortSignal, asker: string): Turn {
    const token = meta['progressToken']
    const known = typeof token === 'string' || typeof token === 'number'
    const tell = (method: string, params: JsonObject): void =>
      out.send(formatNotification(method, params), false)
    return {
      caller,
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
        notifications.asked(params['elicitationId'])
        return asks.ask((message) => out.send(message, false), method, params, signal)
      },
    }
  }

  function takeNotification({ method, params }: Notification): void {
    if (method === 'notifications/cancelled') {
      const { requestId } = params
      if (typeof requestId === 'string' || typeof requestId === 'number') active.get(requestId)?.abort.abort()
    } else if (method === 'notifications/roots/list_changed' && !govern.isFrozen(caller)) {
      for (const { links } of reaches.all()) for (const { upstream } of links) upstream.notify(method, {})
    }
    // Other notifications are ignored. A call without an id is not a call.
  }

  return {
    take,
    abandon: (id) => active.get(id)?.abort.abort(),
    attach: (out) => notifications.attach(out),
    toolsChanged: () => notifications.toolsChanged(),
    freeze,
    async close() {
      closed = true
      asks.close()
      for (const { abort } of active.values()) abort.abort()
      rounds.end()
      await reaches.close()
    },
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
