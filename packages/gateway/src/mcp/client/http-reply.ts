// Answers of the HTTP door. What is refused is told as JSON-RPC, which is what clients of this protocol read.

import type { Reply } from '../../exchange.ts'
import { CODE, formatError, type RequestId, type RpcError } from '../message.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }
// Whatever passes it on is to do so at once.
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
}

/** One message as the whole answer. */
export function messageReply(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers: { ...JSON_HEADERS, ...headers }, body: text }
}

/** An error, to the request of this id or to none. */
export function errorReply(
  status: number,
  error: RpcError,
  id?: RequestId,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return messageReply(status, formatError(id, error), headers)
}

/** Something that is wrong with the request for HTTP, before or beside what it asks. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return errorReply(status, { code: CODE.invalidRequest, message }, undefined, headers)
}

/** A stream of messages. */
export function streamReply(
  pieces: AsyncIterable<string>,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status: 200, headers: { ...STREAM_HEADERS, ...headers }, body: pieces }
}

/** What was sent is taken, and needs no answer. */
export function accepted(): Reply {
  return { status: 202, headers: {}, body: '' }
}
