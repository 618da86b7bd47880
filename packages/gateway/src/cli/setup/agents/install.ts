// Writes and removes the parts of a hook that are ours alone: its script and its token.

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { sha256Hex } from '@tollgate/evidence'
import { writePrivate } from '../../program/replace-file.ts'
import { CommandError } from '../../program/terminal.ts'
import { connectionText, hookScript } from './hook-script.ts'
import type { AgentId } from './names.ts'

/** The gateway that a hook asks. */
export interface HookGateway {
  readonly url: string
  /** Its socket on this machine; undefined if it is elsewhere. */
  readonly socket: string | undefined
  readonly ca: string | undefined
}

/** The files of a hook. */
interface HookParts {
  /** The file that the configuration of the agent names. */
  readonly entry: string
  /** The private file with the token. */
  readonly connection: string
}

/** The names of the files in the folder of an agent. */
export function partsIn(folder: string, id: AgentId): HookParts {
  // The plugin of OpenCode has no script, and reads JSON.
  if (id === 'opencode')
    return { entry: join(folder, 'connection.json'), connection: join(folder, 'connection.json') }
  return { entry: join(folder, 'hook'), connection: join(folder, 'connection') }
}

/** The path of `curl`. @throws CommandError if there is none. */
export function findCurl(path: string = process.env['PATH'] ?? ''): string {
  const found = path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'curl'))
    .find((file) => isRunnable(file))
  if (found !== undefined) return found
  throw new CommandError(
    'the hook needs `curl`, and there is none on the PATH',
    'install it, then run this again',
  )
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The text of each part. */
function partTexts(
  id: AgentId,
  folder: string,
  token: string,
  gateway: HookGateway,
): readonly (readonly [string, string])[] {
  const { entry, connection } = partsIn(folder, id)
  const { url, socket, ca } = gateway
  if (id === 'opencode') return [[connection, `${JSON.stringify({ url, socket, token, ca }, null, 2)}\n`]]
  const script = hookScript({ agent: id, curl: findCurl(), connection, url })
  return [
    [entry, script],
    [connection, connectionText({ socket, ca, token })],
  ]
}

/** Whether the parts are as setup writes them now. */
export function isInstalled(id: AgentId, folder: string, token: string, gateway: HookGateway): boolean {
  const { connection } = partsIn(folder, id)
  return partTexts(id, folder, token, gateway).every(([file, text]) => {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) return false
    // A script may be read by others, and the token by the group of its user. Neither may be changed by them.
    return (statSync(file).mode & (file === connection ? 0o027 : 0o022)) === 0
  })
}

/** Writes the parts. Only this user can read them. */
export function install(id: AgentId, folder: string, token: string, gateway: HookGateway): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [file, text] of partTexts(id, folder, token, gateway)) writePrivate(file, text)
}

/** Removes the parts. Returns the hash of the token, to revoke it; undefined if there was none. */
export function uninstall(id: AgentId, folder: string): string | undefined {
  const token = installedToken(id, folder)
  const { entry, connection } = partsIn(folder, id)
  for (const file of [entry, connection]) rmSync(file, { force: true })
  for (const each of [folder, dirname(folder), dirname(dirname(folder))]) {
    try {
      rmdirSync(each)
    } catch {
      // Other agents have their parts there, or it is gone.
      break
    }
  }
  return token === undefined ? undefined : sha256Hex(token)
}

/** The token of an installed hook. */
export function installedToken(id: AgentId, folder: string): string | undefined {
  const { connection } = partsIn(folder, id)
  try {
    return /tg_agent_[A-Za-z0-9_-]{43}/.exec(readFileSync(connection, 'utf8'))?.[0]
  } catch {
    // There is none, or another user must not read it.
    return undefined
  }
}
