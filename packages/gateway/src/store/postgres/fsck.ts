// Checks a whole ledger in PostgreSQL: every entry, the tree, the evidence with the verifier that auditors use, and the private
// records against the receipts. It reads from one moment, also next to running gateways.

import {
  chainHead,
  leafHash,
  linkFaults,
  noteKey,
  openReceipt,
  parseCheckpoint,
  verifyPack,
  writePack,
  type ChainHead,
  type Trust,
} from '@tollgate/evidence'
import {
  noteOpen,
  problemWithRecord,
  readObject,
  type FsckProblem,
  type FsckProgress,
  type FsckReport,
} from '../fsck-report.ts'
import { bytes, continueTree } from '../tiles.ts'
import { prefixOf } from './ids.ts'
import { headRemembered, type PostgresCheck } from './look.ts'
import { EntryReader } from './reader.ts'
import { envelopeIn, readRing, RecordReader, textOf } from './records.ts'
import { faultOf, readFromOneMoment, type SqlRow } from './session.ts'
import { checkTail } from './tail-check.ts'
import { nodeAt, type SqlQuery } from './tree.ts'
import { digestOf } from './insert.ts'

const AT_ONCE = 1000
const MAX_LISTED = 100

interface DatabaseFsckRun {
  readonly ask: SqlQuery
  readonly options: PostgresCheck
  readonly size: number
  readonly found: (code: string, at: string | undefined, message: string, hints?: readonly string[]) => void
  readonly onProgress: (progress: FsckProgress) => void
}

/** Checks a ledger. Reports bad contents as problems; throws only if the database cannot be read. */
export async function fsckPostgres(
  options: PostgresCheck,
  onProgress: (progress: FsckProgress) => void,
): Promise<FsckReport> {
  const remembered = await headRemembered(options)
  return readFromOneMoment(options.place, async (ask) => {
    const problems: FsckProblem[] = []
    let more = 0
    const found: DatabaseFsckRun['found'] = (code, at, message, hints = []) => {
      if (problems.length < MAX_LISTED)
        problems.push({ code, at, message, ...(hints.length > 0 && { hints }) })
      else more++
    }
    const size = await new EntryReader(ask).size()
    const run: DatabaseFsckRun = { ask, options, size, found, onProgress }
    await attempt(run, () => checkEntries(run))
    await attempt(run, () => checkNewest(run, remembered))
    await attempt(run, () => checkRecords(run))
    const verified = (await attempt(run, () => verifyAll(run))) ?? 0
    return { ok: problems.length === 0, entries: size, verified, problems, more, log: 0 }
  })
}

/** Reports an error of a step as a problem, so that the other steps still run. */
async function attempt<T>({ found }: DatabaseFsckRun, step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (cause) {
    const { code, message, hints } = faultOf(cause)
    found(code, undefined, message, hints)
    return undefined
  }
}

/** Checks the order and the signatures of the entries, the links of each writer, the tree and the open calls. */
async function checkEntries(run: DatabaseFsckRun): Promise<void> {
  const { ask, options, size, found, onProgress } = run
  const { known } = await readRing(ask, options.writer)
  const keys = new Map(known.map((key) => [key.id, key]))
  const tree = continueTree({ size: 0, peaks: [] }, [])
  const heads = new Map<string, ChainHead>()
  const open = new Set<string>()
  for await (const row of pages(ask, size)) {
    const index = Number(row['idx'])
    const envelope = envelopeIn(row)
    const leaf = leafHash(envelope)
    if (index !== tree.tree.size)
      found('ENTRY_MISSING', String(tree.tree.size), `the entries before ${index} are missing`)
    if (!same(bytes(row['leaf']), leaf))
      found('LEAF_WRONG', String(index), 'the stored leaf is not that of the entry')
    for (const tile of tree.append(leaf)) await compareTile(run, tile, index)
    const opened = await openReceipt(envelope, (id) => keys.get(id)).catch(() => undefined)
    if (!opened) {
      found('SIGNATURE_WRONG', String(index), 'it is not signed by a key of this ledger')
      continue
    }
    const { receipt, id, payload } = opened
    if (String(row['id_prefix']) !== String(Number(prefixOf(id))))
      found('IDS_WRONG', String(index), 'its id is not found by the index')
    if (receipt.writer !== row['writer'] || receipt.seq !== row['seq'])
      found('PLACE_WRONG', String(index), 'its row names another writer or place')
    const head = heads.get(receipt.writer)
    if (linkFaults(receipt, { head, causes: [], allCauses: false, gapless: true }).length > 0)
      found('CHAIN_BROKEN', String(index), 'it does not link to the previous entry of its writer')
    heads.set(receipt.writer, chainHead(opened))
    noteOpen(open, id, readObject(payload), String(row['kind']), (what) =>
      found('KIND_WRONG', String(index), what),
    )
    if (index % AT_ONCE === 0) onProgress({ stage: 'entries', done: index, total: size })
  }
  const [head] = await ask('SELECT peaks FROM head')
  const peaks = Buffer.concat(tree.tree.frontier().peaks)
  if (tree.tree.size !== size || !same(bytes(head?.['peaks']), peaks))
    found('HEAD_WRONG', undefined, 'the entries do not match the root in the head')
  await compareOpen(run, open)
}

async function* pages(ask: SqlQuery, size: number): AsyncGenerator<SqlRow> {
  for (let at = 0; at < size; at += AT_ONCE) {
    yield* await ask(
      `SELECT idx, writer, seq, kind, id_prefix, leaf, payload, signature FROM entries
       WHERE idx >= $1 AND idx < $2 ORDER BY idx`,
      [at, at + AT_ONCE],
    )
  }
}

async function compareTile(
  { ask, found }: DatabaseFsckRun,
  { place, root, hashes }: { readonly place: number; readonly root: Uint8Array; readonly hashes: Uint8Array },
  index: number,
): Promise<void> {
  const [kept] = await ask('SELECT root, hashes FROM tiles WHERE place = $1', [place])
  if (!kept || !same(bytes(kept['root']), root) || !same(bytes(kept['hashes']), hashes))
    found('TILE_WRONG', String(index), `a tile of the tree does not match the entries up to ${index}`)
}

async function compareOpen(
  { ask, options, found }: DatabaseFsckRun,
  open: ReadonlySet<string>,
): Promise<void> {
  const names = await new RecordReader(ask, options.writer).list('open\n', 'records')
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

/** Compares the ledger with the heads that were signed before. */
async function checkNewest({ ask, options }: DatabaseFsckRun, remembered: string | undefined): Promise<void> {
  const { origin, writer } = options
  const { known } = await readRing(ask, writer)
  await checkTail({ ask, origin, keys: known, remembered })
}

/** Compares private records with their digests and with the newest receipts about them. */
async function checkRecords({ ask, found, onProgress }: DatabaseFsckRun): Promise<void> {
  let [after, done] = ['', 0]
  for (;;) {
    const rows = await ask(
      `SELECT name, records.body, records.digest, anchors.idx, entries.payload
       FROM records FULL JOIN anchors USING (name) LEFT JOIN entries ON entries.idx = anchors.idx
       WHERE name > $1 ORDER BY name LIMIT ${AT_ONCE}`,
      [after],
    )
    for (const row of rows) checkRecord(row, found)
    done += rows.length
    onProgress({ stage: 'records', done, total: done })
    const last = rows.at(-1)?.['name']
    if (rows.length < AT_ONCE || typeof last !== 'string') return
    after = last
  }
}

function checkRecord(row: SqlRow, found: DatabaseFsckRun['found']): void {
  const name = typeof row['name'] === 'string' ? row['name'] : ''
  const at = name.replaceAll('\n', ' ')
  const { body, idx, payload } = row
  if (body instanceof Uint8Array && !same(digestOf(name, textOf(body)), bytes(row['digest'])))
    found('RECORD_DAMAGED', at, 'the record was modified after it was written')
  const problem = idx === null ? undefined : problemWithRecord(name, payload, body)
  if (problem) found(problem[0], at, problem[1])
}

/** Verifies the ledger up to the stored checkpoint with its own key. Returns the number of verified entries. */
async function verifyAll({ ask, options, found, onProgress }: DatabaseFsckRun): Promise<number> {
  const entries = new EntryReader(ask)
  const records = new RecordReader(ask, options.writer)
  const checkpoint = await entries.checkpoint()
  if (checkpoint === undefined) {
    found(
      'CHECKPOINT_MISSING',
      undefined,
      'there is no signed checkpoint: start a gateway that has the ledger key',
    )
    return 0
  }
  const { size } = parseCheckpoint(checkpoint)
  if (size === 0) return 0
  const pack = writePack(
    {
      checkpoint,
      async *receipts(start, end) {
        for (let at = start; at < end; at += AT_ONCE)
          yield* await entries.envelopes(at, Math.min(at + AT_ONCE, end))
      },
      node: (level, index) => nodeAt(ask, level, index),
      async policy(hash) {
        const text = await records.record(`text\n${hash}`)
        return text === undefined ? undefined : new TextEncoder().encode(text)
      },
    },
    { range: { start: 0, end: size } },
  )
  const { known } = await readRing(ask, options.writer)
  const trust: Trust = {
    ledger: options.origin,
    // Includes retired keys: the checkpoint may be older than the rotation.
    keys: known.map((key) => noteKey(options.origin, key, 1)),
    witnesses: [],
    quorum: 0,
  }
  const report = await verifyPack(pack, {
    trust,
    onProgress: ({ receipts }) => onProgress({ stage: 'evidence', done: receipts, total: size }),
  })
  for (const { code, index, sentence } of report.findings)
    found(code, index === undefined ? undefined : String(index), sentence)
  return size
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
