// The two eras of the protocol, towards clients: what a request says of who sends it, and how an answer has to look.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { CODE, RpcFault } from './message.ts'

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
  delegation: 'dev.tollgate/delegation',
  scope: 'dev.tollgate/scope',
  decision: 'dev.tollgate/decision',
} as const

/** Who sends a request, as it says itself: for the server to know what it may ask, never for us to decide by. */
export interface Sender {
  readonly era: 'modern' | 'legacy'
  readonly capabilities: JsonObject
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
  return {
    era: 'modern',
    capabilities: capabilitiesFor(capabilities),
    logLevel: LEVELS.find((level) => level === meta[META.logLevel]),
  }
}

/** The sender of `initialize`, and the revision it wants. @throws RpcFault. */
export function legacySender({ capabilities, protocolVersion }: JsonObject): {
  readonly sender: Sender
  readonly requested: string
} {
  if (typeof protocolVersion !== 'string' || !isObject(capabilities)) {
    throw new RpcFault(CODE.invalidParams, '`initialize` lacks the version or the capabilities of the client')
  }
  const sender: Sender = {
    era: 'legacy',
    capabilities: capabilitiesFor(capabilities),
    logLevel: undefined,
  }
  return { sender, requested: protocolVersion }
}

/** Levels of log messages. */
export const LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

const FORMS: Readonly<Record<string, readonly string[]>> = {
  sampling: ['context', 'tools'],
  elicitation: ['form', 'url'],
  roots: ['listChanged'],
}

/** What servers are told that a client can do: the words of the protocol, and nothing that the client could write into them. */
function capabilitiesFor(said: JsonObject): JsonObject {
  const known = Object.entries(FORMS).flatMap(([name, members]): [string, Json][] => {
    const value = said[name]
    if (!isObject(value)) return []
    const kept = members.filter((member) => isObject(value[member]) || value[member] === true)
    return [[name, Object.fromEntries(kept.map((member) => [member, member === 'listChanged' ? true : {}]))]]
  })
  return Object.fromEntries(known)
}

/** What servers are told that their client is called. A client's own words would reach them without having been judged. */
export const OUR_INFO: JsonObject = { name: 'unnamed', version: '0' }

function missing(key: string): RpcFault {
  return new RpcFault(CODE.invalidParams, `\`_meta\` lacks \`${key}\``)
}

// The only key that goes on to a server as it came: everything else in there would reach it without having been judged. The form is
// that of W3C Trace Context, version 00: no other is known, and ids of zeros are no ids.
const TRACE = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** What a server may see of a client's `_meta`. */
export function metaForServer({ traceparent }: JsonObject): JsonObject | undefined {
  return typeof traceparent === 'string' && TRACE.test(traceparent) ? { traceparent } : undefined
}

const LISTS: readonly string[] = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]

/** A result as the era of its reader has it. Whether more is asked for is never a server's word. */
export function resultFor(
  era: Sender['era'],
  method: string,
  result: JsonObject,
  serverInfo: JsonObject,
): JsonObject {
  const own = without(result, ...INTERIM)
  if (era === 'legacy') return without(own, 'ttlMs', 'cacheScope')
  const meta = isObject(own['_meta']) ? own['_meta'] : {}
  const { ttlMs } = own
  return {
    ...own,
    // What one principal was given is for no shared cache. How long a server of the other era stands by it nobody knows.
    ...(LISTS.includes(method) && {
      ttlMs: typeof ttlMs === 'number' ? Math.max(0, Math.min(ttlMs, MAX_TTL)) : 0,
      cacheScope: 'private',
    }),
    resultType: 'complete',
    _meta: { ...meta, [META.serverInfo]: serverInfo },
  }
}

/** An interim answer of a modern request: what the client is asked for. */
export function interimFor(wishes: JsonObject, state: string, serverInfo: JsonObject): JsonObject {
  return {
    resultType: 'input_required',
    inputRequests: wishes,
    requestState: state,
    _meta: { [META.serverInfo]: serverInfo },
  }
}

const MAX_TTL = 60_000
const INTERIM = ['resultType', 'inputRequests', 'requestState']

/** An object without some of its members. */
export function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => value[name] !== undefined)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}
