// Whether the files of a ledger are still the ones that were opened. A file that was removed, renamed or replaced takes every
// commit without a fault, and what is written to it is gone when it is closed: so the system is asked, around each commit.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../../error.ts'

/** The files of an open ledger, as they were when it was opened. */
export interface Place {
  /** @throws GatewayError `LEDGER_GONE` if one of them, or their directory, is gone or another one. */
  check(): void
}

// The directory itself, the file, its log, the memory of the log, and the lock that keeps a second gateway out.
const NAMES = ['', 'ledger.sqlite', 'ledger.sqlite-wal', 'ledger.sqlite-shm', 'lock.sqlite']

/** Remembers the files of a data directory, all of which are open. @throws GatewayError `LEDGER_GONE` if one is missing. */
export function openPlace(data: string): Place {
  const known = NAMES.map((name) => ({ name, path: join(data, name), id: idOf(join(data, name)) }))
  const check = (): void => {
    for (const { name, path, id } of known) {
      const now = idOf(path)
      if (now === undefined || now !== id) throw gone(data, name, now === undefined)
    }
  }
  check()
  return { check }
}

/**
 * Which file a path leads to; undefined if to none. An open file keeps its number for itself, so the number cannot come back
 * under another one.
 */
function idOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    return found === undefined || found.nlink === 0 ? undefined : `${found.dev}:${found.ino}`
  } catch {
    // Where the path cannot even be walked, the file cannot be found again.
    return undefined
  }
}

function gone(data: string, name: string, missing: boolean): GatewayError {
  const what = name === '' ? 'the data directory' : `\`${name}\``
  const how = missing
    ? 'was removed or renamed'
    : 'was replaced by another one, or something was mounted over it'
  return new GatewayError('LEDGER_GONE', `${what} ${how} while the gateway had it open`, {
    hints: [
      `put the files of \`${data}\` back as they were, or restore the newest backup, then start the gateway again`,
      'receipts that were acknowledged since may be lost: compare with checkpoints and packs that others keep',
    ],
  })
}
