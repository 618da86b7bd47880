// How a user can call this installation from their own shell: `tollgate` if that name leads here, else an absolute command.

import { accessSync, constants, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** The first line after `#!` of a launcher that `tollgate self-install` wrote. */
const LAUNCHER_MARK = '# Made by `tollgate self-install`.'

const WINDOWS = process.platform === 'win32'
const NAME = WINDOWS ? 'tollgate.cmd' : 'tollgate'

/** The script that starts this installation. */
export const PROGRAM: string = fileURLToPath(
  new URL(`../../../${import.meta.url.endsWith('.ts') ? '' : '../'}bin/tollgate.mjs`, import.meta.url),
)

/** Where `self-install` puts the launcher unless told otherwise. */
export function defaultFolder(home: string = homedir()): string {
  return join(home, '.local', 'bin')
}

/** The launcher in a folder. */
export function launcherIn(folder: string): string {
  return join(folder, NAME)
}

/** The text of a launcher for this installation. */
export function launcherText(node: string = process.execPath, program: string = PROGRAM): string {
  if (WINDOWS) return `@rem ${LAUNCHER_MARK.slice(2)}\r\n@"${node}" "${program}" %*\r\n`
  return `#!/bin/sh\n${LAUNCHER_MARK}\nexec ${shellWord(node)} ${shellWord(program)} "$@"\n`
}

/** The folders of a PATH that the user's own shell has too: npm puts its `node_modules/.bin` in front for the scripts it runs. */
export function foldersOf(path: string | undefined): readonly string[] {
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.filter((folder) => !/[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)$/.test(folder))
}

/** The file that a shell with this PATH runs for `tollgate`; undefined if there is none. */
export function foundOn(path: string | undefined): string | undefined {
  return foldersOf(path)
    .map((folder) => resolve(folder, NAME))
    .find(isRunnable)
}

/** Whether a file starts this installation: it is our launcher for it, or a link to it. */
export function leadsHere(file: string): boolean {
  try {
    if (realpathSync(file) === realpathSync(PROGRAM)) return true
    const text = readFileSync(file, 'utf8')
    return isLauncher(text) && text.includes(PROGRAM)
  } catch {
    return false
  }
}

/** Whether a text is a launcher that `self-install` wrote. */
export function isLauncher(text: string): boolean {
  return text.slice(0, 200).includes(LAUNCHER_MARK.slice(2))
}

/** The words that start this installation in the user's shell, from any directory. */
export function commandWord(env: NodeJS.ProcessEnv = process.env): string {
  const found = foundOn(env['PATH'])
  if (found !== undefined && leadsHere(found)) return 'tollgate'
  const installed = launcherIn(defaultFolder(env['HOME'] ?? homedir()))
  if (isRunnable(installed) && leadsHere(installed)) return shellWord(installed)
  return [process.execPath, PROGRAM].map(shellWord).join(' ')
}

/**
 * The words that start this installation from another program, which may have no PATH of the user: the launcher of `self-install`,
 * else this Node with our script.
 */
export function startWords(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const launchers = [foundOn(env['PATH']), launcherIn(defaultFolder(env['HOME'] ?? homedir()))]
  // A program cannot start a `.cmd` file on Windows without a shell. A link starts whatever `node` the PATH has.
  const own = launchers.find(
    (each) => !WINDOWS && each !== undefined && isRunnable(each) && isOwnLauncher(each),
  )
  return own === undefined ? [process.execPath, PROGRAM] : [own]
}

function isOwnLauncher(file: string): boolean {
  return leadsHere(file) && realpathSync(file) !== realpathSync(PROGRAM)
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, WINDOWS ? constants.F_OK : constants.X_OK)
    return dirname(file) !== file
  } catch {
    return false
  }
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
