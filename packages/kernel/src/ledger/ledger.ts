// Room: orders decisions and keeps the state that they depend on: turns, records, the store interface and the founding of a ledger.
// Files and keys belong to a store, see the gateway.
//
// Runs every state change in a turn, one at a time and synchronously: the turn reads the newest state, decides, and gets its place
// in the chain. Receipts are written in batches. While a batch is being written, new receipts wait for the next one. If many wait,
// the next batch is handed over early, so that the store is never idle.

import type { ChainHead } from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import { RememberedRecords, type Read } from './remembered.ts'
import type { Entry, Store } from './store.ts'
import { JobTurn, type Turn } from './turn.ts'

export type { Appended, Header, Turn } from './turn.ts'

/** Work to do in a turn. */
export interface Job<T> {
  /** The private records that it reads, each with its parser. */
  readonly reads?: readonly Read[]
  /** Runs the job. If it throws, the caller gets the error and all its changes are dropped. */
  readonly run: (turn: Turn) => T
  /** Set for receipts that must be recorded even if the ledger is busy, such as effects and freezes. */
  readonly reserved?: boolean
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
  readonly backlog: Backlog
}

/** The entries that are not durable yet. */
export interface Backlog {
  /** Entries that wait for the store. */
  readonly queued: number
  /** Entries that the store is writing, and the number of their batches. */
  readonly writing: number
  readonly batches: number
  /** When the newest entry became durable, in milliseconds since 1970; undefined for an empty ledger. */
  readonly durable: number | undefined
}

/** The options of a ledger. */
export interface LedgerOptions {
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

interface Waiting {
  readonly entries: Entry[]
  readonly records: Map<string, string | undefined>
  readonly after: string | undefined
  readonly done: (() => void)[]
  readonly failed: ((cause: KernelError) => void)[]
}

export const MAX_REMEMBERED = 10_000
export const MAX_WAITING = 10_000
/** The maximum number of concurrent batches, and the number of entries that justify the second one. */
const MAX_IN_FLIGHT = 2
const MIN_EARLY_BATCH = 24

/** The ledger of one writer, from its newest receipt on. */
export class WriterLedger implements Ledger {
  readonly #options: LedgerOptions
  readonly #records = new RememberedRecords()
  #head: ChainHead | undefined
  #time: number
  #timeText: string
  #waiting: Waiting
  #poisoned: KernelError | undefined
  #batchNumber = 1
  #durable = 0
  #inFlight = 0
  #writing = 0
  #durableAt: number | undefined
  #scheduled = false

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#head = options.head
    this.#timeText = this.#head?.time ?? ''
    this.#time = this.#head ? Date.parse(this.#timeText) : 0
    this.#durableAt = this.#head && this.#time
    this.#waiting = emptyBatch(this.#head?.id)
  }

  get poisoned(): string | undefined {
    return this.#poisoned?.message
  }

  get cause(): unknown {
    return this.#poisoned?.cause
  }

  get remembered(): number {
    return this.#records.size
  }

  get backlog(): Backlog {
    const queued = this.#waiting.entries.length
    return { queued, writing: this.#writing, batches: this.#inFlight, durable: this.#durableAt }
  }

  append<T>(job: Job<T>): Promise<T> {
    return this.#records.hasAll(job.reads) ? this.#take(job) : this.#takeLater(job)
  }

  poison(cause: unknown): void {
    this.#poisoned ??= poisonedBy(cause)
    this.#failAll(this.#waiting)
    this.#waiting = emptyBatch(undefined)
  }

  /** Loads the records that a job needs. Loading one record may evict another, so it repeats until all are in memory. */
  async #takeLater<T>(job: Job<T>): Promise<T> {
    const { reads = [] } = job
    while (!this.#records.hasAll(reads) && !this.#poisoned) {
      await this.#records.load(reads, this.#options.store).catch((cause: unknown) => this.poison(cause))
    }
    const taken = this.#take(job)
    // A job that wrote nothing may still have loaded records.
    this.#forget()
    return taken
  }

  /** Runs a job synchronously, and waits until its changes are durable. */
  #take<T>(job: Job<T>): Promise<T> {
    if (this.#poisoned) return Promise.reject(this.#poisoned)
    const { maxWaiting = MAX_WAITING } = this.#options
    if (this.#waiting.entries.length >= maxWaiting && job.reserved !== true) return Promise.reject(full())
    return new Promise((resolve, reject) => {
      // An error of the job rejects the promise and leaves no changes.
      const result = this.#run(job)
      if (this.#waiting.entries.length === 0 && this.#waiting.records.size === 0) {
        resolve(result)
        return
      }
      this.#waiting.done.push(() => resolve(result))
      this.#waiting.failed.push(reject)
      if (this.#inFlight > 0) this.#writeSome()
      else this.#scheduleWriting()
    })
  }

  /** Defers the write until all decisions of the current tick are in the batch. */
  #scheduleWriting(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    void Promise.resolve().then(() => {
      this.#scheduled = false
      this.#writeSome()
    })
  }

  /** Runs a job. Its changes count only if it returns. */
  #run<T>(job: Job<T>): T {
    const { now, origin, writer, key } = this.#options
    const start = Math.max(this.#time, now())
    const time = start === this.#time ? this.#timeText : new Date(start).toISOString()
    const turn = new JobTurn({ v: 1, ledger: origin, writer, key, time }, start, this.#head, this.#records)
    const result = job.run(turn)
    this.#head = turn.head
    this.#time = start
    this.#timeText = time
    for (const entry of turn.entries) this.#waiting.entries.push(entry)
    for (const { name, text, cached, value, size } of turn.changes) {
      this.#waiting.records.set(name, text)
      if (cached) this.#records.set(name, { value, size, batch: this.#batchNumber })
    }
    return result
  }

  /** Hands over the waiting entries: at once if the store is idle, otherwise only if many wait. */
  #writeSome(): void {
    while (!this.#poisoned && this.#waiting.done.length > 0 && this.#inFlight < MAX_IN_FLIGHT) {
      if (this.#inFlight > 0 && this.#waiting.entries.length < MIN_EARLY_BATCH) return
      const batch = this.#waiting
      this.#waiting = emptyBatch(this.#head?.id)
      this.#inFlight++
      void this.#handOver(batch, this.#batchNumber++)
    }
  }

  /** Writes a batch. The store accepts and completes batches in order. */
  async #handOver(batch: Waiting, number: number): Promise<void> {
    const { length } = batch.entries
    this.#writing += length
    try {
      await this.#options.store.write(batch)
      if (length > 0) this.#durableAt = this.#options.now()
    } catch (cause) {
      // The batch may or may not be stored. Only a restart can find out.
      this.poison(cause)
    }
    this.#writing -= length
    this.#inFlight--
    // The ledger may also be poisoned by a read or an effect. The next start closes calls that were written anyway as UNKNOWN.
    if (this.#poisoned) {
      this.#failAll(batch)
      return
    }
    this.#durable = number
    for (const done of batch.done) done()
    this.#forget()
    this.#writeSome()
  }

  #forget(): void {
    this.#records.evict(this.#options.maxRemembered ?? MAX_REMEMBERED, this.#durable)
  }

  #failAll({ failed }: Waiting): void {
    for (const fail of failed) fail(this.#poisoned ?? poisonedBy(undefined))
  }
}

/** The error of a job after the ledger was poisoned. */
export function poisonedBy(cause: unknown): KernelError {
  const message = 'the ledger could not be written; every call is denied until the gateway is restarted'
  return new KernelError('LEDGER_POISONED', message, { cause })
}

/** The error of a job if too many wait. */
export function full(): KernelError {
  return new KernelError('LEDGER_FULL', 'too many calls wait for the ledger; send fewer concurrent calls')
}

function emptyBatch(after: string | undefined): Waiting {
  return { entries: [], records: new Map(), after, done: [], failed: [] }
}
