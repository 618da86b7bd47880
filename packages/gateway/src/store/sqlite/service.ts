// Reads the keys of a ledger file.

import { knownKeys, serviceOf, type KnownKeys, type Service } from '../service.ts'
import { bytes, envelopeOf } from '../tiles.ts'
import type { Database } from './database.ts'

/** Reads the keys of a ledger file. @throws GatewayError as `serviceOf`. */
export function serviceIn(db: Database, writer: string): Promise<Service> {
  const rows = db
    .prepare("SELECT idx, payload, signature FROM entries WHERE kind IN ('genesis', 'key') ORDER BY idx")
    .all()
  const entries = rows.map((row) => {
    return { index: Number(row['idx']), envelope: envelopeOf(bytes(row['payload']), bytes(row['signature'])) }
  })
  return serviceOf(entries, writer)
}

/** The keys of a file, which may still be empty. */
export function keysOf(db: Database, writer: string): KnownKeys {
  return knownKeys(async () => (await serviceIn(db, writer)).known)
}
