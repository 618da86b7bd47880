// The rules of the terminal, for every command:
//
// Standard output is data: what was asked for, and nothing else. With --json it is one JSON document, or one a line where
// there is no end to it.
//
// Everything else goes to standard error, after `tollgate:`, in lower case and without a full stop. What went wrong comes
// first, then what to do, each in a line of its own. Nobody is asked anything but whether they approve of a tool, and that only
// on a terminal: a command does what it was told or says why not.
//
// Colours and progress are for people: only on a terminal, and colours not with NO_COLOR. A secret is shown once, where it
// was asked for, and is never in an error.
//
// Exit codes: 0 it is done, or the answer is yes; 1 it failed, or the answer is no; 2 it was called in a wrong way; 130
// Ctrl-C. `verify` has its own: 0 verified, 1 a proof failed, 2 it cannot be read, 3 integrity only.

import process from 'node:process'
import { createColors } from 'picocolors'
import { GatewayError } from '../../error.ts'

/** Paints text, or leaves it as it is. */
export type Colors = ReturnType<typeof createColors>

/** What a command talks to. */
export interface Terminal {
  /** Whether data is printed as JSON. */
  readonly json: boolean
  /** For standard output. */
  readonly paint: Colors
  /** Prints data: the value as JSON if that was asked for, else the text. */
  data(value: unknown, text: string | (() => string)): void
  /** Prints one line of an endless list. */
  row(value: unknown, text: () => string): void
  /** Says something to the person, after `tollgate:`. */
  say(sentence: string): void
  /** Says what could become a problem. */
  warn(sentence: string, ...hints: readonly string[]): void
  /** A line that belongs to what was just said, such as a command to paste. */
  line(text: string): void
  /** Shows how far something is, from its second half second on. */
  progress(what: string): Progress
}

/** How far something is. */
export interface Progress {
  /** `done` of `total`; the total may not be known. */
  show(done: number, total?: number): void
  clear(): void
}

/** The command was called in a wrong way. */
export class UsageError extends Error {
  readonly hints: readonly string[]

  constructor(message: string, ...hints: readonly string[]) {
    super(message)
    this.name = 'UsageError'
    this.hints = hints
  }
}

/** The command failed, or the answer is no. */
export class CommandError extends Error {
  readonly hints: readonly string[]

  constructor(message: string, ...hints: readonly string[]) {
    super(message)
    this.name = 'CommandError'
    this.hints = hints
  }
}

/** The terminal of this process. */
export function openTerminal(json: boolean): Terminal {
  const paint = createColors(isColourful(process.stdout) && !json)
  const out = (text: string): void => {
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  return {
    json,
    paint,
    data: (value, text) =>
      out(json ? JSON.stringify(value, null, 2) : typeof text === 'string' ? text : text()),
    row: (value, text) => out(json ? JSON.stringify(value) : text()),
    say,
    warn(sentence, ...hints) {
      say(`${stderrPaint().yellow('warning:')} ${sentence}`)
      hints.forEach(hint)
    },
    line: (text) => void process.stderr.write(`${text}\n`),
    progress: openProgress,
  }
}

/** Says something to the person. */
export function say(sentence: string): void {
  process.stderr.write(`tollgate: ${sentence}\n`)
}

function hint(text: string): void {
  process.stderr.write(`tollgate: ${stderrPaint().cyan('→')} ${text}\n`)
}

/** Says what went wrong, then what to do; answers with the exit code. */
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
  if (code === 'ENOENT') return { message: `there is no file${at}`, hints: [] }
  if (code === 'EACCES' || code === 'EPERM') return { message: `this user may not use${at}`, hints: [] }
  if (code === 'EEXIST') return { message: `there is already a file${at}`, hints: [] }
  if (code === 'EISDIR')
    return { message: `${at === '' ? 'it' : at.trim()} is a directory, not a file`, hints: [] }
  if (code === 'ENOSPC')
    return { message: 'the disk is full', hints: ['make room; nothing that was acknowledged is lost'] }
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
const PATIENCE = 500
const REDRAW = 100

function openProgress(what: string): Progress {
  const began = performance.now()
  let drawn = 0
  return {
    show(done, total) {
      const now = performance.now()
      if (!process.stderr.isTTY || now - began < PATIENCE || now - drawn < REDRAW) return
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
