// Ensures one gateway per data directory. The lock is a SQLite lock on an empty file next to the ledger. The system releases
// it when the process ends, even after a kill. It does not block readers of the ledger.

import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { GatewayError } from '../../error.ts'
import { createPrivately, faultOf } from './database.ts'

export interface Lock {
  /** Releases the lock. A second call does nothing. */
  release(): void
}

/** Takes the lock of a data directory. @throws GatewayError `LEDGER_LOCKED` if another process has it. */
export function takeLock(data: string): Lock {
  const file = join(data, 'lock.sqlite')
  // System locks are per process: a second attempt here would succeed, and closing it would release the first lock.
  if (held.has(file)) throw locked(data)
  try {
    createPrivately(file)
    const db = new DatabaseSync(file, { timeout: 0 })
    holdExclusively(db)
    held.add(file)
    let isReleased = false
    return {
      release() {
        // Only once: another owner may have the lock by then.
        if (isReleased) return
        isReleased = true
        db.close()
        held.delete(file)
      },
    }
  } catch (cause) {
    const fault = faultOf(cause, file)
    throw fault.code === 'LEDGER_LOCKED' ? locked(data, cause) : fault
  }
}

const held = new Set<string>()

function locked(data: string, cause?: unknown): GatewayError {
  return new GatewayError('LEDGER_LOCKED', `another gateway is running on \`${data}\``, {
    cause,
    hints: ['stop it, or choose another directory with `--data`'],
  })
}

function holdExclusively(db: InstanceType<typeof DatabaseSync>): void {
  try {
    // Never committed: the open transaction is the lock.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** Whether a process has the lock of a data directory. */
export function isLocked(data: string): boolean {
  try {
    takeLock(data).release()
    return false
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'LEDGER_LOCKED') return true
    throw cause
  }
}
