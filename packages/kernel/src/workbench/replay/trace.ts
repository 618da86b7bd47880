// What is kept of the history so that it can be decided again: the ledger itself, and beside it, privately, the calls.

import type { Receipt } from '@tollgate/evidence'

/** One entry of a ledger, and what was kept beside it. */
export interface TraceEntry {
  /** Id of the receipt. */
  readonly id: string
  readonly receipt: Receipt
  /** The text that was kept with a decision or an effect; undefined if none was, or it is gone. */
  readonly kept: string | undefined
}
