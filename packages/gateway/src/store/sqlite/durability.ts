// Measures the cost of a durable write.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, durabilityOf } from './database.ts'

export interface Durability {
  readonly millisPerSync: number
  readonly syncsPerSecond: number
  /** `full`: each commit is synced before it returns. */
  readonly mode: 'full' | 'less'
}

const COMMITS = 32

/** Measures single-row commits in the data directory, with the settings of the ledger. @throws GatewayError. */
export function measureSyncs(data: string): Durability {
  const folder = mkdtempSync(join(data, 'measure-'))
  try {
    const db = createDatabase(folder)
    const row = db.prepare("INSERT INTO records VALUES (?, ?, 0, x'00')")
    const began = performance.now()
    for (let i = 0; i < COMMITS; i++) row.run(`row ${i}`, new Uint8Array(1024))
    const millisPerSync = (performance.now() - began) / COMMITS
    const { journal, synchronous } = durabilityOf(db)
    db.close()
    const mode = journal === 'wal' && synchronous === 2 ? 'full' : 'less'
    return { millisPerSync, syncsPerSecond: 1000 / millisPerSync, mode }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
