// Checks that the server keeps what it has acknowledged.

import { GatewayError } from '../../error.ts'
import type { SqlQuery } from './tree.ts'

/** The settings that durability depends on. */
export interface ServerSettings {
  /** Such as 150018 for 15.18. */
  readonly version: number
  readonly fsync: string
  readonly synchronousCommit: string
  readonly fullPageWrites: string
  /** The bytes that the slowest standby is behind; undefined without a standby, or without the right to see them. */
  readonly lag: number | undefined
  readonly standbys: number
}

const OLDEST = 130_000

export async function readSettings(ask: SqlQuery): Promise<ServerSettings> {
  const [row] = await ask(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
       current_setting('synchronous_commit') AS sync, current_setting('full_page_writes') AS pages,
       (SELECT count(*) FROM pg_stat_replication) AS standbys,
       (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint FROM pg_stat_replication) AS lag,
       pg_is_in_recovery() AS standby`,
  )
  if (row?.['standby'] === true)
    throw unsafe('it is a standby, which cannot be written', 'use the URL of the primary')
  const lag = row?.['lag']
  return {
    version: Number(row?.['version']),
    fsync: String(row?.['fsync']),
    synchronousCommit: String(row?.['sync']),
    fullPageWrites: String(row?.['pages']),
    standbys: Number(row?.['standbys']),
    lag: typeof lag === 'number' ? lag : undefined,
  }
}

/** @throws GatewayError `STORE_FAILED` if an acknowledged commit could be lost by a crash of the server. */
export function requireSafe({ version, fsync, synchronousCommit, fullPageWrites }: ServerSettings): void {
  if (version < OLDEST) throw unsafe(`its version number is ${version}`, 'use PostgreSQL 13 or newer')
  if (fsync !== 'on') throw unsafe('`fsync` is off', 'set `fsync = on` in postgresql.conf')
  if (fullPageWrites !== 'on')
    throw unsafe('`full_page_writes` is off', 'set `full_page_writes = on` in postgresql.conf')
  if (synchronousCommit === 'off')
    throw unsafe('`synchronous_commit` is off', 'set `synchronous_commit = on` for the user or the server')
}

function unsafe(what: string, hint: string): GatewayError {
  return new GatewayError('STORE_FAILED', `the PostgreSQL server cannot keep a ledger: ${what}`, {
    hints: [hint],
  })
}
