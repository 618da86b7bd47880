// `tollgate backup`: a copy of all but the keys, also while the gateway runs.

import { constants, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { CONFIG_FILE, readConfig, type Config } from '../../config/config.ts'
import { backupLedger } from '../../open.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { CommandError, type Progress, type Terminal } from '../program/terminal.ts'

/** Copies the ledger, the configuration and the policy to a directory that is not there yet. */
export async function runBackup(terminal: Terminal, options: DataOptions, directory = ''): Promise<number> {
  const config = readConfig(dataOf(options))
  const target = resolve(directory)
  if (existsSync(target))
    throw new CommandError(`\`${target}\` is already there`, 'name a directory that is not')
  const progress = terminal.progress('copying')
  const { size } = await copyAll(config, target, progress).finally(() => progress.clear())
  terminal.data({ target, size }, target)
  terminal.say(`${size} entries are in \`${target}\``)
  terminal.say(`the keys are not: keep a copy of \`${join(config.data, 'keys')}\` in another place`)
  terminal.say(
    `neither is \`${config.keep.keyFile}\`: without it, the calls that were kept and the arguments that wait for an approval cannot be read`,
  )
  return 0
}

/** Half a backup is none: what was begun is removed if it does not come to its end. */
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
