// A decision as programs are told it, whichever door they came by.

import { reasonOf } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'

/** A decision with what its reason means and what can be done about it. */
export function verdictOf(decided: Decided): Readonly<Record<string, string | null>> {
  const reason = reasonOf(decided.reason)
  return {
    verdict: decided.verdict,
    reason_code: decided.reason,
    message: reason?.sentence ?? '',
    remedy: reason?.remedy ?? '',
    rung: decided.rung,
    rule: decided.rule ?? null,
    detail: decided.detail ?? null,
    receipt: decided.receipt ?? null,
    approval: decided.approval ?? null,
    expires: decided.expires ?? null,
  }
}
