// What comes with a request: its body, unpacked and within limits, and what it says of its session.

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { isObject, type JsonObject } from '@tollgate/evidence'
import type { DoorRequest } from '../exchange.ts'
import { Refused } from './dialect.ts'
import type { Claims } from './request-context.ts'

const JSON_TYPE = /^application\/json(?: *; *charset=(?:utf-8|"utf-8"))? *$/i

/** The bytes of the body. @throws Refused */
export async function receive(asked: DoorRequest, limit: number): Promise<Uint8Array> {
  if (!JSON_TYPE.test(asked.header('content-type') ?? '')) {
    throw new Refused(
      415,
      'NOT_JSON',
      'the body is not declared to be JSON; send `content-type: application/json`',
    )
  }
  const packing = asked.header('content-encoding') ?? 'identity'
  if (packing !== 'identity' && packing !== 'gzip') {
    throw new Refused(
      415,
      'ENCODING_UNKNOWN',
      'the body is packed in a way that is not known here; send it as it is, or as gzip',
    )
  }
  const bytes = await asked.body(limit)
  return packing === 'gzip' ? unpacked(bytes, limit) : bytes
}

/** Unpacked beside the thread that everyone waits for: a small body can become a large one. */
async function unpacked(bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: limit })
  } catch (fault) {
    const large = fault instanceof RangeError
    throw large
      ? new Refused(413, 'BODY_TOO_LARGE', `the body is larger than ${limit} bytes when it is unpacked`)
      : new Refused(400, 'AMBIGUOUS_INPUT', 'the body is not gzip')
  }
}

/** How many bytes a request will need; as many as it may, if it does not say. */
export function sizeOf(asked: DoorRequest, limit: number): number {
  const told = asked.header('content-length')
  return told === undefined ? limit : Math.min(Number(told), limit)
}

const SESSION = 'tollgate_session'

/** What a request says of itself. A session in its metadata is ours, and does not go on. */
export function claimsOf(asked: DoorRequest, body: JsonObject): { claims: Claims; stripped: boolean } {
  const inside = sessionIn(body)
  const outside = asked.header('tollgate-session')
  if (inside !== undefined && outside !== undefined && inside !== outside) {
    throw new Refused(
      400,
      'AMBIGUOUS_INPUT',
      'the header and the metadata name different sessions',
      'metadata',
    )
  }
  return {
    claims: {
      session: outside ?? inside,
      approval: asked.header('tollgate-approval'),
      delegation: asked.header('tollgate-delegation'),
    },
    stripped: inside !== undefined,
  }
}

/** Takes the session out of the metadata of a body, and the metadata too if nothing else is in it. */
function sessionIn(body: JsonObject): string | undefined {
  const { metadata } = body
  if (!isObject(metadata) || !Object.hasOwn(metadata, SESSION)) return undefined
  const { [SESSION]: session, ...others } = metadata
  if (typeof session !== 'string') {
    throw new Refused(400, 'AMBIGUOUS_INPUT', `\`metadata.${SESSION}\` is not a text`, 'metadata')
  }
  // Sound: the body is ours.
  const own = body as Record<string, unknown>
  if (Object.keys(others).length === 0) delete own['metadata']
  else own['metadata'] = others
  return session
}
