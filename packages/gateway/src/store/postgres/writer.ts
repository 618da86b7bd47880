// Writes batches as one of several writers: signs and hashes first, then one transaction locks the head, compares, inserts and
// commits.

import { randomUUID } from 'node:crypto'
import { sealCheckpoint, type SigningKey } from '@tollgate/evidence'
import { KernelError, type Batch, type Changes } from '@tollgate/kernel'
import { GatewayError } from '../../error.ts'
import { damaged, rolledBack } from '../heads.ts'
import { createSealer, type Seal } from '../seal.ts'
import { bytes, type TiledTree } from '../tiles.ts'
import { behind, displaced, HEAD, headOf, namesIn, requireSame, stale, type Head } from './head.ts'
import { insertBatch, type SealedEntry } from './insert.ts'
import type { Link } from './link.ts'
import { isLost, type SqlSession } from './session.ts'
import { openTree } from './tree.ts'

interface PostgresWriterOptions {
  readonly link: Link
  readonly writer: string
  readonly origin: string
  readonly keys: readonly SigningKey[]
}

const MAX_LEAVES = 10_000

/** The number of batches whose names are kept for gateways that are behind. */
const KEPT_BATCHES = 100_000

/** Writes as one writer of a ledger whose newest entries were checked, and follows what the others write. */
export class PostgresWriter {
  readonly #options: PostgresWriterOptions
  readonly #seal: ReturnType<typeof createSealer>
  #tree: TiledTree
  #batch: number
  #turn: Promise<unknown> = Promise.resolve()
  #held = false
  #newestTime = 0
  #broken: GatewayError | undefined
  /** Names that other writers have changed and the kernel does not know yet. */
  readonly #changed = new Set<string>()

  private constructor(options: PostgresWriterOptions, tree: TiledTree, batch: number) {
    this.#options = options
    this.#seal = createSealer(options.keys)
    this.#tree = tree
    this.#batch = batch
  }

  static async open(options: PostgresWriterOptions): Promise<PostgresWriter> {
    const ask: SqlSession['query'] = (sql, values) => options.link.session.query(sql, values)
    await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    try {
      const head = headOf((await ask(HEAD))[0])
      const tree = await openTree(ask, head.size)
      requireSame(tree, head)
      return new PostgresWriter(options, tree, head.batch)
    } finally {
      await ask('COMMIT').catch(() => undefined)
    }
  }

  /** The number of entries that this gateway knows to be durable. */
  get size(): number {
    return this.#tree.tree.size
  }

  /** Signs and writes a batch, in order. @throws KernelError `BATCH_STALE`; GatewayError, after which it writes nothing more. */
  write(batch: Batch): Promise<void> {
    return this.#next(() => this.#writeOne(batch))
  }

  /** Takes the names that other writers have changed, see `Others`. */
  changes(): Promise<Changes> {
    return this.#next(async () => {
      await this.#retrying(() => this.#follow())
      const names = [...this.#changed]
      this.#changed.clear()
      return { names, time: this.#newestTime }
    })
  }

  /** Reads what the others have written, unless the connection is lost. Returns whether there was anything. */
  follow(): Promise<boolean> {
    return this.#next(async () => {
      const before = this.#batch
      try {
        if (!this.#options.link.isOpen) await this.#reopen(0)
        await this.#follow()
      } catch (cause) {
        // Nothing waits for it: the next call, or the next look, tries again.
        if (!isLost(cause)) throw cause
      }
      return this.#batch !== before
    })
  }

  /** Locks the head until the next batch. */
  hold(): Promise<void> {
    return this.#next(async () => {
      await this.#retrying(async () => {
        await this.#begin()
        this.#held = true
      })
    })
  }

  release(): Promise<void> {
    return this.#next(async () => {
      // A lost connection has released the lock.
      await this.#rollBack().catch((cause: unknown) => {
        if (!isLost(cause)) throw cause
      })
    })
  }

  /** A checkpoint of everything that this gateway knows to be durable. */
  checkpoint(ledger: readonly string[]): Promise<{ readonly size: number; readonly note: string }> {
    return this.#next(async () => {
      const { origin, keys } = this.#options
      const { tree } = this.#tree
      const signing = keys.filter(({ publicKey }) => ledger.includes(publicKey.id))
      return {
        size: tree.size,
        note: await sealCheckpoint({ origin, size: tree.size, root: tree.root() }, signing),
      }
    })
  }

  /** @throws GatewayError if nothing can be written any more. */
  present(): void {
    if (this.#broken) throw this.#broken
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await this.#turn.catch(() => undefined)
  }

  /** Runs one at a time, in order, and not after a fault. */
  #next<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(async () => {
      this.present()
      try {
        return await run()
      } catch (cause) {
        if (cause instanceof GatewayError) this.#broken = cause
        throw cause
      }
    })
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #writeOne(batch: Batch): Promise<void> {
    // Signed before the transaction, to keep the head locked for a short time.
    const sealed = await this.#sealAll(batch)
    const token = randomUUID()
    try {
      if (!this.#held) await this.#begin()
      this.#held = false
      if (this.#isStale(batch)) throw stale()
      await this.#insert(batch, sealed, token)
    } catch (cause) {
      if (!isLost(cause)) {
        await this.#rollBack().catch(() => undefined)
        throw cause
      }
      await this.#afterLoss(token)
    }
  }

  /** The connection was lost, so the batch may or may not be stored. Looks, and never sends it again. */
  async #afterLoss(token: string): Promise<void> {
    this.#held = false
    const stored = await this.#retrying(async () => {
      const { session, epoch } = this.#options.link
      // Locked, so that the lost transaction has ended.
      await session.query('BEGIN')
      await session.query(`${HEAD} FOR UPDATE`)
      const [row] = await session.query('SELECT epoch, token FROM writers WHERE name = $1', [
        this.#options.writer,
      ])
      await session.query('ROLLBACK')
      if (row?.['epoch'] !== epoch) throw displaced()
      return row['token'] === token
    }, true)
    if (!stored) throw stale()
    await this.#retrying(() => this.#follow())
  }

  async #sealAll({ entries }: Batch): Promise<readonly SealedEntry[]> {
    const sealed: SealedEntry[] = []
    for (const entry of entries) {
      const { encoded } = entry
      const seal: Seal = await this.#seal({ ...encoded, key: encoded.receipt.key })
      sealed.push({ entry, ...seal })
    }
    return sealed
  }

  /** Locks the head and reads what the others have written since. */
  async #begin(): Promise<void> {
    const { session } = this.#options.link
    const [row] = await session.query(`BEGIN; ${HEAD} FOR UPDATE`)
    const head = headOf(row)
    if (head.batch !== this.#batch) await this.#followTo(head)
    else requireSame(this.#tree, head)
    this.#newestTime = head.newestTime
  }

  async #insert(batch: Batch, sealed: readonly SealedEntry[], token: string): Promise<void> {
    const { link, writer } = this.#options
    const { session, epoch } = link
    const tree = this.#tree.fork()
    const first = tree.tree.size
    const tiles = sealed.flatMap(({ leaf }) => tree.append(leaf))
    const number = this.#batch + 1
    const done = await insertBatch(session, {
      batch,
      sealed,
      tiles,
      first,
      peaks: Buffer.concat(tree.tree.frontier().peaks),
      number,
      writer,
      epoch,
      token,
      newestTime: this.#newestTime,
    })
    if (!done) throw await this.#refused(batch)
    await session.query('COMMIT')
    this.#tree = tree
    this.#batch = number
    if (number % KEPT_BATCHES === 0) {
      await session
        .query('DELETE FROM batches WHERE number <= $1', [number - KEPT_BATCHES])
        .catch(() => undefined)
    }
  }

  /** Why the writer's row did not match. */
  async #refused({ after }: Batch): Promise<Error> {
    const { link, writer } = this.#options
    const [row] = await link.session.query('SELECT epoch, newest FROM writers WHERE name = $1', [writer])
    if (row?.['epoch'] !== link.epoch) return displaced()
    return new KernelError(
      'REQUEST_INVALID',
      `the batch follows ${after?.slice(0, 8) ?? 'nothing'}, which is not the newest receipt of its writer`,
    )
  }

  #isStale({ basis, records, entries }: Batch): boolean {
    if (this.#changed.size === 0) return false
    const touched = new Set([...records.keys(), ...entries.flatMap(({ anchors }) => anchors)])
    return [...this.#changed].some(
      (name) =>
        touched.has(name) ||
        basis?.names.has(name) === true ||
        basis?.prefixes.some((prefix) => name.startsWith(prefix)) === true,
    )
  }

  async #rollBack(): Promise<void> {
    this.#held = false
    await this.#options.link.session.query('ROLLBACK')
  }

  /** Reads what the others have written, outside of a transaction of its own batch. */
  async #follow(): Promise<void> {
    if (this.#held) return
    const head = headOf((await this.#options.link.session.query(HEAD))[0])
    if (head.batch !== this.#batch) await this.#followTo(head)
    this.#newestTime = head.newestTime
  }

  /** Takes over the entries up to a head, and checks that they make its root. */
  async #followTo(head: Head): Promise<void> {
    const { link, writer } = this.#options
    const known = this.#tree.tree.size
    if (head.size < known || head.batch < this.#batch)
      throw rolledBack(head.size, known, 'the memory of this gateway')
    const rows = await link.session.query(
      'SELECT number, writer, names FROM batches WHERE number > $1 AND number <= $2 ORDER BY number',
      [this.#batch, head.batch],
      'batches',
    )
    if (rows.length !== head.batch - this.#batch) throw behind()
    const tree = this.#tree.fork()
    while (tree.tree.size < head.size) {
      const at = tree.tree.size
      const end = Math.min(head.size, at + MAX_LEAVES)
      const leaves = await link.session.query(
        'SELECT leaf FROM entries WHERE idx >= $1 AND idx < $2 ORDER BY idx',
        [at, end],
        'leaves',
      )
      if (leaves.length !== end - at) throw damaged(`entries between ${at} and ${end} are missing`)
      for (const row of leaves) tree.append(bytes(row['leaf']))
    }
    requireSame(tree, head)
    this.#tree = tree
    this.#batch = head.batch
    for (const row of rows)
      if (row['writer'] !== writer) for (const name of namesIn(row)) this.#changed.add(name)
  }

  /** A new connection holds no lock on the head. */
  async #reopen(patience?: number): Promise<void> {
    this.#held = false
    await this.#options.link.reopen(patience)
  }

  /** Runs something that changes nothing. If the connection is lost, opens it again and repeats. */
  async #retrying<T>(run: () => Promise<T>, isOpenLost = false): Promise<T> {
    let lost = isOpenLost
    for (;;) {
      if (lost || !this.#options.link.isOpen) await this.#reopen()
      try {
        return await run()
      } catch (cause) {
        if (!isLost(cause)) throw cause
        lost = true
      }
    }
  }
}
