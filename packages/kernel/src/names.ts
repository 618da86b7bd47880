// Names in receipts and records. If a gateway generated the session id, one per process, the call uses the memory of its
// principal. A client therefore gains nothing from a restart.

import { memoryOf } from '@tollgate/evidence/core'
import type { Intent } from './road/capture.ts'

/** Returns the session whose memory a call uses. It differs from the session of the call if a gateway generated the id. */
export function rememberedAs({ principal, session }: Pick<Intent, 'principal' | 'session'>): string {
  return memoryOf(principal ?? NOBODY, session)
}

/** Appears in a receipt if the call had no readable name. */
export const UNREADABLE = '(unreadable)'

/** Appears in a receipt if the credential belongs to no principal. */
export const NOBODY = '(nobody)'

/** Returns the principal that is charged for a denied call: the author of the call. */
export function chargedTo({ author, principal }: Pick<Intent, 'author' | 'principal'>): string {
  return author ?? principal ?? NOBODY
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Returns whether a value is a valid name in a receipt. */
export function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= 256 &&
    value.isWellFormed() &&
    !CONTROL.test(value)
  )
}
