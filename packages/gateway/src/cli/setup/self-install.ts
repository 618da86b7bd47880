// `tollgate self-install`: puts a launcher for this installation on the user's PATH. It runs no other program and needs no root.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import {
  defaultFolder,
  foldersOf,
  foundOn,
  isLauncher,
  launcherIn,
  launcherText,
  PROGRAM,
} from '../program/launcher.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

interface SelfInstallOptions {
  readonly dir?: string
  readonly remove?: boolean
}

/** Writes or removes the launcher. @throws CommandError rather than replacing a file of someone else. */
export function runSelfInstall(terminal: Terminal, { dir, remove }: SelfInstallOptions): Promise<number> {
  const folder = resolve(dir ?? chosenFolder())
  const file = launcherIn(folder)
  requireOurs(file)
  if (remove === true) return Promise.resolve(uninstall(terminal, file))
  mkdirSync(folder, { recursive: true })
  // Written beside it and renamed: a shell never sees half of it.
  writeFileSync(`${file}.${process.pid}`, launcherText(), { mode: 0o755 })
  renameSync(`${file}.${process.pid}`, file)
  terminal.data({ launcher: file, starts: PROGRAM }, file)
  terminal.say(`installed \`${file}\`; it starts ${PROGRAM}`)
  sayHowToReach(terminal, folder, file)
  terminal.say('next: `tollgate up` starts a gateway, `tollgate setup mcp` puts your MCP servers behind it')
  return Promise.resolve(0)
}

/** A folder for the user's own programs that is on the PATH already, else the usual one. */
function chosenFolder(): string {
  const usual = [defaultFolder(), join(homedir(), 'bin')]
  const folders = foldersOf(process.env['PATH'])
  return usual.find((each) => folders.includes(each)) ?? defaultFolder()
}

function requireOurs(file: string): void {
  if (!existsSync(file) || isLauncher(readFileSync(file, 'utf8'))) return
  throw new CommandError(
    `\`${file}\` is another program`,
    'move it away, or choose a directory with `--dir DIR`',
  )
}

function uninstall(terminal: Terminal, file: string): number {
  const was = existsSync(file)
  rmSync(file, { force: true })
  terminal.data({ removed: was ? file : null }, was ? file : '')
  terminal.say(was ? `removed \`${file}\`` : `nothing to remove: there is no \`${file}\``)
  return 0
}

function sayHowToReach(terminal: Terminal, folder: string, file: string): void {
  const found = foundOn(process.env['PATH'])
  if (found === file) {
    terminal.say('type `tollgate --help` in any directory')
  } else if (foldersOf(process.env['PATH']).includes(folder)) {
    terminal.warn(`your shell finds \`${found ?? ''}\` first`, `put ${folder} in front of it in your PATH`)
  } else {
    terminal.warn(`${folder} is not on your PATH`, 'add it, here and in the profile of your shell:')
    terminal.line(`export PATH="${folder}:$PATH"`)
  }
}
