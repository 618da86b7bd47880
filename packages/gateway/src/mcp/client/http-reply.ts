// Replies of the HTTP door. Refusals are JSON-RPC errors, because clients of MCP read those.

import type { Reply } from '../../exchange.ts'
import { CODE, formatError, type RequestId, type RpcError } from '../message.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }
// Proxies must not buffer.
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** One message as the whole reply. */
export function messageReply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: text }
}

/** An error, with the id of the request if there is one. */
export function errorReply(
  status: number,
  error: RpcError,
  id?: RequestId,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return messageReply(status, formatError(id, error), headers)
}

/** A refusal at the level of HTTP. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return errorReply(status, { code: CODE.invalidRequest, message }, undefined, headers)
}

export function streamReply(
  pieces: AsyncIterable<string>,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status: 200, headers: { ...STREAM_HEADERS, ...headers }, body: pieces }
}

/** The message is accepted and needs no answer. */
export function accepted(): Reply {
  return { status: 202, headers: {}, body: '' }
}
