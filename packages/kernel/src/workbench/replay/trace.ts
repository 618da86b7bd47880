// The input of a replay: the ledger's entries with their private kept records.

import type { Receipt } from '@tollgate/evidence'

/** One entry of a ledger with its kept record. */
export interface TraceEntry {
  /** Id of the receipt. */
  readonly id: string
  readonly receipt: Receipt
  /** The kept text of a decision or effect; undefined if there is none. */
  readonly kept: string | undefined
}
