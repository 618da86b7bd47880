// Whether the files of a ledger are still the ones that were opened, as the gateway left them. A file that was removed, renamed,
// replaced, emptied or overwritten takes every commit without a fault, and what is written to it is lost: so the system is asked,
// around each commit.

import { closeSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { GatewayError } from '../../error.ts'

/** The files of an open ledger, as they were when it was opened, or when the gateway last wrote to them. */
export interface LedgerPlace {
  /** @throws GatewayError `LEDGER_GONE` if one of them, or their directory, is gone or another one, or another program wrote to it. */
  check(): void
  /** Takes note of a commit, which only the log has changed. @throws GatewayError `LEDGER_GONE`, as `check`. */
  committed(): void
  /** Takes note that the log was moved into the file. @throws GatewayError `LEDGER_GONE`, as `check`. */
  moved(): void
}

const FILE = 'ledger.sqlite'
const LOG = 'ledger.sqlite-wal'
// The directory itself, the file, its log, the memory of the log, and the lock that keeps a second gateway out.
const NAMES = ['', FILE, LOG, 'ledger.sqlite-shm', 'lock.sqlite']

/** Remembers the files of a data directory, all of which are open. @throws GatewayError `LEDGER_GONE` if one is missing. */
export function openPlace(data: string): LedgerPlace {
  const ids = new Map(NAMES.map((name) => [name, idOf(look(data, name))]))
  const marks = new Map([FILE, LOG].map((name) => [name, markOf(look(data, name))]))
  /** What changed may be the writer's own doing only in the file that it has just written to. */
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
      // Emptied during the commit, it has its newest pages all the same, but no beginning: nobody could read them again.
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
    // Where the path cannot even be walked, the file cannot be found again.
    return undefined
  }
}

/** Which file it is. An open file keeps its number for itself, so the number cannot come back under another one. */
function idOf(found: Stats | undefined): string | undefined {
  return found && `${found.dev}:${found.ino}`
}

/** When it was last written to, and how long it is. Windows may tell the time of a write later. */
function markOf(found: Stats | undefined): string {
  return `${found?.size}:${process.platform === 'win32' ? '' : found?.mtimeMs}`
}

// https://sqlite.org/fileformat.html#the_write_ahead_log: the last bit says in which order checksums are made.
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
      `put the files of \`${data}\` back as they were, or restore the newest backup, then start the gateway again`,
      'receipts that were acknowledged since may be lost: compare with checkpoints and packs that others keep',
    ],
  })
}
