// Output rules of every command:
//
// Standard output contains only the requested data. With --json it is one JSON document, or one per line for endless output.
//
// Everything else goes to standard error, after `tollgate:`, in lower case and without a full stop: first what happened, then what to
// do, one per line. Commands ask no questions, except for a passphrase, and in `mcp approve` and `setup`, and only on a terminal.
//
// Commands in texts for people are printed as the user's shell takes them (`runnable.ts`). JSON, files and receipts are never changed.
//
// Colours and progress appear only on a terminal, and colours not with NO_COLOR. A secret is shown once, by the command that creates
// it, and never in an error.
//
// Exit codes: 0 success, 1 failure or a negative result, 2 wrong usage, 130 Ctrl-C. `verify` has its own: 0 verified, 1 a proof
// failed, 2 unreadable, 3 integrity only.

import process from 'node:process'
import { createColors } from 'picocolors'
import { GatewayError } from '../../error.ts'
import { fitted, widthOf } from './fit.ts'
import { runnable } from './runnable.ts'

/** Colours text, or returns it unchanged. */
export type Colors = ReturnType<typeof createColors>

/** The output of a command. */
export interface Terminal {
  /** Whether data is printed as JSON. */
  readonly json: boolean
  /** Colours for standard output. */
  readonly paint: Colors
  /** Prints data: the value with --json, otherwise the text, in which the commands are made runnable. */
  data(value: unknown, text: string | (() => string)): void
  /** Prints data whose text must not change, such as a file, a receipt or what a server says. */
  exact(value: unknown, text: string | (() => string)): void
  /** Prints one row of an endless list. Its text does not change. */
  row(value: unknown, text: () => string): void
  /** Prints a message, after `tollgate:`. */
  say(sentence: string): void
  /** Prints a warning with hints. */
  warn(sentence: string, ...hints: readonly string[]): void
  /** Prints a line that belongs to the previous message, such as a command to paste. */
  line(text: string): void
  /** Shows progress, after half a second. */
  progress(what: string): Progress
}

/** A progress display. */
export interface Progress {
  /** Shows `done` of `total`; the total can be unknown. */
  show(done: number, total?: number): void
  clear(): void
}

/** The command was called with wrong arguments. */
export class UsageError extends Error {
  readonly hints: readonly string[]

  constructor(message: string, ...hints: readonly string[]) {
    super(message)
    this.name = 'UsageError'
    this.hints = hints
  }
}

/** The command failed, or its result is negative. */
export class CommandError extends Error {
  readonly hints: readonly string[]

  constructor(message: string, ...hints: readonly string[]) {
    super(message)
    this.name = 'CommandError'
    this.hints = hints
  }
}

/** Returns the terminal of this process. */
export function openTerminal(json: boolean): Terminal {
  const paint = createColors(isColourful(process.stdout) && !json)
  const out = (text: string): void => {
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  return {
    json,
    paint,
    data: (value, text) => out(json ? JSON.stringify(value, null, 2) : runnable(textOf(text))),
    exact: (value, text) => out(json ? JSON.stringify(value, null, 2) : textOf(text)),
    row: (value, text) => out(json ? JSON.stringify(value) : text()),
    say,
    warn(sentence, ...hints) {
      say(`${stderrPaint().yellow('warning:')} ${sentence}`)
      hints.forEach(hint)
    },
    line: (text) => void process.stderr.write(`${runnable(text)}\n`),
    progress: openProgress,
  }
}

function textOf(text: string | (() => string)): string {
  return typeof text === 'string' ? text : text()
}

/** Prints a message. */
export function say(sentence: string): void {
  process.stderr.write(`${message(sentence)}\n`)
}

/** A message as it is printed, without the line end. */
export function message(sentence: string, start = 'tollgate: '): string {
  return fitted(start + runnable(sentence), widthOf(start), process.stderr.columns)
}

function hint(text: string): void {
  process.stderr.write(`${message(text, `tollgate: ${stderrPaint().cyan('→')} `)}\n`)
}

/** Prints an error with its hints. Returns the exit code. */
export function complain(fault: unknown): number {
  const { message, hints } = explained(fault)
  say(`${stderrPaint().red('error:')} ${message}`)
  hints.forEach(hint)
  return fault instanceof UsageError ? 2 : 1
}

function explained(fault: unknown): { readonly message: string; readonly hints: readonly string[] } {
  if (fault instanceof UsageError || fault instanceof CommandError || fault instanceof GatewayError)
    return fault
  if (!(fault instanceof Error)) return { message: String(fault), hints: [] }
  // Sound: both members are tested before use.
  const { code, path } = fault as NodeJS.ErrnoException
  const at = path === undefined ? '' : ` \`${path}\``
  if (code === 'ENOENT') return { message: `no such file${at === '' ? '' : `:${at}`}`, hints: [] }
  if (code === 'EACCES' || code === 'EPERM')
    return { message: `permission denied${at === '' ? '' : `:${at}`}`, hints: [] }
  if (code === 'EEXIST') return { message: `file already exists${at === '' ? '' : `:${at}`}`, hints: [] }
  if (code === 'EISDIR')
    return { message: `${at === '' ? 'it' : at.trim()} is a directory, not a file`, hints: [] }
  if (code === 'ENOSPC')
    return { message: 'the disk is full', hints: ['free disk space; no acknowledged entry is lost'] }
  return { message: fault.message, hints: [] }
}

function isColourful(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR: never = '' } = process.env
  return stream.isTTY === true && never === ''
}

function stderrPaint(): Colors {
  return createColors(isColourful(process.stderr))
}

const WIDTH = 30
const SHOW_AFTER_MS = 500
const REDRAW_MS = 100

function openProgress(what: string): Progress {
  const began = performance.now()
  let drawn = 0
  return {
    show(done, total) {
      const now = performance.now()
      if (!process.stderr.isTTY || now - began < SHOW_AFTER_MS || now - drawn < REDRAW_MS) return
      drawn = now
      process.stderr.write(`\r\u001b[K${what} ${bar(done, total)}`)
    },
    clear() {
      if (drawn > 0) process.stderr.write('\r\u001b[K')
      drawn = 0
    },
  }
}

function bar(done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return String(done)
  const part = Math.min(1, done / total)
  return `${'█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░')} ${Math.floor(part * 100)} %`
}
