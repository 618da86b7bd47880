// Room: the ledger orders decisions and keeps the state that they rest on. It holds the turn, the promise of a store, the records and
// the way a ledger begins. It holds no files and no keys: a store does, see the gateway.
//
// The ledger's turn. Whatever changes state runs in here, one at a time and without a pause: it reads the newest state,
// decides, and takes its place in the chain. Writing is done in batches: while one is under way, what was decided meanwhile
// waits for the next; if that is much, it is handed over already, so that the store always has something to do.

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

/** A receipt as it was appended: its id is fixed, and its clock counts for those it causes. */
export interface Appended {
  readonly id: string
  readonly clock: number
}

/** What a job may do in its turn. */
export interface Turn {
  /** Milliseconds since 1970, never below the last receipt's. */
  readonly time: number
  /** How many bytes more there will be in the store by what was done so far. What replaces a record counts as far as it is longer. */
  readonly written: number
  /** Appends a receipt. `make` gets the fields that place it; `causes` are receipts it follows from. */
  append(options: AppendOptions, make: (header: Header) => Receipt): Appended
  /** A private record as it stands now, and what anchors it, if the job asked for its name. */
  read(name: string): unknown
  /** Sets a private record that is kept in memory too: what `read` gives from now on, and what is stored (undefined: nothing). */
  write(name: string, value: unknown, text: string | undefined): void
  /** Sets or, with undefined, removes a private record that is only stored. */
  put(name: string, text: string | undefined): void
}

/** What an entry follows from, and what it is the newest word on. */
export interface AppendOptions {
  readonly causes?: readonly Appended[]
  readonly anchors?: readonly string[]
  /** What its own id is put behind to make one more anchor. */
  readonly anchorOwn?: string
}

/** Something to be done in a turn. */
interface Job<T> {
  /** Private records it reads, each with how to make sense of what the store has. */
  readonly reads?: readonly Read[]
  /** Does it. What it throws is told to the caller, and nothing it did counts. */
  readonly run: (turn: Turn) => T
  /** It must be recorded even when the ledger is busy: an effect, a freeze. */
  readonly reserved?: boolean
}

/** A record to read: `parse` is asked once, when the record comes into memory. */
export interface Read {
  readonly name: string
  readonly parse: (stored: Stored) => unknown
}

/** The ledger of one writer. */
export interface Ledger {
  /**
   * Runs a job in its turn and answers once everything it appended is durable.
   *
   * @throws KernelError `LEDGER_POISONED` once the store has failed, for this job and every later one; `LEDGER_FULL`
   * if too many wait; or what the job throws.
   */
  append<T>(job: Job<T>): Promise<T>
  /** Poisons the ledger by hand: what has happened can no longer be recorded truthfully. */
  poison(cause: unknown): void
  /** Why nothing can be recorded any more; undefined while all is well. */
  readonly poisoned: string | undefined
  /** What the ledger was poisoned by: what the store threw, or who poisoned it gave as the cause. */
  readonly cause: unknown
  /** How many records of sessions and principals are in memory. */
  readonly remembered: number
}

/** What a ledger is made of. */
interface LedgerOptions {
  readonly store: Store
  readonly origin: string
  readonly writer: string
  /** Id of the writer's key. */
  readonly key: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly head: ChainHead | undefined
  /** Most records kept in memory; more are read again when needed. */
  readonly maxRemembered?: number
  /** Most entries that may wait; beyond, only reserved jobs pass. */
  readonly maxWaiting?: number
}

interface Remembered {
  value: unknown
  /** How many bytes are stored of it. */
  size: number
  /** Number of the batch that last changed it; it must not be forgotten before that is durable. */
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
/** Batches that the store may have at a time, and how many entries make the second one worth its while. */
const MAX_IN_FLIGHT = 2
const MUCH = 24

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

  /** Reads what a job needs. While one record is on its way another may be forgotten again, so it looks until all are there. */
  async function takeLater<T>(job: Job<T>): Promise<T> {
    while (!isReady(job) && !poisoned) await recall(job.reads?.filter(({ name }) => !memory.has(name)) ?? [])
    const taken = take(job)
    // Also a job that wrote nothing may have brought records into memory.
    forget()
    return taken
  }

  /** Gives a job its turn, without a pause, and waits until what it did is durable. */
  function take<T>(job: Job<T>): Promise<T> {
    if (poisoned) return Promise.reject(poisoned)
    if (waiting.entries.length >= maxWaiting && job.reserved !== true) return Promise.reject(full())
    return new Promise((resolve, reject) => {
      // What the job throws rejects, and leaves nothing behind.
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

  /** Behind what is being decided in this very moment, so that it goes with the same batch. */
  function scheduleWriting(): void {
    if (scheduled) return
    scheduled = true
    void Promise.resolve().then(() => {
      scheduled = false
      writeSome()
    })
  }

  /** Runs a job. Only if it comes to its end does anything it did count. */
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
      // To the end, so that what is used least is first to be forgotten.
      memory.delete(name)
      memory.set(name, { value, size, batch: batchNumber })
    }
    return result
  }

  /** Reads records into memory; whoever asks for one that is on its way waits for it. */
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
      if (!found)
        throw new KernelError('LEDGER_POISONED', 'the store answers with fewer records than it was asked for')
      const size = bytesIn(found.record)
      if (!memory.has(name)) memory.set(name, { value: parse(found), size, batch: 0 })
      loading.delete(name)
    })
  }

  /** Hands over what waits: at once if nothing is under way, else only if it is much, so that the store need not wait for us. */
  function writeSome(): void {
    while (!poisoned && waiting.done.length > 0 && inFlight < MAX_IN_FLIGHT) {
      if (inFlight > 0 && waiting.entries.length < MUCH) return
      const batch = waiting
      const number = batchNumber++
      waiting = emptyBatch(head?.id)
      inFlight++
      void handOver(batch, number)
    }
  }

  /** Writes a batch. The store takes them in their order, and answers in it. */
  async function handOver(batch: Waiting, number: number): Promise<void> {
    try {
      await store.write(batch)
    } catch (cause) {
      // It may or may not have been written. Only a new start, which asks the store, can go on from here.
      poison(cause)
    }
    inFlight--
    // Poisoned, by this, by a read or by an effect: what was written all the same is closed as UNKNOWN by the next start.
    if (isPoisoned()) {
      failAll(batch)
      return
    }
    durable = number
    for (const done of batch.done) done()
    forget()
    writeSome()
  }

  /** Forgets the records used least. What is not durable yet stays: it binds later decisions. */
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

/** What one job does, gathered until it has come to its end. */
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

// What a receipt takes besides its payload: signature, place in the tree, entries of indexes.
const AROUND_RECEIPT = 512

/** How many bytes a text takes as UTF-8. */
function bytesIn(text: string | undefined): number {
  if (text === undefined) return 0
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Each half of a pair counts as two: four for both.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}

function poisonedBy(cause: unknown): KernelError {
  const message = 'the ledger could not be written; nothing passes until the gateway is started again'
  return new KernelError('LEDGER_POISONED', message, { cause })
}

function full(): KernelError {
  return new KernelError('LEDGER_FULL', 'too many calls wait for the ledger; send fewer at a time')
}

const NO_CAUSES: readonly Appended[] = []
const NO_CLOCKS: readonly number[] = []
const NO_ANCHORS: readonly string[] = []

function emptyBatch(after: string | undefined): Waiting {
  return { entries: [], records: new Map(), after, done: [], failed: [] }
}
