// Creates directories one level at a time. Node's recursive `mkdir` never returns where the system reports a missing parent
// that exists, as `/proc` does. And makes files and directories durable.

import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GatewayError } from './error.ts'

/**
 * Creates a directory that only this user can enter, and its missing parents. Returns whether any had to be created.
 *
 * @throws GatewayError `STORE_FAILED`, with the path and a hint.
 */
export function makeDirectory(path: string): boolean {
  const missing = missingOf(resolve(path))
  for (const each of missing) makeOne(each, path)
  return missing.length > 0
}

/** Creates the directory if it is missing. @throws GatewayError `STORE_FAILED` if this user cannot create or write it. */
export function requireUsable(path: string): void {
  makeDirectory(path)
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(path, path, cause)
  }
}

/** Makes the contents of a file, or the names in a directory, durable. */
export function syncPath(path: string, flags: 'r' | 'r+' = 'r'): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The missing directories of a path, outermost first. */
function missingOf(path: string): readonly string[] {
  const missing: string[] = []
  for (let at = path; !isDirectory(at, path); at = dirname(at)) {
    missing.unshift(at)
    // Even the root is missing: nothing can be created.
    if (at === dirname(at)) break
  }
  return missing
}

function isDirectory(at: string, path: string): boolean {
  try {
    const found = statSync(at, { throwIfNoEntry: false })
    if (found && !found.isDirectory())
      throw Object.assign(new Error('it is not a directory'), { code: 'ENOTDIR' })
    return found !== undefined
  } catch (cause) {
    throw unusable(path, at, cause)
  }
}

function makeOne(each: string, path: string): void {
  try {
    mkdirSync(each, { mode: 0o700 })
  } catch (cause) {
    // Another process may have created it in the meantime.
    if (statSync(each, { throwIfNoEntry: false })?.isDirectory() === true) return
    throw unusable(path, each, cause)
  }
}

function unusable(path: string, at: string, cause: unknown): GatewayError {
  // Sound: the member is tested before use.
  const code = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : 'unknown'
  const where = at === path ? '' : ` at \`${at}\``
  return new GatewayError(
    'STORE_FAILED',
    `the directory \`${path}\` cannot be created or written to${where} (${code})`,
    {
      cause,
      hints: [
        `make it writable for this user: \`ls -ld ${dirname(at)}\` shows the permissions`,
        'or choose another one: `--data DIR` for the data directory, `head-guard` in tollgate.yaml for the head guard',
      ],
    },
  )
}
