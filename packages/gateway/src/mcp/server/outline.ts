// Recovers the id and kind of an unreadable message.

import { MAX_VALUES } from '@tollgate/evidence'
import { isId, type RequestId } from '../message.ts'

interface Outline {
  readonly id: RequestId | undefined
  readonly isAnswer: boolean
  /** It looks like a result, not like an error: the call was done. */
  readonly isResult: boolean
}

const NOTHING: Outline = { id: undefined, isAnswer: false, isResult: false }

/** The outline of a message. Parsed leniently, because it only decides which request fails and how. */
export function outlineOf(bytes: Uint8Array): Outline {
  // A lenient parse of too many values would cost what the strict refusal saved.
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
  const isAnswer = method === undefined
  return {
    id: isId(id) ? id : undefined,
    isAnswer,
    isResult: isAnswer && result !== undefined && error === undefined,
  }
}

/** An upper estimate of the number of values. */
function startsOfValues(bytes: Uint8Array): number {
  let count = 0
  // Counts commas, opening brackets and opening braces.
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) count++
  return count
}
