// `tollgate backup`: copies everything except the keys. Works while the gateway runs.

import { constants, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { CONFIG_FILE, readConfig, type Config } from '../../config/config.ts'
import { backupLedger } from '../../open.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, ledgerIn, sayPlace } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { CommandError, type Progress, type Terminal } from '../program/terminal.ts'

/** Copies the ledger, the configuration and the policy to a new directory. */
export async function runBackup(terminal: Terminal, options: DataOptions, directory = ''): Promise<number> {
  const config = readConfig(dataOf(options))
  sayPlace(options, ledgerIn(config.data))
  const target = resolve(directory)
  if (existsSync(target)) throw new CommandError(`\`${target}\` already exists`, 'give a new directory')
  const progress = terminal.progress('copying')
  const { size } = await copyAll(config, target, progress).finally(() => progress.clear())
  terminal.data({ target, size }, target)
  terminal.say(`copied ${size} entries to \`${target}\``)
  terminal.say(`the keys are not included: back up \`${join(config.data, 'keys')}\` separately`)
  terminal.say(
    `\`${config.keep.keyFile}\` is not included: without it, kept calls and the arguments of open requests are unreadable`,
  )
  return 0
}

/** Copies all files. Removes the target again if copying fails. */
async function copyAll(
  config: Config,
  target: string,
  progress: Progress,
): Promise<{ readonly size: number }> {
  mkdirSync(target, { mode: 0o700 })
  const undo = (): void => rmSync(target, { recursive: true, force: true })
  const forget = onInterrupt(undo)
  try {
    const file = join(target, 'ledger.sqlite')
    const copied = await backupLedger(config, file, (done, total) => progress.show(done, total))
    for (const from of [join(config.data, CONFIG_FILE), config.policy]) {
      if (existsSync(from)) copyFileSync(from, join(target, basename(from)), constants.COPYFILE_EXCL)
    }
    return copied
  } catch (fault) {
    undo()
    throw fault
  } finally {
    forget()
  }
}
