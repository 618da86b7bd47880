// Reads a whole answer of an upstream, with checks of its type and size.

import type { JsonObject } from '@tollgate/evidence'
import { Garbled } from './dialect.ts'
import { objectIn } from './filter.ts'
import type { UpstreamReply } from './upstream.ts'

const MAX_REPLY = 64 << 20
const MAX_ERROR = 1 << 16

/** Requires a reply to have this media type. @throws Garbled */
export function requireType({ headers }: UpstreamReply, type: string): void {
  const given = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (given !== type) throw new Garbled(`it is not ${type}`)
}

/** The text of a whole reply. @throws Garbled, UpstreamFault */
export async function textOf({ body }: UpstreamReply, limit: number = MAX_REPLY): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > limit) throw new Garbled('it is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The error body of an upstream; undefined if it is unreadable. Never rejects. */
export async function errorIn(reply: UpstreamReply): Promise<JsonObject | undefined> {
  try {
    return objectIn(await textOf(reply, MAX_ERROR))
  } catch {
    // An error page of a proxy, or too large. The status is enough.
    return undefined
  }
}
