// The client side of the revisions that begin with a handshake.

import { isObject, type JsonObject } from '@tollgate/evidence'
import { perform, type ServerChannel } from './channel.ts'
import { LEGACY, META, without } from '../protocol.ts'
import { formatNotification } from '../message.ts'
import type { SentMethod } from '../methods.ts'
import { now } from '../waiting.ts'
import type { Exchange, ServerHello, UpstreamAnswer, WantedChanges } from './upstream.ts'

// Supported over stdio only.
const OLDEST_STDIO = '2024-11-05'

interface RequestLimits {
  /** A time of `now()`. */
  readonly deadline: number
  /** Whether the connection is still the intended one. Asked before each message but the first. */
  readonly holds: () => boolean
}

/** A connected server after its greeting. */
export interface ServerSession {
  readonly hello: ServerHello
  /** Asks again who the server is; undefined if it no longer speaks this protocol. @throws UpstreamFault. */
  askAgain?(deadline: number): Promise<ServerHello | undefined>
  request(
    method: SentMethod,
    params: JsonObject,
    exchange: Exchange,
    limits: RequestLimits,
  ): Promise<UpstreamAnswer>
  notify(method: string, params: JsonObject): void
  listen(wanted: WantedChanges): void
  /** Ends all listening. */
  stop(): void
}

/** Reads the answer to `initialize`; undefined if it is invalid or its revision is not supported. */
export function readInitialized(
  result: JsonObject,
  transport: ServerChannel['transport'],
): ServerHello | undefined {
  const { protocolVersion: version, capabilities, serverInfo: info, instructions } = result
  const versions = transport === 'stdio' ? [...LEGACY, OLDEST_STDIO] : LEGACY
  if (typeof version !== 'string' || !versions.includes(version)) return undefined
  if (!isObject(capabilities) || !isObject(info)) return undefined
  if (instructions !== undefined && typeof instructions !== 'string') return undefined
  return { protocol: 'legacy', version, capabilities, info, instructions }
}

/** Parameters with the protocol's members of `_meta`. Values that the sender put under those names are dropped. */
export function withMeta(params: JsonObject, added: JsonObject): JsonObject {
  const { _meta } = params
  const kept = isObject(_meta) ? without(_meta, 'progressToken', ...Object.values(META)) : {}
  const meta = { ...kept, ...added }
  return Object.keys(meta).length === 0 ? without(params, '_meta') : { ...params, _meta: meta }
}

/** The progress token, if progress is wanted. */
export function progressMeta(id: number, exchange: Exchange): JsonObject {
  return exchange.onProgress === undefined ? {} : { progressToken: id }
}

const FORWARDED: readonly string[] = ['notifications/roots/list_changed']

/** Serves a server whose handshake is done. */
export function speakLegacy(channel: ServerChannel, hello: ServerHello, patience: number): ServerSession {
  const resources = hello.capabilities['resources']
  const canSubscribe = isObject(resources) && resources['subscribe'] === true
  let subscribed: readonly string[] = []

  function request(
    method: SentMethod,
    params: JsonObject,
    exchange: Exchange,
    { deadline }: Pick<RequestLimits, 'deadline'>,
  ): Promise<UpstreamAnswer> {
    return perform(channel, {
      method,
      params: (id) => withMeta(params, progressMeta(id, exchange)),
      exchange,
      deadline,
    })
  }

  /** One after the other, so that the last wish wins. Failures are ignored. */
  let changing: Promise<unknown> = Promise.resolve()
  function change(method: SentMethod, uri: string): void {
    const next = (): Promise<unknown> =>
      request(method, { uri }, {}, { deadline: now() + patience }).catch(() => undefined)
    changing = changing.then(next)
  }

  return {
    hello,
    request,
    notify(method, params) {
      if (FORWARDED.includes(method)) void channel.send(formatNotification(method, params))
    },
    listen({ uris }) {
      if (!canSubscribe) return
      for (const uri of subscribed) if (!uris.includes(uri)) change('resources/unsubscribe', uri)
      for (const uri of uris) if (!subscribed.includes(uri)) change('resources/subscribe', uri)
      subscribed = [...new Set(uris)]
    },
    stop: () => undefined,
  }
}
