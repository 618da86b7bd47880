// Reads a receipt from a list of the gateway.

import { KINDS, type Json, type Receipt } from '@tollgate/evidence'
import { object, word, count, id } from './reading.ts'

/** A receipt as the gateway lists it. Use it for display; `verify` proves it. */
export interface ReceiptEntry {
  /** Its index in the ledger. */
  readonly index: number
  readonly id: string
  readonly receipt: Receipt
}

/** Reads an entry. Checks only the kind of the receipt. */
export function readEntry(value: Json | undefined, name: string): ReceiptEntry {
  const entry = object(value, name)
  const receipt = object(entry['receipt'], 'receipt')
  word(...KINDS)(receipt['kind'], 'kind')
  return {
    index: count(entry['index'], 'index'),
    id: id(entry['id'], 'id'),
    // Good enough for display: the kind is known. No decision depends on it.
    receipt: receipt as unknown as Receipt,
  }
}
