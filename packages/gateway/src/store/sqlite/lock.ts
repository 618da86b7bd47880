// One gateway to a data directory. The lock is SQLite's own on an empty file beside the ledger, held as long as the process
// lives: the system releases it even after a kill, and readers of the ledger are not in its way.

import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { GatewayError } from '../../error.ts'
import { createPrivately, faultOf } from './database.ts'

/** A held lock. */
export interface Lock {
  /** Lets go of it; a second time does nothing. */
  release(): void
}

/** Takes the lock of a data directory. @throws GatewayError `LEDGER_LOCKED` if another process has it. */
export function takeLock(data: string): Lock {
  const file = join(data, 'lock.sqlite')
  // The system's locks are per process: a second look from here would succeed, and closing it would let go of the first.
  if (held.has(file)) throw locked(data)
  try {
    createPrivately(file)
    const db = new DatabaseSync(file, { timeout: 0 })
    holdExclusively(db)
    held.add(file)
    let isReleased = false
    return {
      release() {
        // Once: by then another may hold it.
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
    // Never committed: what is held is the lock.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** Whether some process holds the lock of a data directory. */
export function isLocked(data: string): boolean {
  try {
    takeLock(data).release()
    return false
  } catch (cause) {
    if (cause instanceof GatewayError && cause.code === 'LEDGER_LOCKED') return true
    throw cause
  }
}
