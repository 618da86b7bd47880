// A conversation with one client, in either era: which requests are under way, what belongs to them, what the client is asked
// and told. It knows nothing of how messages travel.

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
import { toldMessage } from './told.ts'

/** Where what belongs to one request goes: notifications and requests first, the answer last. */
export interface Out {
  /** `last` is the answer itself; `error` is what it holds, if it is one. */
  send(message: string, last: boolean, error?: RpcError): void
  /** There will be no answer: the client has cancelled. */
  end?(): void
}

/** A conversation with one client. */
export interface Conversation {
  /** Takes a message. Never rejects; a request ends with its answer. */
  take(message: Message | Unreadable, out: Out): Promise<void>
  /** The client no longer waits for this request. */
  abandon(id: RequestId): void
  /** Where messages go that belong to no request; undefined: nowhere. */
  attach(out: Out | undefined): void
  /** Tells the client that other tools can be called than before. */
  toolsChanged(): void
  /** If its client is frozen, lets go of the servers that no allowed call uses, and ends streams that have no end of their own. */
  freeze(): void
  /** Ends its servers, and everything that is under way. */
  close(): Promise<void>
}

/** What a conversation is made of. */
interface ConversationOptions {
  readonly caller: McpCaller
  readonly open: OpenReach
  readonly govern: Govern
  readonly log: Log
}

interface Underway {
  readonly abort: AbortController
  readonly out: Out
  readonly logLevel: string | undefined
  /** The servers that it uses. */
  readonly reached: Reached | undefined
  /** It has no end of its own. */
  readonly endless: boolean
}

const OVER = 'over'
const MAX_UNDERWAY = 1024
const ROUNDS: readonly string[] = ['tools/call', 'prompts/get', 'resources/read']

/** Begins a conversation. Nothing is started before the client asks for something. */
export function createConversation({ caller, open, govern, log }: ConversationOptions): Conversation {
  const underway = new Map<RequestId, Underway>()
  const rounds = new ParkedRounds()
  const reaches = new Reaches(open, (reached) => rounds.uses(reached) || isUnderway(reached))
  const asks = createAsks()
  const notifications: Notifications = createNotifications(
    () => reaches.all(),
    () => reaches.hasLegacy(),
  )
  let legacy: Sender | undefined
  let starting: Promise<string> | undefined
  let closed = false

  /** The servers, as a client that can do this reaches them. */
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

  /** A frozen client keeps no server: what was allowed before ends by itself, everything else now. */
  function freeze(): void {
    if (!govern.isFrozen(caller)) return
    rounds.end()
    for (const { abort, endless } of underway.values()) if (endless) abort.abort()
    reaches.letIdleGo()
  }

  function isUnderway(used: Reached): boolean {
    return [...underway.values()].some(({ reached }) => reached === used)
  }

  /** Log messages that belong to no request go to those that want some. */
  function messagesWanted(said: JsonObject): void {
    const wanting = [...underway.values()].filter(({ logLevel }) => logLevel !== undefined)
    const [only] = wanting
    // Of several nobody knows whose it is, and they may be of different clients.
    const told = only && wanting.length === 1 ? toldMessage(said, only.logLevel) : undefined
    if (told) only?.out.send(formatNotification('notifications/message', told), false)
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

  /** What a frozen client answers does not reach the server that asked. */
  function takeResponse(message: Response): void {
    if (!govern.isFrozen(caller)) asks.take(message)
    else
      asks.take({
        kind: 'response',
        id: message.id,
        error: { code: CODE.internal, message: 'the client is frozen' },
      })
  }

  /** What cannot be read was perhaps a call: it is on the record that it was refused. */
  async function takeUnreadable({ id, error, source }: Unreadable, out: Out): Promise<void> {
    const decided = await govern.refuse(caller, source)
    const told = { ...error, data: decisionMeta(decided) }
    out.send(formatError(id, told), true, told)
  }

  async function takeRequest(request: Request, out: Out): Promise<void> {
    const { id } = request
    if (closed || underway.has(id) || underway.size >= MAX_UNDERWAY) {
      const why = underway.has(id) ? 'a request with this id is under way' : 'too many requests are under way'
      refuse(out, id, new RpcFault(CODE.invalidRequest, why))
      return
    }
    const abort = new AbortController()
    const endless = request.method === 'subscriptions/listen'
    underway.set(id, { abort, out, endless, logLevel: undefined, reached: undefined })
    try {
      const text = await answerRequest(request, out, abort.signal)
      if (text === undefined || abort.signal.aborted) out.end?.()
      else out.send(formatResult(id, text), true)
    } catch (fault) {
      if (abort.signal.aborted) out.end?.()
      else refuse(out, id, fault)
    } finally {
      underway.delete(id)
      freeze()
      // Also what was still being asked on its behalf is over. A reason of ours: the usual one would be made anew each time.
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

  /** The canonical text of the result; undefined if there is none to come. */
  async function answerRequest(request: Request, out: Out, signal: AbortSignal): Promise<string | undefined> {
    const { id, method, params } = request
    const meta = metaOf(params)
    const modern = modernSender(meta)
    // Before anything is started: a server is a program, and listing its tools is a message to it. Only a ping needs neither.
    const frozen =
      modern || method !== 'ping' ? await govern.refuseFrozen(caller, meta[OURS.session]) : undefined
    if (frozen) return frozenAnswer(frozen, method, modern ? 'modern' : 'legacy')
    if (!modern) return answerLegacy(request, meta, out, signal)
    const reached = reachFor(modern)
    underway.set(id, { ...underwayOf(id), logLevel: modern.logLevel, reached })
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
    return textOf(interimFor(got.wishes, got.state, info))
  }

  function underwayOf(id: RequestId): Underway {
    const known = underway.get(id)
    if (!known) throw new RpcFault(CODE.internal, 'the request is no longer under way')
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
      if (legacy || starting) throw new RpcFault(CODE.invalidRequest, 'the conversation has begun already')
      const { sender, requested } = legacySender(params)
      return (starting = begin(sender, requested))
    }
    // Who does not wait for the answer to `initialize` is not sent away for it.
    await starting?.catch(() => undefined)
    if (!legacy) {
      throw method === 'server/discover'
        ? new RpcFault(CODE.invalidParams, '`_meta` lacks the version of the protocol')
        : new RpcFault(CODE.invalidRequest, 'the conversation begins with `initialize`')
    }
    const reached = reachFor(legacy)
    underway.set(id, { ...underwayOf(id), reached })
    const turn = turnOf({ ...legacy, logLevel: notifications.logLevel }, meta, out, signal, 'legacy')
    const own = await notifications.legacyMethod(reached, method, params, turn)
    if (own) return textOf(own)
    const got = await answer(reached, method, params, turn)
    return got.text ?? textOf(resultFor('legacy', method, got.result, {}))
  }

  /** Begins with a legacy client. If it fails, the client may begin again. */
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
      if (typeof requestId === 'string' || typeof requestId === 'number')
        underway.get(requestId)?.abort.abort()
    } else if (method === 'notifications/roots/list_changed' && !govern.isFrozen(caller)) {
      for (const { links } of reaches.all()) for (const { upstream } of links) upstream.notify(method, {})
    }
    // Anything else asks for nothing: a call without an id is not one.
  }

  return {
    take,
    abandon: (id) => underway.get(id)?.abort.abort(),
    attach: (out) => notifications.attach(out),
    toolsChanged: () => notifications.toolsChanged(),
    freeze,
    async close() {
      closed = true
      asks.close()
      for (const { abort } of underway.values()) abort.abort()
      rounds.end()
      await reaches.close()
    },
  }
}

/** A call is answered as any that is denied, so that the model reads why; anything else with an error. @throws RpcFault */
function frozenAnswer(frozen: Decided, method: string, era: Sender['era']): string {
  if (method !== 'tools/call') throw denialFault(frozen)
  return textOf(resultFor(era, method, denialResult(frozen, false), {}))
}

/** What is answered for a server that does not answer: which one, and how it failed. */
function downError({ code, message }: UpstreamFault): RpcError {
  return { code: CODE.internal, message, data: { upstream: code } }
}
