// `tollgate pack list` and `tollgate pack find`: the receipts of a pack, one line each, after the result of its verification.

import { once } from 'node:events'
import process from 'node:process'
import type { Report } from '@tollgate/evidence'
import { UsageError, type Terminal } from '../program/terminal.ts'
import { describe, type ShownEntry } from './describe.ts'
import { answerText, PackCalls } from './pack-calls.ts'
import {
  advise,
  checkPack,
  resultData,
  resultLine,
  withExitOfVerify,
  type PackOptions,
} from './pack-check.ts'
import { packFilter, type PackFilterOptions, type Selects } from './pack-filter.ts'
import { openSpool, type Spool } from './pack-spool.ts'

type PackListOptions = PackOptions & PackFilterOptions

/** Lists the receipts of a pack that match the filters. */
export function runList(terminal: Terminal, options: PackListOptions, pack = ''): Promise<number> {
  return withExitOfVerify(() => list(terminal, options, pack, packFilter(options)))
}

/** Lists the receipts of a pack that contain a text and match the filters. */
export function runFind(terminal: Terminal, options: PackListOptions, pack = '', text = ''): Promise<number> {
  if (text === '') throw new UsageError('the text is empty', 'give a part of a name, a reason or an id')
  return withExitOfVerify(() => list(terminal, options, pack, packFilter(options, text)))
}

async function list(
  terminal: Terminal,
  options: PackListOptions,
  pack: string,
  selects: Selects,
): Promise<number> {
  const calls = new PackCalls()
  const spool = openSpool()
  try {
    const report = await checkPack(terminal, options, pack, (entry) => {
      if (selects(entry, calls.take(entry))) spool.add(entry)
    })
    const text = terminal.json ? jsonOf(report, spool, calls) : linesOf(terminal, report, spool, calls)
    for (const piece of text) await print(piece)
    if (spool.count === 0) terminal.say('no matching receipts')
    advise(terminal, report)
    return report.exit
  } finally {
    spool.close()
  }
}

function* linesOf(terminal: Terminal, report: Report, spool: Spool, calls: PackCalls): Generator<string> {
  yield `${resultLine(terminal, report)}\n`
  for (const entry of shownOf(report, spool)) {
    yield `${describe(entry, terminal.paint, answerText(entry, calls.approvalFor(entry)))}\n`
  }
}

function* jsonOf(report: Report, spool: Spool, calls: PackCalls): Generator<string> {
  yield `{"verification":${JSON.stringify(resultData(report))},\n"receipts":[`
  let separator = '\n'
  for (const entry of shownOf(report, spool)) {
    const approval = calls.approvalFor(entry)
    yield `${separator}${JSON.stringify({ ...entry, ...(approval && { approval }) })}`
    separator = ',\n'
  }
  yield '\n]}\n'
}

/** A file that is not a readable pack shows no receipts: what was read of it can have any origin and any order. */
function shownOf({ level }: Report, spool: Spool): Iterable<ShownEntry> {
  return level === 'malformed' ? [] : spool.entries()
}

/** Writes to standard output, and waits if its reader is slower. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
