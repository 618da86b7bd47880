// One turn of a ledger: collects the receipts and records of a job until it returns.

import {
  chainHead,
  encodeReceipt,
  nextPlace,
  type ChainHead,
  type Common,
  type Receipt,
} from '@tollgate/evidence'
import { bytesIn, type Remembered } from './remembered.ts'
import type { Entry } from './store.ts'

/** The fields of a receipt that the ledger fills in. */
export type Header = Omit<Common, 'tenant'>

/** An appended receipt: its final id, and its clock, which receipts caused by it must exceed. */
export interface Appended {
  readonly id: string
  readonly clock: number
}

/** The operations of a job in its turn. */
export interface Turn {
  /** Milliseconds since 1970, never below those of the last receipt. */
  readonly time: number
  /** How many bytes this turn adds to the store so far. A replaced record counts only by its growth. */
  readonly written: number
  /** Appends a receipt. `make` gets the fields of its place in the chain; `causes` are receipts that it follows from. */
  append(options: AppendOptions, make: (header: Header) => Receipt): Appended
  /** Returns the current value of a private record, if the job listed its name in `reads`. */
  read(name: string): unknown
  /** Sets a private record: `value` in memory, which `read` returns, and `text` in the store; undefined stores nothing. */
  write(name: string, value: unknown, text: string | undefined): void
  /** Sets a private record in the store only; undefined removes it. */
  put(name: string, text: string | undefined): void
}

/** The causes and anchors of an entry. A name anchors its newest entry. */
export interface AppendOptions {
  readonly causes?: readonly Appended[]
  readonly anchors?: readonly string[]
  /** A prefix: with the id of the entry it makes one more anchor. */
  readonly anchorOwn?: string
}

/** The fields that all receipts of one turn share. */
type Shared = Pick<Header, 'v' | 'ledger' | 'writer' | 'key' | 'time'>

interface Change {
  readonly name: string
  readonly text: string | undefined
  /** Whether the value is kept in memory too. */
  readonly cached: boolean
  readonly value: unknown
  readonly size: number
}

/** Collects the changes of one job until it returns. */
export class JobTurn implements Turn {
  readonly time: number
  readonly entries: Entry[] = []
  readonly changes: Change[] = []
  head: ChainHead | undefined
  written = 0
  readonly #shared: Shared
  readonly #memory: ReadonlyMap<string, Remembered>

  constructor(
    shared: Shared,
    time: number,
    head: ChainHead | undefined,
    memory: ReadonlyMap<string, Remembered>,
  ) {
    this.time = time
    this.head = head
    this.#shared = shared
    this.#memory = memory
  }

  append(options: AppendOptions, make: (header: Header) => Receipt): Appended {
    const { causes = NO_CAUSES, anchors = NO_ANCHORS } = options
    const clocks = causes.length === 0 ? NO_CLOCKS : causes.map(({ clock }) => clock)
    const { seq, lamport_clock, prev_receipt_hash } = nextPlace(this.head, clocks)
    const { v, ledger, writer, key, time } = this.#shared
    const ids = causes.length === 0 ? NO_ANCHORS : causes.map(({ id }) => id)
    const encoded = encodeReceipt(
      make({ v, ledger, writer, seq, lamport_clock, prev_receipt_hash, causes: ids, time, key }),
    )
    this.head = chainHead(encoded)
    this.written += encoded.payload.length + AROUND_RECEIPT
    const { anchorOwn } = options
    this.entries.push({
      encoded,
      anchors: anchorOwn === undefined ? anchors : [...anchors, anchorOwn + encoded.id],
    })
    return { id: encoded.id, clock: lamport_clock }
  }

  read(name: string): unknown {
    const change = this.changes.findLast((each) => each.cached && each.name === name)
    return change ? change.value : this.#memory.get(name)?.value
  }

  write(name: string, value: unknown, text: string | undefined): void {
    const size = bytesIn(text)
    const before = this.#memory.get(name)?.size ?? 0
    this.written += Math.max(0, size - before) + (before === 0 && size > 0 ? name.length : 0)
    this.changes.push({ name, text, cached: true, value, size })
  }

  put(name: string, text: string | undefined): void {
    const size = bytesIn(text)
    if (text !== undefined) this.written += name.length + size
    this.changes.push({ name, text, cached: false, value: undefined, size })
  }
}

// The bytes of a receipt besides its payload: signature, place in the tree, index entries.
const AROUND_RECEIPT = 512

const NO_CAUSES: readonly Appended[] = []
const NO_CLOCKS: readonly number[] = []
const NO_ANCHORS: readonly string[] = []
