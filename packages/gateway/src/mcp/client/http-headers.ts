// Checks the MCP headers of a request. They must agree with the body, because others may route or log by them.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { DoorRequest, Reply } from '../../exchange.ts'
import { LEGACY, META, MODERN, VERSIONS } from '../protocol.ts'
import { refusal } from './http-reply.ts'
import { CODE, RpcFault, type Request } from '../message.ts'
import { NAMED } from '../methods.ts'

/** Whether a message has a revision without sessions, or an unknown one. */
export function isModern(asked: DoorRequest, params: JsonObject): boolean {
  return versionIn(params) !== undefined || !isLegacyVersion(asked)
}

/** Whether the header names a revision with sessions, or is missing, as in the first of them. */
export function isLegacyVersion(asked: DoorRequest): boolean {
  const version = asked.header('mcp-protocol-version')
  return version === undefined || LEGACY.includes(version)
}

/** Whether a message may have the full size. Without a session and a known revision only `initialize` is possible. */
export function mayBeLarge(asked: DoorRequest): boolean {
  if (asked.header('mcp-protocol-version') === MODERN) return true
  return isLegacyVersion(asked) && asked.header('mcp-session-id') !== undefined
}

function unsupported(requested: string): RpcFault {
  return new RpcFault(CODE.unsupportedVersion, 'unsupported protocol version', {
    supported: VERSIONS,
    requested: requested.slice(0, 64).toWellFormed(),
  })
}

/** Checks the headers of a request without a session against its body. @throws RpcFault, always answered with 400. */
export function checkModern(asked: DoorRequest, { method, params }: Request): void {
  const header = asked.header('mcp-protocol-version')
  const version = versionIn(params)
  if (version === undefined) {
    if (header !== undefined && header !== MODERN) throw unsupported(header)
    throw new RpcFault(CODE.invalidParams, `\`_meta\` lacks \`${META.version}\``)
  }
  if (header !== version) throw mismatch('MCP-Protocol-Version', header)
  if (version !== MODERN) throw unsupported(version)
  if (!isObject(metaOf(params)[META.capabilities])) {
    throw new RpcFault(CODE.invalidParams, `\`_meta\` lacks \`${META.capabilities}\``)
  }
  const named = asked.header('mcp-method')
  if (named !== method) throw mismatch('Mcp-Method', named)
  checkName(asked, method, params)
}

function checkName(asked: DoorRequest, method: string, params: JsonObject): void {
  const member = NAMED.get(method)
  const header = asked.header('mcp-name')
  if (member === undefined) return
  if (header === undefined || decoded(header) !== params[member]) throw mismatch('Mcp-Name', header)
}

function mismatch(name: string, header: string | undefined): RpcFault {
  const what = header === undefined ? 'is missing' : 'differs from the body'
  return new RpcFault(CODE.headerMismatch, `the header \`${name}\` ${what}`)
}

/** The value of a header that may be in base64; undefined if it is ambiguous. */
function decoded(header: string): string | undefined {
  const base64 = /^=\?base64\?(.*)\?=$/s.exec(header)?.[1]
  if (base64 === undefined) return /^[\x20-\x7e]*$/.test(header) ? header : undefined
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return undefined
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

function metaOf({ _meta: meta }: JsonObject): JsonObject {
  return isObject(meta) ? meta : {}
}

function versionIn(params: JsonObject): string | undefined {
  const version = metaOf(params)[META.version]
  return typeof version === 'string' ? version : undefined
}

/** The refusal of a body or of the accepted answer types; undefined if both are fine. */
export function bodyRefusal(asked: DoorRequest): Reply | undefined {
  const type = asked.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  const encoding = asked.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (type !== 'application/json' || encoding !== 'identity') {
    return refusal(415, 'send `Content-Type: application/json`, without a content encoding')
  }
  if (accepts(asked, 'application/json') && accepts(asked, STREAM)) return undefined
  return refusal(406, 'send `Accept: application/json, text/event-stream`')
}

/** The refusal of a stream; undefined if it can be opened. */
export function streamRefusal(asked: DoorRequest): Reply | undefined {
  return accepts(asked, STREAM) ? undefined : refusal(406, 'send `Accept: text/event-stream`')
}

const STREAM = 'text/event-stream'

function accepts(asked: DoorRequest, type: string): boolean {
  const header = asked.header('accept')
  if (header === undefined) return true
  const family = `${type.split('/')[0] ?? ''}/*`
  return header.split(',').some((part) => {
    const [range = '', ...options] = part.split(';').map((each) => each.trim().toLowerCase())
    return ['*/*', family, type].includes(range) && !options.some((each) => /^q=0(?:\.0*)?$/.test(each))
  })
}
