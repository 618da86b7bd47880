// `tollgate fsck`: every entry of the ledger on disk, checked from the outside.

import { readConfig } from '../config.ts'
import { fsckLedger } from '../open.ts'
import type { DataOptions } from './commands.ts'
import { dataOf } from './connect.ts'
import type { Terminal } from './terminal.ts'

/** Checks the ledger; 1 if something is wrong with it. */
export async function runFsck(terminal: Terminal, options: DataOptions): Promise<number> {
  const progress = terminal.progress('checking')
  const report = await fsckLedger(readConfig(dataOf(options)), ({ done, total }) =>
    progress.show(done, total),
  ).finally(() => progress.clear())
  const { ok, entries, problems } = report
  terminal.data(report, () =>
    ok
      ? `${terminal.paint.green('sound')}: ${entries} entries`
      : [
          terminal.paint.red(`damaged: ${problems.length} problems in ${entries} entries`),
          ...problems.map(({ code, at, message }) => `  ${code} at ${at}: ${message}`),
        ].join('\n'),
  )
  return ok ? 0 : 1
}
