// One receipt, as the gateway lists it.

import { KINDS, type Json, type Receipt } from '@tollgate/evidence'
import { object, word, count, id } from './reading.ts'

/** A receipt as the gateway shows it. Believe it for display; `verify` is what proves one. */
export interface ReceiptEntry {
  /** Its place in the ledger. */
  readonly index: number
  readonly id: string
  readonly receipt: Receipt
}

/** Reads an entry. What is in the receipt is not checked: that takes its envelope. */
export function readEntry(value: Json | undefined, name: string): ReceiptEntry {
  const entry = object(value, name)
  const receipt = object(entry['receipt'], 'receipt')
  word(...KINDS)(receipt['kind'], 'kind')
  return {
    index: count(entry['index'], 'index'),
    id: id(entry['id'], 'id'),
    // Sound enough to be shown: it is of a known kind. Nothing is decided on it.
    receipt: receipt as unknown as Receipt,
  }
}
