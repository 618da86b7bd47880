// Receives the body of a request, decompressed and within limits, and its session headers.

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isObject, type JsonObject } from '@tollgate/evidence'
import type { DoorRequest } from '../exchange.ts'
import { ambiguous, Refused } from './dialect.ts'
import type { Claims } from './request-context.ts'

const JSON_TYPE = /^application\/json(?: *; *charset=(?:utf-8|"utf-8"))? *$/i

/** The bytes of the body. @throws Refused */
export async function receive(asked: DoorRequest, limit: number): Promise<Uint8Array> {
  if (!JSON_TYPE.test(asked.header('content-type') ?? '')) {
    throw new Refused(
      415,
      'NOT_JSON',
      'the body is not declared as JSON; send `content-type: application/json`',
    )
  }
  const packing = asked.header('content-encoding') ?? 'identity'
  if (packing !== 'identity' && packing !== 'gzip') {
    throw new Refused(415, 'ENCODING_UNKNOWN', 'unsupported content encoding; send the body plain or as gzip')
  }
  const bytes = await asked.body(limit)
  return packing === 'gzip' ? unpacked(bytes, limit) : bytes
}

/** Decompresses off the main thread, because a small body can become a large one. */
async function unpacked(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: limit })
  } catch (fault) {
    const large = fault instanceof RangeError
    throw large
      ? new Refused(413, 'BODY_TOO_LARGE', `the decompressed body is larger than ${limit} bytes; send less`)
      : ambiguous('the body is not gzip')
  }
}

/** The expected number of bytes; the limit if the request does not say. */
export function sizeOf(asked: DoorRequest, limit: number): number {
  const length = asked.header('content-length')
  return length === undefined ? limit : Math.min(Number(length), limit)
}

const SESSION = 'tollgate_session'

/** The session, approval and delegation of a request. A session in the metadata is removed from the body. */
export function claimsOf(asked: DoorRequest, body: JsonObject): { claims: Claims; stripped: boolean } {
  const inside = sessionIn(body)
  const outside = asked.header('tollgate-session')
  if (inside !== undefined && outside !== undefined && inside !== outside) {
    throw ambiguous('the header and the metadata name different sessions; send one', 'metadata')
  }
  return {
    claims: {
      session: outside ?? inside,
      approval: asked.header('tollgate-approval'),
      delegation: asked.header('tollgate-delegation'),
      traceparent: asked.header('traceparent'),
    },
    stripped: inside !== undefined,
  }
}

/** Removes the session from the metadata of a body, and empty metadata too. */
function sessionIn(body: JsonObject): string | undefined {
  const { metadata } = body
  if (!isObject(metadata) || !Object.hasOwn(metadata, SESSION)) return undefined
  const { [SESSION]: session, ...others } = metadata
  if (typeof session !== 'string') {
    throw ambiguous(`\`metadata.${SESSION}\` must be a string`, 'metadata')
  }
  // Sound: the body may be changed.
  const own = body as Record<string, unknown>
  if (Object.keys(others).length === 0) delete own['metadata']
  else own['metadata'] = others
  return session
}
