// The connections that only read. Lost ones are replaced.

import pg from 'pg'
import { clientOptions, faultOf, isLost, type DatabasePlace, type Row } from './session.ts'
import type { Ask } from './tree.ts'

const MAX_READERS = 3

/** Connections for reading. */
interface ReadPool {
  /** Runs one query. Reads again once if the connection was lost. @throws GatewayError. */
  readonly ask: Ask
  close(): Promise<void>
}

/** Opens connections for reading on demand. */
export function openPool(place: DatabasePlace): ReadPool {
  const pool = new pg.Pool({ ...clientOptions(place, 'reader'), max: MAX_READERS, idleTimeoutMillis: 60_000 })
  // An idle connection that is lost is removed from the pool; the next query opens another.
  pool.on('error', () => undefined)
  const once: Ask = async (sql, values = []) => {
    try {
      const { rows } = await pool.query<Row>(sql, [...values])
      return rows
    } catch (cause) {
      throw faultOf(cause)
    }
  }
  return {
    ask: async (sql, values) => {
      try {
        return await once(sql, values)
      } catch (cause) {
        if (!isLost(cause)) throw cause
        return once(sql, values)
      }
    },
    close: () => pool.end(),
  }
}
