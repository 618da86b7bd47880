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
import { openIdTiles } from './ids.ts'
import type { LedgerPlace } from './place.ts'
import { createSealer, type Seal } from './seal.ts'
import { bytes, envelopeOf, openNodes, openTree } from './tree.ts'

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

/** Writes batches. After the first error it writes nothing more; a new start must read the state of the file. */
interface Writer {
  /** Signs and writes a batch. Returns the number of entries. @throws GatewayError; the writer is unusable afterwards. */
  write(batch: PackedBatch): Promise<number>
  /** Resolves when no write is in progress. */
  settled(): Promise<void>
  /** A signed checkpoint of everything written. */
  checkpoint(): Promise<string>
  /** Stores a signed checkpoint in the file, for readers. */
  keepCheckpoint(note: string): void
  /** @throws GatewayError if the writer is unusable or the files are gone; the writer is then unusable. */
  present(): void
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

/** Opens a writer on a file whose newest entries were checked. */
export function openWriter(options: WriterOptions): Writer {
  const { db, data, origin, keys, ledger, collector, place } = options
  const seal = createSealer(keys)
  const nodes = openNodes(db)
  const { size: started } = headIn(db)
  const { tree, append } = openTree(nodes, started)
  const ids = openIdTiles(db, started)
  const statements = prepareStatements(db)
  let newest = newestIn(db, started)?.id
  let broken: GatewayError | undefined
  let proven = false
  let unmoved = 0
  let turn: Promise<unknown> = Promise.resolve()

  /** Writes one batch at a time, in order, even while one waits for its signatures. */
  function write(batch: PackedBatch): Promise<number> {
    const written = turn.then(() => writeOne(batch))
    // The caller of this batch gets the error. The next batch finds the writer unusable.
    turn = written.catch(() => undefined)
    return written
  }

  async function writeOne(batch: PackedBatch): Promise<number> {
    if (broken) throw broken
    try {
      return await writeOrBreak(batch)
    } catch (cause) {
      broken = faultOf(cause, ledgerFile(data))
      endTransaction(db)
      throw broken
    }
  }

  async function writeOrBreak(batch: PackedBatch): Promise<number> {
    if (batch.after !== newest) throw stale()
    // Signed before the transaction begins, to keep the transaction short.
    const entries = unpackEntries(batch)
    const sealed = await sealAll(entries, batch.shared)
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
      ids.add(entry.id)
    })
    for (const { place, root, hashes } of tiles) statements.tile.run(place, root, hashes)
    for (const [name, index] of anchors) statements.anchor.run(name, index)
    const records = unpackRecords(batch)
    for (const [name, text] of records) setRecord(name, text)
    statements.commit.run()
    // Checked before the write is acknowledged: data in a file that was removed is lost.
    place.committed()
    // Some drivers lower durability with the first write, so it is checked after that write.
    if (!proven) requireDurable(db)
    proven = true
    newest = entries.at(-1)?.id ?? newest
    // Record names are scattered over the file: each may need its own page.
    moveLog(
      PAGES_OF_A_COMMIT +
        entries.length +
        records.length +
        Math.ceil(batch.records.joined.length / PAGE_SIZE),
    )
    return tree.size
  }

  /** Signs a batch: this thread's share first, while the signer thread works. */
  async function sealAll(entries: readonly PackedEntry[], shared: number): Promise<readonly Sealed[]> {
    const own: Sealed[] = []
    for (const entry of entries.slice(shared)) own.push({ entry, ...(await seal(entry)) })
    const others: Sealed[] = []
    for (const entry of entries.slice(0, shared)) {
      others.push({ entry, ...((await collector.take(entry.id)) ?? (await seal(entry))) })
    }
    return [...others, ...own]
  }

  /** Moves the log explicitly, because SQLite's automatic checkpoint does not report failures. */
  function moveLog(pages: number): void {
    unmoved += pages
    if (unmoved < MOVED_AFTER) return
    db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    place.moved()
    unmoved = 0
  }

  function present(): void {
    if (broken) throw broken
    try {
      place.check()
    } catch (cause) {
      broken = faultOf(cause, ledgerFile(data))
      throw broken
    }
  }

  function setRecord(name: string, text: string | undefined): void {
    if (text === undefined) {
      statements.remove.run(name)
      return
    }
    statements.record.run(name, Buffer.from(text), tree.size, digestOf(name, text))
  }

  return {
    write,
    settled: () => turn.then(() => undefined),
    present,
    checkpoint: () => {
      // Entries that are only in memory must never be signed.
      present()
      const signing = keys.filter(({ publicKey }) => ledger.includes(publicKey.id))
      return sealCheckpoint({ origin, size: tree.size, root: tree.root() }, signing)
    },
    keepCheckpoint(note) {
      if (broken) return
      try {
        place.check()
        statements.checkpoint.run(note)
        place.committed()
      } catch (cause) {
        // A failed write like any other: the writer is unusable.
        broken = faultOf(cause, ledgerFile(data))
        throw broken
      }
    },
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
