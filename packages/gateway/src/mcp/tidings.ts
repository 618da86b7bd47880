// What clients are told without having asked at this moment: changed lists, changed resources, log messages.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { LEVELS, META, without } from './era.ts'
import { holderOf } from './holder.ts'
import type { Link } from './link.ts'
import { CODE, formatNotification, isObject, RpcFault, type Request, type RequestId } from './message.ts'
import { passOn, requireApproval } from './proxy.ts'
import type { Reached } from './reach.ts'
import type { Wanted } from './server/upstream.ts'

/** Tells a client. */
export interface Tidings {
  /** Where a legacy client is told; undefined: nowhere. */
  attach(out: Out | undefined): void
  /** A server has said something. `messages` is for log messages of a modern client's requests. */
  tell(link: Link, method: string, params: JsonObject, messages: (message: string) => void): void
  /** A modern client listens, until it cancels. */
  listen(request: Request, out: Out, signal: AbortSignal, reached: Reached): Promise<undefined>
  /** The methods by which a legacy client says what it wants to be told; undefined if it is none of them. */
  legacyMethod(
    reached: Reached,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined>
  /** Something may be called now that could not be, or the other way round. */
  toolsChanged(): void
  /** Says to the servers what is wanted of them, after more of them can be reached. */
  askServers(): void
  /** Least level of log messages that a legacy client wants. */
  readonly logLevel: string | undefined
}

interface Listener {
  readonly out: Out
  readonly id: RequestId
  readonly wanted: Wanted
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

/** Tells nobody yet. */
export function createTidings(reached: () => readonly Reached[], isLegacy: () => boolean): Tidings {
  const listeners = new Map<RequestId, Listener>()
  const subscribed = new Map<string, string>()
  let attached: Out | undefined
  let level: string | undefined

  function tellListeners(method: string, params: JsonObject, from?: Link): void {
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
  function tell(link: Link, method: string, params: JsonObject, messages: (text: string) => void): void {
    const { uri, elicitationId } = params
    if (method === MESSAGE) {
      if (!link.approved) return
      const text = formatNotification(method, without(params, '_meta'))
      attached?.send(text, false)
      messages(text)
    } else if (LISTS[method] !== undefined) {
      attached?.send(formatNotification(method, {}), false)
      tellListeners(method, {})
    } else if (method === UPDATED && typeof uri === 'string') {
      if (subscribed.get(uri) === link.name) attached?.send(formatNotification(method, { uri }), false)
      tellListeners(method, { uri }, link)
    } else if (method === ELICITED && typeof elicitationId === 'string') {
      attached?.send(formatNotification(method, { elicitationId }), false)
    }
  }

  /** All that the listeners want, told to the servers. A legacy client is told of every list without having asked. */
  function askServers(): void {
    const all = [...listeners.values()]
    for (const { links } of reached()) {
      for (const { name, upstream } of links) {
        const uris = all.flatMap((each) => [...each.uris].filter(([, server]) => server === name))
        upstream.listen({
          // Whoever listens: a tool that has changed is blocked from then on.
          tools: true,
          prompts: isLegacy() || all.some(({ wanted }) => wanted.prompts),
          resources: isLegacy() || all.some(({ wanted }) => wanted.resources),
          uris: [
            ...new Set(
              [...uris, ...[...subscribed].filter(([, server]) => server === name)].map(([uri]) => uri),
            ),
          ],
        })
      }
    }
  }

  /** The URIs that somebody may be told of, each with the server that has it. */
  async function held(
    reach: Reached,
    uris: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const uri of uris) {
      try {
        const link = await holderOf(reach, uri, signal)
        await requireApproval(link, 'resources/read')
        found.set(uri, link.name)
      } catch {
        // Nobody has it, or it may not be watched: it is not among what is acknowledged.
      }
    }
    return found
  }

  async function listen(
    { id, said = id, params }: Request,
    out: Out,
    signal: AbortSignal,
    reach: Reached,
  ): Promise<undefined> {
    if (listeners.size >= MAX_LISTENERS) throw new RpcFault(CODE.internal, 'too many listen already')
    const wanted = wantedOf(params)
    const uris = await held(reach, wanted.uris, signal)
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
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    })
  }

  async function subscribe(
    reach: Reached,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const { uri } = params
    if (typeof uri !== 'string') throw new RpcFault(CODE.invalidParams, '`uri` is not a text')
    const link = await holderOf(reach, uri, signal)
    await requireApproval(link, 'resources/read')
    if (method === 'resources/unsubscribe') subscribed.delete(uri)
    else if (subscribed.size < MAX_URIS) subscribed.set(uri, link.name)
    else throw new RpcFault(CODE.internal, 'too many resources are watched already')
    const { era } = await link.hello()
    if (era === 'legacy') return passOn(link, method, { uri }, signal)
    askServers()
    return {}
  }

  async function setLevel(reach: Reached, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const asked = params['level']
    if (typeof asked !== 'string' || !LEVELS.includes(asked)) {
      throw new RpcFault(CODE.invalidParams, '`level` is not one of the levels')
    }
    level = asked
    for (const link of reach.links) {
      const { era, capabilities } = await link.hello()
      if (era !== 'legacy' || capabilities['logging'] === undefined) continue
      await passOn(link, 'logging/setLevel', { level: asked }, signal)
    }
    return {}
  }

  return {
    attach: (out) => void (attached = out),
    tell,
    listen,
    askServers,
    async legacyMethod(reach, method, params, signal) {
      if (method === 'logging/setLevel') return setLevel(reach, params, signal)
      if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return undefined
      return subscribe(reach, method, params, signal)
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

function wantedOf({ notifications }: JsonObject): Wanted {
  if (!isObject(notifications)) throw new RpcFault(CODE.invalidParams, '`notifications` is not an object')
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } = notifications
  const uris: readonly Json[] = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
  return {
    tools: toolsListChanged === true,
    prompts: promptsListChanged === true,
    resources: resourcesListChanged === true,
    uris: uris.filter((uri) => typeof uri === 'string').slice(0, MAX_URIS),
  }
}
