// Checks a whole ledger file: the database, every entry, the evidence with the verifier that auditors use, and the private
// records against the receipts.

import {
  chainHead,
  leafHash,
  NO_HASH,
  parseCheckpoint,
  sha256Hex,
  toHex,
  verifyPack,
  writePack,
  type Trust,
  noteKey,
} from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'
import { createAnchorCheck } from './anchors.ts'
import {
  endTransaction,
  expectedSchema,
  faultOf,
  ledgerFile,
  logBytes,
  openForReading,
  schemaOf,
  type Database,
} from './database.ts'
import { checkRemembered, remember, type RememberedOptions } from './tail-remembered.ts'
import { LedgerReader } from './reader.ts'
import {
  noteOpen,
  problemWithRecord,
  readObject,
  type FsckProblem,
  type FsckProgress,
  type FsckReport,
} from '../fsck-report.ts'
import type { Service } from '../service.ts'
import { bytes, envelopeOf } from '../tiles.ts'
import { keysOf, serviceIn } from './service.ts'
import { openNodes, openTree } from './tree.ts'
import { digestOf, headIn, headRoot, newestIn } from './writer.ts'

const MAX_LISTED = 100

/** Checks a ledger file. Reports bad contents as problems; throws only if the file cannot be opened. */
export async function fsckLedger(
  options: RememberedOptions,
  onProgress: (progress: FsckProgress) => void,
): Promise<FsckReport> {
  const db = openForReading(options.data)
  const problems: FsckProblem[] = []
  let more = 0
  const log = logBytes(options.data)
  const found: FsckRun['found'] = (code, at, message, hints = []) => {
    if (problems.length < MAX_LISTED) problems.push({ code, at, message, ...(hints.length > 0 && { hints }) })
    else more++
  }
  try {
    // Read before the transaction: a head that a gateway signs later may cover entries outside of it.
    const remembered = remember(db, options)
    // One read transaction, so that concurrent writes do not change the result.
    db.exec('BEGIN')
    const run = { db, options, found, onProgress }
    const { size } = headIn(db)
    const steps: (() => unknown)[] = [
      () => checkDatabase(run),
      () => checkEntries(run, size),
      async () => checkRemembered(db, options, await remembered),
      () => checkRecords(run),
    ]
    for (const step of steps) await attempt(run, step)
    const verified = (await attempt(run, () => verifyAll(run))) ?? 0
    await attempt(run, () => checkTail(run, verified))
    return { ok: problems.length === 0, entries: size, verified, problems, more, log }
  } finally {
    endTransaction(db)
    db.close()
  }
}

interface FsckRun {
  readonly db: Database
  readonly options: RememberedOptions
  readonly found: (code: string, at: string | undefined, message: string, hints?: readonly string[]) => void
  readonly onProgress: (progress: FsckProgress) => void
}

/** Reports an error of a step as a problem, so that the other steps still run. */
async function attempt<T>({ found, options }: FsckRun, step: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (cause) {
    const { code, message, hints } = faultOf(cause, ledgerFile(options.data))
    const why = cause instanceof Error && cause.message !== message ? `: ${cause.message}` : ''
    found(code, undefined, message + why, hints)
    return undefined
  }
}

function checkDatabase({ db, found, onProgress }: FsckRun): void {
  onProgress({ stage: 'database', done: 0, total: 1 })
  for (const row of db.prepare('PRAGMA integrity_check(100)').all()) {
    const answer = String(row['integrity_check'])
    if (answer !== 'ok') found('FILE_DAMAGED', undefined, `the database is damaged: ${answer}`)
  }
  if (schemaOf(db) !== expectedSchema())
    found('SCHEMA_WRONG', undefined, 'the tables or triggers differ from those of a ledger')
  onProgress({ stage: 'database', done: 1, total: 1 })
}

/** Checks the order of the entries, the tree over them, the anchors and the open calls. */
function checkEntries(run: FsckRun, size: number): void {
  const { db, found, onProgress } = run
  const tiled = openTree(openNodes(db), 0)
  const tileAt = db.prepare('SELECT root, hashes FROM tiles WHERE place = ?')
  const ids = createIdCheck(run)
  const open = new Set<string>()
  const anchors = createAnchorCheck()
  let next = 0
  for (const row of db.prepare('SELECT idx, kind, payload, signature FROM entries ORDER BY idx').iterate()) {
    const index = Number(row['idx'])
    if (index !== next) found('ENTRY_MISSING', String(next), `entries ${next} to ${index - 1} are missing`)
    next = index + 1
    const payload = bytes(row['payload'])
    const id = sha256Hex(payload)
    for (const { place, root, hashes } of tiled.append(
      leafHash(envelopeOf(payload, bytes(row['signature']))),
    )) {
      const kept = tileAt.get(place)
      const same = kept && same32(bytes(kept['root']), root) && same32(bytes(kept['hashes']), hashes)
      if (!same)
        found('TILE_WRONG', String(index), `a tile of the tree does not match the entries up to ${index}`)
    }
    ids.take(id, index)
    const receipt = readObject(payload)
    anchors.take(receipt, id, index)
    noteOpen(open, id, receipt, String(row['kind']), (what) => found('KIND_WRONG', String(index), what))
    if (next % 1000 === 0) onProgress({ stage: 'entries', done: next, total: size })
  }
  if (next !== size)
    found('HEAD_WRONG', undefined, `the head states ${size} entries, but the file has ${next}`)
  if (!same32(tiled.tree.root(), headRoot(headIn(db))))
    found('HEAD_WRONG', undefined, 'the entries do not match the root in the head')
  compareOpen(run, open)
  for (const { name, message } of anchors.problems(db))
    found('ANCHOR_WRONG', name.replaceAll('\n', ' '), message)
  onProgress({ stage: 'entries', done: size, total: size })
}

function compareOpen({ db, options, found }: FsckRun, open: ReadonlySet<string>): void {
  const names = new LedgerReader(db, options.writer).list('open\n', 'records')
  const kept = new Set(names.map((name) => name.slice(-64)))
  for (const id of open) {
    if (!kept.has(id))
      found('OPEN_CALL_HIDDEN', id, 'an allowed call has no effect, but its private record is missing')
  }
  for (const id of kept) {
    if (!open.has(id))
      found('OPEN_CALL_INVENTED', id, 'a private record marks a call as open, but the ledger does not')
  }
}

/** Checks the stored id prefixes that lookups use. */
function createIdCheck({ db, found }: FsckRun): { take(id: string, index: number): void } {
  const tileAt = db.prepare('SELECT prefixes FROM ids WHERE tile = ?')
  let tile: string[] = []
  return {
    take(id, index) {
      tile.push(id.slice(0, 16))
      if (tile.length < 1024) return
      const kept = tileAt.get((index + 1) / 1024 - 1)?.['prefixes']
      const same = kept !== undefined && toHex(bytes(kept)) === tile.join('')
      if (!same)
        found('IDS_WRONG', String(index), `the stored id prefixes do not match the entries up to ${index}`)
      tile = []
    },
  }
}

/** Compares private records with the newest receipts about them. */
function checkRecords({ db, found, onProgress }: FsckRun): void {
  const rows = db
    .prepare(
      `SELECT anchors.name, anchors.idx, payload, text FROM anchors LEFT JOIN entries ON entries.idx = anchors.idx
       LEFT JOIN records ON records.name = anchors.name`,
    )
    .iterate()
  for (const row of db.prepare('SELECT name, text, digest FROM records').iterate()) {
    const whole = same32(
      digestOf(String(row['name']), Buffer.from(bytes(row['text'])).toString()),
      bytes(row['digest']),
    )
    if (!whole)
      found(
        'RECORD_DAMAGED',
        String(row['name']).replaceAll('\n', ' '),
        'the record was modified after it was written',
      )
  }
  let done = 0
  for (const row of rows) {
    done++
    const name = String(row['name'])
    const problem = problemWithRecord(name, row['payload'], row['text'])
    if (problem) found(problem[0], name.replaceAll('\n', ' '), problem[1])
  }
  onProgress({ stage: 'records', done, total: done })
}

/** Checks the signatures and links of the entries that are newer than the stored checkpoint. */
async function checkTail({ db, options, found }: FsckRun, start: number): Promise<void> {
  const keys = keysOf(db, options.writer)
  const rows = db.prepare('SELECT idx, payload, signature FROM entries WHERE idx >= ? ORDER BY idx')
  let before = start === 0 ? undefined : newestIn(db, start)
  for (const row of rows.iterate(start)) {
    const index = String(row['idx'])
    const envelope = envelopeOf(bytes(row['payload']), bytes(row['signature']))
    const opened = await keys.open(envelope, `entry ${index}`).catch((fault: unknown) => {
      // A SQLite error is about the file, not about this entry.
      if (!(fault instanceof GatewayError)) throw fault
      found('SIGNATURE_WRONG', index, fault.message)
      return undefined
    })
    const linked = opened?.receipt.prev_receipt_hash === (before?.id ?? NO_HASH)
    if (opened && !linked) found('CHAIN_BROKEN', index, 'it does not link to the previous entry')
    before = opened && chainHead(opened)
  }
}

/** Verifies the ledger up to the stored checkpoint with its own key. Returns the number of verified entries. */
async function verifyAll(run: FsckRun): Promise<number> {
  const { db, options, found, onProgress } = run
  const reader = new LedgerReader(db, options.writer)
  const checkpoint = reader.checkpoint()
  if (checkpoint === undefined) {
    found(
      'CHECKPOINT_MISSING',
      undefined,
      'the file has no signed checkpoint: start the gateway once to create it',
    )
    return 0
  }
  const { size } = parseCheckpoint(checkpoint)
  if (size === 0) return 0
  const pack = writePack(ledgerReader(reader, checkpoint), { range: { start: 0, end: size } })
  const trust = trustIn(await serviceIn(db, options.writer), options.origin)
  const report = await verifyPack(pack, {
    trust,
    onProgress: ({ receipts }) => onProgress({ stage: 'evidence', done: receipts, total: size }),
  })
  for (const { code, index, sentence } of report.findings)
    found(code, index === undefined ? undefined : String(index), sentence)
  return size
}

function trustIn({ known }: Service, origin: string): Trust {
  // Includes retired keys: the checkpoint may be older than the rotation.
  const keys = known.map((key) => noteKey(origin, key, 1))
  return { ledger: origin, keys, witnesses: [], quorum: 0 }
}

function ledgerReader(reader: LedgerReader, checkpoint: string): Parameters<typeof writePack>[0] {
  return {
    checkpoint,
    *receipts(start, end) {
      for (let at = start; at < end; at += 256) yield* reader.envelopes(at, Math.min(at + 256, end))
    },
    node: (level, index) => reader.node(level, index),
    policy(hash) {
      const text = reader.record(`text\n${hash}`)
      return text === undefined ? undefined : new TextEncoder().encode(text)
    },
  }
}

function same32(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
