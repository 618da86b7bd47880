// The Gemini API on the wire, as Google sends it.

import type { Json, JsonObject } from '@tollgate/evidence'
import {
  finishOf,
  isObject,
  objectsIn,
  tokens,
  written,
  type Failing,
  type Failure,
  type Frame,
  type ScriptedCall,
  type Spoken,
  type Wire,
} from './upstream-script.ts'

const USAGE: JsonObject = {
  promptTokenCount: 82,
  candidatesTokenCount: 17,
  totalTokenCount: 99,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 82 }],
}
const HEAD: JsonObject = { modelVersion: 'gemini-3-pro-preview', responseId: 'q1w2e3r4t5' }
/** Google signs the first call of a turn. */
const SIGNATURE = 'c2lnbmVk'

/** The paths `/v1beta/models/…:generateContent` and `:streamGenerateContent`. */
export function createGeminiWire(): Wire {
  return {
    reply: (_, spoken) => response(allParts(spoken), endOf(spoken)),
    stream: (_, spoken) => [
      ...allParts(spoken)
        .flatMap(piecesOf)
        .map((part) => frame(response([part], {}), 'functionCall' in part)),
      frame(response([{ text: '' }], endOf(spoken)), false),
    ],
    failure,
    objection,
    headers: () => ({ 'x-gemini-service-tier': 'standard', 'server-timing': 'gfet4t7; dur=512' }),
  }
}

function response(parts: readonly JsonObject[], end: JsonObject): JsonObject {
  const content = { ...(parts.length > 0 && { parts }), role: 'model' }
  // An index of zero is left out.
  return { candidates: [{ content, ...end }], usageMetadata: USAGE, ...HEAD }
}

function allParts({ reasoning, text, calls = [], thenText }: Spoken): JsonObject[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.filter(({ cutAt }) => cutAt === undefined).map(callPart),
    ...(thenText === undefined ? [] : [{ text: thenText }]),
  ]
}

function callPart(call: ScriptedCall, at: number): JsonObject {
  const { id, name, args } = call
  const functionCall = { ...(id !== undefined && { id }), name, ...argsOf(args) }
  return { functionCall, ...(at === 0 && { thoughtSignature: SIGNATURE }) }
}

/** An empty object is left out. */
function argsOf(args: ScriptedCall['args']): JsonObject {
  const value: Json = typeof args === 'string' ? (JSON.parse(args === '' ? '{}' : args) as Json) : args
  return isObject(value) && Object.keys(value).length === 0 ? {} : { args: value }
}

/** A text comes in pieces, a call whole. */
function piecesOf(part: JsonObject): readonly JsonObject[] {
  const { text } = part
  return typeof text === 'string' ? tokens(text).map((piece) => ({ ...part, text: piece })) : [part]
}

/** A call that Google could not read is only in the message of the end. */
function endOf(spoken: Spoken): JsonObject {
  const cut = spoken.calls?.find(({ cutAt }) => cutAt !== undefined)
  if (cut) {
    const finishMessage = `Malformed function call: ${cut.name}(${written(cut)}`
    return { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage }
  }
  return { finishReason: finishOf(spoken) === 'length' ? 'MAX_TOKENS' : 'STOP' }
}

function frame(data: JsonObject, args: boolean): Frame {
  return { text: `data: ${JSON.stringify(data)}\r\n\r\n`, args }
}

/** Refuses a conversation whose calls and results do not match, or whose calls have lost their signature. */
function objection(asked: JsonObject): Failure | undefined {
  let open = 0
  for (const parts of turnsOf(asked)) {
    const calls = objectsIn([...parts]).filter((part) => 'functionCall' in part)
    const results = objectsIn([...parts]).filter((part) => 'functionResponse' in part)
    if (results.length !== open) {
      return invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    if (calls[0] && typeof calls[0].thoughtSignature !== 'string') {
      return invalid('Function call is missing a thought_signature in functionCall parts.')
    }
    open = calls.length
  }
  return open === 0
    ? undefined
    : invalid('Please ensure that function call turn comes before a response turn.')
}

/** Contents of one side that follow each other are one turn. */
function turnsOf({ contents }: JsonObject): readonly (readonly Json[])[] {
  const turns: { isModel: boolean; parts: Json[] }[] = []
  for (const { role, parts } of objectsIn(contents)) {
    const last = turns.at(-1)
    const own = Array.isArray(parts) ? (parts as Json[]) : []
    if (last?.isModel === (role === 'model')) last.parts.push(...own)
    else turns.push({ isModel: role === 'model', parts: [...own] })
  }
  return turns.map(({ parts }) => parts)
}

function invalid(message: string): Failure {
  return { status: 400, headers: {}, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

function failure({ status, retryAfterMs }: Failing): Failure {
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${(retryAfterMs ?? 0) / 1000}s` },
  ]
  const message = 'The model is overloaded. Please try again later.'
  const error = { code: status, message, status: STATUSES[status] ?? 'UNKNOWN', details }
  return {
    status,
    headers: retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) },
    body: { error },
  }
}
