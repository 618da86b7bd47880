// The ledger for reading: what routes, exports and commands see of it. It never changes anything.

import type { Kind, ReadNode, Verdict } from '@tollgate/evidence'

/** One entry of the ledger. */
export interface LedgerEntry {
  readonly index: number
  /** Id of the receipt: SHA-256 of its payload. */
  readonly id: string
  /** The receipt: canonical JSON, byte for byte. */
  readonly payload: Uint8Array
  /** The leaf of the tree: the exact DSSE envelope. */
  readonly envelope: Uint8Array
}

/** One entry of the ledger, without its envelope. */
export interface Payload {
  readonly index: number
  /** Id of the receipt: SHA-256 of its payload. */
  readonly id: string
  /** The receipt: canonical JSON. */
  readonly text: string
  /** The private record beside it, if it was asked for and there is one. */
  readonly beside?: string
}

/** Which entries are wanted. All that is given must hold. */
export interface EntryFilter {
  readonly kind?: Kind
  readonly tenant?: string
  /** Principal of a decision; effects and approvals belong to the principal of their decision. */
  readonly principal?: string
  readonly tool?: string
  readonly verdict?: Verdict
  readonly session?: string
  /** Id of a decision: itself, and the effects and approvals that name it. */
  readonly decision?: string
}

/** One page of the ledger. */
export interface PageRequest {
  readonly filter: EntryFilter
  /** `back` from the newest to older entries, `on` from older to newer ones. */
  readonly direction: 'back' | 'on'
  /** Where to go on: the first index that is looked at. Without it, the newest (`back`) or the first (`on`). */
  readonly from?: number
  /** Most entries, at most 1,000. */
  readonly limit: number
}

/** Entries that fit, and where to go on. */
export interface Page {
  readonly entries: readonly LedgerEntry[]
  /**
   * `from` of the next page; undefined if there is nothing beyond. A page may be shorter than its limit and still have a
   * next one: looking stops after 20,000 entries.
   */
  readonly next: number | undefined
}

/** A private record. */
export interface NamedRecord {
  readonly name: string
  readonly text: string
}

/** The ledger for reading. Everything it shows is durable. */
export interface LedgerView {
  /** How many entries there are. */
  size(): Promise<number>
  page(request: PageRequest): Promise<Page>
  /** The entry of this id, or undefined. */
  find(id: string): Promise<LedgerEntry | undefined>
  /** The entries whose ids begin with these digits, at least eight; at most ten. */
  begins(digits: string): Promise<readonly LedgerEntry[]>
  /** The envelopes of the entries [start, end), at most 1,000. */
  envelopes(start: number, end: number): Promise<readonly Uint8Array[]>
  /**
   * The entries from `start` on, at most 1,000, without their envelopes: for reading a lot of them. With `beside`, each with
   * the private record whose name is that, the clock of the entry in 16 digits, and its id.
   */
  payloads(start: number, limit: number, beside?: string): Promise<readonly Payload[]>
  /** Indexes of all entries of one of these kinds, in order; quick for every kind but `decision` and `effect`. */
  indexesOf(kinds: readonly Kind[]): Promise<readonly number[]>
  /** Hashes of full subtrees, for proofs. */
  readonly node: ReadNode
  /** The root of the tree of the first `size` entries. */
  rootAt(size: number): Promise<Uint8Array>
  /** A private record, or undefined if there is none or it was erased. */
  record(name: string): Promise<string | undefined>
  /** Private records with this prefix, by name, behind `after`; at most 1,000. */
  records(prefix: string, after: string, limit: number): Promise<readonly NamedRecord[]>
  /** Names of private records with this prefix. */
  recordNames(prefix: string): Promise<readonly string[]>
  /** The newest checkpoint that was signed and kept: at most a second older than the newest entry. */
  checkpoint(): Promise<string | undefined>
}
