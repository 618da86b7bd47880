// Changes files of the user so that every change can be undone, also after a crash half way. Every target of setup uses this.

import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from '../../program/terminal.ts'
import { hashOf, readJournal, writeJournal, type FileRecord, type Place, type SetupRun } from './journal.ts'
import { locked } from './lock.ts'
import { copyAside, createFile, replaceFile } from '../../program/replace-file.ts'
import { undoRun } from './undo.ts'

/** A change of one file. */
export interface FileChange {
  readonly file: string
  /** Undefined for a new file. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
  /** The entries that differ. */
  readonly places: readonly Place[]
  /** The mode of a new file. */
  readonly mode?: number
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
      for (const { file, backup } of files) if (backup !== '') copyAside(file, backup)
      for (const { file, before, after, mode } of changes) {
        if (before) replaceFile(file, after)
        else createFile(file, after, mode)
      }
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
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined
  if (before ? isThere && hashOf(readFileSync(file)) === hashOf(before) : !isThere) return
  throw new CommandError(
    `\`${file}\` was changed by another program meanwhile; nothing was changed`,
    'close the client that uses it, then run this again',
  )
}

function recordOf({ file, before, after, places }: FileChange, now: Date): FileRecord {
  const hash = hashOf(after)
  if (!before) return { file, backup: '', before: '', after: hash, places, folders: missingFolders(file) }
  return { file, backup: backupName(file, now), before: hashOf(before), after: hash, places }
}

/** The folders above a new file that do not exist yet, innermost first. */
function missingFolders(file: string): readonly string[] {
  const missing: string[] = []
  for (let at = dirname(file); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  return missing
}

/** `NAME.tollgate-backup-20260105T090000Z`, or with a number if that is taken. */
function backupName(file: string, now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const name = `${file}.tollgate-backup-${stamp}`
  let free = name
  for (let i = 2; existsSync(free); i++) free = `${name}-${i}`
  return free
}
