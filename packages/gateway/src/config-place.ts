// Where a gateway is, if nobody says: for commands that need no more of its configuration.

import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/** Name of the file in the data directory. */
export const CONFIG_FILE = 'tollgate.yaml'
/** Where the gateway listens if nothing is said. */
export const DEFAULT_PORT = 7700

/** The data directory if none is named. */
export function defaultData(env: NodeJS.ProcessEnv = process.env): string {
  const windows = process.platform === 'win32' ? env['LOCALAPPDATA'] : undefined
  return windows ? join(windows, 'tollgate') : join(stateHome(env), 'tollgate')
}

function stateHome(env: NodeJS.ProcessEnv): string {
  const { XDG_STATE_HOME: state = '' } = env
  // The XDG specification: a path that is not absolute is to be ignored.
  return state.startsWith('/') ? state : join(homedir(), '.local', 'state')
}
