// The file of stored tokens, one for each gateway: a URL or a data directory. Tokens are encrypted; principal and role are not.

import { randomBytes } from 'node:crypto'
import { readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { configHome } from '../../config/place.ts'
import { makeDirectory } from '../../directory.ts'
import type { SealedToken } from './sealed-token.ts'
import { CommandError, UsageError } from './terminal.ts'

/** A stored token and the identity it had when it was stored. */
export interface Login {
  readonly principal: string
  readonly role: string
  readonly sealed: SealedToken
}

type Logins = Readonly<Record<string, Login>>

const VERSION = 1

/** The path of the file. */
export function loginsFile(): string {
  return join(configHome(), 'logins.json')
}

/** Returns the name of a gateway in the file: the origin of its URL, or the real path of its data directory. */
export function placeOf({ url, data }: { readonly url?: string | undefined; readonly data: string }): string {
  if (url === undefined) return realPath(resolve(data))
  if (URL.canParse(url)) return new URL(url).origin
  throw new UsageError('this is not the URL of a gateway')
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // It does not exist yet. Commands that need it say so.
    return path
  }
}

/** Returns the login for a place, if there is one. @throws CommandError if the file is damaged: then no one is let through. */
export function loginFor(place: string): Login | undefined {
  const all = readLogins()
  return Object.hasOwn(all, place) ? all[place] : undefined
}

/** Stores a login. Replaces an earlier one for the same place. */
export function saveLogin(place: string, login: Login): void {
  writeLogins({ ...readLogins(), [place]: login })
}

/** Removes a login. Returns whether there was one. */
export function removeLogin(place: string): boolean {
  const { [place]: found, ...others } = readLogins()
  if (found) writeLogins(others)
  return found !== undefined
}

/** Writes a new file beside the old one and renames it, so that a crash leaves the old or the new one. */
function writeLogins(logins: Logins): void {
  const file = loginsFile()
  makeDirectory(dirname(file))
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const text = `${JSON.stringify({ version: VERSION, logins }, null, 2)}\n`
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600, flush: true })
    renameSync(fresh, file)
  } catch (fault) {
    rmSync(fresh, { force: true })
    throw fault
  }
}

function readLogins(): Logins {
  let text: string
  try {
    text = readFileSync(loginsFile(), 'utf8')
  } catch (fault) {
    // Sound: the member is tested before use.
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw fault
  }
  return parseLogins(text)
}

function parseLogins(text: string): Logins {
  try {
    const file: unknown = JSON.parse(text)
    if (isObject(file) && file['version'] === VERSION && isObject(file['logins'])) {
      return Object.fromEntries(Object.entries(file['logins']).map(([place, each]) => [place, asLogin(each)]))
    }
  } catch {
    // Reported below, without a part of the text.
  }
  throw new CommandError(
    `\`${loginsFile()}\` is damaged, or of another version`,
    'remove it, then store your tokens again with `tollgate login`',
  )
}

function asLogin(value: unknown): Login {
  if (!isObject(value)) throw new TypeError('not a login')
  const { principal, role, sealed } = value
  if (typeof principal !== 'string' || typeof role !== 'string' || !isSealed(sealed)) {
    throw new TypeError('not a login')
  }
  return { principal, role, sealed }
}

function isSealed(value: unknown): value is SealedToken {
  if (!isObject(value)) return false
  if (typeof value['cost'] !== 'number') return false
  return ['salt', 'nonce', 'tag', 'text'].every((name) => typeof value[name] === 'string')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
