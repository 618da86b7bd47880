// Checks all of a ledger file, from the outside: the database, every entry up to the head, the whole ledger by the same
// verifier that auditors use, and the private records against what the ledger says of them.

import {
  chainHead,
  leafHash,
  NO_HASH,
  parseCheckpoint,
  sha256Hex,
  toHex,
  verifyPack,
  writePack,
  type Json,
  type JsonObject,
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
import { checkRemembered, remember } from './tail-remembered.ts'
import { openReader, type LedgerReader } from './reader.ts'
import { knownKeys, serviceIn, type Service } from './service.ts'
import { bytes, envelopeOf, openNodes, openTree } from './tree.ts'
import { digestOf, headIn, headRoot, newestIn } from './writer.ts'

/** Something that is wrong. */
export interface FsckProblem {
  readonly code: string
  /** Index of the entry, or name of the record; undefined if it concerns the whole. */
  readonly at: string | undefined
  readonly message: string
  /** What to do about it, one line each. */
  readonly hints?: readonly string[]
}

/** What was found. */
export interface FsckReport {
  readonly ok: boolean
  readonly entries: number
  /** How many entries the verifier has looked at under a signed checkpoint; the rest is younger than that. */
  readonly verified: number
  readonly problems: readonly FsckProblem[]
  /** How many more problems there are than are listed. */
  readonly more: number
  /** Bytes in the log beside the file: while there are any, the file alone may lack the newest entries. */
  readonly log: number
}

/** How far it has come. */
export interface FsckProgress {
  readonly stage: 'database' | 'entries' | 'evidence' | 'records'
  readonly done: number
  readonly total: number
}

/** Which ledger is checked. */
interface FsckOptions {
  readonly data: string
  readonly origin: string
  readonly writer: string
  readonly guard: string | undefined
}

const MOST_LISTED = 100

/** Checks a ledger file. Never throws for what the file holds; only if it cannot be opened at all. */
export async function fsckLedger(
  options: FsckOptions,
  onProgress: (progress: FsckProgress) => void,
): Promise<FsckReport> {
  const db = openForReading(options.data)
  const problems: FsckProblem[] = []
  let more = 0
  const log = logBytes(options.data)
  const found: FsckRun['found'] = (code, at, message, hints = []) => {
    if (problems.length < MOST_LISTED)
      problems.push({ code, at, message, ...(hints.length > 0 && { hints }) })
    else more++
  }
  try {
    // Before that moment: a head that a gateway signs meanwhile may be of entries that come behind it.
    const remembered = remember(db, options)
    // One moment of the file, however long it takes and whoever writes meanwhile.
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
  readonly options: FsckOptions
  readonly found: (code: string, at: string | undefined, message: string, hints?: readonly string[]) => void
  readonly onProgress: (progress: FsckProgress) => void
}

/** A step that cannot go on has found something; the others still get their turn. */
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
    const said = String(row['integrity_check'])
    if (said !== 'ok') found('FILE_DAMAGED', undefined, `the database is damaged: ${said}`)
  }
  if (schemaOf(db) !== expectedSchema())
    found('SCHEMA_WRONG', undefined, 'the tables or triggers are not those of a ledger')
  onProgress({ stage: 'database', done: 1, total: 1 })
}

/** Every entry in its place, the tree over them, and the calls that are open by what the ledger says. */
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
        found(
          'TILE_WRONG',
          String(index),
          `a tile of the tree is not what its entries make, up to entry ${index}`,
        )
    }
    ids.take(id, index)
    const receipt = readObject(payload)
    anchors.take(receipt, id, index)
    noteOpen(open, id, receipt, String(row['kind']), (what) => found('KIND_WRONG', String(index), what))
    if (next % 1000 === 0) onProgress({ stage: 'entries', done: next, total: size })
  }
  if (next !== size) found('HEAD_WRONG', undefined, `the head says ${size} entries, and there are ${next}`)
  if (!same32(tiled.tree.root(), headRoot(headIn(db))))
    found('HEAD_WRONG', undefined, 'the entries do not lead to the head')
  compareOpen(run, open)
  for (const { name, message } of anchors.problems(db))
    found('ANCHOR_WRONG', name.replaceAll('\n', ' '), message)
  onProgress({ stage: 'entries', done: size, total: size })
}

/** An allowed call is open until its first effect. */
function noteOpen(
  open: Set<string>,
  id: string,
  receipt: JsonObject,
  kind: string,
  wrong: (what: string) => void,
): void {
  if (receipt['kind'] !== kind) wrong('the kind beside an entry is not the one in it')
  const { decision } = receipt
  if (receipt['kind'] === 'decision' && receipt['verdict'] === 'ALLOW') open.add(id)
  if (receipt['kind'] === 'effect' && typeof decision === 'string') open.delete(decision)
}

function compareOpen({ db, options, found }: FsckRun, open: ReadonlySet<string>): void {
  const names = openReader(db, options.writer).list('open\n', 'records')
  const kept = new Set(names.map((name) => name.slice(-64)))
  for (const id of open) {
    if (!kept.has(id))
      found('OPEN_CALL_HIDDEN', id, 'an allowed call has no effect, and its private record is gone')
  }
  for (const id of kept) {
    if (!open.has(id))
      found('OPEN_CALL_INVENTED', id, 'a private record says that a call is open, and the ledger does not')
  }
}

/** The beginnings of ids that are kept for looking them up. */
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
        found(
          'IDS_WRONG',
          String(index),
          `the ids kept for looking up are not those of the entries up to ${index}`,
        )
      tile = []
    },
  }
}

/** Records against the newest receipts that speak of them. */
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
      found('RECORD_DAMAGED', String(row['name']).replaceAll('\n', ' '), 'the record is not what was written')
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

// Records whose hash the newest decision on them has.
const STATES: ReadonlySet<string> = new Set(['session', 'principal', 'tenant'])

function problemWithRecord(name: string, payload: unknown, text: unknown): [string, string] | undefined {
  if (!(payload instanceof Uint8Array)) return ['ANCHOR_WRONG', 'it names an entry that there is not']
  const { kind, op, next_state_hash: state, provenance_hash: data } = readObject(payload)
  const of = name.slice(0, name.indexOf('\n'))
  // Closing a session is the last word on what was remembered of it.
  if ((kind === 'session' && op === 'close') || (!STATES.has(of) && of !== 'provenance')) return undefined
  const next = of === 'provenance' ? data : state
  if (!(text instanceof Uint8Array)) {
    return ['STATE_MISSING', 'its state is gone: side effects in it are denied until it is closed']
  }
  if (sha256Hex(text) === next) return undefined
  return ['STATE_WRONG', 'its state is not what its last receipt left: side effects in it are denied']
}

/** Entries that are younger than the newest checkpoint that was kept: each signed, and behind the one before it. */
async function checkTail({ db, options, found }: FsckRun, start: number): Promise<void> {
  const keys = knownKeys(db, options.writer)
  const rows = db.prepare('SELECT idx, payload, signature FROM entries WHERE idx >= ? ORDER BY idx')
  let before = start === 0 ? undefined : newestIn(db, start)
  for (const row of rows.iterate(start)) {
    const index = String(row['idx'])
    const envelope = envelopeOf(bytes(row['payload']), bytes(row['signature']))
    const opened = await keys.open(envelope, `entry ${index}`).catch((fault: unknown) => {
      // What SQLite says is about the file, and nothing about this entry.
      if (!(fault instanceof GatewayError)) throw fault
      found('SIGNATURE_WRONG', index, fault.message)
      return undefined
    })
    const linked = opened?.receipt.prev_receipt_hash === (before?.id ?? NO_HASH)
    if (opened && !linked) found('CHAIN_BROKEN', index, 'it does not follow the entry before it')
    before = opened && chainHead(opened)
  }
}

/** The whole ledger, up to the newest checkpoint that was kept, under its own key; how many entries that is. */
async function verifyAll(run: FsckRun): Promise<number> {
  const { db, options, found, onProgress } = run
  const reader = openReader(db, options.writer)
  const checkpoint = reader.checkpoint()
  if (checkpoint === undefined) {
    found(
      'CHECKPOINT_MISSING',
      undefined,
      'the file keeps no signed checkpoint: start the gateway once to have it signed',
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
  // Also those that have left service: a checkpoint may be older than the change.
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

function readObject(payload: Uint8Array): JsonObject {
  const value = JSON.parse(Buffer.from(payload).toString()) as Json
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
