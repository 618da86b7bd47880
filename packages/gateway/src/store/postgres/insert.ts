// The statement that stores a batch: all rows of it at once, or nothing.

import { sha256 } from '@tollgate/evidence'
import type { Batch, Entry } from '@tollgate/kernel'
import type { Seal } from '../seal.ts'
import type { TiledTree } from '../tiles.ts'
import { prefixOf } from './ids.ts'
import { ANNOUNCE } from './link.ts'
import type { SqlSession } from './session.ts'

/** An entry with its signature and leaf. */
export interface SealedEntry extends Seal {
  readonly entry: Entry
}

interface BatchInsertion {
  readonly batch: Batch
  readonly sealed: readonly SealedEntry[]
  readonly tiles: ReturnType<TiledTree['append']>
  /** The index of the first entry. */
  readonly first: number
  readonly peaks: Uint8Array
  readonly number: number
  readonly writer: string
  readonly epoch: number
  /** Identifies this attempt, to find out later whether it was committed. */
  readonly token: string
  /** The newest time of the ledger before. */
  readonly newestTime: number
}

const WRITER = `UPDATE writers SET token = $4, newest = coalesce($5, newest), seq = coalesce($6, seq),
    clock = coalesce($7, clock), newest_time = coalesce($8, newest_time)
  WHERE name = $1 AND epoch = $2 AND newest IS NOT DISTINCT FROM $3 RETURNING 1`

// Everything depends on `h`: nothing is stored unless the writer has this epoch and newest receipt, and no other batch came before.
const INSERT = `WITH w AS (${WRITER}),
h AS (UPDATE head SET size = $9, peaks = $10, batch = $11, newest_time = $12
  WHERE batch = $11 - 1 AND EXISTS (SELECT 1 FROM w) RETURNING 1),
e AS (INSERT INTO entries (idx, writer, seq, kind, id_prefix, leaf, payload, signature, newest_time)
  SELECT idx, $1, seq, kind, id_prefix, leaf, payload, signature, newest_time
  FROM unnest($13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::bytea[], $18::bytea[], $19::bytea[], $20::bigint[])
    AS t (idx, seq, kind, id_prefix, leaf, payload, signature, newest_time) WHERE EXISTS (SELECT 1 FROM h)),
t AS (INSERT INTO tiles SELECT * FROM unnest($21::bigint[], $22::bytea[], $23::bytea[]) AS t WHERE EXISTS (SELECT 1 FROM h)),
a AS (INSERT INTO anchors SELECT * FROM unnest($24::text[], $25::bigint[]) AS t WHERE EXISTS (SELECT 1 FROM h)
  ON CONFLICT (name) DO UPDATE SET idx = excluded.idx),
r AS (INSERT INTO records SELECT name, body, $9, digest FROM unnest($26::text[], $27::bytea[], $28::bytea[]) AS t (name, body, digest)
  WHERE EXISTS (SELECT 1 FROM h)
  ON CONFLICT (name) DO UPDATE SET body = excluded.body, written = excluded.written, digest = excluded.digest),
d AS (DELETE FROM records WHERE name = ANY ($29::text[]) AND EXISTS (SELECT 1 FROM h)),
b AS (INSERT INTO batches SELECT $11, $1, $30::text[] WHERE EXISTS (SELECT 1 FROM h))
SELECT ${ANNOUNCE} FROM h`

/** Stores a batch in the open transaction. Returns false, and stores nothing, if the row of the writer or the head does not match. */
export async function insertBatch(session: SqlSession, insertion: BatchInsertion): Promise<boolean> {
  const { batch, sealed, tiles, first, peaks, number, writer, epoch, token } = insertion
  const newest = sealed.at(-1)?.entry.encoded
  const times = newestTimes(insertion)
  const anchors = new Map<string, number>()
  sealed.forEach(({ entry }, i) => entry.anchors.forEach((name) => anchors.set(name, first + i)))
  const kept = [...batch.records].filter((pair): pair is [string, string] => pair[1] !== undefined)
  const gone = [...batch.records].filter(([, text]) => text === undefined).map(([name]) => name)
  const names = [...new Set([...anchors.keys(), ...batch.records.keys()])]
  const receipts = sealed.map(({ entry }) => entry.encoded)
  const rows = await session.query(
    INSERT,
    [
      ...[writer, epoch, batch.after ?? null, token],
      ...[newest?.id ?? null, newest?.receipt.seq ?? null],
      ...[newest?.receipt.lamport_clock ?? null, newest?.receipt.time ?? null],
      ...[first + sealed.length, peaks, number, times.at(-1) ?? insertion.newestTime],
      receipts.map((_, i) => first + i),
      receipts.map(({ receipt }) => receipt.seq),
      receipts.map(({ receipt }) => receipt.kind),
      receipts.map(({ id }) => prefixOf(id)),
      sealed.map(({ leaf }) => leaf),
      receipts.map(({ payload }) => payload),
      sealed.map(({ signature }) => signature),
      times,
      ...[tiles.map(({ place }) => place), tiles.map(({ root }) => root), tiles.map(({ hashes }) => hashes)],
      ...[[...anchors.keys()], [...anchors.values()]],
      ...[kept.map(([name]) => name), kept.map(([, text]) => Buffer.from(text))],
      kept.map(([name, text]) => digestOf(name, text)),
      gone,
      names,
    ].map(forDriver),
    'insert',
  )
  return rows.length === 1
}

/** The newest time up to each entry. Clocks of gateways differ, so the time of an entry can be before that of the previous one. */
function newestTimes({ sealed, newestTime }: BatchInsertion): readonly number[] {
  let newest = newestTime
  return sealed.map(({ entry }) => (newest = Math.max(newest, Date.parse(entry.encoded.receipt.time))))
}

/** The driver knows buffers, but takes other bytes in lists for objects. */
export function forDriver(value: unknown): unknown {
  if (value instanceof Uint8Array) return asBuffer(value)
  return Array.isArray(value)
    ? value.map((each: unknown) => (each instanceof Uint8Array ? asBuffer(each) : each))
    : value
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The first bytes of SHA-256 over a record and its name, to detect bit rot. */
export function digestOf(name: string, text: string): Uint8Array {
  return sha256(`${name}\0${text}`).subarray(0, 8)
}
