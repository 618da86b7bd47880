// A copy of the ledger, taken while it may be written to.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { backup, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { GatewayError } from '../../error.ts'
import { createPrivately, endTransaction, faultOf, openForReading } from './database.ts'
import { headIn } from './writer.ts'

/**
 * Copies the ledger of a data directory to a new file. The copy is one moment of it, whole; it has its name only once it is
 * complete.
 *
 * @throws GatewayError `DATA_EXISTS` if there is such a file, or as the file's faults.
 */
export async function backupLedger(
  data: string,
  target: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly size: number }> {
  if (existsSync(target)) {
    throw new GatewayError('DATA_EXISTS', `\`${target}\` is there already`, { hints: ['name another file'] })
  }
  const partial = `${target}.part`
  rmSync(partial, { force: true })
  const db = openForReading(data)
  try {
    // One moment of it, held: otherwise every commit would make the copy begin again.
    db.exec('BEGIN')
    const { size } = headIn(db)
    createPrivately(partial)
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }): void =>
      onProgress(totalPages - remainingPages, totalPages)
    // Sound: `openForReading` opens it with this very driver.
    await backup(db as DatabaseSyncInstance, partial, { rate: 1000, progress })
    syncFile(partial)
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

function syncFile(file: string): void {
  const descriptor = openSync(file, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
