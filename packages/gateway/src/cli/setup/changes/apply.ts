// Changes files of the user so that every change can be undone, also after a crash half way. Every target of setup uses this.

import { existsSync, readFileSync } from 'node:fs'
import { CommandError } from '../../program/terminal.ts'
import { hashOf, readJournal, writeJournal, type FileRecord, type Place, type SetupRun } from './journal.ts'
import { locked } from './lock.ts'
import { copyAside, replaceFile } from '../../program/replace-file.ts'
import { undoRun } from './undo.ts'

/** A change of one file. */
export interface FileChange {
  readonly file: string
  readonly before: Uint8Array
  readonly after: Uint8Array
  /** The entries that differ. */
  readonly places: readonly Place[]
}

/**
 * Changes all files or none. The journal is written first; each file is copied before it is changed.
 *
 * @throws CommandError if a file is not as it was planned. Then no file is changed.
 */
export function applyChanges(
  folder: string,
  target: string,
  changes: readonly FileChange[],
  now: Date = new Date(),
): SetupRun {
  return locked(folder, () => {
    for (const each of changes) requireUnchanged(each)
    const earlier = readJournal(folder)
    const files = changes.map((each) => recordOf(each, now))
    const run: SetupRun = { target, at: now.toISOString(), state: 'changing', files }
    writeJournal(folder, [...earlier, run])
    try {
      for (const { file, backup } of files) copyAside(file, backup)
      for (const { file, after } of changes) replaceFile(file, after)
    } catch (fault) {
      const isUndone = undoRun(run, () => undefined).every(({ how }) => how !== 'refused')
      // Otherwise it stays in the journal, so the next run undoes it.
      if (isUndone) writeJournal(folder, earlier)
      throw fault
    }
    const done: SetupRun = { ...run, state: 'done' }
    writeJournal(folder, [...earlier, done])
    return done
  })
}

function requireUnchanged({ file, before }: FileChange): void {
  if (hashOf(readFileSync(file)) === hashOf(before)) return
  throw new CommandError(
    `\`${file}\` was changed by another program meanwhile; nothing was changed`,
    'close the client that uses it, then run this again',
  )
}

function recordOf({ file, before, after, places }: FileChange, now: Date): FileRecord {
  return { file, backup: backupName(file, now), before: hashOf(before), after: hashOf(after), places }
}

/** `NAME.tollgate-backup-20260105T090000Z`, or with a number if that is taken. */
function backupName(file: string, now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const name = `${file}.tollgate-backup-${stamp}`
  let free = name
  for (let i = 2; existsSync(free); i++) free = `${name}-${i}`
  return free
}
