// The minimum cost of a durable signed write: one signature, and one commit of one row.

import { generateKeyPairSync, sign } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'

/** Microseconds for one signature and for one durable commit of one row. */
export function bareFloor(folder: string): {
  signature(ms: number): number
  commit(ms: number): number
  close(): void
} {
  const key = generateKeyPairSync('ed25519').privateKey
  const message = Buffer.alloc(1250, 7)
  const db = new DatabaseSync(join(folder, 'bare.sqlite'))
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b BLOB)',
  )
  const insert = db.prepare('INSERT INTO t (b) VALUES (?)')
  return {
    signature: (ms) => each(ms, () => sign(null, message, key)),
    commit: (ms) => each(ms, () => insert.run(message)),
    // Kept as long as its statement is used: the driver closes unreferenced connections.
    close: () => db.close(),
  }
}

function each(milliseconds: number, work: () => unknown): number {
  const began = performance.now()
  let done = 0
  while (performance.now() - began < milliseconds) {
    work()
    done++
  }
  return (1000 * (performance.now() - began)) / done
}
