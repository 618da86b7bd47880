// Outside data as data of our own: names that can stand in a receipt, copies of small objects.

import { canonicalize, parseJson, type Json, type JsonObject } from '@tollgate/evidence/core'

/** Our own copy of a small object, or undefined if it is none. */
export function copyOf(value: unknown): JsonObject | undefined {
  try {
    const copied = parseJson(canonicalize(value, { maxLength: 64 << 10 }))
    return isRecord(copied) ? copied : undefined
  } catch {
    // Not plain data: as unreadable as if it were missing.
    return undefined
  }
}

/** Whether a value is an object, and no list. */
export function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The same text in memory that it alone takes up. Part of a text is often kept as a place in the whole: a name that outlives its
 * request would hold all of the request with it.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1)
}
