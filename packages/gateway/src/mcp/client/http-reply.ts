// Replies of the HTTP door. Refusals are JSON-RPC errors, because clients of MCP read those.

import type { Reply } from '../../exchange.ts'
import type { KnownCaller } from '../../tokens.ts'
import type { Scope } from '../mcp.ts'
import { CODE, formatError, type RequestId, type RpcError } from '../message.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }
// Proxies must not buffer.
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** One message as the whole reply. */
export function messageReply(status: number, text: string, headers: Reply['headers'] = {}): Reply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: text }
}

/** An error, with the id of the request if there is one. */
export function errorReply(
  status: number,
  error: RpcError,
  id?: RequestId,
  headers: Reply['headers'] = {},
): Reply {
  return messageReply(status, formatError(id, error), headers)
}

/** A refusal at the level of HTTP. */
export function refusal(status: number, message: string, headers: Reply['headers'] = {}): Reply {
  return errorReply(status, { code: CODE.invalidRequest, message }, undefined, headers)
}

export function streamReply(pieces: AsyncIterable<string>, headers: Reply['headers'] = {}): Reply {
  return { status: 200, headers: { ...STREAM_HEADERS, ...headers }, body: pieces }
}

/** The message is accepted and needs no answer. */
export function accepted(): Reply {
  return { status: 202, headers: {}, body: '' }
}

export const TOO_MANY: RpcError = {
  code: CODE.invalidRequest,
  message: 'too many open requests: close some, or wait until they are answered',
}

export function noServer({ kind }: Scope): Reply {
  return refusal(404, kind === 'all' ? 'no server is configured' : 'unknown server: check the path')
}

/** The answer when a request was ended from the gateway. */
export function endedReply(caller: KnownCaller, id: RequestId | undefined): Reply {
  const [status, message] = caller.known()
    ? [503, 'the gateway is stopping; the outcome of the request is on its ledger']
    : [401, 'the token has been revoked']
  return errorReply(status, { code: CODE.internal, message }, id)
}
