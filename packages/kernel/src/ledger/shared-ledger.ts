// The ledger of one of several writers. It decides late: the jobs that wait run together when the store is free, on everything that
// the other writers have committed. If another writer changes what they were decided on, they run again.

import type { ChainHead } from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import {
  full,
  MAX_REMEMBERED,
  MAX_WAITING,
  poisonedBy,
  type Backlog,
  type Job,
  type Ledger,
  type LedgerOptions,
} from './ledger.ts'
import { RememberedRecords, type Read } from './remembered.ts'
import type { Batch, Entry, Others } from './store.ts'
import { JobTurn, type Turn } from './turn.ts'

/** The options of a ledger with other writers. */
interface SharedOptions extends LedgerOptions {
  readonly others: Others
  /** Prefixes of names that any decision may depend on. */
  readonly prefixes: readonly string[]
  /** Takes up the stored state of these names into the memory of the kernel. */
  readonly takeUp: (names: readonly string[]) => Promise<void>
}

/** A job that waits. */
interface Pending {
  readonly reads: readonly Read[]
  /** Runs the job and keeps its result. */
  readonly run: (turn: Turn) => void
  readonly done: () => void
  readonly failed: (cause: unknown) => void
}

/** The changes of all jobs of a round. */
interface Round {
  readonly batch: Batch
  readonly jobs: readonly Pending[]
  readonly head: ChainHead | undefined
  readonly time: number
}

const MAX_PER_ROUND = 256
/** After this many refusals, the other writers wait until the jobs were decided and written. */
const MAX_REFUSED = 2

/** The ledger of one of several writers, from its newest receipt on. */
export class SharedLedger implements Ledger {
  readonly #options: SharedOptions
  readonly #records = new RememberedRecords()
  #head: ChainHead | undefined
  #time: number
  #waiting: Pending[] = []
  #writing = 0
  #poisoned: KernelError | undefined
  #durableAt: number | undefined
  #running = false
  #behind = false
  #refused = 0

  constructor(options: SharedOptions) {
    this.#options = options
    this.#head = options.head
    this.#time = this.#head ? Date.parse(this.#head.time) : 0
    this.#durableAt = this.#head && this.#time
    options.others.watch(() => {
      this.#behind = true
      this.#wake()
    })
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
    const writing = this.#writing
    return { queued: this.#waiting.length, writing, batches: writing > 0 ? 1 : 0, durable: this.#durableAt }
  }

  append<T>({ reads = [], run, reserved }: Job<T>): Promise<T> {
    if (this.#poisoned) return Promise.reject(this.#poisoned)
    const { maxWaiting = MAX_WAITING } = this.#options
    if (this.#waiting.length >= maxWaiting && reserved !== true) return Promise.reject(full())
    return new Promise((resolve, reject) => {
      let result: { readonly value: T } | undefined
      this.#waiting.push({
        reads,
        run: (turn) => (result = { value: run(turn) }),
        // A job is done only after it has run.
        done: () => (result ? resolve(result.value) : reject(poisonedBy(undefined))),
        failed: reject,
      })
      this.#wake()
    })
  }

  poison(cause: unknown): void {
    this.#poisoned ??= poisonedBy(cause)
    for (const { failed } of this.#waiting.splice(0)) failed(this.#poisoned)
  }

  /** Runs rounds until nothing waits. The first one starts after the current tick, with all its jobs. */
  #wake(): void {
    if (this.#running || this.#poisoned) return
    this.#running = true
    void Promise.resolve()
      .then(() => this.#rounds())
      .catch((cause: unknown) => this.poison(cause))
      .finally(() => {
        this.#running = false
        if (this.#waiting.length > 0) this.#wake()
      })
  }

  async #rounds(): Promise<void> {
    while (!this.#poisoned && (this.#waiting.length > 0 || this.#behind)) await this.#round()
  }

  async #round(): Promise<void> {
    const { others } = this.#options
    // Taken first: a job sees everything that was committed before it came.
    const jobs = this.#waiting.splice(0, MAX_PER_ROUND)
    const holds = this.#refused >= MAX_REFUSED && jobs.length > 0
    try {
      if (holds) await others.hold()
      await this.#catchUp()
      if (jobs.length === 0) return
      await this.#load(jobs.flatMap(({ reads }) => reads))
      const round = this.#decide(jobs)
      const isEmpty = round.batch.entries.length === 0 && round.batch.records.size === 0
      if (isEmpty && holds) await others.release()
      if (isEmpty || (await this.#write(round))) this.#finish(round)
    } catch (cause) {
      this.poison(cause)
      for (const { failed } of jobs) failed(this.#poisoned)
    }
  }

  /** Takes up what the other writers have committed. Everything that is decided afterwards is decided on it. */
  async #catchUp(): Promise<void> {
    this.#behind = false
    const { names, time } = await this.#options.others.changes()
    // Clocks of gateways differ: a decision is never dated before one that it was decided on.
    this.#time = Math.max(this.#time, time)
    await this.#takeUp(names)
  }

  async #takeUp(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    for (const name of names) this.#records.delete(name)
    await this.#options.takeUp(names)
  }

  async #load(reads: readonly Read[]): Promise<void> {
    while (!this.#records.hasAll(reads)) await this.#records.load(reads, this.#options.store)
  }

  /** Runs the jobs without a pause. Those that throw get their error, and their changes are dropped. */
  #decide(jobs: readonly Pending[]): Round {
    const { now, origin, writer, key, prefixes } = this.#options
    const time = Math.max(this.#time, now())
    const shared = { v: 1, ledger: origin, writer, key, time: new Date(time).toISOString() } as const
    const entries: Entry[] = []
    const records = new Map<string, string | undefined>()
    const names = new Set<string>()
    const ran: Pending[] = []
    let head = this.#head
    for (const job of jobs) {
      const turn = new JobTurn(shared, time, head, this.#records)
      try {
        job.run(turn)
      } catch (cause) {
        job.failed(cause)
        continue
      }
      ran.push(job)
      head = turn.head
      entries.push(...turn.entries)
      for (const { name } of job.reads) names.add(name)
      for (const { name, text, cached, value, size } of turn.changes) {
        records.set(name, text)
        if (cached) this.#records.set(name, { value, size, batch: 0 })
      }
    }
    const batch = { after: this.#head?.id, entries, records, basis: { names, prefixes } }
    return { batch, jobs: ran, head, time }
  }

  /** Writes a round. If another writer has changed its basis, undoes it and puts its jobs back. Returns whether it is durable. */
  async #write({ batch, jobs }: Round): Promise<boolean> {
    this.#writing = batch.entries.length
    try {
      await this.#options.store.write(batch)
      this.#refused = 0
      return true
    } catch (cause) {
      if (!(cause instanceof KernelError) || cause.code !== 'BATCH_STALE') throw cause
      this.#refused++
      this.#waiting.unshift(...jobs)
      await this.#undo(batch)
      return false
    } finally {
      this.#writing = 0
    }
  }

  /** Everything in memory that the batch has changed is read again from the store. */
  async #undo({ entries, records }: Batch): Promise<void> {
    await this.#takeUp([...new Set([...records.keys(), ...entries.flatMap(({ anchors }) => anchors)])])
  }

  #finish({ batch, jobs, head, time }: Round): void {
    this.#head = head
    this.#time = time
    if (batch.entries.length > 0) this.#durableAt = this.#options.now()
    // The ledger may be poisoned by an effect. The next start closes calls that were written anyway as UNKNOWN.
    for (const { done, failed } of jobs) {
      if (this.#poisoned) failed(this.#poisoned)
      else done()
    }
    this.#records.evict(this.#options.maxRemembered ?? MAX_REMEMBERED, 0)
  }
}
