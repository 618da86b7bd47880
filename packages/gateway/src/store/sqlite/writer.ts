// The only writer of a ledger file: signs, extends the tree, writes and syncs. It runs in its own thread.

import {
  chainHead,
  createTree,
  parseReceipt,
  sealCheckpoint,
  sha256,
  type ChainHead,
  type SigningKey,
} from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'
import type { Collector } from './share.ts'
import { unpackEntries, unpackRecords, type PackedBatch, type PackedEntry } from './batch.ts'
import { endTransaction, faultOf, ledgerFile, requireDurable, type Database } from './database.ts'
import { openIdTiles, type IdTiles } from './ids.ts'
import type { LedgerPlace } from './place.ts'
import { createSealer, type Seal } from '../seal.ts'
import { bytes, envelopeOf, type TiledTree } from '../tiles.ts'
import { openNodes, openTree } from './tree.ts'

interface WriterOptions {
  readonly db: Database
  readonly data: string
  readonly origin: string
  /** The private keys. `ledger` lists the ids of those that sign checkpoints. */
  readonly keys: readonly SigningKey[]
  readonly ledger: readonly string[]
  /** Collects signatures from the signer thread. */
  readonly collector: Collector
  readonly place: LedgerPlace
}

interface Sealed extends Seal {
  readonly entry: PackedEntry
}

// The estimated number of pages in the log after which they are moved into the file. All calls wait for the move, so it must
// stay small.
const MOVED_AFTER = 2000
const PAGES_OF_A_COMMIT = 4
const PAGE_SIZE = 4096

/** The first bytes of SHA-256 over a record and its name, to detect bit rot. */
export function digestOf(name: string, text: string): Uint8Array {
  return sha256(`${name}\0${text}`).subarray(0, 8)
}

/**
 * Writes batches to a file whose newest entries were checked. After the first error it writes nothing more; a new start must read
 * the state of the file.
 */
export class LedgerWriter {
  readonly #options: WriterOptions
  readonly #seal: ReturnType<typeof createSealer>
  readonly #tree: TiledTree
  readonly #ids: IdTiles
  readonly #statements: ReturnType<typeof prepareStatements>
  #newest: string | undefined
  #broken: GatewayError | undefined
  #proven = false
  #unmoved = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: WriterOptions) {
    const { db, keys } = options
    const { size } = headIn(db)
    this.#options = options
    this.#seal = createSealer(keys)
    this.#tree = openTree(openNodes(db), size)
    this.#ids = openIdTiles(db, size)
    this.#statements = prepareStatements(db)
    this.#newest = newestIn(db, size)?.id
  }

  /**
   * Signs and writes a batch, one at a time and in order, even while one waits for its signatures. Returns the number of entries.
   * @throws GatewayError; the writer is unusable afterwards.
   */
  write(batch: PackedBatch): Promise<number> {
    const written = this.#turn.then(() => this.#writeOne(batch))
    // The caller of this batch gets the error. The next batch finds the writer unusable.
    this.#turn = written.catch(() => undefined)
    return written
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await this.#turn
  }

  /** @throws GatewayError if the writer is unusable or the files are gone; the writer is then unusable. */
  present(): void {
    if (this.#broken) throw this.#broken
    try {
      this.#options.place.check()
    } catch (cause) {
      throw this.#break(cause)
    }
  }

  /** A signed checkpoint of everything written. */
  checkpoint(): Promise<string> {
    // Entries that are only in memory must never be signed.
    this.present()
    const { origin, keys, ledger } = this.#options
    const { tree } = this.#tree
    const signing = keys.filter(({ publicKey }) => ledger.includes(publicKey.id))
    return sealCheckpoint({ origin, size: tree.size, root: tree.root() }, signing)
  }

  /** Stores a signed checkpoint in the file, for readers. */
  keepCheckpoint(note: string): void {
    if (this.#broken) return
    try {
      this.#options.place.check()
      this.#statements.checkpoint.run(note)
      this.#options.place.committed()
    } catch (cause) {
      // A failed write like any other: the writer is unusable.
      throw this.#break(cause)
    }
  }

  async #writeOne(batch: PackedBatch): Promise<number> {
    if (this.#broken) throw this.#broken
    try {
      if (batch.after !== this.#newest) throw stale()
      // Signed before the transaction begins, to keep the transaction short.
      const sealed = await this.#sealAll(unpackEntries(batch), batch.shared)
      this.#store(sealed, batch)
      return this.#tree.tree.size
    } catch (cause) {
      throw this.#break(cause)
    }
  }

  #break(cause: unknown): GatewayError {
    this.#broken = faultOf(cause, ledgerFile(this.#options.data))
    endTransaction(this.#options.db)
    return this.#broken
  }

  /** Signs a batch: this thread's share first, while the signer thread works. */
  async #sealAll(entries: readonly PackedEntry[], shared: number): Promise<readonly Sealed[]> {
    const own: Sealed[] = []
    for (const entry of entries.slice(shared)) own.push({ entry, ...(await this.#seal(entry)) })
    const others: Sealed[] = []
    for (const entry of entries.slice(0, shared)) {
      const seal = (await this.#options.collector.take(entry.id)) ?? (await this.#seal(entry))
      others.push({ entry, ...seal })
    }
    return [...others, ...own]
  }

  #store(sealed: readonly Sealed[], batch: PackedBatch): void {
    const { db, place } = this.#options
    const { tree, append } = this.#tree
    const statements = this.#statements
    place.check()
    const first = tree.size
    const tiles = sealed.flatMap(({ leaf }) => append(leaf))
    statements.begin.run()
    // Compares with the file, not with memory, to detect a second writer.
    const { changes } = statements.head.run(tree.size, Buffer.concat(tree.frontier().peaks), first)
    if (changes !== 1) throw stale()
    const anchors = new Map<string, number>()
    sealed.forEach(({ entry, signature }, i) => {
      statements.entry.run(first + i, entry.kind, entry.payload, signature)
      for (const name of entry.anchors) anchors.set(name, first + i)
      this.#ids.add(entry.id)
    })
    for (const { place, root, hashes } of tiles) statements.tile.run(place, root, hashes)
    for (const [name, index] of anchors) statements.anchor.run(name, index)
    const records = unpackRecords(batch)
    for (const [name, text] of records) {
      if (text === undefined) statements.remove.run(name)
      else statements.record.run(name, Buffer.from(text), tree.size, digestOf(name, text))
    }
    statements.commit.run()
    // Checked before the write is acknowledged: data in a file that was removed is lost.
    place.committed()
    // Some drivers lower durability with the first write, so it is checked after that write.
    if (!this.#proven) requireDurable(db)
    this.#proven = true
    this.#newest = sealed.at(-1)?.entry.id ?? this.#newest
    // Record names are scattered over the file: each may need its own page.
    const scattered = records.length + Math.ceil(batch.records.joined.length / PAGE_SIZE)
    this.#moveLog(PAGES_OF_A_COMMIT + sealed.length + scattered)
  }

  /** Moves the log explicitly, because SQLite's automatic checkpoint does not report failures. */
  #moveLog(pages: number): void {
    this.#unmoved += pages
    if (this.#unmoved < MOVED_AFTER) return
    this.#options.db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    this.#options.place.moved()
    this.#unmoved = 0
  }
}

function prepareStatements(db: Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    entry: db.prepare('INSERT INTO entries (idx, kind, payload, signature) VALUES (?, ?, ?, ?)'),
    tile: db.prepare('INSERT INTO tiles (place, root, hashes) VALUES (?, ?, ?)'),
    anchor: db.prepare(
      'INSERT INTO anchors (name, idx) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET idx = excluded.idx',
    ),
    record: db.prepare(
      `INSERT INTO records (name, text, written, digest) VALUES (?, ?, ?, ?) ON CONFLICT (name)
       DO UPDATE SET text = excluded.text, written = excluded.written, digest = excluded.digest`,
    ),
    remove: db.prepare('DELETE FROM records WHERE name = ?'),
    head: db.prepare('UPDATE head SET size = ?, peaks = ? WHERE only = 1 AND size = ?'),
    checkpoint: db.prepare(
      'INSERT INTO checkpoint VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET note = excluded.note',
    ),
  }
}

function stale(): GatewayError {
  return new GatewayError('STORE_FAILED', 'the batch does not follow the newest receipt in the file', {
    hints: ['another process has written to the file; stop that process, then start again'],
  })
}

/** The head in the file. */
export function headIn(db: Database): { readonly size: number; readonly peaks: Uint8Array } {
  const row = db.prepare('SELECT size, peaks FROM head').get()
  const size = row?.['size']
  if (typeof size === 'number') return { size, peaks: bytes(row?.['peaks']) }
  throw new GatewayError('LEDGER_DAMAGED', 'the ledger file has no head', { hints: ['run `tollgate fsck`'] })
}

/** The chain head of the newest receipt in the file. */
export function newestIn(db: Database, size: number): ChainHead | undefined {
  if (size === 0) return undefined
  const row = db.prepare('SELECT payload, signature FROM entries WHERE idx = ?').get(size - 1)
  if (!row)
    throw new GatewayError('LEDGER_DAMAGED', `entry ${size - 1} is missing`, {
      hints: ['run `tollgate fsck`'],
    })
  return chainHead(parseReceipt(envelopeOf(bytes(row['payload']), bytes(row['signature']))))
}

/** The root that the head of a file commits to. */
export function headRoot({ size, peaks }: { readonly size: number; readonly peaks: Uint8Array }): Uint8Array {
  const list = Array.from({ length: Math.ceil(peaks.length / 32) }, (_, i) =>
    peaks.subarray(32 * i, 32 * (i + 1)),
  )
  try {
    return createTree({ size, peaks: list }).root()
  } catch (cause) {
    throw new GatewayError('LEDGER_DAMAGED', 'the head of the ledger does not fit its size', {
      cause,
      hints: ['run `tollgate fsck`'],
    })
  }
}
