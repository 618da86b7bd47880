// Safe copies of untrusted data.

import { canonicalize, parseJson, type Json, type JsonObject } from '@tollgate/evidence/core'

/** Returns a copy of a small object, or undefined if the value is not one. */
export function copyOf(value: unknown): JsonObject | undefined {
  try {
    const copied = parseJson(canonicalize(value, { maxLength: 64 << 10 }))
    return isRecord(copied) ? copied : undefined
  } catch {
    // Values that are not plain data count as missing.
    return undefined
  }
}

/** Returns whether a value is an object and not a list. */
export function isRecord(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the text in its own memory. The engine often stores a substring as a reference into the whole text, so a name that
 * outlives its request would keep the whole request in memory.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1)
}
