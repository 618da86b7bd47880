// Finds receipts by id. Ids are random, so a B-tree over them would write one page per receipt. Instead the file stores id
// prefixes in the order of the entries, and readers build the index in memory.

import { sha256Hex } from '@tollgate/evidence'
import type { Database } from './database.ts'
import { bytes } from '../tiles.ts'

/** Ids per tile, and bytes stored per id. */
const TILE = 1024
const KEPT = 8

/** Collects the ids that are written, and stores each full tile. */
export interface IdTiles {
  add(id: string): void
}

/** Continues after the first `size` entries. */
export function openIdTiles(db: Database, size: number): IdTiles {
  const insert = db.prepare('INSERT INTO ids (tile, prefixes) VALUES (?, ?)')
  const first = size - (size % TILE)
  const prefixes = Buffer.alloc(TILE * KEPT)
  let count = first
  const add = (id: string): void => {
    prefixes.write(id.slice(0, 2 * KEPT), (count % TILE) * KEPT, 'hex')
    count++
    if (count % TILE === 0) insert.run(count / TILE - 1, Buffer.from(prefixes))
  }
  for (const id of idsFrom(db, first, size)) add(id)
  return { add }
}

function* idsFrom(db: Database, start: number, end: number): Generator<string> {
  const rows = db
    .prepare('SELECT payload FROM entries WHERE idx >= ? AND idx < ? ORDER BY idx')
    .iterate(start, end)
  for (const row of rows) yield sha256Hex(bytes(row['payload']))
}

export interface IdIndex {
  /** Indexes of the entries whose id has the same first 16 digits. Rarely more than one. */
  candidates(id: string): readonly number[]
  /** Indexes of the entries whose id begins with these eight digits. */
  beginning(digits: string): readonly number[]
}

/** An index over a growing file. It adds new entries on each lookup. */
export function openIdIndex(db: Database, sizeNow: () => number): IdIndex {
  const tilesFrom = db.prepare('SELECT prefixes FROM ids WHERE tile >= ? ORDER BY tile')
  let slots = new Slots(1 << 12)
  let known = 0

  function add(high: number, low: number): void {
    if (2 * (known + 1) > slots.capacity) slots = slots.doubled()
    slots.add(high, low, known++)
  }

  function catchUp(): void {
    const size = sizeNow()
    if (known === size) return
    for (const row of tilesFrom.iterate(Math.floor(known / TILE))) {
      const tile = Buffer.from(bytes(row['prefixes']))
      // The first tile may be partly known: it was not full at the last lookup.
      for (let i = known % TILE; i < TILE; i++)
        add(tile.readUInt32BE(i * KEPT), tile.readUInt32BE(i * KEPT + 4))
    }
    for (const id of idsFrom(db, known, size)) add(...halves(id))
  }

  return {
    candidates(id) {
      catchUp()
      return slots.find(...halves(id))
    },
    beginning(digits) {
      catchUp()
      return slots.beginning(halves(digits)[0])
    },
  }
}

function halves(id: string): [number, number] {
  return [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8, 16), 16)]
}

/** An open-addressing table in typed arrays: 12 bytes per slot, a twentieth of what objects need. */
class Slots {
  readonly capacity: number
  readonly #high: Uint32Array
  readonly #low: Uint32Array
  /** Index of the entry plus one; 0 marks an empty slot. */
  readonly #entry: Uint32Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.#high = new Uint32Array(capacity)
    this.#low = new Uint32Array(capacity)
    this.#entry = new Uint32Array(capacity)
  }

  add(high: number, low: number, entry: number): void {
    let at = low % this.capacity
    while (this.#entry[at] !== 0) at = (at + 1) % this.capacity
    this.#high[at] = high
    this.#low[at] = low
    this.#entry[at] = entry + 1
  }

  find(high: number, low: number): readonly number[] {
    const found: number[] = []
    for (let at = low % this.capacity; this.#entry[at] !== 0; at = (at + 1) % this.capacity) {
      if (this.#high[at] === high && this.#low[at] === low) found.push((this.#entry[at] ?? 0) - 1)
    }
    return found
  }

  /** Scans every slot. This lookup is rare, and a million slots take a few milliseconds. */
  beginning(high: number): readonly number[] {
    const found: number[] = []
    this.#entry.forEach((entry, at) => {
      if (entry !== 0 && this.#high[at] === high) found.push(entry - 1)
    })
    return found
  }

  doubled(): Slots {
    const larger = new Slots(2 * this.capacity)
    this.#entry.forEach((entry, at) => {
      if (entry !== 0) larger.add(this.#high[at] ?? 0, this.#low[at] ?? 0, entry - 1)
    })
    return larger
  }
}
