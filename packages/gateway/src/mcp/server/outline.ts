// What can be told of a message that could not be read.

import { MAX_VALUES } from '@tollgate/evidence'
import type { RequestId } from '../message.ts'

/** Whose message it was, and what kind of message. */
interface Outline {
  readonly id: RequestId | undefined
  readonly isAnswer: boolean
  /** It looks like a result, and not like an error: what was asked for has been done. */
  readonly isResult: boolean
}

const NOTHING: Outline = { id: undefined, isAnswer: false, isResult: false }

/** The outline of a message. Lenient: it only says who is to be told that nothing could be read, and what became of it. */
export function outlineOf(bytes: Uint8Array): Outline {
  // Reading leniently what was refused for its many values would cost what the refusal has saved.
  if (startsOfValues(bytes) > MAX_VALUES) return NOTHING
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? readOutline(value) : NOTHING
  } catch {
    return NOTHING
  }
}

function readOutline(value: { id?: unknown; method?: unknown; result?: unknown; error?: unknown }): Outline {
  const { id, method, result, error } = value
  const isText = typeof id === 'string' && id.length <= 256
  const isNumber = typeof id === 'number' && Number.isSafeInteger(id)
  const isAnswer = method === undefined
  return {
    id: isText || isNumber ? id : undefined,
    isAnswer,
    isResult: isAnswer && result !== undefined && error === undefined,
  }
}

/** At least as many as there are values, but one. */
function startsOfValues(bytes: Uint8Array): number {
  let count = 0
  // Of a comma, an opening bracket and an opening brace.
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count++
  return count
}
