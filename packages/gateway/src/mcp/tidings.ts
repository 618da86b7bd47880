// What clients are told without having asked at this moment: changed lists, changed resources, log messages.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { META } from './era.ts'
import { CODE, formatNotification, isObject, RpcFault, type Request, type RequestId } from './message.ts'
import { holderOf, passOn, requireApproval } from './proxy.ts'
import type { Reached } from './reach.ts'
import type { Wanted } from './server/upstream.ts'

/** Tells a client. */
export interface Tidings {
  /** Where a legacy client is told; undefined: nowhere. */
  attach(out: Out | undefined): void
  /** A server has said something. `messages` is for log messages of a modern client's requests. */
  tell(method: string, params: JsonObject, messages: (message: string) => void): void
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
}

const LISTS: Readonly<Record<string, 'tools' | 'prompts' | 'resources'>> = {
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
  'notifications/resources/list_changed': 'resources',
}
const UPDATED = 'notifications/resources/updated'
const MESSAGE = 'notifications/message'
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
const MAX_URIS = 1000
const MAX_LISTENERS = 16

/** Tells nobody yet. */
export function createTidings(reached: () => readonly Reached[], isLegacy: () => boolean): Tidings {
  const listeners = new Map<RequestId, Listener>()
  const subscribed = new Set<string>()
  let attached: Out | undefined
  let level: string | undefined

  function tellListeners(method: string, params: JsonObject): void {
    const kind = LISTS[method]
    for (const { out, id, wanted } of listeners.values()) {
      const uri = params['uri']
      const wants = kind === undefined ? typeof uri === 'string' && wanted.uris.includes(uri) : wanted[kind]
      if (!wants) continue
      out.send(formatNotification(method, { ...params, _meta: { [META.subscription]: id } }), false)
    }
  }

  function tell(method: string, params: JsonObject, messages: (text: string) => void): void {
    if (method === MESSAGE) {
      const text = formatNotification(method, params)
      attached?.send(text, false)
      messages(text)
      return
    }
    const { uri } = params
    if (method === UPDATED && typeof uri !== 'string') return
    if (LISTS[method] === undefined && method !== UPDATED && method !== ELICITED) return
    if (method !== UPDATED || (typeof uri === 'string' && subscribed.has(uri))) {
      attached?.send(formatNotification(method, params), false)
    }
    tellListeners(method, params)
  }

  /** All that the listeners want, told to the servers. A legacy client is told of every list without having asked. */
  function askServers(): void {
    const all = [...listeners.values()].map(({ wanted }) => wanted)
    const wanted: Wanted = {
      // Whoever listens: a tool that has changed is blocked from then on.
      tools: true,
      prompts: isLegacy() || all.some(({ prompts }) => prompts),
      resources: isLegacy() || all.some(({ resources }) => resources),
      uris: [...new Set([...all.flatMap(({ uris }) => uris), ...subscribed])],
    }
    for (const { links } of reached()) for (const { upstream } of links) upstream.listen(wanted)
  }

  function listen(
    { id, said = id, params }: Request,
    out: Out,
    signal: AbortSignal,
    { links }: Reached,
  ): Promise<undefined> {
    if (listeners.size >= MAX_LISTENERS) throw new RpcFault(CODE.internal, 'too many listen already')
    const wanted = wantedOf(params)
    listeners.set(id, { out, id: said, wanted })
    const notifications = {
      ...(wanted.tools && { toolsListChanged: true }),
      ...(wanted.prompts && { promptsListChanged: true }),
      ...(wanted.resources && { resourcesListChanged: true }),
      ...(wanted.uris.length > 0 && { resourceSubscriptions: wanted.uris }),
    }
    const acknowledged = { _meta: { [META.subscription]: said }, notifications }
    out.send(formatNotification('notifications/subscriptions/acknowledged', acknowledged), false)
    // A server that is not reached yet is told once it is; that it cannot be reached is for those to say who ask it something.
    for (const link of links) void link.hello().catch(() => undefined)
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
    const link = await holderOf(reach, uri)
    await requireApproval(link)
    if (method === 'resources/unsubscribe') subscribed.delete(uri)
    else if (subscribed.size < MAX_URIS) subscribed.add(uri)
    else throw new RpcFault(CODE.internal, 'too many resources are watched already')
    const { era } = await link.hello()
    if (era === 'legacy') return (await passOn(link, method, { uri }, turnless(signal))).result
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
      await passOn(link, 'logging/setLevel', { level: asked }, turnless(signal))
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

function turnless(signal: AbortSignal): Parameters<typeof passOn>[3] {
  // Sound: what is passed on without being governed needs nothing of a turn but its signal.
  return { signal } as Parameters<typeof passOn>[3]
}

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
