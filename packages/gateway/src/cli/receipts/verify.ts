// `tollgate verify`: the same as `tollgate-verify`, for who has the whole product.

import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { EvidenceError, parseTrust } from '@tollgate/evidence'
import { coloured, formatReport, plain, verifyFile } from '@tollgate/evidence/node'
import { complain, type Terminal } from '../program/terminal.ts'

interface VerifyOptions {
  readonly trust?: string
  readonly workers?: number
}

/** Verifies a pack. What keeps it from being checked at all is 2, as for a pack that cannot be read. */
export async function runVerify(terminal: Terminal, options: VerifyOptions, pack = ''): Promise<number> {
  const progress = terminal.progress('verifying')
  try {
    const trust = options.trust === undefined ? undefined : await parseTrust(await readFile(options.trust))
    const report = await verifyFile(pack, {
      ...(trust && { trust }),
      ...(options.workers !== undefined && { workers: options.workers }),
      onProgress: ({ bytes }, total) => progress.show(bytes, total),
    }).finally(() => progress.clear())
    // Before anything is written: a reader that goes away must not turn a failure into success.
    process.exitCode = report.exit
    terminal.data(report, () => formatReport(report, terminal.paint.isColorSupported ? coloured : plain))
    if (report.exit === 3)
      terminal.say('give `--trust FILE` to see whose pack it is; `tollgate keys trust` prints that file')
    return report.exit
  } catch (fault) {
    complain(fault instanceof EvidenceError ? new Error(fault.message) : fault)
    return 2
  }
}
