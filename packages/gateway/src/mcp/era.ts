// The two eras of the protocol, towards clients: what a request says of who sends it, and how an answer has to look.

import { canonicalize, type Json, type JsonObject } from '@tollgate/evidence'
import { CODE, isObject, RpcFault } from './message.ts'

/** The revision without a handshake. */
export const MODERN = '2026-07-28'
/** The revisions with one, the newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']
/** Every revision that is spoken. */
export const VERSIONS: readonly string[] = [MODERN, ...LEGACY]

/** Keys of `_meta` that the protocol has. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

/** Keys of `_meta` that are ours. */
export const OURS = {
  session: 'dev.tollgate/session',
  approval: 'dev.tollgate/approval',
  decision: 'dev.tollgate/decision',
} as const

/** Who sends a request, as it says itself: for the server to know what it may ask, never for us to decide by. */
export interface Sender {
  readonly era: 'modern' | 'legacy'
  readonly capabilities: JsonObject
  readonly info: JsonObject
  /** Least level of the log messages it wants with this request. */
  readonly logLevel: string | undefined
}

/** The `_meta` of a request; empty if there is none. @throws RpcFault if it is something else. */
export function metaOf({ _meta }: JsonObject): JsonObject {
  if (_meta === undefined) return {}
  if (isObject(_meta)) return _meta
  throw new RpcFault(CODE.invalidParams, '`_meta` is not an object')
}

/** The sender of a modern request; undefined if it is a legacy one. @throws RpcFault if it is neither. */
export function modernSender(meta: JsonObject): Sender | undefined {
  const version = meta[META.version]
  if (version === undefined && meta[META.capabilities] === undefined) return undefined
  if (typeof version !== 'string') throw missing(META.version)
  if (version !== MODERN) {
    const data = { supported: VERSIONS, requested: version.slice(0, 64) }
    throw new RpcFault(CODE.unsupportedVersion, 'this revision of the protocol is not spoken here', data)
  }
  const capabilities = meta[META.capabilities]
  if (!isObject(capabilities)) throw missing(META.capabilities)
  const info = meta[META.clientInfo]
  const level = meta[META.logLevel]
  return {
    era: 'modern',
    capabilities,
    info: isObject(info) ? info : UNNAMED,
    logLevel: typeof level === 'string' ? level : undefined,
  }
}

/** What a client is called that does not say. */
export const UNNAMED: JsonObject = { name: 'unnamed', version: '0' }

function missing(key: string): RpcFault {
  return new RpcFault(CODE.invalidParams, `\`_meta\` lacks \`${key}\``)
}

// The only keys that go on to a server as they came: everything else in there would reach it without having been judged.
const TRACE: Readonly<Record<string, RegExp>> = {
  traceparent: /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/,
  tracestate: /^[\x21-\x7e ]{1,512}$/,
}

/** What a server may see of a client's `_meta`. */
export function metaForServer(meta: JsonObject): JsonObject | undefined {
  const kept = Object.entries(TRACE).filter(([name, form]) => {
    const value = meta[name]
    return typeof value === 'string' && form.test(value)
  })
  if (kept.length === 0) return undefined
  return Object.fromEntries(kept.map(([name]) => [name, meta[name] ?? null]))
}

const LISTS: readonly string[] = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]

/** A result as the era of its reader has it. */
export function resultFor(
  era: Sender['era'],
  method: string,
  result: JsonObject,
  serverInfo: JsonObject,
): JsonObject {
  if (era === 'legacy') return without(result, 'ttlMs', 'cacheScope', 'resultType')
  const meta = isObject(result['_meta']) ? result['_meta'] : {}
  return {
    // Nobody knows how long a server of the other era stands by what it said.
    ...(LISTS.includes(method) && { ttlMs: 0, cacheScope: 'private' }),
    resultType: 'complete',
    ...result,
    _meta: { ...meta, [META.serverInfo]: serverInfo },
  }
}

/** An object without some of its members. */
export function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => value[name] !== undefined)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

/** A text that is the same for the same value. */
export function keyOf(value: Json): string {
  return canonicalize(value)
}
