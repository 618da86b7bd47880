// `tollgate export`: writes an evidence pack. The file gets its name only when it is complete.

import { createWriteStream, existsSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncPath } from '../../directory.ts'
import { accepted, queryOf } from '../program/ask.ts'
import { connect, sayPlace, type Connection } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { word } from '../program/table.ts'
import { CommandError, UsageError, type Progress, type Terminal } from '../program/terminal.ts'
import {
  filtersOf,
  fullId,
  periodOf,
  refuseNoId,
  type FilterOptions,
  type PeriodOptions,
} from './receipts.ts'

interface ExportOptions extends FilterOptions, PeriodOptions {
  readonly output?: string
  readonly to?: number
  readonly continues?: number
  readonly receipt?: readonly string[]
}

/** Writes a pack to a new file, or to standard output if it is not a terminal. */
export async function runExport(terminal: Terminal, given: ExportOptions): Promise<number> {
  const options = withoutOldSince(terminal, given)
  const target = options.output === undefined || options.output === '-' ? undefined : resolve(options.output)
  refuseInvalid(options, target)
  const period = periodOf(options)
  const connection = await connect(options, 'read')
  sayPlace(options, connection.place)
  const progress = terminal.progress('exporting')
  try {
    const query = await queryFor(connection, options, period)
    const response = await accepted(await connection.request(`/v1/evidence/export?${query.toString()}`))
    const pack = counted(response, progress)
    if (target === undefined) await pipeline(pack, process.stdout, { end: false })
    else {
      const bytes = await writeNew(target, pack)
      progress.clear()
      terminal.data({ file: target, bytes }, target)
      terminal.say(
        `check it with \`tollgate verify ${word(target)} --trust FILE\`; \`tollgate keys trust\` prints the trust file`,
      )
      if (isSelection(query)) {
        terminal.say('it proves each receipt in it, but not that none is missing; a range proves that')
      }
    }
    return 0
  } finally {
    progress.clear()
    await connection.close()
  }
}

/** `--since` took a size in version 0.1. */
function withoutOldSince(terminal: Terminal, options: ExportOptions): ExportOptions {
  const { since, ...rest } = options
  if (since === undefined || !/^[0-9]{1,15}$/.test(since)) return options
  terminal.warn(`\`--since ${since}\` is the old name of \`--continues ${since}\``, 'use `--continues`')
  return { ...rest, continues: rest.continues ?? Number(since) }
}

/** Returns the query. Receipts can be given by the start of their id. */
async function queryFor(
  connection: Connection,
  options: ExportOptions,
  period: ReturnType<typeof periodOf>,
): Promise<URLSearchParams> {
  const { to, continues } = options
  const receipt: string[] = []
  for (const each of options.receipt ?? []) receipt.push(await fullId(connection, each))
  return new URLSearchParams([
    ...(await filtersOf(connection, options)),
    ...queryOf({ to, continues, receipt, ...period }),
  ])
}

/** Whether the query asks for single receipts and no range. */
function isSelection(query: URLSearchParams): boolean {
  const names = [...query.keys()]
  const hasFilters = names.some((name) => !['from', 'to', 'continues', 'receipt'].includes(name))
  return hasFilters || (query.has('receipt') && !query.has('from') && !query.has('to'))
}

function refuseInvalid({ from, to, json, receipt = [] }: ExportOptions, target: string | undefined): void {
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UsageError(
      `\`--from ${from} --to ${to}\` is not a range`,
      '`--to` is the index after the last entry',
    )
  }
  receipt.forEach(refuseNoId)
  if (target !== undefined && existsSync(target)) {
    throw new CommandError(`\`${target}\` already exists`, 'give a new file')
  }
  if (target !== undefined) return
  if (json === true) throw new UsageError('`--json` needs `-o FILE`, because a pack is not JSON')
  if (process.stdout.isTTY) {
    throw new UsageError(
      'a pack is binary data and cannot be printed to a terminal',
      'write it to a file with `-o FILE`, or redirect it',
    )
  }
}

async function* counted(response: Response, progress: Progress): AsyncGenerator<Uint8Array> {
  let done = 0
  try {
    // Sound: a response that was accepted has a body of bytes.
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      done += chunk.length
      progress.show(Math.floor(done / 1024))
      yield chunk
    }
  } catch {
    throw new CommandError(
      'the export is incomplete, because the connection was lost',
      'check that the gateway runs, and try again',
    )
  }
}

/** Writes a temporary file, syncs it and renames it. A failure leaves no file. */
async function writeNew(target: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = `${target}.part-${process.pid}`
  const undo = (): void => rmSync(partial, { force: true })
  const forget = onInterrupt(undo)
  try {
    // Opened at once: a stream opens its file later, perhaps after a failure has removed it.
    const file = createWriteStream(partial, { fd: openSync(partial, 'wx', 0o600) })
    await pipeline(Readable.from(bytes), file)
    syncPath(partial, 'r+')
    giveName(partial, target)
    return file.bytesWritten
  } finally {
    undo()
    forget()
  }
}

/** Links the file to its final name. Unlike a rename, a link never replaces an existing file. */
function giveName(partial: string, target: string): void {
  try {
    linkSync(partial, target)
  } catch (fault) {
    // Sound: the member is tested before use.
    if ((fault as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new CommandError(`\`${target}\` was created by another program`, 'give a new file')
    }
    // Not every file system supports links.
    renameSync(partial, target)
  }
}
