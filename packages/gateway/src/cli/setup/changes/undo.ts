// Undoes the changes of setup: restores the exact bytes, or takes only our entries out of a file that changed since.

import { readFileSync, rmdirSync, rmSync } from 'node:fs'
import { hashOf, readJournal, writeJournal, type FileRecord, type Place, type SetupRun } from './journal.ts'
import { locked } from './lock.ts'
import { replaceFile } from '../../program/replace-file.ts'

/** The outcome for one file. `kept` and `refused` leave it as it is. `removed` is for a file that setup created. */
export interface Undone {
  readonly file: string
  readonly backup: string
  readonly how: 'restored' | 'removed' | 'taken-out' | 'as-before' | 'kept' | 'missing' | 'refused'
}

/** Takes our entries out of the present bytes of a file. Undefined if that is not safe. */
export type TakeOut = (file: string, bytes: Uint8Array, places: readonly Place[]) => Uint8Array | undefined

/** Undoes all runs of a target, newest first. Refused files stay in the journal. */
export function undoAll(folder: string, target: string, takeOut: TakeOut): readonly Undone[] {
  return undoSome(folder, (run) => run.target === target, takeOut)
}

/** Undoes the runs of a target that a crash interrupted. */
export function undoInterrupted(folder: string, target: string, takeOut: TakeOut): readonly Undone[] {
  const isInterrupted = (run: SetupRun): boolean => run.target === target && run.state === 'changing'
  if (!readJournal(folder).some(isInterrupted)) return []
  return undoSome(folder, isInterrupted, takeOut)
}

function undoSome(folder: string, isWanted: (run: SetupRun) => boolean, takeOut: TakeOut): readonly Undone[] {
  if (!readJournal(folder).some(isWanted)) return []
  return locked(folder, () => {
    const all: Undone[] = []
    let left = readJournal(folder)
    for (const run of left.filter(isWanted).reverse()) {
      const undone = undoRun(run, takeOut)
      all.push(...undone)
      const refused = undone.filter(({ how }) => how === 'refused').map(({ file }) => file)
      left = left.flatMap((each) => (each === run ? withOnly(run, refused) : [each]))
      writeJournal(folder, left)
    }
    return all
  })
}

function withOnly(run: SetupRun, files: readonly string[]): readonly SetupRun[] {
  if (files.length === 0) return []
  return [{ ...run, files: run.files.filter(({ file }) => files.includes(file)) }]
}

/** Undoes one run, without the journal. It can be repeated after a crash, because the bytes decide what is left to do. */
export function undoRun({ files }: SetupRun, takeOut: TakeOut): readonly Undone[] {
  return files
    .toReversed()
    .map((each) => ({ file: each.file, backup: each.backup, how: tryUndo(each, takeOut) }))
}

/** A file that cannot be read or written does not stop the others. */
function tryUndo(record: FileRecord, takeOut: TakeOut): Undone['how'] {
  try {
    return undoFile(record, takeOut)
  } catch {
    // It stays in the journal, so it can be undone later.
    return 'refused'
  }
}

function undoFile(record: FileRecord, takeOut: TakeOut): Undone['how'] {
  const { file, backup, before, after, places } = record
  const now = bytesOf(file)
  if (!now) {
    if (before === '') removeFolders(record)
    return before === '' ? 'as-before' : 'missing'
  }
  if (before === '' && hashOf(now) === after) {
    rmSync(file)
    removeFolders(record)
    return 'removed'
  }
  const saved = bytesOf(backup)
  const hash = hashOf(now)
  if (hash === before) {
    if (saved && hashOf(saved) === before) rmSync(backup)
    return 'as-before'
  }
  if (hash === after && saved && hashOf(saved) === before) {
    replaceFile(file, saved)
    rmSync(backup)
    return 'restored'
  }
  // A whole file of ours that the user changed since belongs to the user.
  if (places.length === 0) return 'kept'
  const without = takeOut(file, now, places)
  if (!without) return 'refused'
  replaceFile(file, without)
  return 'taken-out'
}

/** Removes the folders that setup created, as far as they are empty. */
function removeFolders({ folders = [] }: FileRecord): void {
  for (const folder of folders) {
    try {
      rmdirSync(folder)
    } catch {
      // Something else is in it, or it is gone.
      return
    }
  }
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (fault) {
    // Sound: the member is tested before use.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw fault
  }
}

/** The state of a changed file. */
export interface FileStatus {
  readonly file: string
  readonly backup: string
  readonly at: string
  readonly state: 'in-place' | 'changed-since' | 'as-before' | 'missing' | 'interrupted'
}

/** Returns the state of every file that setup changed for a target; the newest run of a file counts. */
export function statusOf(folder: string, target: string): readonly FileStatus[] {
  const byFile = new Map<string, FileStatus>()
  for (const run of readJournal(folder)) {
    if (run.target !== target) continue
    for (const each of run.files) {
      const { file, backup } = each
      byFile.set(file, {
        file,
        backup,
        at: run.at,
        state: run.state === 'changing' ? 'interrupted' : stateOf(each),
      })
    }
  }
  return [...byFile.values()]
}

function stateOf({ file, before, after }: FileRecord): FileStatus['state'] {
  const now = bytesOf(file)
  if (!now) return before === '' ? 'as-before' : 'missing'
  const hash = hashOf(now)
  return hash === after ? 'in-place' : hash === before ? 'as-before' : 'changed-since'
}
