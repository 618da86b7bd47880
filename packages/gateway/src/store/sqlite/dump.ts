// Reads every row of a ledger file, to copy it to another store byte for byte.

import { bytes } from '../tiles.ts'
import { endTransaction, faultOf, ledgerFile, openForReading, type TableRow } from './database.ts'
import { headIn } from './writer.ts'

/** All rows of a ledger, from one moment. */
interface LedgerDump {
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

/** Gives the rows of the ledger in a data directory to a function. @throws GatewayError. */
export async function dumpLedger<T>(data: string, take: (dump: LedgerDump) => Promise<T>): Promise<T> {
  const db = openForReading(data)
  const rows = function* <R>(sql: string, read: (row: TableRow) => R): Generator<R> {
    for (const row of db.prepare(sql).iterate()) yield read(row)
  }
  try {
    db.exec('BEGIN')
    const { size, peaks } = headIn(db)
    const note = db.prepare('SELECT note FROM checkpoint').get()?.['note']
    return await take({
      size,
      peaks,
      checkpoint: typeof note === 'string' ? note : undefined,
      entries: () =>
        rows('SELECT idx, kind, payload, signature FROM entries ORDER BY idx', (row) => ({
          index: Number(row['idx']),
          kind: String(row['kind']),
          payload: bytes(row['payload']),
          signature: bytes(row['signature']),
        })),
      tiles: () =>
        rows('SELECT place, root, hashes FROM tiles ORDER BY place', (row) => ({
          place: Number(row['place']),
          root: bytes(row['root']),
          hashes: bytes(row['hashes']),
        })),
      anchors: () =>
        rows('SELECT name, idx FROM anchors', (row) => ({
          name: String(row['name']),
          index: Number(row['idx']),
        })),
      records: () =>
        rows('SELECT name, text, written, digest FROM records', (row) => ({
          name: String(row['name']),
          body: bytes(row['text']),
          written: Number(row['written']),
          digest: bytes(row['digest']),
        })),
    })
  } catch (cause) {
    throw faultOf(cause, ledgerFile(data))
  } finally {
    endTransaction(db)
    db.close()
  }
}
