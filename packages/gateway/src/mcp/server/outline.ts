// What can be told of a message that could not be read.

import type { RequestId } from '../message.ts'

/** Whose message it was, and what kind of message. */
export interface Outline {
  readonly id: RequestId | undefined
  readonly isAnswer: boolean
  /** It looks like a result, and not like an error: what was asked for has been done. */
  readonly isResult: boolean
}

const NOTHING: Outline = { id: undefined, isAnswer: false, isResult: false }

/** The outline of a message. Lenient: it only says who is to be told that nothing could be read, and what became of it. */
export function outlineOf(bytes: Uint8Array): Outline {
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
