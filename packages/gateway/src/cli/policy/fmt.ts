// `tollgate policy fmt`: formats policy files in place.

import { readFileSync } from 'node:fs'
import process from 'node:process'
import { readConfig } from '../../config/config.ts'
import { formatPolicy } from '../../workbench/format.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { replaceFile } from '../program/replace-file.ts'
import { placed } from './policy-file.ts'

interface FmtOptions extends DataOptions {
  readonly check?: boolean
}

/** Formats policy files. With `check`, only lists files that would change, and returns 1 if there are any. */
export async function runFmt(
  terminal: Terminal,
  options: FmtOptions,
  ...given: readonly string[]
): Promise<number> {
  if (given.includes('-')) return formatInput(terminal, options, given)
  const files = given.length > 0 ? given : [readConfig(dataOf(options)).policy]
  // Format all files first, so that a mistake in one leaves every file unchanged.
  const results = files.map((file) => ({ file, ...formatted(readFileSync(file, 'utf8'), file) }))
  const changing = results.filter(({ text, before }) => text !== before)
  if (options.check !== true) for (const { file, text } of changing) replaceFile(file, Buffer.from(text))
  const changed = changing.map(({ file }) => file)
  const isFine = options.check !== true || changed.length === 0
  terminal.data({ ok: isFine, files, changed }, changed.join('\n'))
  print(terminal, options, files.length, changed.length)
  return isFine ? 0 : 1
}

function print(terminal: Terminal, { check }: FmtOptions, all: number, changed: number): void {
  const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`)
  if (changed === 0) terminal.say(`${files(all)} already formatted`)
  else if (check !== true) terminal.say(`formatted ${changed} of ${files(all)}; the meaning is unchanged`)
  else {
    terminal.say(`${changed} of ${files(all)} would change`)
    terminal.line('tollgate: → format them with `tollgate policy fmt FILE`')
  }
}

async function formatInput(
  terminal: Terminal,
  { check }: FmtOptions,
  given: readonly string[],
): Promise<number> {
  if (given.length > 1) throw new UsageError('`-` (standard input) cannot be combined with other files')
  const { text, before } = formatted(await readInput(), '<stdin>')
  const changed = text !== before
  if (check !== true) terminal.exact({ text }, text)
  else if (changed) terminal.data({ ok: false, files: ['-'], changed: ['-'] }, '-')
  return check === true && changed ? 1 : 0
}

// A policy has at most a million characters. This limit is above any encoding of them.
const MAX_BYTES = 8 << 20

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    // Sound: no encoding is set, so chunks are bytes.
    const bytes = chunk as Buffer
    size += bytes.length
    if (size > MAX_BYTES) throw new CommandError('standard input is too long for a policy')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function formatted(before: string, file: string): { readonly text: string; readonly before: string } {
  const result = formatPolicy(before)
  if (result.ok) return { text: result.text, before }
  throw new CommandError(`\`${file}\` has mistakes; nothing was written`, ...placed(file, result.mistakes))
}
