// Reads the private records and their anchors. Each answer is from one moment.

import type { ChainHead, PublicKey } from '@tollgate/evidence'
import type { Stored } from '@tollgate/kernel'
import { damaged } from '../heads.ts'
import { knownKeys, ringOf, type KeyRing, type KnownKeys } from '../service.ts'
import { bytes, envelopeOf } from '../tiles.ts'
import type { NamedRecord } from '../../view.ts'
import type { SqlRow } from './session.ts'
import type { SqlQuery } from './tree.ts'

const MAX_PAGE = 1000

/** A text that sorts after everything with this prefix. */
function behind(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1)
  // For ASCII the next character is also next in bytes. For others, callers filter by prefix.
  return last < 0x7f ? prefix.slice(0, -1) + String.fromCharCode(last + 1) : '\u{10ffff}\u{10ffff}'
}

/** Reads the keys of the ledger. @throws GatewayError as `ringOf`. */
export async function readRing(ask: SqlQuery, writer: string): Promise<KeyRing> {
  const rows = await ask(
    "SELECT idx, payload, signature FROM entries WHERE kind IN ('genesis', 'key') ORDER BY idx",
  )
  const entries = rows.map((row) => ({ index: Number(row['idx']), envelope: envelopeIn(row) }))
  return ringOf(entries, writer)
}

/** The private records of a ledger. */
export class RecordReader {
  readonly #ask: SqlQuery
  readonly #keys: KnownKeys

  constructor(ask: SqlQuery, writer: string) {
    this.#ask = ask
    this.#keys = knownKeys(async (): Promise<readonly PublicKey[]> => (await readRing(ask, writer)).known)
  }

  async load(names: readonly string[]): Promise<readonly Stored[]> {
    if (names.length === 0) return []
    const rows = await this.#ask(
      `SELECT records.body, entries.idx, entries.writer, entries.seq, entries.payload, entries.signature
       FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place)
       LEFT JOIN records ON records.name = wanted.name
       LEFT JOIN anchors ON anchors.name = wanted.name
       LEFT JOIN entries ON entries.idx = anchors.idx ORDER BY place`,
      [names],
    )
    return Promise.all(
      rows.map(async (row, i) => ({
        record: row['body'] === null ? undefined : textOf(bytes(row['body'])),
        anchor: row['idx'] === null ? undefined : await this.#anchorIn(row, names[i] ?? ''),
      })),
    )
  }

  /** The newest receipt about a name. The anchor in the table is not trusted, so the signature is checked. */
  async #anchorIn(row: SqlRow, name: string): Promise<Uint8Array> {
    const what = `the newest receipt about \`${name.replaceAll('\n', ' ')}\``
    const { receipt, payload } = await this.#keys.open(envelopeIn(row), what)
    // A genuine receipt from another place is refused.
    if (receipt.writer === row['writer'] && receipt.seq === row['seq']) return payload
    throw damaged(`entry ${String(row['idx'])} has the receipt of another place`)
  }

  async list(prefix: string, of: 'records' | 'anchors'): Promise<readonly string[]> {
    const rows =
      prefix === ''
        ? await this.#ask(`SELECT name FROM ${of}`)
        : await this.#ask(`SELECT name FROM ${of} WHERE name >= $1 AND name < $2`, [prefix, behind(prefix)])
    // Sorted by code units; the database sorts by bytes.
    return rows
      .map(nameIn)
      .filter((name) => name.startsWith(prefix))
      .sort()
  }

  async record(name: string): Promise<string | undefined> {
    const [row] = await this.#ask('SELECT body FROM records WHERE name = $1', [name])
    return row && textOf(bytes(row['body']))
  }

  /** Records with this prefix whose names follow `after`, in order of name; at most 1,000. */
  async records(prefix: string, after: string, limit: number): Promise<readonly NamedRecord[]> {
    const rows = await this.#ask(
      'SELECT name, body FROM records WHERE name > $1 AND name < $2 ORDER BY name LIMIT $3',
      [after, behind(prefix), Math.min(limit, MAX_PAGE)],
    )
    return rows.map(recordIn)
  }

  /** Those of them that were written when the ledger had at most `size` entries. */
  async writtenBefore(
    prefix: string,
    size: number,
    limit: number,
    after: string,
  ): Promise<readonly NamedRecord[]> {
    const rows = await this.#ask(
      'SELECT name, body FROM records WHERE name > $1 AND name < $2 AND written <= $3 ORDER BY name LIMIT $4',
      [after, behind(prefix), size, Math.min(limit, MAX_PAGE)],
    )
    return rows.map(recordIn)
  }

  /** The newest receipt of a writer. */
  async headOf(writer: string): Promise<ChainHead | undefined> {
    const [row] = await this.#ask('SELECT newest, seq, clock, newest_time FROM writers WHERE name = $1', [
      writer,
    ])
    const id = row?.['newest']
    if (typeof id !== 'string') return undefined
    return {
      id,
      seq: Number(row?.['seq']),
      lamport_clock: Number(row?.['clock']),
      time: textIn(row?.['newest_time']),
    }
  }
}

export function envelopeIn(row: SqlRow): Uint8Array {
  return envelopeOf(bytes(row['payload']), bytes(row['signature']))
}

/** Decodes bytes without copying them. */
export function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}

function nameIn(row: SqlRow): string {
  return textIn(row['name'])
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function recordIn(row: SqlRow): NamedRecord {
  return { name: nameIn(row), text: textOf(bytes(row['body'])) }
}
