// The interface of a ledger store.

import type { ChainHead, Encoded } from '@tollgate/evidence'

/** One entry of a batch. */
export interface Entry {
  readonly encoded: Encoded
  /** Names of private records that this entry anchors from now on. */
  readonly anchors: readonly string[]
}

/** Entries and records that are written atomically. */
export interface Batch {
  /** Id of the writer's newest receipt before the batch; undefined if there is none. */
  readonly after: string | undefined
  readonly entries: readonly Entry[]
  /** Private records by name; undefined removes one. */
  readonly records: ReadonlyMap<string, string | undefined>
  /** For a ledger with other writers: the names, and the prefixes of names, that its decisions depend on. */
  readonly basis?: BatchBasis
}

/** The names that a batch was decided on. If another writer has changed one meanwhile, the batch is refused. */
interface BatchBasis {
  readonly names: ReadonlySet<string>
  readonly prefixes: readonly string[]
}

/** The changes of other writers. */
export interface Changes {
  /** The names of records and anchors. */
  readonly names: readonly string[]
  /** The newest time of the ledger, in milliseconds since 1970. */
  readonly time: number
}

/** The other writers of a ledger. */
export interface Others {
  /**
   * Returns what other writers have changed since the last call. Every later `load` has these changes, and every later batch is
   * decided on them.
   */
  changes(): Promise<Changes>
  /** Makes the other writers wait until the next batch, so that no change of theirs can refuse it. */
  hold(): Promise<void>
  /** Ends `hold` without a batch. */
  release(): Promise<void>
  /** Calls the listener soon after another writer has changed something. Returns a function that removes it. */
  watch(listener: () => void): () => void
}

/** A private record, and the payload of the newest entry that anchors it. */
export interface Stored {
  readonly record: string | undefined
  readonly anchor: Uint8Array | undefined
}

/** Stores receipts and private records. A store signs, extends the tree and writes. It is independent of policy and gates. */
export interface Store {
  /** Returns the writer's newest receipt, or undefined. */
  head(): Promise<ChainHead | undefined>

  /**
   * Signs and adds a batch, if `after` is still the writer's newest receipt.
   *
   * A second batch may be handed over before the first has returned. Batches are completed in order, and after a failed batch every
   * later one fails.
   *
   * When it returns, the batch survives a crash. When it throws, the batch may or may not be stored: only `head` tells, and the
   * writer must restart before it writes again. The store retries transient failures itself.
   *
   * With other writers it can throw KernelError `BATCH_STALE`: nothing of the batch is stored, and its jobs must run again.
   */
  write(batch: Batch): Promise<void>

  /** Returns the records with these names, in the same order. */
  load(names: readonly string[]): Promise<readonly Stored[]>

  /** Returns the names with this prefix, of all records or of all anchors, sorted by code units. */
  list(prefix: string, of: 'records' | 'anchors'): Promise<readonly string[]>

  /** Set if other writers can add to the same ledger. */
  readonly others?: Others
}
