// `tollgate verify`: the same check as `tollgate-verify`.

import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { EvidenceError, parseTrust, type Report } from '@tollgate/evidence'
import { coloured, formatReport, plain, verifyFile } from '@tollgate/evidence/node'
import { fitted } from '../program/fit.ts'
import { complain, type Terminal } from '../program/terminal.ts'

interface VerifyOptions {
  readonly trust?: string
  readonly workers?: number
}

/** Verifies a pack. Returns 2 if the check cannot run, as for an unreadable pack. */
export async function runVerify(terminal: Terminal, options: VerifyOptions, pack = ''): Promise<number> {
  const progress = terminal.progress('verifying')
  try {
    const trust = options.trust === undefined ? undefined : await parseTrust(await readFile(options.trust))
    const report = await verifyFile(pack, {
      ...(trust && { trust }),
      ...(options.workers !== undefined && { workers: options.workers }),
      onProgress: ({ bytes }, total) => progress.show(bytes, total),
    }).finally(() => progress.clear())
    // Set before any output, so that a closed pipe cannot turn a failure into success.
    process.exitCode = report.exit
    terminal.data(report, () => textOf(report, terminal))
    if (report.exit === 3)
      terminal.say('use `--trust FILE` to check who signed the pack; `tollgate keys trust` prints that file')
    return report.exit
  } catch (fault) {
    complain(fault instanceof EvidenceError ? new Error(fault.message) : fault)
    return 2
  }
}

function textOf(report: Report, { paint }: Terminal): string {
  return formatReport(report, paint.isColorSupported ? coloured : plain)
    .split('\n')
    .map((line) => fitted(line, 4, process.stdout.columns))
    .join('\n')
}
