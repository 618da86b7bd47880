// The read-only interface to the ledger that routes, exports and commands use.

import type { Kind, ReadNode, Verdict } from '@tollgate/evidence'

/** One entry of the ledger. */
export interface LedgerEntry {
  readonly index: number
  /** The receipt id: SHA-256 of the payload. */
  readonly id: string
  /** The payload: canonical JSON, byte for byte. */
  readonly payload: Uint8Array
  /** The leaf of the tree: the exact DSSE envelope. */
  readonly envelope: Uint8Array
}

/** One entry of the ledger without its envelope. */
export interface Payload {
  readonly index: number
  /** The receipt id: SHA-256 of the payload. */
  readonly id: string
  /** The payload: canonical JSON. */
  readonly text: string
  /** The private record next to the receipt, if requested and present. */
  readonly beside?: string
}

/** Selects entries. All given conditions must match. */
export interface EntryFilter {
  readonly kind?: Kind
  readonly tenant?: string
  /** Principal of a decision. Effects and approvals belong to the principal of their decision. */
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: Verdict
  readonly session?: string
  /** Id of a decision. Selects it and the effects and approvals that refer to it. */
  readonly decision?: string
  /** Only entries of this time or later, in milliseconds. */
  readonly since?: number
  /** Only entries before this time, in milliseconds. */
  readonly until?: number
}

export interface PageRequest {
  readonly filter: EntryFilter
  /** `back` from the newest to the oldest entry, `on` from the oldest to the newest. */
  readonly direction: 'back' | 'on'
  /** The first index to examine. Default: the newest (`back`) or the first (`on`). */
  readonly from?: number
  /** The maximum number of entries, at most 1,000. */
  readonly limit: number
}

/** The matching entries and the position of the next page. */
export interface Page {
  readonly entries: readonly LedgerEntry[]
  /**
   * `from` of the next page; undefined if there is none. A page can be shorter than its limit and still have a next page,
   * because a search stops after 20,000 entries.
   */
  readonly next: number | undefined
}

export interface NamedRecord {
  readonly name: string
  readonly text: string
}

/** Read access to the ledger. Only durable entries are visible. */
export interface LedgerView {
  /** The number of entries. */
  size(): Promise<number>
  page(request: PageRequest): Promise<Page>
  /** The entry with this id, or undefined. */
  find(id: string): Promise<LedgerEntry | undefined>
  /** The entries whose ids begin with these digits. At least eight digits, at most ten entries. */
  begins(digits: string): Promise<readonly LedgerEntry[]>
  /** The envelopes of the entries [start, end), at most 1,000. */
  envelopes(start: number, end: number): Promise<readonly Uint8Array[]>
  /**
   * The entries from `start` on without their envelopes, at most 1,000. With `beside`, each has the private record whose name
   * is this prefix, the clock of the entry in 16 digits, and its id.
   */
  payloads(start: number, limit: number, beside?: string): Promise<readonly Payload[]>
  /** The indexes of all entries of these kinds, in order. Slow only for `decision` and `effect`. */
  indexesOf(kinds: readonly Kind[]): Promise<readonly number[]>
  /** The hashes of full subtrees, for proofs. */
  readonly node: ReadNode
  /** The root of the tree over the first `size` entries. */
  rootAt(size: number): Promise<Uint8Array>
  /** A private record; undefined if it does not exist or was erased. */
  record(name: string): Promise<string | undefined>
  /** The private records with this prefix whose names follow `after`, in order of name; at most 1,000. */
  records(prefix: string, after: string, limit: number): Promise<readonly NamedRecord[]>
  /** The names of the private records with this prefix. */
  recordNames(prefix: string): Promise<readonly string[]>
  /** The newest stored checkpoint. It is at most one second older than the newest entry. */
  checkpoint(): Promise<string | undefined>
}
