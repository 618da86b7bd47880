// Checks around each commit that the ledger files are still the ones that were opened and that no other program wrote to
// them. A file that was removed, renamed, replaced or overwritten accepts every commit, but its data is lost.

import { closeSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { GatewayError } from '../../error.ts'

/** The files of an open ledger, as they were after the last write of the gateway. */
export interface LedgerPlace {
  /** @throws GatewayError `LEDGER_GONE` if a file or the directory is missing or replaced, or another program wrote to it. */
  check(): void
  /** Records a commit, which changes only the log. @throws GatewayError `LEDGER_GONE`, as `check`. */
  committed(): void
  /** Records that the log was moved into the file. @throws GatewayError `LEDGER_GONE`, as `check`. */
  moved(): void
}

const FILE = 'ledger.sqlite'
const LOG = 'ledger.sqlite-wal'
// The directory itself, the file, its log, the shared memory of the log, and the lock of the gateway.
const NAMES = ['', FILE, LOG, 'ledger.sqlite-shm', 'lock.sqlite']

/** Records the state of the open files of a data directory. @throws GatewayError `LEDGER_GONE` if one is missing. */
export function openPlace(data: string): LedgerPlace {
  const ids = new Map(NAMES.map((name) => [name, idOf(look(data, name))]))
  const marks = new Map([FILE, LOG].map((name) => [name, markOf(look(data, name))]))
  /** Changes are accepted only in the file that the writer has just written to. */
  const checkBut = (written?: string): void => {
    for (const [name, id] of ids) {
      const now = look(data, name)
      if (now === undefined || id === undefined) throw gone(data, name, 'was removed or renamed')
      if (idOf(now) !== id) throw gone(data, name, REPLACED)
      const mark = marks.get(name)
      if (mark === undefined) continue
      if (name === written) marks.set(name, markOf(now))
      else if (markOf(now) !== mark) throw gone(data, name, OVERWRITTEN)
    }
  }
  checkBut()
  return {
    check: () => checkBut(),
    committed() {
      const before = marks.get(LOG)
      checkBut(LOG)
      // A log that was emptied during the commit has its newest pages but no header, so it cannot be read again.
      const changed = marks.get(LOG) !== before
      if (changed && !beginsAsLog(join(data, LOG))) throw gone(data, LOG, OVERWRITTEN)
    },
    moved: () => checkBut(FILE),
  }
}

const REPLACED = 'was replaced by another one, or something was mounted over it,'
const OVERWRITTEN = 'was emptied or written to by another program'

function look(data: string, name: string): Stats | undefined {
  try {
    const found = statSync(join(data, name), { throwIfNoEntry: false })
    return found?.nlink === 0 ? undefined : found
  } catch {
    // If the path cannot be resolved, the file cannot be found again.
    return undefined
  }
}

/** Identifies a file. The number of an open file cannot be reused for another one. */
function idOf(found: Stats | undefined): string | undefined {
  return found && `${found.dev}:${found.ino}`
}

/** Time of the last write and size. Windows may report the time late. */
function markOf(found: Stats | undefined): string {
  return `${found?.size}:${process.platform === 'win32' ? '' : found?.mtimeMs}`
}

// https://sqlite.org/fileformat.html#the_write_ahead_log: the last bit is the byte order of checksums.
const LOG_MAGIC = 0x377f0682

function beginsAsLog(path: string): boolean {
  const descriptor = openSync(path, 'r')
  try {
    const head = Buffer.alloc(4)
    readSync(descriptor, head, 0, 4, 0)
    return (head.readUInt32BE() & ~1) === LOG_MAGIC
  } finally {
    closeSync(descriptor)
  }
}

function gone(data: string, name: string, how: string): GatewayError {
  const what = name === '' ? 'the data directory' : `\`${name}\``
  return new GatewayError('LEDGER_GONE', `${what} ${how} while the gateway had it open`, {
    hints: [
      `restore the files of \`${data}\` as they were or from the newest backup, then start the gateway again`,
      'receipts that were acknowledged since then may be lost: compare with checkpoints and packs stored elsewhere',
    ],
  })
}
