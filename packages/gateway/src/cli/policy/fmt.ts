// `tollgate policy fmt`: policy files in one layout, written in place.

import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync } from 'node:fs'
import { rmSync, statSync, writeSync } from 'node:fs'
import process from 'node:process'
import { readConfig } from '../../config/config.ts'
import { formatPolicy } from '../../workbench/format.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { placed } from './policy-file.ts'

interface FmtOptions extends DataOptions {
  readonly check?: boolean
}

/** Lays out policy files; with `check` only names those that would change, and then answers 1. */
export async function runFmt(
  terminal: Terminal,
  options: FmtOptions,
  ...given: readonly string[]
): Promise<number> {
  if (given.includes('-')) return formatInput(terminal, options, given)
  const files = given.length > 0 ? given : [readConfig(dataOf(options)).policy]
  // All of them first: a mistake in one leaves every file as it was.
  const results = files.map((file) => ({ file, ...laidOut(readFileSync(file, 'utf8'), file) }))
  const changing = results.filter(({ text, before }) => text !== before)
  if (options.check !== true) for (const { file, text } of changing) replace(file, text)
  const changed = changing.map(({ file }) => file)
  const isFine = options.check !== true || changed.length === 0
  terminal.data({ ok: isFine, files, changed }, changed.join('\n'))
  tell(terminal, options, files.length, changed.length)
  return isFine ? 0 : 1
}

function tell(terminal: Terminal, { check }: FmtOptions, all: number, changed: number): void {
  const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`)
  if (changed === 0) terminal.say(`${files(all)}, laid out already`)
  else if (check !== true) terminal.say(`${files(changed)} written, of ${all}; the meaning is the same`)
  else {
    terminal.say(`${files(changed)} would change, of ${all}`)
    terminal.line('tollgate: → lay out with `tollgate policy fmt FILE`')
  }
}

async function formatInput(
  terminal: Terminal,
  { check }: FmtOptions,
  given: readonly string[],
): Promise<number> {
  if (given.length > 1) throw new UsageError('`-` is standard input, and goes with no other file')
  const { text, before } = laidOut(await readInput(), '<stdin>')
  const changed = text !== before
  if (check !== true) terminal.data({ text }, text)
  else if (changed) terminal.data({ ok: false, files: ['-'], changed: ['-'] }, '-')
  return check === true && changed ? 1 : 0
}

// A policy has at most a million characters; beyond any of their encodings nobody needs to read on.
const MOST_BYTES = 8 << 20

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    // Sound: no encoding was set, so that chunks are bytes.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > MOST_BYTES) throw new CommandError('standard input is longer than any policy')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function laidOut(before: string, file: string): { readonly text: string; readonly before: string } {
  const formatted = formatPolicy(before)
  if (formatted.ok) return { text: formatted.text, before }
  throw new CommandError(`\`${file}\` has mistakes; nothing was written`, ...placed(file, formatted.mistakes))
}

/** Puts a text in place of a file's: whoever reads it meanwhile, or after a fault, sees one of the two. */
function replace(file: string, text: string): void {
  // Where a link leads, not the link.
  const target = realpathSync(file)
  const { mode } = statSync(target)
  const beside = `${target}.${process.pid}.tmp`
  try {
    const handle = openSync(beside, 'wx', 0o600)
    try {
      writeAll(handle, Buffer.from(text))
      fchmodSync(handle, mode & 0o7777)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(beside, target)
  } catch (fault) {
    rmSync(beside, { force: true })
    throw fault
  }
}

function writeAll(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
}
