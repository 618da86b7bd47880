// Opens the store of a ledger: the file in the data directory, or the configured database. The driver of the database is loaded only
// if it is configured.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Config } from './config/config.ts'
import { GatewayError } from './error.ts'
import type { OpenedStore } from './store/opened.ts'
import type { DatabasePlace } from './store/postgres/session.ts'
import { takeLock, type Lock } from './store/sqlite/lock.ts'
import { createSqliteFile, openSqliteStore } from './store/sqlite/store.ts'

interface StoreOptions {
  readonly seeds: readonly Uint8Array[]
  readonly lock?: Lock
  /** For a single command: starts sooner and writes slower. */
  readonly brief?: boolean
  /** Signs no checkpoints. */
  readonly quiet?: boolean
  /** The writer has no key yet. Only for a database. */
  readonly joining?: boolean
}

const FILE = 'ledger.sqlite'
/** Says that the ledger of a data directory is in a database. It contains no address. */
const MARK = 'ledger.postgres'

/** The files that show that a data directory has a ledger. */
export const LEDGERS: readonly string[] = [FILE, MARK]

/** Whether a data directory has a ledger, here or in a database. Asks no server. */
export function hasLedger(data: string): boolean {
  return LEDGERS.some((name) => existsSync(join(data, name)))
}

/** The path of the ledger file, or of the mark of a database, for messages. */
export function ledgerPlace({ data, database }: Pick<Config, 'data' | 'database'>): string {
  return join(data, database ? MARK : FILE)
}

/** Writes down that this data directory belongs to a ledger in a database. */
export function markDatabase(config: Config): void {
  if (!config.database) return
  const { schema, writer } = config.database
  writeFileSync(join(config.data, MARK), `${JSON.stringify({ ledger: config.ledger, schema, writer })}\n`, {
    mode: 0o600,
    flush: true,
  })
}

/** Where the database is. @throws GatewayError `CONFIG_INVALID` if the environment variable is not set. */
export function databasePlace({ urlEnv, schema }: NonNullable<Config['database']>): DatabasePlace {
  const url = process.env[urlEnv]
  if (url !== undefined && /^postgres(?:ql)?:\/\//.test(url)) return { url, schema }
  const what = url === undefined ? 'is not set' : 'does not begin with `postgres://`'
  throw new GatewayError('CONFIG_INVALID', `the environment variable \`${urlEnv}\` ${what}`, {
    hints: [`set it to the URL of the database, such as \`postgres://USER:PASSWORD@HOST/DATABASE\``],
  })
}

/** Creates the empty store of a new ledger. @throws GatewayError `DATA_EXISTS`. */
export async function createStore(config: Config): Promise<void> {
  if (!config.database) {
    createSqliteFile(config.data)
    return
  }
  const { createPostgresTables } = await import('./store/postgres/store.ts')
  await createPostgresTables(databasePlace(config.database))
}

/** Opens the store for writing. One process at a time uses a data directory. @throws GatewayError. */
export async function openStore(config: Config, options: StoreOptions): Promise<OpenedStore> {
  const { data, ledger: origin, writer, headGuard: guard, database } = config
  const { seeds, lock, brief = false, quiet = false, joining = false } = options
  if (!database) return openSqliteStore({ data, origin, writer, seeds, guard, brief, quiet }, lock)
  const held = lock ?? takeLock(data)
  try {
    const { openPostgresStore } = await import('./store/postgres/store.ts')
    const place = databasePlace(database)
    const store = await openPostgresStore({
      place,
      origin,
      writer,
      seeds,
      guard,
      quiet: quiet || joining,
      joining,
    })
    return { ...store, close: () => store.close().finally(() => held.release()) }
  } catch (cause) {
    held.release()
    throw cause
  }
}
