// Reads and writes JSON-RPC messages. A message is read once and strictly; ambiguous input is refused. Only the gateway's own
// canonical text is forwarded, never the sender's bytes.

import {
  canonicalize,
  EvidenceError,
  isList,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '@tollgate/evidence/core'

export type RequestId = string | number

export interface Request {
  readonly kind: 'request'
  readonly id: RequestId
  /** The client's own id, where the door uses another to tell the requests of several clients apart. */
  readonly clientId?: RequestId
  readonly method: string
  readonly params: JsonObject
}

export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject
}

export type Response =
  | { readonly kind: 'response'; readonly id: RequestId; readonly result: JsonObject }
  | { readonly kind: 'response'; readonly id: RequestId | undefined; readonly error: RpcError }

export type Message = Request | Notification | Response

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** An unreadable message: the error to answer, and the id, if it is readable. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly id: RequestId | undefined
  readonly error: RpcError
  /** The input. It is hashed and never shown. */
  readonly source: Uint8Array | string
}

/** Codes of JSON-RPC and of MCP. */
export const CODE = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** An error to answer with. Its message never holds a value of the arguments. */
export class RpcFault extends Error {
  readonly code: number
  readonly data: Json | undefined

  constructor(code: number, message: string, data?: Json) {
    super(message)
    this.name = 'RpcFault'
    this.code = code
    this.data = data
  }
}

/** Largest message in bytes, in both directions. */
export const MAX_MESSAGE: number = 8 << 20

// Another reader could give meaning to other members.
const MEMBERS: readonly string[] = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

/** Reads one message. A batch is unreadable: no supported revision has batches. */
export function parseMessage(
  text: Uint8Array | string,
  maxBytes: number = MAX_MESSAGE,
): Message | Unreadable {
  let value: Json
  try {
    value = parseJson(text, { maxBytes })
  } catch (fault) {
    const code = fault instanceof EvidenceError ? fault.code : 'not readable'
    return unreadable(text, undefined, CODE.parse, `the message is not strict JSON (${code})`)
  }
  if (isObject(value)) return readMessage(value, text)
  const batch = 'batches are not supported: send one message at a time'
  const why = isList(value) ? batch : 'a message must be an object'
  return unreadable(text, undefined, CODE.invalidRequest, why)
}

function readMessage(value: JsonObject, source: Uint8Array | string): Message | Unreadable {
  const { id, method, params, result, error } = value
  const known = isId(id) ? id : undefined
  const refuse = (message: string): Unreadable => unreadable(source, known, CODE.invalidRequest, message)
  if (!Object.keys(value).every((name) => MEMBERS.includes(name))) {
    return refuse('the message has a member that is not in JSON-RPC')
  }
  if (value['jsonrpc'] !== '2.0') return refuse('`jsonrpc` is not "2.0"')
  if (id !== undefined && known === undefined && !(id === null && error !== undefined)) {
    return refuse('`id` must be a string or an integer')
  }
  if (method === undefined) return readResponse(value, known, refuse)
  if (result !== undefined || error !== undefined)
    return refuse('a request must not have a result or an error')
  if (typeof method !== 'string' || method.length === 0 || method.length > 128) {
    return refuse('`method` must be a string of 1 to 128 characters')
  }
  if (params !== undefined && !isObject(params)) {
    return unreadable(source, known, CODE.invalidParams, '`params` must be an object')
  }
  const read = { method, params: params ?? NOTHING }
  return known === undefined ? { kind: 'notification', ...read } : { kind: 'request', id: known, ...read }
}

function readResponse(
  { params, result, error }: JsonObject,
  id: RequestId | undefined,
  refuse: (message: string) => Unreadable,
): Response | Unreadable {
  if (params !== undefined || (result === undefined) === (error === undefined)) {
    return refuse('the message is neither a request nor an answer')
  }
  if (result !== undefined) {
    if (!isObject(result)) return refuse('`result` must be an object')
    return id === undefined ? refuse('an answer must have an `id`') : { kind: 'response', id, result }
  }
  const read = readError(error)
  return read ? { kind: 'response', id, error: read } : refuse('`error` is not a JSON-RPC error')
}

function readError(error: Json | undefined): RpcError | undefined {
  if (!isObject(error)) return undefined
  const { code, message, data } = error
  if (typeof code !== 'number' || !Number.isSafeInteger(code) || typeof message !== 'string') return undefined
  return { code, message, ...(data !== undefined && { data }) }
}

const NOTHING: JsonObject = {}

function unreadable(
  source: Uint8Array | string,
  id: RequestId | undefined,
  code: number,
  message: string,
): Unreadable {
  return { kind: 'unreadable', id, error: { code, message }, source }
}

export function isId(value: unknown): value is RequestId {
  if (typeof value === 'string') return value.length <= 256
  return typeof value === 'number' && Number.isSafeInteger(value)
}

/** The canonical text of a value. @throws EvidenceError `JSON_TOO_LARGE` if it exceeds the size of a message. */
export function textOf(value: Json): string {
  return canonicalize(value, { maxLength: MAX_MESSAGE })
}

export function formatRequest(id: RequestId, method: string, params: JsonObject): string {
  return textOf({ jsonrpc: '2.0', id, method, params })
}

export function formatNotification(method: string, params: JsonObject): string {
  return textOf({ jsonrpc: '2.0', method, params })
}

/** The text of an answer whose result is already canonical JSON. */
export function formatResult(id: RequestId, result: string): string {
  return `{"id":${JSON.stringify(id)},"jsonrpc":"2.0","result":${result}}`
}

export function formatError(id: RequestId | undefined, { code, message, data }: RpcError): string {
  return textOf({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code, message: message.toWellFormed(), ...(data !== undefined && { data }) },
  })
}

/** The error to answer for a fault. An internal fault gets a fixed text, because its message may hold anything. */
export function errorOf(fault: unknown): RpcError {
  if (!(fault instanceof RpcFault))
    return { code: CODE.internal, message: 'internal error of the gateway; see its log' }
  const { code, message, data } = fault
  return { code, message, ...(data !== undefined && { data }) }
}
