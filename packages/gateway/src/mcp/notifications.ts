// What clients are told without having asked at this moment: changed lists, changed resources, log messages.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { LEVELS, META } from './protocol.ts'
import { holderOf } from './holder.ts'
import type { ServerLink } from './link.ts'
import { CODE, formatNotification, RpcFault, type Request, type RequestId } from './message.ts'
import { watch, type Turn, type Watching } from './proxy.ts'
import type { Reached } from './reach.ts'
import { UpstreamFault, type WantedChanges } from './server/upstream.ts'
import { createFlow, toldMessage } from './told.ts'

/** Tells a client. */
export interface Notifications {
  /** Where a legacy client is told; undefined: nowhere. */
  attach(out: Out | undefined): void
  /** A server has said something. `messages` is for log messages of a modern client's requests. */
  tell(link: ServerLink, method: string, params: JsonObject, messages: (params: JsonObject) => void): void
  /** A modern client listens, until it cancels. */
  listen(request: Request, out: Out, turn: Turn, reached: Reached): Promise<undefined>
  /** The methods by which a legacy client says what it wants to be told; undefined if it is none of them. */
  legacyMethod(
    reached: Reached,
    method: string,
    params: JsonObject,
    turn: Turn,
  ): Promise<JsonObject | undefined>
  /** A client was asked something under this id: it may be told when that has been done. */
  asked(elicitation: Json | undefined): void
  /** Something may be called now that could not be, or the other way round. */
  toolsChanged(): void
  /** Says to the servers what is wanted of them, after more of them can be reached. */
  askServers(): void
  /** Least level of log messages that a legacy client wants. */
  readonly logLevel: string | undefined
}

interface Subscribed {
  readonly server: string
  /** The server was asked with a request, and not by `listen`. */
  readonly direct: boolean
}

interface Listener {
  readonly out: Out
  readonly id: RequestId
  readonly wanted: WantedChanges
  /** The resources it is told of, each with the server that has it. */
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
// Each is judged by itself.
const MAX_WANTED = 100
const MAX_ELICITED = 256

/** Tells nobody yet. */
export function createNotifications(
  reached: () => readonly Reached[],
  isLegacy: () => boolean,
): Notifications {
  const listeners = new Map<RequestId, Listener>()
  const subscribed = new Map<string, Subscribed>()
  const elicited = new Set<string>()
  const flows = createFlow()
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

  /** What is told is ours: of a server's words only those that somebody asked for, and of an approved server. */
  function tell(
    link: ServerLink,
    method: string,
    params: JsonObject,
    messages: (params: JsonObject) => void,
  ): void {
    const { uri, elicitationId } = params
    if (method === MESSAGE) {
      if (!link.approved || !flows()) return
      const told = toldMessage(params, level)
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

  /** All that the listeners want, told to the servers. A legacy client is told of every list without having asked. */
  function askServers(): void {
    const all = [...listeners.values()]
    for (const { links } of reached()) {
      for (const { name, upstream } of links) {
        const heard = all.flatMap(({ uris }) => [...uris].filter(([, server]) => server === name))
        // A legacy server was asked with a request of its own.
        const watched = [...subscribed].filter(([, { server, direct }]) => server === name && !direct)
        upstream.listen({
          // Whoever listens: a tool that has changed is blocked from then on.
          tools: true,
          prompts: isLegacy() || all.some(({ wanted }) => wanted.prompts),
          resources: isLegacy() || all.some(({ wanted }) => wanted.resources),
          uris: [...new Set([...heard, ...watched].map(([uri]) => uri))],
        })
      }
    }
  }

  /** The URIs that may be watched, each judged by itself, with the server that has it. */
  async function held(reach: Reached, uris: readonly string[], turn: Turn): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const uri of new Set(uris)) {
      try {
        const link = await holderOf(reach, uri, turn.signal)
        const done = (): void => void found.set(uri, link.name)
        await watch(reach, { link, faculty: 'resources/subscribe', uri, direct: false, done }, turn)
      } catch (fault) {
        // Nobody has it, or it may not be watched: it is not among what is acknowledged.
        if (!(fault instanceof RpcFault || fault instanceof UpstreamFault)) throw fault
      }
    }
    return found
  }

  async function listen(
    { id, said = id, params }: Request,
    out: Out,
    turn: Turn,
    reach: Reached,
  ): Promise<undefined> {
    if (listeners.size >= MAX_LISTENERS) throw new RpcFault(CODE.internal, 'too many listen already')
    const { signal } = turn
    const wanted = wantedOf(params)
    const uris = await held(reach, wanted.uris, turn)
    // The client is gone or frozen by now: no server is asked or started for it.
    if (signal.aborted) return undefined
    listeners.set(id, { out, id: said, wanted, uris })
    const notifications = {
      ...(wanted.tools && { toolsListChanged: true }),
      ...(wanted.prompts && { promptsListChanged: true }),
      ...(wanted.resources && { resourcesListChanged: true }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris.keys()] }),
    }
    const acknowledged = { _meta: { [META.subscription]: said }, notifications }
    out.send(formatNotification('notifications/subscriptions/acknowledged', acknowledged), false)
    // A server that is not reached yet is told once it is; that it cannot be reached is for those to say who ask it something.
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
    if (typeof uri !== 'string') throw new RpcFault(CODE.invalidParams, '`uri` is not a text')
    if (faculty === 'resources/subscribe' && subscribed.size >= MAX_URIS)
      throw new RpcFault(CODE.internal, 'too many resources are watched already')
    const link = await holderOf(reach, uri, turn.signal)
    const direct = (await link.hello()).era === 'legacy'
    const done = (): void => {
      if (faculty === 'resources/unsubscribe') subscribed.delete(uri)
      else subscribed.set(uri, { server: link.name, direct })
      if (!direct) askServers()
    }
    await watch(reach, { link, faculty, uri, direct, done }, turn)
    return {}
  }

  /** Kept here: what a server says below the level is not told, and the server need not know. */
  function setLevel(params: JsonObject): JsonObject {
    const asked = params['level']
    if (typeof asked !== 'string' || !LEVELS.includes(asked)) {
      throw new RpcFault(CODE.invalidParams, '`level` is not one of the levels')
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
  if (!isObject(notifications)) throw new RpcFault(CODE.invalidParams, '`notifications` is not an object')
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications
  const uris = isList(resourceSubscriptions) ? resourceSubscriptions : []
  if (uris.length > MAX_WANTED)
    throw new RpcFault(CODE.invalidParams, `at most ${MAX_WANTED} resources can be watched by one request`)
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: uris.filter((uri) => typeof uri === 'string'),
  }
}
