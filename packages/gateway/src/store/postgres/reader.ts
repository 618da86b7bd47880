// Reads the entries of a ledger in PostgreSQL, for routes, exports and commands. Only committed entries are visible.

import { parseJson, sha256Hex, type Json, type JsonObject, type Kind } from '@tollgate/evidence'
import type { EntryFilter, LedgerEntry, LedgerView, Page, PageRequest, Payload } from '../../view.ts'
import { bytes } from '../tiles.ts'
import { prefixesOf, prefixOf } from './ids.ts'
import { envelopeIn, textOf, type RecordReader } from './records.ts'
import type { SqlRow } from './session.ts'
import { nodeAt, rootAt, type SqlQuery } from './tree.ts'

/** The maximum number of entries that one page examines, and reads at once. */
const MAX_LOOKED_AT = 20_000
const AT_ONCE = 500
const MAX_PAGE = 1000
/** The maximum number of entries with the same id prefix. */
const MAX_ALIKE = 10
/** How much the clocks of gateways may differ, in milliseconds, so that a search by time finds everything. */
const CLOCKS_DIFFER = 60_000

const COLUMNS = 'SELECT idx, payload, signature FROM entries'

/** Reads entries. */
export class EntryReader {
  readonly #ask: SqlQuery

  constructor(ask: SqlQuery) {
    this.#ask = ask
  }

  async size(): Promise<number> {
    const [row] = await this.#ask('SELECT size FROM head')
    return Number(row?.['size'] ?? 0)
  }

  async find(id: string): Promise<LedgerEntry | undefined> {
    if (!/^[0-9a-f]{64}$/.test(id)) return undefined
    const rows = await this.#ask(`${COLUMNS} WHERE id_prefix = $1`, [prefixOf(id)])
    return rows.map(entryOf).find((entry) => entry.id === id)
  }

  async begins(digits: string): Promise<readonly LedgerEntry[]> {
    if (!/^[0-9a-f]{8,64}$/.test(digits)) return []
    const rows = await this.#ask(`${COLUMNS} WHERE id_prefix BETWEEN $1 AND $2 ORDER BY idx LIMIT 1000`, [
      ...prefixesOf(digits),
    ])
    return rows
      .map(entryOf)
      .filter(({ id }) => id.startsWith(digits))
      .slice(0, MAX_ALIKE)
  }

  async page({ filter, direction, from, limit }: PageRequest): Promise<Page> {
    const back = direction === 'back'
    const { first, end } = await this.#boundsOf(filter)
    const start = back ? Math.min(from ?? end - 1, end - 1) : Math.max(from ?? first, first)
    const most = Math.min(limit, MAX_PAGE)
    const entries: LedgerEntry[] = []
    let [last, looked, at] = [start, 0, start]
    for (;;) {
      const rows = await this.#rowsFrom(at, filter.kind, back, { first, end })
      for (const row of rows) {
        last = Number(row['idx'])
        looked++
        if (await this.#fits(bytes(row['payload']), filter)) entries.push(entryOf(row))
        if (entries.length >= most) break
      }
      at = back ? last - 1 : last + 1
      if (rows.length < AT_ONCE || entries.length >= most || looked >= MAX_LOOKED_AT) break
    }
    // Neither the page nor the examination limit is full: there is nothing more.
    const ended = entries.length < most && looked < MAX_LOOKED_AT
    return { entries, next: ended || at < first || at >= end ? undefined : at }
  }

  #rowsFrom(
    at: number,
    kind: Kind | undefined,
    back: boolean,
    { first, end }: { readonly first: number; readonly end: number },
  ): Promise<readonly SqlRow[]> {
    const [low, high] = back ? [first, Math.min(at + 1, end)] : [Math.max(at, first), end]
    const order = `ORDER BY idx ${back ? 'DESC' : 'ASC'} LIMIT ${AT_ONCE}`
    if (kind === undefined || kind === 'decision' || kind === 'effect')
      return this.#ask(`${COLUMNS} WHERE idx >= $1 AND idx < $2 ${order}`, [low, high])
    return this.#ask(`${COLUMNS} WHERE idx >= $1 AND idx < $2 AND ${RARE} AND kind = $3 ${order}`, [
      low,
      high,
      kind,
    ])
  }

  async #boundsOf({ since, until }: EntryFilter): Promise<{ readonly first: number; readonly end: number }> {
    return {
      first: since === undefined ? 0 : await this.indexAt(since),
      end: until === undefined ? await this.size() : await this.indexAt(until + CLOCKS_DIFFER),
    }
  }

  /** The index of the first entry before which every entry is older than this time. */
  async indexAt(time: number): Promise<number> {
    let [low, high] = [0, await this.size()]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [row] = await this.#ask('SELECT newest_time FROM entries WHERE idx = $1', [middle])
      if (Number(row?.['newest_time'] ?? Infinity) < time) low = middle + 1
      else high = middle
    }
    return low
  }

  async #fits(payload: Uint8Array, filter: EntryFilter): Promise<boolean> {
    if (Object.values(filter).every((wanted) => wanted === undefined)) return true
    // Sound: a payload is an object.
    const receipt = JSON.parse(textOf(payload)) as JsonObject & { readonly time: string }
    const { kind, tenant, decision, since, until } = filter
    const time = Date.parse(receipt.time)
    if (kind !== undefined && receipt['kind'] !== kind) return false
    if (tenant !== undefined && receipt['tenant'] !== tenant) return false
    if ((since !== undefined && time < since) || (until !== undefined && time >= until)) return false
    if (decision !== undefined && receipt['decision'] !== decision && sha256Hex(payload) !== decision)
      return false
    return fitsCall(await this.#callOf(receipt), filter)
  }

  /** The decision of a receipt. Effects and approvals belong to their decision. */
  async #callOf(receipt: JsonObject): Promise<JsonObject> {
    const decision = receipt['decision']
    const found =
      typeof decision === 'string' && receipt['kind'] !== 'decision' ? await this.find(decision) : undefined
    // Sound: a payload is an object.
    return found ? (parseJson(found.payload) as JsonObject) : receipt
  }

  async envelopes(start: number, end: number): Promise<readonly Uint8Array[]> {
    const rows = await this.#ask(`${COLUMNS} WHERE idx >= $1 AND idx < $2 ORDER BY idx`, [
      start,
      Math.min(end, start + MAX_PAGE),
    ])
    return rows.map(envelopeIn)
  }

  async payloads(start: number, limit: number, prefix?: string): Promise<readonly Payload[]> {
    const rows = await this.#ask('SELECT idx, payload FROM entries WHERE idx >= $1 ORDER BY idx LIMIT $2', [
      start,
      Math.min(limit, MAX_PAGE),
    ])
    const found = rows.map((row) => {
      const payload = bytes(row['payload'])
      return { index: Number(row['idx']), id: sha256Hex(payload), text: textOf(payload) }
    })
    if (prefix === undefined) return found
    const names = found.map(({ id, text }) => `${prefix}${clockIn(text)}\n${id}`)
    const beside = await this.#ask('SELECT name, body FROM records WHERE name = ANY ($1::text[])', [names])
    const texts = new Map(beside.map((row) => [String(row['name']), textOf(bytes(row['body']))]))
    return found.map((each, i) => {
      const text = texts.get(names[i] ?? '')
      return text === undefined ? each : { ...each, beside: text }
    })
  }

  async indexesOf(kinds: readonly Kind[]): Promise<readonly number[]> {
    const rare = kinds.every((kind) => kind !== 'decision' && kind !== 'effect')
    const rows = await this.#ask(
      `SELECT idx FROM entries WHERE kind = ANY ($1::text[]) ${rare ? `AND ${RARE}` : ''} ORDER BY idx`,
      [kinds],
    )
    return rows.map((row) => Number(row['idx']))
  }

  async checkpoint(): Promise<string | undefined> {
    const [row] = await this.#ask('SELECT note FROM checkpoint')
    return typeof row?.['note'] === 'string' ? row['note'] : undefined
  }
}

/** The view of a ledger through these readers. */
export function viewOf(ask: SqlQuery, entries: EntryReader, records: RecordReader): LedgerView {
  return {
    size: () => entries.size(),
    page: (request) => entries.page(request),
    find: (id) => entries.find(id),
    begins: (digits) => entries.begins(digits),
    envelopes: (start, end) => entries.envelopes(start, end),
    payloads: (...range) => entries.payloads(...range),
    indexesOf: (kinds) => entries.indexesOf(kinds),
    node: (level, index) => nodeAt(ask, level, index),
    rootAt: (size) => rootAt(ask, size),
    record: (name) => records.record(name),
    records: (...args) => records.records(...args),
    recordNames: (prefix) => records.list(prefix, 'records'),
    checkpoint: () => entries.checkpoint(),
  }
}

// Written exactly as in the index definition, otherwise the database does not use the index.
const RARE = "kind NOT IN ('decision', 'effect')"

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

/** The clock of an entry, as used in record names. */
function clockIn(text: string): string {
  return (/"lamport_clock":([0-9]{1,16})/.exec(text)?.[1] ?? '').padStart(16, '0')
}

function entryOf(row: SqlRow): LedgerEntry {
  const payload = bytes(row['payload'])
  return { index: Number(row['idx']), id: sha256Hex(payload), payload, envelope: envelopeIn(row) }
}
