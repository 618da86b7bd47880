// The connections that only read. Lost ones are replaced.

import pg from 'pg'
import { GIVE_UP_MS } from './link.ts'
import { clientOptions, faultOf, isLost, type DatabasePlace, type SqlRow } from './session.ts'
import type { SqlQuery } from './tree.ts'

const MAX_READERS = 3
const PAUSE_MS = 50
/** How long a read is repeated after the connection was lost, in milliseconds. */
const AGAIN_MS = 500

/** Connections for reading. */
export interface ReadPool {
  /** Runs one query. Reads again for a moment if the connection was lost. @throws GatewayError. */
  readonly ask: SqlQuery
  /** As `ask`, but reads again until the server is back, for as long as a gateway waits for it. */
  readonly askPatiently: SqlQuery
  close(): Promise<void>
}

/** Opens connections for reading on demand. */
export function openPool(place: DatabasePlace): ReadPool {
  const pool = new pg.Pool({ ...clientOptions(place, 'reader'), max: MAX_READERS, idleTimeoutMillis: 60_000 })
  // An idle connection that is lost is removed from the pool; the next query opens another.
  pool.on('error', () => undefined)
  const once: SqlQuery = async (sql, values = []) => {
    try {
      const { rows } = await pool.query<SqlRow>(sql, [...values])
      return rows
    } catch (cause) {
      throw faultOf(cause)
    }
  }
  const until = async (end: number, sql: string, values?: readonly unknown[]): Promise<readonly SqlRow[]> => {
    for (;;) {
      try {
        return await once(sql, values)
      } catch (cause) {
        if (!isLost(cause) || Date.now() > end) throw cause
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }
  return {
    ask: (sql, values) => until(Date.now() + AGAIN_MS, sql, values),
    askPatiently: (sql, values) => until(Date.now() + GIVE_UP_MS, sql, values),
    close: () => pool.end(),
  }
}
