// `tollgate migrate`: moves the ledger from its file into PostgreSQL.

import { readConfig } from '../../config/config.ts'
import { migrateLedger } from '../../migrate.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface MigrateOptions extends DataOptions {
  readonly databaseEnv?: string
}

/** Moves the ledger and says where the old file is. */
export async function runMigrate(terminal: Terminal, options: MigrateOptions): Promise<number> {
  const { databaseEnv } = options
  if (databaseEnv === undefined)
    throw new UsageError('`--database-env` is missing', 'name the environment variable with the URL')
  const config = readConfig(dataOf(options))
  const progress = terminal.progress('copying')
  const { size, old } = await migrateLedger(config, databaseEnv, (done, total) =>
    progress.show(done, total),
  ).finally(() => progress.clear())
  terminal.data({ size, old }, String(size))
  terminal.say(`${size} entries are in the database; \`${old}\` is no longer used`)
  terminal.say('next: `tollgate fsck` checks every entry, then `tollgate serve` starts the gateway')
  return 0
}
