// The answer of an upstream, as far as it has to be taken whole: of the right type, and within limits.

import type { JsonObject } from '@tollgate/evidence'
import { Garbled } from './dialect.ts'
import { objectIn } from './filter.ts'
import type { UpstreamReply } from './upstream.ts'

const LARGEST_REPLY = 64 << 20
const LARGEST_ERROR = 1 << 16

/** Requires a reply to be of a type. @throws Garbled */
export function requireType({ headers }: UpstreamReply, type: string): void {
  const given = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (given !== type) throw new Garbled(`it is not ${type}`)
}

/** The text of a whole reply. @throws Garbled, UpstreamFault */
export async function textOf({ body }: UpstreamReply, limit: number = LARGEST_REPLY): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > limit) throw new Garbled('it is larger than a reply may be')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** What an upstream says of its fault; undefined if it cannot be read. Never rejects. */
export async function errorIn(reply: UpstreamReply): Promise<JsonObject | undefined> {
  try {
    return objectIn(await textOf(reply, LARGEST_ERROR))
  } catch {
    // A page of some proxy, or too much: the status says enough.
    return undefined
  }
}
