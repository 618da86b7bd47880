// Forwards notifications to clients: changed lists, changed resources and log messages.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { Recent } from '../recent.ts'
import { LEVELS, META } from './protocol.ts'
import { holderOf } from './holder.ts'
import type { ServerLink } from './link.ts'
import { CODE, formatNotification, RpcFault, type Request, type RequestId } from './message.ts'
import { watch, type Reach, type Turn, type Watching } from './proxy.ts'
import type { Reaches } from './reach.ts'
import { filterOf } from './server/listening.ts'
import { UpstreamFault, type WantedChanges } from './server/upstream.ts'
import { createRateLimit, safeMessage } from './safe-text.ts'

interface Subscribed {
  readonly server: string
  /** Whether the server was asked with its own request, not with `listen`. */
  readonly direct: boolean
}

interface Listener {
  readonly out: Out
  readonly id: RequestId
  readonly wanted: WantedChanges
  /** The subscribed resources, each with its server. */
  readonly uris: ReadonlyMap<string, string>
}

type ListKind = 'tools' | 'prompts' | 'resources'

const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
])
const UPDATED = 'notifications/resources/updated'
const MESSAGE = 'notifications/message'
const ELICITED = 'notifications/elicitation/complete'
const MAX_URIS = 1000
const MAX_LISTENERS = 16
// Each one is judged separately.
const MAX_WANTED = 100
const MAX_ELICITED = 256

export class Notifications {
  readonly #reaches: Reaches
  /** The open `subscriptions/listen` requests of modern clients. */
  readonly #listeners = new Map<RequestId, Listener>()
  /** The subscribed resources of a legacy client. */
  readonly #subscribed = new Map<string, Subscribed>()
  /** The ids of questions to the client. */
  readonly #elicited = new Recent<true>(MAX_ELICITED)
  readonly #flows = createRateLimit()
  #attached: Out | undefined
  #level: string | undefined

  constructor(reaches: Reaches) {
    this.#reaches = reaches
  }

  /** Sets the receiver for a legacy client. */
  attach(out: Out | undefined): void {
    this.#attached = out
  }

  /** Lowest level of log messages that a legacy client wants. */
  get logLevel(): string | undefined {
    return this.#level
  }

  /** Records the id of a question to the client, so that its completion can be forwarded. */
  asked(elicitation: Json | undefined): void {
    if (typeof elicitation === 'string') this.#elicited.set(elicitation, true)
  }

  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void {
    this.#listChanged('notifications/tools/list_changed', 'tools')
  }

  /**
   * Forwards a notification of a server. `messages` takes log messages for the requests of a modern client. Builds each
   * notification itself: text of a server is forwarded only if it was asked for and the server is approved.
   */
  tell(link: ServerLink, method: string, params: JsonObject, messages: (params: JsonObject) => void): void {
    const { uri, elicitationId } = params
    const kind = LISTS.get(method)
    if (method === MESSAGE) {
      if (!link.approved || !this.#flows()) return
      const told = safeMessage(params, this.#level)
      if (told) this.#tellLegacy(method, told)
      messages(params)
    } else if (kind) this.#listChanged(method, kind)
    else if (method === UPDATED && typeof uri === 'string') {
      if (this.#subscribed.get(uri)?.server === link.name) this.#tellLegacy(method, { uri })
      this.#tellListeners(method, { uri }, ({ uris }) => uris.get(uri) === link.name)
    } else if (
      method === ELICITED &&
      typeof elicitationId === 'string' &&
      this.#elicited.delete(elicitationId)
    ) {
      this.#tellLegacy(method, { elicitationId })
    }
  }

  #listChanged(method: string, kind: ListKind): void {
    this.#tellLegacy(method, {})
    this.#tellListeners(method, {}, ({ wanted }) => wanted[kind])
  }

  #tellLegacy(method: string, params: JsonObject): void {
    this.#attached?.send(formatNotification(method, params), false)
  }

  #tellListeners(method: string, params: JsonObject, wants: (listener: Listener) => boolean): void {
    for (const listener of this.#listeners.values()) {
      const _meta = { [META.subscription]: listener.id }
      if (wants(listener)) listener.out.send(formatNotification(method, { ...params, _meta }), false)
    }
  }

  /**
   * Tells the servers which changes are wanted: the union of all wishes. A legacy client gets every list change without asking.
   * Call it again when more servers are connected.
   */
  askServers(): void {
    const listeners = [...this.#listeners.values()]
    const wants = (kind: ListKind): boolean =>
      this.#reaches.hasLegacy() || listeners.some(({ wanted }) => wanted[kind])
    for (const { name, upstream } of this.#reaches.all().flatMap(({ links }) => links)) {
      const listened = listeners.flatMap(({ uris }) => [...uris].filter(([, server]) => server === name))
      // A legacy server was asked with its own request.
      const watched = [...this.#subscribed].filter(([, { server, direct }]) => server === name && !direct)
      upstream.listen({
        // Always wanted: a changed tool must be blocked.
        tools: true,
        prompts: wants('prompts'),
        resources: wants('resources'),
        uris: [...new Set([...listened, ...watched].map(([uri]) => uri))],
      })
    }
  }

  /** Serves `subscriptions/listen` of a modern client until it cancels. */
  async listen(
    { id, clientId = id, params }: Request,
    out: Out,
    turn: Turn,
    reach: Reach,
  ): Promise<undefined> {
    if (this.#listeners.size >= MAX_LISTENERS)
      throw new RpcFault(CODE.internal, 'too many `subscriptions/listen` requests are open')
    const { signal } = turn
    const wanted = wantedOf(params)
    const uris = await held(reach, wanted.uris, turn)
    // The client has left or is frozen: no server is asked or started for it.
    if (signal.aborted) return undefined
    this.#listeners.set(id, { out, id: clientId, wanted, uris })
    const notifications = filterOf({ ...wanted, uris: [...uris.keys()] })
    const acknowledged = { _meta: { [META.subscription]: clientId }, notifications }
    out.send(formatNotification('notifications/subscriptions/acknowledged', acknowledged), false)
    // A server that connects later is asked then. A failure is reported to the requests that use the server.
    for (const link of reach.links) void link.hello().catch(() => undefined)
    this.askServers()
    return new Promise((resolve) => {
      const end = (): void => {
        this.#listeners.delete(id)
        this.askServers()
        resolve(undefined)
      }
      signal.addEventListener('abort', end, { once: true })
    })
  }

  /** Answers a subscription method of a legacy client; undefined for any other method. */
  async legacyMethod(
    reached: Reach,
    method: string,
    params: JsonObject,
    turn: Turn,
  ): Promise<JsonObject | undefined> {
    if (method === 'logging/setLevel') return this.#setLevel(params)
    if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return undefined
    return this.#subscribe(reached, method, params, turn)
  }

  async #subscribe(
    reach: Reach,
    faculty: Watching['faculty'],
    { uri }: JsonObject,
    turn: Turn,
  ): Promise<JsonObject> {
    if (typeof uri !== 'string') throw new RpcFault(CODE.invalidParams, '`uri` must be a string')
    if (faculty === 'resources/subscribe' && this.#subscribed.size >= MAX_URIS)
      throw new RpcFault(CODE.internal, 'too many resources are subscribed; unsubscribe some first')
    const link = await holderOf(reach, uri, turn.signal)
    const direct = (await link.hello()).protocol === 'legacy'
    const done = (): void => {
      if (faculty === 'resources/unsubscribe') this.#subscribed.delete(uri)
      else this.#subscribed.set(uri, { server: link.name, direct })
      if (!direct) this.askServers()
    }
    await watch(reach, { link, faculty, uri, direct, done }, turn)
    return {}
  }

  /** Kept in the gateway, which filters log messages. The server does not learn the level. */
  #setLevel({ level }: JsonObject): JsonObject {
    if (typeof level !== 'string' || !LEVELS.includes(level)) {
      throw new RpcFault(CODE.invalidParams, '`level` is not a known log level')
    }
    this.#level = level
    return {}
  }
}

/** The URIs that may be subscribed, each judged separately, with its server. */
async function held(reach: Reach, uris: readonly string[], turn: Turn): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const uri of new Set(uris)) {
    try {
      const link = await holderOf(reach, uri, turn.signal)
      const done = (): void => void found.set(uri, link.name)
      await watch(reach, { link, faculty: 'resources/subscribe', uri, direct: false, done }, turn)
    } catch (fault) {
      // No server has it, or the subscription is denied. It is left out of the acknowledgement.
      if (!(fault instanceof RpcFault || fault instanceof UpstreamFault)) throw fault
    }
  }
  return found
}

function wantedOf({ notifications }: JsonObject): WantedChanges {
  if (!isObject(notifications)) throw new RpcFault(CODE.invalidParams, '`notifications` must be an object')
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications
  const uris = isList(resourceSubscriptions) ? resourceSubscriptions : []
  if (uris.length > MAX_WANTED)
    throw new RpcFault(
      CODE.invalidParams,
      `at most ${MAX_WANTED} resources can be subscribed with one request`,
    )
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: uris.filter((uri) => typeof uri === 'string'),
  }
}
