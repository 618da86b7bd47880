// `tollgate fsck`: every entry of the ledger on disk, checked from the outside.

import { join } from 'node:path'
import { readConfig, type Config } from '../../config/config.ts'
import { foldLedger, fsckLedger, isRunning, type FsckProblem } from '../../open.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import type { Terminal } from '../program/terminal.ts'

interface FsckCommandOptions extends DataOptions {
  readonly fold?: boolean
}

/** Checks the ledger; 1 if something is wrong with it, or the log could not be moved as was asked. */
export async function runFsck(terminal: Terminal, options: FsckCommandOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  const progress = terminal.progress('checking')
  const report = await fsckLedger(config, ({ done, total }) => progress.show(done, total)).finally(() =>
    progress.clear(),
  )
  const { ok, entries, problems } = report
  terminal.data(report, () =>
    ok
      ? `${terminal.paint.green('sound')}: ${entries} entries`
      : [
          terminal.paint.red(`damaged: ${problems.length} problems in ${entries} entries`),
          ...problems.flatMap((problem) => shown(problem, config)),
        ].join('\n'),
  )
  if (!ok) return 1
  if (options.fold === true) return fold(terminal, config)
  if (report.log > 0) await tellLog(terminal, config, report.log)
  return 0
}

function shown({ code, at, message, hints = [] }: FsckProblem, { data }: Config): readonly string[] {
  // What concerns no single entry or record concerns the file.
  const where = at ?? `\`${join(data, 'ledger.sqlite')}\``
  return [`  ${code} at ${where}: ${message}`, ...hints.map((hint) => `    → ${hint}`)]
}

function fold(terminal: Terminal, config: Config): number {
  if (foldLedger(config)) {
    terminal.say('`ledger.sqlite` alone is the whole ledger')
    return 0
  }
  terminal.warn(
    'the log could not be moved into `ledger.sqlite`: another process reads the ledger',
    'end it, then run `tollgate fsck --fold` again',
  )
  return 1
}

async function tellLog(terminal: Terminal, config: Config, bytes: number): Promise<void> {
  const running = await isRunning(config)
  terminal.warn(
    `${bytes} bytes are in \`ledger.sqlite-wal\`: a copy of \`ledger.sqlite\` alone lacks the newest entries`,
    running
      ? 'that is usual while the gateway runs; `tollgate backup DIRECTORY` copies all of it'
      : 'run `tollgate fsck --fold`: it moves them into `ledger.sqlite`',
  )
}
