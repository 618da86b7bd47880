// Fills the tables of a new ledger with the rows of another store, byte for byte, in one transaction.

import { chainHead, leafHash, parseReceipt, type ChainHead } from '@tollgate/evidence'
import { damaged } from '../heads.ts'
import { continueTree, envelopeOf } from '../tiles.ts'
import { forDriver } from './insert.ts'
import { prefixOf } from './ids.ts'
import { createTables } from './schema.ts'
import { openSession, type DatabasePlace, type SqlSession } from './session.ts'
import { readSettings, requireSafe } from './settings.ts'

/** The rows of a ledger with one writer. */
interface LedgerRows {
  readonly size: number
  readonly peaks: Uint8Array
  readonly checkpoint: string | undefined
  entries(): Iterable<{
    readonly index: number
    readonly kind: string
    readonly payload: Uint8Array
    readonly signature: Uint8Array
  }>
  tiles(): Iterable<{ readonly place: number; readonly root: Uint8Array; readonly hashes: Uint8Array }>
  anchors(): Iterable<{ readonly name: string; readonly index: number }>
  records(): Iterable<{
    readonly name: string
    readonly body: Uint8Array
    readonly written: number
    readonly digest: Uint8Array
  }>
}

const AT_ONCE = 500

/**
 * Creates the tables and fills them. Checks that the entries make the head. Nothing is stored if anything fails.
 *
 * @throws GatewayError `DATA_EXISTS` if there is a ledger already, `LEDGER_DAMAGED` if the rows do not fit together.
 */
export async function fillTables(
  place: DatabasePlace,
  writer: string,
  rows: LedgerRows,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const session = await openSession(place, 'setup')
  try {
    requireSafe(await readSettings((...query) => session.query(...query)))
    await createTables(session, place.schema)
    await session.query('BEGIN')
    await session.query('SELECT 1 FROM head WHERE size = 0 FOR UPDATE')
    const { newest, newestTime } = await fillEntries(session, rows, onProgress)
    await fillOthers(session, rows)
    await session.query('UPDATE head SET size = $1, peaks = $2, batch = 1, newest_time = $3', [
      rows.size,
      forDriver(rows.peaks),
      newestTime,
    ])
    await session.query(
      'INSERT INTO writers (name, epoch, newest, seq, clock, newest_time) VALUES ($1, 1, $2, $3, $4, $5)',
      [writer, newest.id, newest.seq, newest.lamport_clock, newest.time],
    )
    await session.query('INSERT INTO batches VALUES (1, $1, $2)', [writer, []])
    await session.query('COMMIT')
  } finally {
    await session.end()
  }
}

async function fillEntries(
  session: SqlSession,
  rows: LedgerRows,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly newest: ChainHead; readonly newestTime: number }> {
  const tree = continueTree({ size: 0, peaks: [] }, [])
  let newest: ChainHead | undefined
  let newestTime = 0
  for (const page of pages(rows.entries())) {
    const read = page.map(({ index, kind, payload, signature }) => {
      const envelope = envelopeOf(payload, signature)
      const parsed = parseReceipt(envelope)
      const leaf = leafHash(envelope)
      if (index !== tree.tree.size) throw damaged(`the entries before ${index} are missing`)
      tree.append(leaf)
      newest = chainHead(parsed)
      newestTime = Math.max(newestTime, Date.parse(parsed.receipt.time))
      const { writer, seq } = parsed.receipt
      return [index, writer, seq, kind, prefixOf(parsed.id), leaf, payload, signature, newestTime] as const
    })
    await insert(session, 'entries', ENTRY, read)
    onProgress(tree.tree.size, rows.size)
  }
  const same = tree.tree.size === rows.size && Buffer.concat(tree.tree.frontier().peaks).equals(rows.peaks)
  if (!same || !newest) throw damaged('its tree does not match the root in its head')
  return { newest, newestTime }
}

async function fillOthers(session: SqlSession, rows: LedgerRows): Promise<void> {
  for (const page of pages(rows.tiles()))
    await insert(
      session,
      'tiles',
      ['bigint', 'bytea', 'bytea'],
      page.map(({ place, root, hashes }) => [place, root, hashes]),
    )
  for (const page of pages(rows.anchors()))
    await insert(
      session,
      'anchors',
      ['text', 'bigint'],
      page.map(({ name, index }) => [name, index]),
    )
  for (const page of pages(rows.records())) {
    const values = page.map(({ name, body, written, digest }) => [name, body, written, digest])
    await insert(session, 'records', ['text', 'bytea', 'bigint', 'bytea'], values)
  }
  if (rows.checkpoint === undefined) return
  const size = Number(rows.checkpoint.split('\n')[1])
  await session.query('INSERT INTO checkpoint VALUES (1, $1, $2)', [size, rows.checkpoint])
}

const ENTRY = ['bigint', 'text', 'bigint', 'text', 'bigint', 'bytea', 'bytea', 'bytea', 'bigint']

/** Inserts rows, given as lists of values in the order of the columns. */
async function insert(
  session: SqlSession,
  table: string,
  types: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const lists = types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')
  const columns = types.map((_, i) => forDriver(rows.map((row) => row[i])))
  await session.query(`INSERT INTO ${table} SELECT * FROM unnest(${lists}) AS t`, columns)
}

function* pages<T>(rows: Iterable<T>): Generator<readonly T[]> {
  let page: T[] = []
  for (const row of rows) {
    page.push(row)
    if (page.length < AT_ONCE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}
