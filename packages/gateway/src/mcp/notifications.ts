// Forwards notifications to clients: changed lists, changed resources and log messages.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { LEVELS, META } from './protocol.ts'
import { holderOf } from './holder.ts'
import type { ServerLink } from './link.ts'
import { CODE, formatNotification, RpcFault, type Request, type RequestId } from './message.ts'
import { watch, type Turn, type Watching } from './proxy.ts'
import type { Reached } from './reach.ts'
import { UpstreamFault, type WantedChanges } from './server/upstream.ts'
import { createRateLimit, safeMessage } from './safe-text.ts'

export interface Notifications {
  /** Sets the receiver for a legacy client. */
  attach(out: Out | undefined): void
  /** Forwards a notification of a server. `messages` takes log messages for the requests of a modern client. */
  tell(link: ServerLink, method: string, params: JsonObject, messages: (params: JsonObject) => void): void
  /** Serves `subscriptions/listen` of a modern client until it cancels. */
  listen(request: Request, out: Out, turn: Turn, reached: Reached): Promise<undefined>
  /** Answers a subscription method of a legacy client; undefined for any other method. */
  legacyMethod(
    reached: Reached,
    method: string,
    params: JsonObject,
    turn: Turn,
  ): Promise<JsonObject | undefined>
  /** Records the id of a question to the client, so that its completion can be forwarded. */
  asked(elicitation: Json | undefined): void
  /** Tells the client that the list of tools has changed. */
  toolsChanged(): void
  /** Tells the servers which changes are wanted. Call it again when more servers are connected. */
  askServers(): void
  /** Lowest level of log messages that a legacy client wants. */
  readonly logLevel: string | undefined
}

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

const LISTS: Readonly<Record<string, 'tools' | 'prompts' | 'resources'>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
}
const UPDATED = 'notifications/resources/updated'
const MESSAGE = 'notifications/message'
const MAX_URIS = 1000
const MAX_LISTENERS = 16
// Each one is judged separately.
const MAX_WANTED = 100
const MAX_ELICITED = 256

export function createNotifications(
  reached: () => readonly Reached[],
  isLegacy: () => boolean,
): Notifications {
  const listeners = new Map<RequestId, Listener>()
  const subscribed = new Map<string, Subscribed>()
  const elicited = new Set<string>()
  const flows = createRateLimit()
  let attached: Out | undefined
  let level: string | undefined

  function tellListeners(method: string, params: JsonObject, from?: ServerLink): void {
    const kind = LISTS[method]
    const { uri } = params
    for (const { out, id, wanted, uris } of listeners.values()) {
      const wants =
        kind === undefined ? typeof uri === 'string' && from && uris.get(uri) === from.name : wanted[kind]
      if (!wants) continue
      out.send(formatNotification(method, { ...params, _meta: { [META.subscription]: id } }), false)
    }
  }

  /** Builds each notification itself. Text of a server is forwarded only if it was asked for and the server is approved. */
  function tell(
    link: ServerLink,
    method: string,
    params: JsonObject,
    messages: (params: JsonObject) => void,
  ): void {
    const { uri, elicitationId } = params
    if (method === MESSAGE) {
      if (!link.approved || !flows()) return
      const told = safeMessage(params, level)
      if (told) attached?.send(formatNotification(method, told), false)
      messages(params)
    } else if (LISTS[method] !== undefined) {
      attached?.send(formatNotification(method, {}), false)
      tellListeners(method, {})
    } else if (method === UPDATED && typeof uri === 'string') {
      if (subscribed.get(uri)?.server === link.name)
        attached?.send(formatNotification(method, { uri }), false)
      tellListeners(method, { uri }, link)
    } else if (method === ELICITED && typeof elicitationId === 'string' && elicited.delete(elicitationId)) {
      attached?.send(formatNotification(method, { elicitationId }), false)
    }
  }

  /** Sends the union of all wishes to the servers. A legacy client gets every list change without asking. */
  function askServers(): void {
    const all = [...listeners.values()]
    for (const { links } of reached()) {
      for (const { name, upstream } of links) {
        const listened = all.flatMap(({ uris }) => [...uris].filter(([, server]) => server === name))
        // A legacy server was asked with its own request.
        const watched = [...subscribed].filter(([, { server, direct }]) => server === name && !direct)
        upstream.listen({
          // Always wanted: a changed tool must be blocked.
          tools: true,
          prompts: isLegacy() || all.some(({ wanted }) => wanted.prompts),
          resources: isLegacy() || all.some(({ wanted }) => wanted.resources),
          uris: [...new Set([...listened, ...watched].map(([uri]) => uri))],
        })
      }
    }
  }

  /** The URIs that may be subscribed, each judged separately, with its server. */
  async function held(reach: Reached, uris: readonly string[], turn: Turn): Promise<Map<string, string>> {
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

  async function listen(
    { id, clientId = id, params }: Request,
    out: Out,
    turn: Turn,
    reach: Reached,
  ): Promise<undefined> {
    if (listeners.size >= MAX_LISTENERS)
      throw new RpcFault(CODE.internal, 'too many `subscriptions/listen` requests are open')
    const { signal } = turn
    const wanted = wantedOf(params)
    const uris = await held(reach, wanted.uris, turn)
    // The client has left or is frozen: no server is asked or started for it.
    if (signal.aborted) return undefined
    listeners.set(id, { out, id: clientId, wanted, uris })
    const notifications = {
      ...(wanted.tools && { toolsListChanged: true }),
      ...(wanted.prompts && { promptsListChanged: true }),
      ...(wanted.resources && { resourcesListChanged: true }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris.keys()] }),
    }
    const acknowledged = { _meta: { [META.subscription]: clientId }, notifications }
    out.send(formatNotification('notifications/subscriptions/acknowledged', acknowledged), false)
    // A server that connects later is asked then. A failure is reported to the requests that use the server.
    for (const link of reach.links) void link.hello().catch(() => undefined)
    askServers()
    return new Promise((resolve) => {
      const end = (): void => {
        listeners.delete(id)
        askServers()
        resolve(undefined)
      }
      signal.addEventListener('abort', end, { once: true })
    })
  }

  async function subscribe(
    reach: Reached,
    faculty: Watching['faculty'],
    { uri }: JsonObject,
    turn: Turn,
  ): Promise<JsonObject> {
    if (typeof uri !== 'string') throw new RpcFault(CODE.invalidParams, '`uri` must be a string')
    if (faculty === 'resources/subscribe' && subscribed.size >= MAX_URIS)
      throw new RpcFault(CODE.internal, 'too many resources are subscribed; unsubscribe some first')
    const link = await holderOf(reach, uri, turn.signal)
    const direct = (await link.hello()).protocol === 'legacy'
    const done = (): void => {
      if (faculty === 'resources/unsubscribe') subscribed.delete(uri)
      else subscribed.set(uri, { server: link.name, direct })
      if (!direct) askServers()
    }
    await watch(reach, { link, faculty, uri, direct, done }, turn)
    return {}
  }

  /** Kept in the gateway, which filters log messages. The server does not learn the level. */
  function setLevel(params: JsonObject): JsonObject {
    const asked = params['level']
    if (typeof asked !== 'string' || !LEVELS.includes(asked)) {
      throw new RpcFault(CODE.invalidParams, '`level` is not a known log level')
    }
    level = asked
    return {}
  }

  return {
    attach: (out) => void (attached = out),
    tell,
    listen,
    askServers,
    async legacyMethod(reach, method, params, turn) {
      if (method === 'logging/setLevel') return setLevel(params)
      if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return undefined
      return subscribe(reach, method, params, turn)
    },
    asked(elicitation) {
      if (typeof elicitation !== 'string') return
      elicited.add(elicitation)
      const [oldest] = elicited
      if (elicited.size > MAX_ELICITED && oldest !== undefined) elicited.delete(oldest)
    },
    toolsChanged() {
      const method = 'notifications/tools/list_changed'
      attached?.send(formatNotification(method, {}), false)
      tellListeners(method, {})
    },
    get logLevel() {
      return level
    },
  }
}

const ELICITED = 'notifications/elicitation/complete'

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
