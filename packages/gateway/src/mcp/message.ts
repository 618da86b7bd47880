// JSON-RPC messages: read once, strictly, at the door; what two readers could read differently is refused. What goes on from
// here is our own text of what was read, never the sender's bytes.

import {
  canonicalize,
  EvidenceError,
  isList,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '@tollgate/evidence'

/** The id of a request. */
export type RequestId = string | number

/** A message that asks for an answer. */
export interface Request {
  readonly kind: 'request'
  readonly id: RequestId
  /** The id that the client gave it, where the door gives it another so that those of several clients can be told apart. */
  readonly said?: RequestId
  readonly method: string
  readonly params: JsonObject
}

/** A message that asks for none. */
export interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonObject
}

/** The answer to a request. */
export type Response =
  | { readonly kind: 'response'; readonly id: RequestId; readonly result: JsonObject }
  | { readonly kind: 'response'; readonly id: RequestId | undefined; readonly error: RpcError }

/** A message that could be read. */
export type Message = Request | Notification | Response

/** Why a request has no result. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: Json
}

/** A message that could not be read: what to answer, and to which id, if it has a readable one. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly id: RequestId | undefined
  readonly error: RpcError
  /** What came: to be hashed, and shown to nobody. */
  readonly source: Uint8Array | string
}

/** Codes of JSON-RPC and of the protocol. */
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

/** An answer that is an error, thrown where it is found. Never holds a value of the arguments. */
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

/** Largest message, in bytes, either way. */
export const MAX_MESSAGE: number = 8 << 20

// Members beyond these could mean something to another reader.
const MEMBERS: readonly string[] = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']

/**
 * Reads one message. A batch is answered as unreadable: no revision that is spoken today has them, and each of its parts would
 * have to be judged alone.
 */
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
  if (isList(value)) return unreadable(text, undefined, CODE.invalidRequest, 'batches are not taken')
  if (!isObject(value)) return unreadable(text, undefined, CODE.invalidRequest, 'a message is an object')
  return readMessage(value, text)
}

function readMessage(value: JsonObject, source: Uint8Array | string): Message | Unreadable {
  const { id, method, params, result, error } = value
  const known = isId(id) ? id : undefined
  const refuse = (message: string): Unreadable => unreadable(source, known, CODE.invalidRequest, message)
  if (!Object.keys(value).every((name) => MEMBERS.includes(name))) {
    return refuse('the message has a member that JSON-RPC does not know')
  }
  if (value['jsonrpc'] !== '2.0') return refuse('`jsonrpc` is not "2.0"')
  if (id !== undefined && known === undefined && !(id === null && error !== undefined)) {
    return refuse('`id` is neither a text nor a whole number')
  }
  if (method === undefined) return readResponse(value, known, refuse)
  if (result !== undefined || error !== undefined) return refuse('a request has no result')
  if (typeof method !== 'string' || method.length === 0 || method.length > 128) {
    return refuse('`method` is not a name')
  }
  if (params !== undefined && !isObject(params)) {
    return unreadable(source, known, CODE.invalidParams, '`params` is not an object')
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
    if (!isObject(result)) return refuse('`result` is not an object')
    return id === undefined ? refuse('an answer has an `id`') : { kind: 'response', id, result }
  }
  const read = readError(error)
  return read ? { kind: 'response', id, error: read } : refuse('`error` is not one of JSON-RPC')
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

function isId(value: Json | undefined): value is RequestId {
  if (typeof value === 'string') return value.length <= 256
  return typeof value === 'number' && Number.isSafeInteger(value)
}

/** The canonical text of what goes on in a message. @throws EvidenceError `JSON_TOO_LARGE` if it is more than a message may be. */
export function textOf(value: Json): string {
  return canonicalize(value, { maxLength: MAX_MESSAGE })
}

/** The text of a request. */
export function formatRequest(id: RequestId, method: string, params: JsonObject): string {
  return textOf({ jsonrpc: '2.0', id, method, params })
}

/** The text of a notification. */
export function formatNotification(method: string, params: JsonObject): string {
  return textOf({ jsonrpc: '2.0', method, params })
}

/** The text of an answer whose result is canonical JSON already. */
export function formatResult(id: RequestId, result: string): string {
  return `{"id":${JSON.stringify(id)},"jsonrpc":"2.0","result":${result}}`
}

/** The text of an answer that is an error. */
export function formatError(id: RequestId | undefined, { code, message, data }: RpcError): string {
  return textOf({
    jsonrpc: '2.0',
    id: id ?? null,
    error: { code, message: message.toWellFormed(), ...(data !== undefined && { data }) },
  })
}

/** What is answered to a fault. One that is ours says nothing: its message may hold anything. */
export function errorOf(fault: unknown): RpcError {
  if (!(fault instanceof RpcFault)) return { code: CODE.internal, message: 'the gateway could not answer' }
  const { code, message, data } = fault
  return { code, message, ...(data !== undefined && { data }) }
}
