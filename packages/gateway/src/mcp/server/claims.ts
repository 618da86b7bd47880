// Removes the `dev.tollgate/` members from a server's answer. Only the gateway may state decisions and approvals.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { UpstreamAnswer } from './upstream.ts'

// The prefix of all keys of Tollgate.
const OURS = 'dev.tollgate/'

/** An answer without the keys that are reserved for the gateway. */
export function withoutClaims(answer: UpstreamAnswer): UpstreamAnswer {
  if (answer.ok) return { ok: true, result: metaWithout(answer.result) }
  const { data } = answer.error
  return isObject(data)
    ? { ok: false, error: { ...answer.error, data: metaWithout(unclaimed(data)) } }
    : answer
}

function metaWithout(value: JsonObject): JsonObject {
  const { _meta } = value
  return isObject(_meta) ? { ...value, _meta: unclaimed(_meta) } : value
}

function unclaimed(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith(OURS)))
}
