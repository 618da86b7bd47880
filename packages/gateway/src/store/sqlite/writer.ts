// The one writer of a ledger file: signs, extends the tree, writes and syncs. It lives in a thread of its own, and owns keys
// and file.

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

/** What a writer is made of. */
interface WriterOptions {
  readonly db: Database
  readonly data: string
  readonly origin: string
  /** The keys it may sign with; `ledger` are those that sign checkpoints. */
  readonly keys: readonly SigningKey[]
  readonly ledger: readonly string[]
  /** Collects what another thread signs. */
  readonly collector: Collector
  readonly place: LedgerPlace
}

/** Writes batches. After the first fault it writes nothing more: only a new start finds out what the file holds. */
interface Writer {
  /** Signs and writes a batch; how many entries there are then. @throws GatewayError, and is of no use afterwards. */
  write(batch: PackedBatch): Promise<number>
  /** Answers once nothing is being written any more. */
  settled(): Promise<void>
  /** A signed checkpoint of all that is written. */
  checkpoint(): Promise<string>
  /** Keeps a signed checkpoint in the file, for those who only read it. */
  keepCheckpoint(note: string): void
  /** @throws GatewayError if nothing can be written any more, or the files are gone; then nothing is written from now on. */
  present(): void
}

interface Sealed extends Seal {
  readonly entry: PackedEntry
}

// Pages in the log, as good as can be told, after which they are moved into the file. All calls wait for it meanwhile: the more
// there are, the longer.
const MOVED_AFTER = 2000
const PAGES_OF_A_COMMIT = 4
const PAGE_SIZE = 4096

/** The beginning of a SHA-256 over a record and its name: what has rotted is found by it. */
export function digestOf(name: string, text: string): Uint8Array {
  return sha256(`${name}\0${text}`).subarray(0, 8)
}

/** Opens a writer on a file whose right edge has been checked. */
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

  /** One batch at a time, in their order: also while one waits for its signatures. */
  function write(batch: PackedBatch): Promise<number> {
    const written = turn.then(() => writeOne(batch))
    // Whoever waits for this one is told; the next one finds the writer broken.
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
    // Signed before the transaction begins: nobody waits for a lock while we calculate.
    const entries = unpackEntries(batch)
    const sealed = await sealAll(entries, batch.shared)
    place.check()
    const first = tree.size
    const tiles = sealed.flatMap(({ leaf }) => append(leaf))
    statements.begin.run()
    // The file itself is asked, not our memory: a second writer would be seen here.
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
    // Before anybody is told: what went to a file that nobody can find again is not on disk.
    place.committed()
    // Some drivers lower it behind the first write; so it is asked after one.
    if (!proven) requireDurable(db)
    proven = true
    newest = entries.at(-1)?.id ?? newest
    // Names of records are spread over the file: each may be on a page of its own.
    moveLog(
      PAGES_OF_A_COMMIT +
        entries.length +
        records.length +
        Math.ceil(batch.records.joined.length / PAGE_SIZE),
    )
    return tree.size
  }

  /** Seals a batch: our own share first, while the other thread makes its. */
  async function sealAll(entries: readonly PackedEntry[], shared: number): Promise<readonly Sealed[]> {
    const own: Sealed[] = []
    for (const entry of entries.slice(shared)) own.push({ entry, ...(await seal(entry)) })
    const others: Sealed[] = []
    for (const entry of entries.slice(0, shared)) {
      others.push({ entry, ...((await collector.take(entry.id)) ?? (await seal(entry))) })
    }
    return [...others, ...own]
  }

  /** Moves the log into the file by hand: what SQLite does by itself behind a commit, it does not tell about if it fails. */
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
      // What our memory holds beyond the file must never be signed.
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
        // A write like any other: after the first that fails there is no next one.
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
    hints: ['another process has written to it; stop that, then start again'],
  })
}

/** The head as the file has it. */
export function headIn(db: Database): { readonly size: number; readonly peaks: Uint8Array } {
  const row = db.prepare('SELECT size, peaks FROM head').get()
  const size = row?.['size']
  if (typeof size === 'number') return { size, peaks: bytes(row?.['peaks']) }
  throw new GatewayError('LEDGER_DAMAGED', 'the ledger file has no head', { hints: ['run `tollgate fsck`'] })
}

/** The newest receipt in the file, as far as the next one depends on it. */
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
