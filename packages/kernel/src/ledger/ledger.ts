// Room: orders decisions and keeps the state that they depend on: turns, records, the store interface and the founding of a ledger.
// Files and keys belong to a store, see the gateway.
//
// Runs every state change in a turn, one at a time and synchronously: the turn reads the newest state, decides, and gets its place
// in the chain. Receipts are written in batches. While a batch is being written, new receipts wait for the next one. If many wait,
// the next batch is handed over early, so that the store is never idle.

import {
  chainHead,
  encodeReceipt,
  nextPlace,
  type ChainHead,
  type Common,
  type Receipt,
} from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import type { Entry, Store, Stored } from './store.ts'

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

/** Work to do in a turn. */
interface Job<T> {
  /** The private records that it reads, each with its parser. */
  readonly reads?: readonly Read[]
  /** Runs the job. If it throws, the caller gets the error and all its changes are dropped. */
  readonly run: (turn: Turn) => T
  /** Set for receipts that must be recorded even if the ledger is busy, such as effects and freezes. */
  readonly reserved?: boolean
}

/** A record to read. `parse` runs once, when the record is loaded into memory. */
export interface Read {
  readonly name: string
  readonly parse: (stored: Stored) => unknown
}

/** The ledger of one writer. */
export interface Ledger {
  /**
   * Runs a job in its turn and returns once everything that it appended is durable.
   *
   * @throws KernelError `LEDGER_POISONED` if the store has failed, for this job and every later one; `LEDGER_FULL` if too many jobs
   * wait; or the error of the job.
   */
  append<T>(job: Job<T>): Promise<T>
  /** Poisons the ledger, because an event can no longer be recorded truthfully. */
  poison(cause: unknown): void
  /** Why the ledger is poisoned; undefined if it is not. */
  readonly poisoned: string | undefined
  /** The cause of the poisoning: the error of the store, or the argument of `poison`. */
  readonly cause: unknown
  /** How many records of sessions and principals are in memory. */
  readonly remembered: number
}

/** The options of a ledger. */
interface LedgerOptions {
  readonly store: Store
  readonly origin: string
  readonly writer: string
  /** Id of the writer's key. */
  readonly key: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly head: ChainHead | undefined
  /** Maximum records kept in memory; others are loaded when needed. */
  readonly maxRemembered?: number
  /** Maximum entries that may wait; above it only reserved jobs are accepted. */
  readonly maxWaiting?: number
}

interface Remembered {
  value: unknown
  /** The stored size in bytes. */
  size: number
  /** Number of the batch that last changed it. The record stays in memory until that batch is durable. */
  batch: number
}

interface Waiting {
  readonly entries: Entry[]
  readonly records: Map<string, string | undefined>
  readonly after: string | undefined
  readonly done: (() => void)[]
  readonly failed: ((cause: KernelError) => void)[]
}

const MAX_REMEMBERED = 10_000
const MAX_WAITING = 10_000
/** The maximum number of concurrent batches, and the number of entries that justify the second one. */
const MAX_IN_FLIGHT = 2
const MIN_EARLY_BATCH = 24

/** Opens a ledger after its newest receipt. */
export function createLedger(options: LedgerOptions): Ledger {
  const { store, origin, writer, key, now } = options
  const { maxRemembered = MAX_REMEMBERED, maxWaiting = MAX_WAITING } = options
  const memory = new Map<string, Remembered>()
  const loading = new Map<string, Promise<void>>()
  let head = options.head
  let time = head ? Date.parse(head.time) : 0
  let timeText = head?.time ?? ''
  let poisoned: KernelError | undefined
  let batchNumber = 1
  let durable = 0
  let waiting = emptyBatch(head?.id)
  let inFlight = 0
  let scheduled = false

  return {
    append: (job) => (isReady(job) ? take(job) : takeLater(job)),
    poison: (cause) => poison(cause),
    get poisoned() {
      return poisoned?.message
    },
    get cause() {
      return poisoned?.cause
    },
    get remembered() {
      return memory.size
    },
  }

  function isReady({ reads }: Job<unknown>): boolean {
    return reads === undefined || reads.every(({ name }) => memory.has(name))
  }

  /** Loads the records that a job needs. Loading one record may evict another, so it repeats until all are in memory. */
  async function takeLater<T>(job: Job<T>): Promise<T> {
    while (!isReady(job) && !poisoned) await recall(job.reads?.filter(({ name }) => !memory.has(name)) ?? [])
    const taken = take(job)
    // A job that wrote nothing may still have loaded records.
    forget()
    return taken
  }

  /** Runs a job synchronously, and waits until its changes are durable. */
  function take<T>(job: Job<T>): Promise<T> {
    if (poisoned) return Promise.reject(poisoned)
    if (waiting.entries.length >= maxWaiting && job.reserved !== true) return Promise.reject(full())
    return new Promise((resolve, reject) => {
      // An error of the job rejects the promise and leaves no changes.
      const result = runJob(job)
      if (waiting.entries.length === 0 && waiting.records.size === 0) {
        resolve(result)
        return
      }
      waiting.done.push(() => resolve(result))
      waiting.failed.push(reject)
      if (inFlight > 0) writeSome()
      else scheduleWriting()
    })
  }

  /** Defers the write until all decisions of the current tick are in the batch. */
  function scheduleWriting(): void {
    if (scheduled) return
    scheduled = true
    void Promise.resolve().then(() => {
      scheduled = false
      writeSome()
    })
  }

  /** Runs a job. Its changes count only if it returns. */
  function runJob<T>(job: Job<T>): T {
    const start = Math.max(time, now())
    const startText = start === time ? timeText : new Date(start).toISOString()
    const turn = new JobTurn({ v: 1, ledger: origin, writer, key, time: startText }, start, head, memory)
    const result = job.run(turn)
    head = turn.head
    time = start
    timeText = startText
    for (const entry of turn.entries) waiting.entries.push(entry)
    for (const { name, text, cached, value, size } of turn.changes) {
      waiting.records.set(name, text)
      if (!cached) continue
      // Move it to the end, so that the least recently used record is evicted first.
      memory.delete(name)
      memory.set(name, { value, size, batch: batchNumber })
    }
    return result
  }

  /** Loads records into memory. A record that is already being loaded is awaited. */
  async function recall(reads: readonly Read[]): Promise<void> {
    const fresh = reads.filter(({ name }) => !loading.has(name))
    if (fresh.length > 0) {
      const load = loadInto(fresh).catch(poison)
      for (const { name } of fresh) loading.set(name, load)
    }
    for (const { name } of reads) await loading.get(name)
  }

  async function loadInto(reads: readonly Read[]): Promise<void> {
    const stored = await store.load(reads.map(({ name }) => name))
    reads.forEach(({ name, parse }, i) => {
      const found = stored[i]
      if (!found) throw new KernelError('LEDGER_POISONED', 'the store returned fewer records than requested')
      const size = bytesIn(found.record)
      if (!memory.has(name)) memory.set(name, { value: parse(found), size, batch: 0 })
      loading.delete(name)
    })
  }

  /** Hands over the waiting entries: at once if the store is idle, otherwise only if many wait. */
  function writeSome(): void {
    while (!poisoned && waiting.done.length > 0 && inFlight < MAX_IN_FLIGHT) {
      if (inFlight > 0 && waiting.entries.length < MIN_EARLY_BATCH) return
      const batch = waiting
      const number = batchNumber++
      waiting = emptyBatch(head?.id)
      inFlight++
      void handOver(batch, number)
    }
  }

  /** Writes a batch. The store accepts and completes batches in order. */
  async function handOver(batch: Waiting, number: number): Promise<void> {
    try {
      await store.write(batch)
    } catch (cause) {
      // The batch may or may not be stored. Only a restart can find out.
      poison(cause)
    }
    inFlight--
    // The ledger may also be poisoned by a read or an effect. The next start closes calls that were written anyway as UNKNOWN.
    if (isPoisoned()) {
      failAll(batch)
      return
    }
    durable = number
    for (const done of batch.done) done()
    forget()
    writeSome()
  }

  /** Evicts the least recently used records. Records that are not durable yet stay, because later decisions depend on them. */
  function forget(): void {
    if (memory.size <= maxRemembered) return
    for (const [name, { batch }] of memory) {
      if (memory.size <= maxRemembered) return
      if (batch <= durable) memory.delete(name)
    }
  }

  function poison(cause: unknown): void {
    poisoned ??= poisonedBy(cause)
    failAll(waiting)
    waiting = emptyBatch(undefined)
    loading.clear()
  }

  function isPoisoned(): boolean {
    return poisoned !== undefined
  }

  function failAll({ failed }: Waiting): void {
    for (const fail of failed) fail(poisoned ?? poisonedBy(undefined))
  }
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
class JobTurn implements Turn {
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

/** Returns the length of a text in UTF-8 bytes. */
function bytesIn(text: string | undefined): number {
  if (text === undefined) return 0
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Each half of a surrogate pair counts as two bytes: four for both.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

function poisonedBy(cause: unknown): KernelError {
  const message = 'the ledger could not be written; every call is denied until the gateway is restarted'
  return new KernelError('LEDGER_POISONED', message, { cause })
}

function full(): KernelError {
  return new KernelError('LEDGER_FULL', 'too many calls wait for the ledger; send fewer concurrent calls')
}

const NO_CAUSES: readonly Appended[] = []
const NO_CLOCKS: readonly number[] = []
const NO_ANCHORS: readonly string[] = []

function emptyBatch(after: string | undefined): Waiting {
  return { entries: [], records: new Map(), after, done: [], failed: [] }
}
