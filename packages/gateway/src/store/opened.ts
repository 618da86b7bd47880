// The interface of a store that is open for writing, whatever database is behind it.

import type { Store } from '@tollgate/kernel'
import type { LedgerView, NamedRecord } from '../view.ts'
import type { KeyPeriod } from './service.ts'

/** A ledger that is open for writing. */
export interface OpenedStore extends Store {
  readonly view: LedgerView
  /** Id of the writer key in service; undefined while the ledger is empty. */
  readonly key: string | undefined
  /** Public ledger keys in service, 32 bytes each. */
  readonly ledgerKeys: readonly Uint8Array[]
  /** Every key of the ledger that was ever in service. */
  readonly keyPeriods: readonly KeyPeriod[]
  /** The number of durable entries. */
  size: () => number
  /** A signed checkpoint of everything durable. */
  checkpoint: () => Promise<string>
  /** Calls the listener after every commit with the number of entries. Returns a function that removes it. */
  watch: (listener: (size: number) => void) => () => void
  /** Records that were not written since a time in milliseconds; see `LedgerReader` of SQLite. */
  idle(prefix: string, time: number, limit: number, after?: string): Promise<readonly NamedRecord[]>
  /** Record names for entries before a time. */
  namesBefore(prefix: string, time: number): Promise<readonly string[]>
  /** @throws GatewayError if the store can no longer write. */
  present(): Promise<void>
  /** Signs and remembers the last head and closes the ledger. */
  close: () => Promise<Closed>
}

interface Closed {
  /** Whether a copy of the ledger file alone would be the whole ledger. False if another process was reading it. */
  readonly folded: boolean
}
