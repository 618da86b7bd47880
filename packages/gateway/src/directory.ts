// Making directories, one step at a time. Node's own recursive way never returns where the system says that the parent of
// something is missing although it is there, as `/proc` does.

import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GatewayError } from './error.ts'

/**
 * Makes a directory that only this user may enter, and the missing ones above it. Whether anything had to be made.
 *
 * @throws GatewayError `STORE_FAILED`, with the path and what to do.
 */
export function makeDirectory(path: string): boolean {
  const missing = missingOf(resolve(path))
  for (const each of missing) makeOne(each, path)
  return missing.length > 0
}

/** Makes the directory if it is missing, and refuses one that this user cannot write to. @throws GatewayError as above. */
export function requireUsable(path: string): void {
  makeDirectory(path)
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(path, path, cause)
  }
}

/** The directories on the way that are not there yet, the outermost first. */
function missingOf(path: string): readonly string[] {
  const missing: string[] = []
  for (let at = path; !isDirectory(at, path); at = dirname(at)) {
    missing.unshift(at)
    // The root itself is missing: nothing can be made there.
    if (at === dirname(at)) break
  }
  return missing
}

function isDirectory(at: string, path: string): boolean {
  try {
    const found = statSync(at, { throwIfNoEntry: false })
    if (found && !found.isDirectory())
      throw Object.assign(new Error('it is no directory'), { code: 'ENOTDIR' })
    return found !== undefined
  } catch (cause) {
    throw unusable(path, at, cause)
  }
}

function makeOne(each: string, path: string): void {
  try {
    mkdirSync(each, { mode: 0o700 })
  } catch (cause) {
    // Another process may have made it a moment before.
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
    `the directory \`${path}\` cannot be made or written to${where} (${code})`,
    {
      cause,
      hints: [
        `make it writable for this user: \`ls -ld ${dirname(at)}\` shows who may write there`,
        'or choose another: `--data DIR` for the data directory, `head-guard` in tollgate.yaml for the heads',
      ],
    },
  )
}
