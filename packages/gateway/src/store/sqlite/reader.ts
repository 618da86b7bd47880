// Reads a ledger file: records, anchors, entries and tree nodes. Each answer is consistent and contains only durable data.

import { parseJson, sha256Hex, type Json, type JsonObject, type Kind } from '@tollgate/evidence'
import type { Stored } from '@tollgate/kernel'
import type { EntryFilter, LedgerEntry, NamedRecord, Page, PageRequest, Payload } from '../../view.ts'
import { GatewayError } from '../../error.ts'
import type { Database, TableRow } from './database.ts'
import { openIdIndex, type IdIndex } from './ids.ts'
import type { KnownKeys } from '../service.ts'
import { bytes, envelopeOf } from '../tiles.ts'
import { keysOf } from './service.ts'
import { openNodes, type Nodes } from './tree.ts'
import { headIn } from './writer.ts'

/** The maximum number of entries that one page examines. */
const MAX_LOOKED_AT = 20_000
const MAX_PAGE = 1000
/** The maximum number of entries with the same id prefix. */
const MAX_ALIKE = 10

export class LedgerReader {
  readonly #db: Database
  readonly #statements: Statements
  readonly #nodes: Nodes
  readonly #ids: IdIndex
  readonly #keys: KnownKeys

  constructor(db: Database, writer: string) {
    this.#db = db
    this.#statements = prepareStatements(db)
    this.#nodes = openNodes(db)
    this.#ids = openIdIndex(db, () => this.size())
    this.#keys = keysOf(db, writer)
  }

  size(): number {
    return headIn(this.#db).size
  }

  find(id: string): LedgerEntry | undefined {
    const candidates = /^[0-9a-f]{64}$/.test(id) ? this.#ids.candidates(id) : []
    return this.#entriesAt(candidates).find((entry) => entry.id === id)
  }

  begins(digits: string): readonly LedgerEntry[] {
    if (!/^[0-9a-f]{8,64}$/.test(digits)) return []
    return this.#entriesAt(this.#ids.beginning(digits.slice(0, 8)))
      .filter(({ id }) => id.startsWith(digits))
      .sort((a, b) => a.index - b.index)
      .slice(0, MAX_ALIKE)
  }

  #entriesAt(indexes: readonly number[]): LedgerEntry[] {
    return indexes.flatMap((index) => this.#statements.entry.all(index).map(entryOf))
  }

  page({ filter, direction, from, limit }: PageRequest): Page {
    const back = direction === 'back'
    const { first, end } = this.#boundsOf(filter)
    const start = back ? Math.min(from ?? end - 1, end - 1) : Math.max(from ?? first, first)
    const rows = this.#rowsFrom(start, filter.kind, direction)
    const entries: LedgerEntry[] = []
    const most = Math.min(limit, MAX_PAGE)
    let [last, looked] = [start, 0]
    for (const row of rows) {
      const index = Number(row['idx'])
      if (index < first || index >= end) break
      last = index
      looked++
      if (this.#fits(bytes(row['payload']), filter)) entries.push(entryOf(row))
      if (entries.length >= most) break
    }
    const next = back ? last - 1 : last + 1
    // Neither the page nor the examination limit is full: there is nothing more.
    const ended = entries.length < most && looked < MAX_LOOKED_AT
    return { entries, next: ended || next < first || next >= end ? undefined : next }
  }

  /** The entries of the wanted period. Times never go back in a ledger, so a search finds them without reading the others. */
  #boundsOf({ since, until }: EntryFilter): { readonly first: number; readonly end: number } {
    return {
      first: since === undefined ? 0 : this.#indexAt(since),
      end: until === undefined ? this.size() : this.#indexAt(until),
    }
  }

  /** The index of the first entry at or after this time. Entries are ordered by time. */
  #indexAt(time: number): number {
    let [low, high] = [0, this.size()]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = this.#statements.entry.get(middle)
      if (row && timeOf(bytes(row['payload'])) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Rare kinds have an index, so that a search for a key does not scan all calls. */
  #rowsFrom(start: number, kind: Kind | undefined, direction: PageRequest['direction']): Iterable<TableRow> {
    const { rareBack, rareOn, back, on } = this.#statements
    if (kind === undefined || !isRare(kind))
      return (direction === 'back' ? back : on).iterate(start, MAX_LOOKED_AT)
    return (direction === 'back' ? rareBack : rareOn).iterate(kind, start, MAX_LOOKED_AT)
  }

  #fits(payload: Uint8Array, filter: EntryFilter): boolean {
    if (Object.values(filter).every((wanted) => wanted === undefined)) return true
    // Sound: a payload is an object.
    const receipt = JSON.parse(textOf(payload)) as JsonObject
    const { kind, tenant, decision } = filter
    if (kind !== undefined && receipt['kind'] !== kind) return false
    if (tenant !== undefined && receipt['tenant'] !== tenant) return false
    if (decision !== undefined && receipt['decision'] !== decision && sha256Hex(payload) !== decision)
      return false
    return fitsCall(this.#callOf(receipt), filter)
  }

  /** The decision of a receipt. Effects and approvals belong to their decision. */
  #callOf(receipt: JsonObject): JsonObject {
    const decision = receipt['decision']
    const found =
      typeof decision === 'string' && receipt['kind'] !== 'decision' ? this.find(decision) : undefined
    // Sound: a payload is an object.
    return found ? (parseJson(found.payload) as JsonObject) : receipt
  }

  envelopes(start: number, end: number): readonly Uint8Array[] {
    return this.#statements.range.all(start, Math.min(end, start + MAX_PAGE)).map(envelopeIn)
  }

  payloads(start: number, limit: number, prefix?: string): readonly Payload[] {
    const rows = this.#statements.payloads.all(start, Math.min(limit, MAX_PAGE))
    const texts = prefix === undefined ? NOTHING : this.#textsBeside(rows, prefix)
    return rows.map((row) => {
      const payload = bytes(row['payload'])
      const id = sha256Hex(payload)
      const [index, beside] = [Number(row['idx']), texts.get(id)]
      return { index, id, text: textOf(payload), ...(beside !== undefined && { beside }) }
    })
  }

  /** The private records of consecutive entries, by entry id. One query, because the names are in the order of clocks. */
  #textsBeside(rows: readonly TableRow[], prefix: string): ReadonlyMap<string, string> {
    const [first, last] = [rows[0], rows.at(-1)]
    if (!first || !last) return NOTHING
    const nameOf = (row: TableRow): string => `${prefix}${clockText(bytes(row['payload']))}`
    const records = this.#statements.recordsOn.all(nameOf(first), behind(`${nameOf(last)}\n`), MAX_PAGE)
    return new Map(records.map(namedRecord).map(({ name, text }) => [name.slice(-ID_LENGTH), text]))
  }

  indexesOf(kinds: readonly Kind[]): readonly number[] {
    const { byRareKind, byKind } = this.#statements
    return kinds
      .flatMap((kind) => (isRare(kind) ? byRareKind : byKind).all(kind))
      .map((row) => Number(row['idx']))
      .sort((a, b) => a - b)
  }

  node(level: number, index: number): Uint8Array {
    return this.#nodes.node(level, index)
  }

  rootAt(size: number): Uint8Array {
    return this.#nodes.rootAt(size)
  }

  checkpoint(): string | undefined {
    const note = this.#statements.checkpoint.get()?.['note']
    return typeof note === 'string' ? note : undefined
  }

  record(name: string): string | undefined {
    const text = this.#statements.record.get(name)?.['text']
    return text === undefined ? undefined : textOf(bytes(text))
  }

  /** Records with this prefix whose names follow `after`, in order of name; at most 1,000. */
  records(prefix: string, after: string, limit: number): readonly NamedRecord[] {
    return this.#statements.recordsOn.all(after, behind(prefix), Math.min(limit, MAX_PAGE)).map(namedRecord)
  }

  list(prefix: string, of: 'records' | 'anchors'): readonly string[] {
    const names = this.#statements[of].all(prefix, behind(prefix)).map(nameIn)
    // Sorted by code units; SQLite sorts by bytes.
    return names.filter((name) => name.startsWith(prefix)).sort()
  }

  /**
   * Names of records with this prefix, followed by the clock of their entry, for entries before a time in milliseconds; at
   * most 1,000, oldest first.
   */
  namesBefore(prefix: string, time: number): readonly string[] {
    const entry = this.#statements.entry.get(this.#indexAt(time))
    // All names, if no entry is that new.
    const end = entry ? `${prefix}${clockText(bytes(entry['payload']))}` : behind(prefix)
    return this.#statements.namesOn.all(prefix, end, MAX_PAGE).map(nameIn)
  }

  /**
   * Records with this prefix that were not written since this time in milliseconds and whose names follow `after`; at most
   * `limit`, in order of name.
   */
  idle(prefix: string, time: number, limit: number, after: string = prefix): readonly NamedRecord[] {
    return this.#statements.idle.all(after, behind(prefix), this.#indexAt(time), limit).map(namedRecord)
  }

  /**
   * Records with the newest receipt about each. Signature and position of the receipt are checked. @throws GatewayError
   * `LEDGER_DAMAGED`.
   */
  load(names: readonly string[]): Promise<readonly Stored[]> {
    return Promise.all(
      names.map(async (name) => ({ record: this.record(name), anchor: await this.#anchorOf(name) })),
    )
  }

  /** The newest receipt about a name. The anchor in the file is not trusted, so the signature is checked. */
  async #anchorOf(name: string): Promise<Uint8Array | undefined> {
    const row = this.#statements.anchor.get(name)
    if (!row) return undefined
    const what = `the newest receipt about \`${name.replaceAll('\n', ' ')}\``
    const { receipt, payload } = await this.#keys.open(envelopeIn(row), what)
    // There is one writer, so `seq` is the index. A genuine receipt from another position is refused.
    if (receipt.seq === row['idx']) return payload
    throw new GatewayError('LEDGER_DAMAGED', `entry ${String(row['idx'])} has the receipt of another index`, {
      hints: ['run `tollgate fsck`'],
    })
  }

  close(): void {
    this.#db.close()
  }
}

const NOTHING: ReadonlyMap<string, string> = new Map()
/** The length of an id in hexadecimal digits. */
const ID_LENGTH = 64

function timeOf(payload: Uint8Array): number {
  // Sound: every receipt has a time.
  return Date.parse((JSON.parse(textOf(payload)) as { time: string }).time)
}

function isRare(kind: Kind): boolean {
  return kind !== 'decision' && kind !== 'effect'
}

/** A text that sorts after everything with this prefix. */
function behind(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1)
  // For ASCII the next character is also next in bytes. For others, callers filter by prefix.
  return last < 0x7f ? prefix.slice(0, -1) + String.fromCharCode(last + 1) : '\u{10ffff}\u{10ffff}'
}

function fitsCall(call: JsonObject, { principal, tool, verdict, session }: EntryFilter): boolean {
  if (principal !== undefined && call['principal'] !== principal) return false
  if (tool !== undefined && call['tool'] !== tool) return false
  if (verdict !== undefined && call['verdict'] !== verdict) return false
  return session === undefined || sessionIn(call['session']) === session
}

function sessionIn(session: Json | undefined): Json | undefined {
  // Sound: in a receipt, a session is its id or an object with it.
  return typeof session === 'object' ? (session as JsonObject | null)?.['id'] : session
}

/** Decodes bytes without copying them. */
function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}

/** The clock of an entry, as used in record names. */
function clockText(payload: Uint8Array): string {
  // Sound: a payload is a receipt, checked when it was appended.
  const { lamport_clock } = JSON.parse(textOf(payload)) as { readonly lamport_clock: number }
  return String(lamport_clock).padStart(16, '0')
}

function nameIn(row: TableRow): string {
  return String(row['name'])
}

function namedRecord(row: TableRow): NamedRecord {
  return { name: nameIn(row), text: textOf(bytes(row['text'])) }
}

function envelopeIn(row: TableRow): Uint8Array {
  return envelopeOf(bytes(row['payload']), bytes(row['signature']))
}

function entryOf(row: TableRow): LedgerEntry {
  const payload = bytes(row['payload'])
  return { index: Number(row['idx']), id: sha256Hex(payload), payload, envelope: envelopeIn(row) }
}

// Written exactly as in the index definition, otherwise SQLite does not use the index.
const RARE = "kind = ? AND kind NOT IN ('decision', 'effect')"

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(db: Database) {
  const columns = 'SELECT idx, payload, signature FROM entries'
  const from = (table: string): string => `SELECT name FROM ${table} WHERE name >= ? AND name < ?`
  return {
    entry: db.prepare(`${columns} WHERE idx = ?`),
    back: db.prepare(`${columns} WHERE idx <= ? ORDER BY idx DESC LIMIT ?`),
    on: db.prepare(`${columns} WHERE idx >= ? ORDER BY idx LIMIT ?`),
    rareBack: db.prepare(`${columns} WHERE ${RARE} AND idx <= ? ORDER BY idx DESC LIMIT ?`),
    rareOn: db.prepare(`${columns} WHERE ${RARE} AND idx >= ? ORDER BY idx LIMIT ?`),
    range: db.prepare(`${columns} WHERE idx >= ? AND idx < ? ORDER BY idx`),
    payloads: db.prepare('SELECT idx, payload FROM entries WHERE idx >= ? ORDER BY idx LIMIT ?'),
    byKind: db.prepare('SELECT idx FROM entries WHERE kind = ?'),
    byRareKind: db.prepare(`SELECT idx FROM entries WHERE ${RARE}`),
    record: db.prepare('SELECT text FROM records WHERE name = ?'),
    anchor: db.prepare(
      'SELECT entries.idx AS idx, payload, signature FROM anchors JOIN entries ON entries.idx = anchors.idx WHERE name = ?',
    ),
    records: db.prepare(from('records')),
    recordsOn: db.prepare('SELECT name, text FROM records WHERE name > ? AND name < ? ORDER BY name LIMIT ?'),
    namesOn: db.prepare('SELECT name FROM records WHERE name > ? AND name < ? ORDER BY name LIMIT ?'),
    anchors: db.prepare(from('anchors')),
    checkpoint: db.prepare('SELECT note FROM checkpoint'),
    // `written` is the number of entries at the time of writing.
    idle: db.prepare(
      'SELECT name, text FROM records WHERE name > ? AND name < ? AND written <= ? ORDER BY name LIMIT ?',
    ),
  }
}
