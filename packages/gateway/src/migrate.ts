// Moves the ledger of a data directory from its file into PostgreSQL. Every byte of every receipt stays the same, so that old proofs,
// packs and checkpoints stay valid.

import { appendFileSync, existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig, type Config } from './config/config.ts'
import { CONFIG_FILE } from './config/place.ts'
import { syncPath } from './directory.ts'
import { GatewayError } from './error.ts'
import { databasePlace, markDatabase } from './ledger-store.ts'
import { checkPostgres } from './store/postgres/look.ts'
import { fillTables } from './store/postgres/fill.ts'
import { foldLog, openDatabase } from './store/sqlite/database.ts'
import { dumpLedger } from './store/sqlite/dump.ts'
import { takeLock } from './store/sqlite/lock.ts'
import { checkFrom } from './store/sqlite/tail-remembered.ts'

/** The old file gets this ending. It is no longer used. */
const OLD = '.migrated'

/** The result of a migration. */
interface Migration {
  readonly size: number
  /** The old ledger file under its new name. */
  readonly old: string
}

/**
 * Moves the ledger into the database whose URL is in this environment variable, and changes tollgate.yaml. The gateway must not run.
 *
 * @throws GatewayError `LEDGER_LOCKED` if the gateway runs, `DATA_EXISTS` if the database has a ledger, or as opening does. The data
 * directory is then unchanged.
 */
export async function migrateLedger(
  config: Config,
  urlEnv: string,
  onProgress: (done: number, total: number) => void,
): Promise<Migration> {
  if (config.database) {
    throw new GatewayError('DATA_EXISTS', 'the ledger of this data directory is in a database already')
  }
  const { data, ledger: origin, writer, headGuard: guard } = config
  const database = { urlEnv, schema: 'tollgate', writer }
  const lock = takeLock(data)
  try {
    await checkFrom({ data, origin, writer, guard })
    const place = databasePlace(database)
    const size = await dumpLedger(data, async (dump) => {
      await fillTables(place, writer, dump, onProgress)
      return dump.size
    })
    await checkPostgres({ place, origin, writer, guard })
    const old = retire(data)
    changeConfig(config, database)
    markDatabase({ ...config, database })
    return { size, old }
  } finally {
    lock.release()
  }
}

/** Renames the file, so that no gateway continues it: there would be two histories. */
function retire(data: string): string {
  const file = join(data, 'ledger.sqlite')
  const db = openDatabase(data)
  const isWhole = foldLog(db)
  db.close()
  if (!isWhole) {
    throw new GatewayError('LEDGER_LOCKED', 'another process still reads the ledger file', {
      hints: ['stop it, remove the schema `tollgate` from the database, then run `tollgate migrate` again'],
    })
  }
  renameSync(file, file + OLD)
  for (const end of ['-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, file + OLD + end)
  syncPath(data)
  return file + OLD
}

function changeConfig({ data }: Config, { urlEnv, writer }: NonNullable<Config['database']>): void {
  const file = join(data, CONFIG_FILE)
  const before = readFileSync(file, 'utf8')
  const gap = before.endsWith('\n') ? '' : '\n'
  appendFileSync(file, `${gap}\ndatabase: { url-env: ${urlEnv}, writer: ${writer} }\n`, { flush: true })
  readConfig(data)
}
