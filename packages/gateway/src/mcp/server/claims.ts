// What only the gateway may say: a decision, an approval. A server that says it is not heard.

import { isObject, type JsonObject } from '@tollgate/evidence'
import type { UpstreamAnswer } from './upstream.ts'

// Every key of ours begins with it.
const OURS = 'dev.tollgate/'

/** An answer without what a server says in the gateway's name. */
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
