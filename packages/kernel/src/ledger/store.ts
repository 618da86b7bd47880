// Where the ledger is kept: the promise that every store makes.

import type { ChainHead, Encoded } from '@tollgate/evidence'

/** One entry of a batch. */
export interface Entry {
  readonly encoded: Encoded
  /** Names of private records that this entry is from now on the newest word on. */
  readonly anchors: readonly string[]
}

/** What is written in one go: all of it or nothing. */
export interface Batch {
  /** Id of the writer's newest receipt before the batch; undefined if it has none. */
  readonly after: string | undefined
  readonly entries: readonly Entry[]
  /** Private records by name; undefined removes one. */
  readonly records: ReadonlyMap<string, string | undefined>
}

/** A private record, and the payload of the newest entry that names it as an anchor. */
export interface Stored {
  readonly record: string | undefined
  readonly anchor: Uint8Array | undefined
}

/**
 * Where receipts and private records are kept. A store knows nothing of policy and gates; it signs, extends the tree,
 * and writes.
 */
export interface Store {
  /** The writer's newest receipt, or undefined if there is none. */
  head(): Promise<ChainHead | undefined>

  /**
   * Signs and adds a batch, if `after` is still the writer's newest receipt.
   *
   * A second batch may be handed over before the first has returned: they are taken and answered in their order, and after
   * one that fails, every later one fails too.
   *
   * When it returns, everything in the batch survives a crash. When it throws, the batch may or may not have been
   * added: only `head` tells, and nobody may go on before it was asked by a new start. Transient failures are retried
   * in here, not by the caller.
   */
  write(batch: Batch): Promise<void>

  /** The records of these names, in their order. */
  load(names: readonly string[]): Promise<readonly Stored[]>

  /** The names that begin with `prefix`, of all records or of all anchors, in the order of their code units. */
  list(prefix: string, of: 'records' | 'anchors'): Promise<readonly string[]>
}
