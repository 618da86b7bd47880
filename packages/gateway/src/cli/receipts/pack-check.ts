// Verifies a pack and hands out its receipts in the same pass, so that the receipts shown are the ones that were verified.

import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { EvidenceError, parseTrust, type Report } from '@tollgate/evidence'
import { coloured, formatReport, plain, verifyFile } from '@tollgate/evidence/node'
import { complain, CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import type { ShownEntry } from './describe.ts'

/** Options of all commands that read a pack. */
export interface PackOptions {
  readonly trust?: string
  readonly json?: boolean
}

/**
 * Verifies a pack, calls `take` for each receipt, and sets the exit code to that of `verify` before any output. A closed pipe
 * can therefore not turn a failure into success.
 *
 * @throws CommandError if the pack or the trust file cannot be read.
 */
export async function checkPack(
  terminal: Terminal,
  { trust: trustFile }: PackOptions,
  pack: string,
  take: (entry: ShownEntry) => void,
): Promise<Report> {
  const progress = terminal.progress('verifying')
  try {
    const trust = trustFile === undefined ? undefined : await parseTrust(await readFile(trustFile))
    const report = await verifyFile(pack, {
      ...(trust && { trust }),
      onProgress: ({ bytes }, total) => progress.show(bytes, total),
      onReceipt: take,
    })
    process.exitCode = report.exit
    return report
  } catch (fault) {
    throw fault instanceof EvidenceError ? new CommandError(fault.message) : fault
  } finally {
    progress.clear()
  }
}

/** The result of the verification in one line. */
export function resultLine(terminal: Terminal, report: Report): string {
  const [line = ''] = formatReport(report, terminal.paint.isColorSupported ? coloured : plain).split('\n')
  return line
}

/** The result of the verification for `--json`. */
export function resultData({ level, exit, ledger, tree_size, findings, more_findings }: Report): object {
  return { level, exit, ledger, tree_size, findings, more_findings }
}

/** Says how to get a better result, if there is one. */
export function advise(terminal: Terminal, { level }: Report): void {
  if (level === 'integrity only')
    terminal.say('use `--trust FILE` to check who signed the pack; `tollgate keys trust` prints that file')
  if (level === 'failed' || level === 'malformed')
    terminal.say('`tollgate verify PACK --trust FILE` lists the findings')
}

/** Runs a command on a pack. A fault gives exit code 2, as in `verify`: then nothing was checked. */
export async function withExitOfVerify(run: () => Promise<number>): Promise<number> {
  try {
    return await run()
  } catch (fault) {
    if (fault instanceof UsageError) throw fault
    complain(fault)
    return 2
  }
}
