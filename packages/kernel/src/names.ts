// Names in receipts and records: whose a call is, and whose memory it has. A session whose id a gateway made, one for each process, has
// the memory of its principal, so that a client gains nothing by being started again.

import { memoryOf } from '@tollgate/evidence/core'
import type { Intent } from './road/capture.ts'

/** The session whose memory a call has: another one than its own if a gateway has made its id. */
export function rememberedAs({ principal, session }: Pick<Intent, 'principal' | 'session'>): string {
  return memoryOf(principal ?? NOBODY, session)
}

/** What stands in a receipt where the call gave no readable name. */
export const UNREADABLE = '(unreadable)'

/** What stands in a receipt where the credential belongs to nobody. */
export const NOBODY = '(nobody)'

/** Who answers for a call that is denied: its author. */
export function chargedTo({ author, principal }: Pick<Intent, 'author' | 'principal'>): string {
  return author ?? principal ?? NOBODY
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Whether a value can stand as a name in a receipt. */
export function isName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= 256 &&
    value.isWellFormed() &&
    !CONTROL.test(value)
  )
}
