// The journal of setup: which files of the user were changed, by hashes. It holds no contents, so it holds no secrets.

import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defaultData } from '../../../config/place.ts'
import { makeDirectory } from '../../../directory.ts'
import { readIfThere } from '../../program/connect.ts'
import { CommandError } from '../../program/terminal.ts'
import { writePrivate } from '../../program/replace-file.ts'

/** One changed file. */
export interface FileRecord {
  readonly file: string
  /** The copy of the file as it was; empty for a file that setup created. */
  readonly backup: string
  /** SHA-256 of the bytes before and after the change; `before` is empty for a file that setup created. */
  readonly before: string
  readonly after: string
  /** The entries that were changed, as paths of keys. */
  readonly places: readonly Place[]
  /** Folders that setup created for the file, innermost first. */
  readonly folders?: readonly string[]
}

/** The keys that lead to an entry of a file. */
export type Place = readonly string[]

/** The changes of one run. */
export interface SetupRun {
  readonly target: string
  readonly at: string
  /** `changing` until all files are changed. A run that stays so was interrupted. */
  readonly state: 'changing' | 'done'
  readonly files: readonly FileRecord[]
}

/** The SHA-256 of bytes, in hexadecimal. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The folder of the journal, beside the default data directory: the changed files are the user's, whatever `--data` says. */
export function journalFolder(env?: NodeJS.ProcessEnv): string {
  return join(dirname(defaultData(env)), 'tollgate-setup')
}

/** Returns all runs, oldest first. @throws CommandError if the journal is damaged: then nothing may be changed. */
export function readJournal(folder: string): readonly SetupRun[] {
  const text = readIfThere(fileIn(folder))
  if (text === undefined) return []
  const runs = runsIn(text)
  if (runs) return runs
  throw new CommandError(
    `the setup journal \`${fileIn(folder)}\` cannot be read`,
    'it names the changed files and their backups (`*.tollgate-backup-*`): restore them by hand, then remove the journal',
  )
}

/** Replaces the journal in one step. */
export function writeJournal(folder: string, runs: readonly SetupRun[]): void {
  if (runs.length === 0) {
    rmSync(fileIn(folder), { force: true })
    return
  }
  makeDirectory(folder)
  writePrivate(fileIn(folder), `${JSON.stringify({ 'tollgate-setup': 1, runs }, null, 2)}\n`)
}

/** Returns the hashes of all texts that setup has drafted. */
export function draftsIn(folder: string): readonly string[] {
  return (readIfThere(join(folder, 'drafts')) ?? '').split('\n').filter((line) => line !== '')
}

/** Notes the hash of a text that setup has drafted. */
export function noteDraft(folder: string, hash: string): void {
  if (draftsIn(folder).includes(hash)) return
  makeDirectory(folder)
  writePrivate(join(folder, 'drafts'), [...draftsIn(folder), hash, ''].join('\n'))
}

function fileIn(folder: string): string {
  return join(folder, 'journal.json')
}

function runsIn(text: string): readonly SetupRun[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || value['tollgate-setup'] !== 1) return undefined
    const { runs } = value
    return Array.isArray(runs) && runs.every(isRun) ? runs : undefined
  } catch {
    // Not JSON. The caller reports it.
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRun(value: unknown): value is SetupRun {
  if (!isRecord(value)) return false
  const { target, at, state, files } = value
  const isKnown = typeof target === 'string' && typeof at === 'string'
  return isKnown && (state === 'changing' || state === 'done') && Array.isArray(files) && files.every(isFile)
}

function isFile(value: unknown): value is FileRecord {
  if (!isRecord(value)) return false
  const { file, backup, before, after, places, folders = [] } = value
  const isNamed = [file, backup, before, after].every((each) => typeof each === 'string')
  return isNamed && isPlace(folders) && Array.isArray(places) && places.every(isPlace)
}

function isPlace(value: unknown): value is Place {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
