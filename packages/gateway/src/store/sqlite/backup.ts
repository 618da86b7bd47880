// Copies the ledger while it may be in use.

import { existsSync, renameSync, rmSync } from 'node:fs'
import { backup, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { syncPath } from '../../directory.ts'
import { GatewayError } from '../../error.ts'
import { createPrivately, endTransaction, faultOf, openForReading } from './database.ts'
import { headIn } from './writer.ts'

/**
 * Copies the ledger of a data directory to a new file. The copy is a consistent snapshot. It gets its final name only when it
 * is complete.
 *
 * @throws GatewayError `DATA_EXISTS` if the file exists, or as `faultOf`.
 */
export async function backupLedger(
  data: string,
  target: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly size: number }> {
  if (existsSync(target)) {
    throw new GatewayError('DATA_EXISTS', `\`${target}\` already exists`, {
      hints: ['choose another file name'],
    })
  }
  const partial = `${target}.part`
  rmSync(partial, { force: true })
  const db = openForReading(data)
  try {
    // A read transaction: without it every commit would restart the copy.
    db.exec('BEGIN')
    const { size } = headIn(db)
    createPrivately(partial)
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }): void =>
      onProgress(totalPages - remainingPages, totalPages)
    // Sound: `openForReading` uses this driver.
    await backup(db as DatabaseSyncInstance, partial, { rate: 1000, progress })
    syncPath(partial)
    renameSync(partial, target)
    return { size }
  } catch (cause) {
    rmSync(partial, { force: true })
    throw faultOf(cause, target)
  } finally {
    endTransaction(db)
    db.close()
  }
}
