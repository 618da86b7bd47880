// Reads a ledger file: records, anchors, entries and tree nodes. Each answer is consistent and contains only durable data.

import { parseJson, sha256Hex, type Json, type JsonObject, type Kind } from '@tollgate/evidence'
import type { Stored } from '@tollgate/kernel'
import type { EntryFilter, LedgerEntry, NamedRecord, Page, PageRequest, Payload } from '../../view.ts'
import { GatewayError } from '../../error.ts'
import type { Database, TableRow, Statement } from './database.ts'
import { openIdIndex } from './ids.ts'
import { knownKeys } from './service.ts'
import { bytes, envelopeOf, openNodes, type Nodes } from './tree.ts'
import { headIn } from './writer.ts'

export interface LedgerReader {
  size(): number
  /**
   * Records with the newest receipt about each. Signature and position of the receipt are checked. @throws GatewayError
   * `LEDGER_DAMAGED`.
   */
  load(names: readonly string[]): Promise<readonly Stored[]>
  record(name: string): string | undefined
  /**
   * Names of records with this prefix, followed by the clock of their entry, for entries before a time in milliseconds; at
   * most 1,000, oldest first.
   */
  namesBefore(prefix: string, time: number): readonly string[]
  /** Records with this prefix whose names follow `after`, in order of name; at most 1,000. */
  records(prefix: string, after: string, limit: number): readonly NamedRecord[]
  list(prefix: string, of: 'records' | 'anchors'): readonly string[]
  page(request: PageRequest): Page
  find(id: string): LedgerEntry | undefined
  begins(digits: string): readonly LedgerEntry[]
  envelopes(start: number, end: number): readonly Uint8Array[]
  payloads(start: number, limit: number, beside?: string): readonly Payload[]
  indexesOf(kinds: readonly Kind[]): readonly number[]
  node(level: number, index: number): Uint8Array
  rootAt(size: number): Uint8Array
  checkpoint(): string | undefined
  /**
   * Records with this prefix that were not written since this time in milliseconds and whose names follow `after`; at most
   * `limit`, in order of name.
   */
  idle(prefix: string, time: number, limit: number, after?: string): readonly NamedRecord[]
}

/** The maximum number of entries that one page examines. */
const MAX_LOOKED_AT = 20_000
const MAX_PAGE = 1000
/** The maximum number of entries with the same id prefix. */
const MAX_ALIKE = 10

export function openReader(db: Database, writer: string): LedgerReader {
  const statements = prepareStatements(db)
  const nodes: Nodes = openNodes(db)
  const size = (): number => headIn(db).size
  const ids = openIdIndex(db, size)
  const keys = knownKeys(db, writer)

  function find(id: string): LedgerEntry | undefined {
    for (const index of /^[0-9a-f]{64}$/.test(id) ? ids.candidates(id) : []) {
      const row = statements.entry.get(index)
      const entry = row && entryOf(row)
      if (entry?.id === id) return entry
    }
    return undefined
  }

  function begins(digits: string): readonly LedgerEntry[] {
    if (!/^[0-9a-f]{8,64}$/.test(digits)) return []
    const entries = ids.beginning(digits.slice(0, 8)).flatMap((index) => {
      const row = statements.entry.get(index)
      const entry = row && entryOf(row)
      return entry?.id.startsWith(digits) === true ? [entry] : []
    })
    return entries.sort((a, b) => a.index - b.index).slice(0, MAX_ALIKE)
  }

  function page({ filter, direction, from, limit }: PageRequest): Page {
    const back = direction === 'back'
    const { first, end } = boundsOf(filter)
    const start = back ? Math.min(from ?? end - 1, end - 1) : Math.max(from ?? first, first)
    const rows = rowsFrom(statements, filter.kind, direction).iterate(
      ...kindFirst(filter.kind),
      start,
      MAX_LOOKED_AT,
    )
    const entries: LedgerEntry[] = []
    const most = Math.min(limit, MAX_PAGE)
    let [last, looked] = [start, 0]
    for (const row of rows) {
      const index = Number(row['idx'])
      if (index < first || index >= end) break
      last = index
      looked++
      if (fits(bytes(row['payload']), filter)) entries.push(entryOf(row))
      if (entries.length >= most) break
    }
    const next = back ? last - 1 : last + 1
    // Neither the page nor the examination limit is full: there is nothing more.
    const ended = entries.length < most && looked < MAX_LOOKED_AT
    return { entries, next: ended || next < first || next >= end ? undefined : next }
  }

  /** The entries of the wanted period. Times never go back in a ledger, so a search finds them without reading the others. */
  function boundsOf({ since, until }: EntryFilter): { readonly first: number; readonly end: number } {
    return {
      first: since === undefined ? 0 : indexAt(since),
      end: until === undefined ? size() : indexAt(until),
    }
  }

  function fits(payload: Uint8Array, filter: EntryFilter): boolean {
    if (Object.values(filter).every((wanted) => wanted === undefined)) return true
    // Sound: a payload is an object.
    const receipt = JSON.parse(Buffer.from(payload).toString()) as JsonObject
    const { kind, tenant, decision } = filter
    if (kind !== undefined && receipt['kind'] !== kind) return false
    if (tenant !== undefined && receipt['tenant'] !== tenant) return false
    if (decision !== undefined && receipt['decision'] !== decision && sha256Hex(payload) !== decision)
      return false
    return fitsCall(callOf(receipt), filter)
  }

  /** The decision of a receipt. Effects and approvals belong to their decision. */
  function callOf(receipt: JsonObject): JsonObject {
    const decision = receipt['decision']
    const found = typeof decision === 'string' && receipt['kind'] !== 'decision' ? find(decision) : undefined
    // Sound: a payload is an object.
    return found ? (parseJson(found.payload) as JsonObject) : receipt
  }

  function recordOf(name: string): string | undefined {
    const text = statements.record.get(name)?.['text']
    return text === undefined ? undefined : Buffer.from(bytes(text)).toString()
  }

  function payloads(start: number, limit: number, prefix?: string): readonly Payload[] {
    const rows = statements.payloads.all(start, Math.min(limit, MAX_PAGE))
    const texts = prefix === undefined ? NOTHING : textsBeside(rows, prefix)
    return rows.map((row) => {
      const payload = bytes(row['payload'])
      const id = sha256Hex(payload)
      const [index, beside] = [Number(row['idx']), texts.get(id)]
      return { index, id, text: textOf(payload), ...(beside !== undefined && { beside }) }
    })
  }

  /** The private records of consecutive entries, by entry id. One query, because the names are in the order of clocks. */
  function textsBeside(rows: readonly TableRow[], prefix: string): ReadonlyMap<string, string> {
    const [first, last] = [rows[0], rows.at(-1)]
    if (!first || !last) return NOTHING
    const nameOf = (row: TableRow): string => `${prefix}${clockText(bytes(row['payload']))}`
    const records = statements.recordsOn.all(nameOf(first), behind(`${nameOf(last)}\n`), MAX_PAGE)
    return new Map(records.map(namedRecord).map(({ name, text }) => [name.slice(-ID_LENGTH), text]))
  }

  /** The newest receipt about a name. The anchor in the file is not trusted, so the signature is checked. */
  async function anchorOf(name: string): Promise<Uint8Array | undefined> {
    const row = statements.anchor.get(name)
    if (!row) return undefined
    const envelope = envelopeOf(bytes(row['payload']), bytes(row['signature']))
    const { receipt, payload } = await keys.open(
      envelope,
      `the newest receipt about \`${name.replaceAll('\n', ' ')}\``,
    )
    // There is one writer, so `seq` is the index. A genuine receipt from another position is refused.
    if (receipt.seq === row['idx']) return payload
    throw new GatewayError('LEDGER_DAMAGED', `entry ${String(row['idx'])} has the receipt of another index`, {
      hints: ['run `tollgate fsck`'],
    })
  }

  /** The index of the first entry at or after this time. Entries are ordered by time. */
  function indexAt(time: number): number {
    let [low, high] = [0, size()]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = statements.entry.get(middle)
      if (row && timeOf(bytes(row['payload'])) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    size,
    find,
    begins,
    page,
    idle: (prefix, time, limit, after = prefix) =>
      statements.idle.all(after, behind(prefix), indexAt(time), limit).map(namedRecord),
    records: (prefix, after, limit) =>
      statements.recordsOn.all(after, behind(prefix), Math.min(limit, MAX_PAGE)).map(namedRecord),
    namesBefore(prefix, time) {
      const entry = statements.entry.get(indexAt(time))
      // All names, if no entry is that new.
      const end = entry ? `${prefix}${clockText(bytes(entry['payload']))}` : behind(prefix)
      return statements.namesOn.all(prefix, end, MAX_PAGE).map((row) => String(row['name']))
    },
    record: recordOf,
    load: (names) =>
      Promise.all(names.map(async (name) => ({ record: recordOf(name), anchor: await anchorOf(name) }))),
    list(prefix, of) {
      const rows = (of === 'records' ? statements.records : statements.anchors).all(prefix, behind(prefix))
      const names = rows.map((row) => String(row['name'])).filter((name) => name.startsWith(prefix))
      // Sorted by code units; SQLite sorts by bytes.
      return names.sort()
    },
    envelopes: (start, end) =>
      statements.range
        .all(start, Math.min(end, start + MAX_PAGE))
        .map((row) => envelopeOf(bytes(row['payload']), bytes(row['signature']))),
    payloads,
    indexesOf: (kinds) =>
      kinds
        .flatMap((kind) => (isRare(kind) ? statements.byRareKind : statements.byKind).all(kind))
        .map((row) => Number(row['idx']))
        .sort((a, b) => a - b),
    node: (level, index) => nodes.node(level, index),
    rootAt: (at) => nodes.rootAt(at),
    checkpoint() {
      const note = statements.checkpoint.get()?.['note']
      return typeof note === 'string' ? note : undefined
    },
  }
}

const NOTHING: ReadonlyMap<string, string> = new Map()
/** The length of an id in hexadecimal digits. */
const ID_LENGTH = 64

/** Rare kinds have an index, so that a search for a key does not scan all calls. */
function rowsFrom(
  statements: ReturnType<typeof prepareStatements>,
  kind: Kind | undefined,
  direction: PageRequest['direction'],
): Statement {
  if (kind !== undefined && isRare(kind))
    return direction === 'back' ? statements.rareBack : statements.rareOn
  return direction === 'back' ? statements.back : statements.on
}

function kindFirst(kind: Kind | undefined): readonly string[] {
  return kind !== undefined && isRare(kind) ? [kind] : []
}

function timeOf(payload: Uint8Array): number {
  // Sound: every receipt has a time.
  return Date.parse((JSON.parse(Buffer.from(payload).toString()) as { time: string }).time)
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

function namedRecord(row: Readonly<Record<string, unknown>>): NamedRecord {
  return { name: String(row['name']), text: textOf(bytes(row['text'])) }
}

function entryOf(row: Readonly<Record<string, unknown>>): LedgerEntry {
  const payload = bytes(row['payload'])
  return {
    index: Number(row['idx']),
    id: sha256Hex(payload),
    payload,
    envelope: envelopeOf(payload, bytes(row['signature'])),
  }
}

// Written exactly as in the index definition, otherwise SQLite does not use the index.
const RARE = "kind = ? AND kind NOT IN ('decision', 'effect')"

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
