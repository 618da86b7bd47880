// `tollgate fsck`: checks every entry of the ledger on disk.

import { readConfig, type Config } from '../../config/config.ts'
import { ledgerPlace } from '../../ledger-store.ts'
import { foldLedger, fsckLedger, isRunning, type FsckProblem } from '../../open.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, ledgerIn, sayPlace } from '../program/connect.ts'
import type { Terminal } from '../program/terminal.ts'

interface FsckCommandOptions extends DataOptions {
  readonly fold?: boolean
}

/** Checks the ledger. Returns 1 if it is damaged, or if `--fold` could not merge the log. */
export async function runFsck(terminal: Terminal, options: FsckCommandOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  sayPlace(options, ledgerIn(config.data))
  const progress = terminal.progress('checking')
  const report = await fsckLedger(config, ({ done, total }) => progress.show(done, total)).finally(() =>
    progress.clear(),
  )
  const { ok, entries, problems } = report
  terminal.data(report, () =>
    ok
      ? `${terminal.paint.green('intact')}: ${entries} entries`
      : [
          terminal.paint.red(`damaged: ${problems.length} problems in ${entries} entries`),
          ...problems.flatMap((problem) => shown(problem, config)),
        ].join('\n'),
  )
  if (!ok) return 1
  if (options.fold === true) return fold(terminal, config)
  if (report.log > 0) await warnLog(terminal, config, report.log)
  return 0
}

function shown({ code, at, message, hints = [] }: FsckProblem, config: Config): readonly string[] {
  // A problem without a position concerns the whole file.
  const where = at ?? `\`${ledgerPlace(config)}\``
  return [`  ${code} at ${where}: ${message}`, ...hints.map((hint) => `    → ${hint}`)]
}

function fold(terminal: Terminal, config: Config): number {
  if (foldLedger(config)) {
    terminal.say('`ledger.sqlite` now contains the whole ledger')
    return 0
  }
  terminal.warn(
    'could not merge the log into `ledger.sqlite`: another process is reading the ledger',
    'stop it, then run `tollgate fsck --fold` again',
  )
  return 1
}

async function warnLog(terminal: Terminal, config: Config, bytes: number): Promise<void> {
  const running = await isRunning(config)
  terminal.warn(
    `\`ledger.sqlite-wal\` contains ${bytes} bytes that are not yet in \`ledger.sqlite\``,
    running
      ? 'this is normal while the gateway runs; `tollgate backup DIRECTORY` copies both'
      : 'run `tollgate fsck --fold`: it merges them into `ledger.sqlite`',
  )
}
