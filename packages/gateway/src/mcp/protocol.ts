// The two protocols towards clients, modern and legacy: reads the sender of a request and formats its result.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { isTraceparent } from '../telemetry/traceparent.ts'
import { CODE, RpcFault } from './message.ts'

/** The revision without a handshake. */
export const MODERN = '2026-07-28'
/** The revisions with a handshake, newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']
/** All supported revisions. */
export const VERSIONS: readonly string[] = [MODERN, ...LEGACY]

/** Keys of `_meta` defined by MCP. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const

/** Keys of `_meta` defined by Tollgate. */
export const OURS = {
  session: 'dev.tollgate/session',
  approval: 'dev.tollgate/approval',
  delegation: 'dev.tollgate/delegation',
  scope: 'dev.tollgate/scope',
  plannerRef: 'dev.tollgate/planner_ref',
  wait: 'dev.tollgate/wait',
  decision: 'dev.tollgate/decision',
} as const

/** The sender of a request, by its own statement. It tells the server what it may ask; no decision depends on it. */
export interface Sender {
  readonly protocol: 'modern' | 'legacy'
  readonly capabilities: JsonObject
  /** Lowest level of the log messages it wants with this request. */
  readonly logLevel: string | undefined
}

/** The `_meta` of a request, or an empty object. @throws RpcFault if it is not an object. */
export function metaOf({ _meta }: JsonObject): JsonObject {
  if (_meta === undefined) return {}
  if (isObject(_meta)) return _meta
  throw new RpcFault(CODE.invalidParams, '`_meta` must be an object')
}

/** The sender of a modern request; undefined for a legacy request. @throws RpcFault if it is neither. */
export function modernSender(meta: JsonObject): Sender | undefined {
  const version = meta[META.version]
  if (version === undefined && meta[META.capabilities] === undefined) return undefined
  if (typeof version !== 'string') throw missing(META.version)
  if (version !== MODERN) {
    const data = { supported: VERSIONS, requested: version.slice(0, 64) }
    throw new RpcFault(CODE.unsupportedVersion, 'unsupported protocol version', data)
  }
  const capabilities = meta[META.capabilities]
  if (!isObject(capabilities)) throw missing(META.capabilities)
  return {
    protocol: 'modern',
    capabilities: capabilitiesFor(capabilities),
    logLevel: LEVELS.find((level) => level === meta[META.logLevel]),
  }
}

/** The sender of `initialize` and the revision it requests. @throws RpcFault. */
export function legacySender({ capabilities, protocolVersion }: JsonObject): {
  readonly sender: Sender
  readonly requested: string
} {
  if (typeof protocolVersion !== 'string' || !isObject(capabilities)) {
    throw new RpcFault(CODE.invalidParams, '`initialize` lacks `protocolVersion` or `capabilities`')
  }
  const sender: Sender = {
    protocol: 'legacy',
    capabilities: capabilitiesFor(capabilities),
    logLevel: undefined,
  }
  return { sender, requested: protocolVersion }
}

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

/** The capabilities that servers see: words of the protocol only, no text of the client. */
function capabilitiesFor(given: JsonObject): JsonObject {
  const known = Object.entries(FORMS).flatMap(([name, members]): [string, Json][] => {
    const value = given[name]
    if (!isObject(value)) return []
    const kept = members.filter((member) => isObject(value[member]) || value[member] === true)
    return [[name, Object.fromEntries(kept.map((member) => [member, member === 'listChanged' ? true : {}]))]]
  })
  return Object.fromEntries(known)
}

/** The client name that servers see. The client's own name would reach them without being judged. */
export const OUR_INFO: JsonObject = { name: 'unnamed', version: '0' }

function missing(key: string): RpcFault {
  return new RpcFault(CODE.invalidParams, `\`_meta\` lacks \`${key}\``)
}

/** The parent span that a client names in `_meta`; undefined if it is malformed. */
export function traceparentIn({ traceparent }: JsonObject): string | undefined {
  return typeof traceparent === 'string' && isTraceparent(traceparent) ? traceparent : undefined
}

/**
 * The part of a client's `_meta` that a server may see: only the parent span. Any other key would reach the server without
 * being judged.
 */
export function metaForServer(meta: JsonObject): JsonObject | undefined {
  const traceparent = traceparentIn(meta)
  return traceparent === undefined ? undefined : { traceparent }
}

const LISTS: readonly string[] = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]

/** A result in the form of the reader's protocol. A server cannot set the members of an interim result. */
export function resultFor(
  protocol: Sender['protocol'],
  method: string,
  result: JsonObject,
  serverInfo: JsonObject,
): JsonObject {
  const own = without(result, ...INTERIM)
  if (protocol === 'legacy') return without(own, 'ttlMs', 'cacheScope')
  const meta = isObject(own['_meta']) ? own['_meta'] : {}
  const { ttlMs } = own
  return {
    ...own,
    // Results of one principal must not enter a shared cache. For a legacy server the lifetime is unknown, so it is 0.
    ...(LISTS.includes(method) && {
      ttlMs: typeof ttlMs === 'number' ? Math.max(0, Math.min(ttlMs, MAX_TTL)) : 0,
      cacheScope: 'private',
    }),
    resultType: 'complete',
    _meta: { ...meta, [META.serverInfo]: serverInfo },
  }
}

/** An interim answer of a modern request: the questions to the client. */
export function interimFor(questions: JsonObject, state: string, serverInfo: JsonObject): JsonObject {
  return {
    resultType: 'input_required',
    inputRequests: questions,
    requestState: state,
    _meta: { [META.serverInfo]: serverInfo },
  }
}

const MAX_TTL = 60_000
const INTERIM = ['resultType', 'inputRequests', 'requestState']

export function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  if (!names.some((name) => value[name] !== undefined)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}
