// Reads recorded calls from the data directory, also while a gateway runs, or from a trace file.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import { readConfig } from '../../config/config.ts'
import { readTrace, tracePages, traceTexts, type Trace } from '../../workbench/trace.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, ledgerIn, sayPlace } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import type { Progress, Terminal } from '../program/terminal.ts'

interface TraceOptions extends DataOptions {
  /** A file that `policy trace` wrote. */
  readonly trace?: string
}

/** Calls `use` with the recorded calls, and closes the source afterwards. */
export async function withTrace<T>(
  terminal: Terminal,
  options: TraceOptions,
  use: (trace: Trace) => Promise<T>,
): Promise<T> {
  const progress = terminal.progress('reading the history')
  const counted = (trace: Trace): Trace => ({ ...trace, pages: shown(trace.pages, progress) })
  try {
    if (options.trace !== undefined) return await use(counted(await traceIn(options.trace)))
    return await withLedger(options, (trace) => use(counted(trace)))
  } finally {
    progress.clear()
  }
}

async function* shown(pages: Trace['pages'], progress: Progress): AsyncGenerator<readonly TraceEntry[]> {
  let read = 0
  for await (const page of pages) {
    yield page
    progress.show((read += page.length))
  }
}

async function withLedger<T>(options: TraceOptions, use: (trace: Trace) => Promise<T>): Promise<T> {
  const { openView } = await import('../../open.ts')
  const config = readConfig(dataOf(options))
  sayPlace(options, ledgerIn(config.data))
  const opened = await openView(config, true)
  const forget = onInterrupt(() => opened.close())
  try {
    return await use({ texts: await traceTexts(opened.view), pages: tracePages(opened.view) })
  } finally {
    forget()
    await opened.close()
  }
}

function traceIn(file: string): Promise<Trace> {
  const input = createReadStream(file, 'utf8')
  return readTrace(createInterface({ input, crlfDelay: Infinity }))
}

/** Hints for the case that no call was kept. */
export const HOW_TO_KEEP: readonly string[] = [
  'set `keep: { calls: 7d }` in `tollgate.yaml` and restart the gateway: it keeps calls from then on',
]
