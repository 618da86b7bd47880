// Default paths and port, for commands that need nothing else of the configuration.

import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isAbsolute, join, relative, sep } from 'node:path'
import process from 'node:process'

/** Name of the configuration file in the data directory. */
export const CONFIG_FILE = 'tollgate.yaml'
/** The default port. */
export const DEFAULT_PORT = 7700

/** The default data directory. */
export function defaultData(env: NodeJS.ProcessEnv = process.env): string {
  const windows = process.platform === 'win32' ? env['LOCALAPPDATA'] : undefined
  return windows ? join(windows, 'tollgate') : join(stateHome(env), 'tollgate')
}

function stateHome(env: NodeJS.ProcessEnv): string {
  return absoluteOr(env['XDG_STATE_HOME'], '.local', 'state')
}

/** The XDG specification requires to ignore a path that is not absolute. */
function absoluteOr(path: string | undefined, ...inHome: readonly string[]): string {
  return path !== undefined && isAbsolute(path) ? path : join(homedir(), ...inHome)
}

/** The directory of Tollgate in the user's configuration directory. */
export function configHome(env: NodeJS.ProcessEnv = process.env): string {
  const windows = process.platform === 'win32' ? env['APPDATA'] : undefined
  return join(windows ?? absoluteOr(env['XDG_CONFIG_HOME'], '.config'), 'tollgate')
}

/** The default of `keep.key-file`: the key that encrypts the kept calls of a ledger, in the user's configuration directory. */
export function defaultKeyFile(ledger: string, env: NodeJS.ProcessEnv = process.env): string {
  const readable = ledger.replaceAll(/[^A-Za-z0-9.-]+/g, '-').slice(0, 60)
  // Two ledger names can have the same readable part. The digest makes the file names distinct.
  const digest = createHash('sha256').update(ledger).digest('hex').slice(0, 8)
  return join(configHome(env), `${readable}-${digest}.key`)
}

/** Whether a path is this directory or inside it. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
