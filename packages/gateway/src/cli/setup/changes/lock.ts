// Lets only one setup change files at a time.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { makeDirectory } from '../../../directory.ts'
import { CommandError } from '../../program/terminal.ts'

/** Runs `work` while no other process runs setup. @throws CommandError if another one does. */
export function locked<T>(folder: string, work: () => T): T {
  makeDirectory(folder)
  const file = join(folder, 'lock')
  take(file)
  try {
    return work()
  } finally {
    rmSync(file, { force: true })
  }
}

function take(file: string): void {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
      return
    } catch (fault) {
      // Sound: the member is tested before use.
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault
      if (isAlive(holderOf(file))) break
      // Its holder was killed.
      rmSync(file, { force: true })
    }
  }
  throw new CommandError('another `tollgate setup` is running', `wait for it, or remove \`${file}\``)
}

function holderOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    // It was released a moment ago.
    return NaN
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (fault) {
    // Sound: the member is tested before use. EPERM: it runs as another user.
    return (fault as NodeJS.ErrnoException).code === 'EPERM'
  }
}
