// Code of the shell that is an argument, a file or the standard input of a program.

import { exactText, hasHole, type Field } from '../script/field.ts'
import { fork, staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { noteRead } from './note.ts'
import { readArguments } from './read.ts'
import { programOf } from './row.ts'

const DYNAMIC = 'code that is not known before it runs'
/** Names of files that are the standard input, or the output of another command. */
const STREAM = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/

/** Runs code in a shell of its own. The fields are joined with spaces. */
export function runShellText(fields: readonly Field[], shell: Shell): ShellOutcome {
  const code = codeIn(fields)
  if (code === undefined) {
    unknown(shell, DYNAMIC)
    return staying(shell)
  }
  shell.run.text(code, fork(shell, { vars: new Map() }))
  return staying(shell)
}

/** Returns the code in fields; undefined if it is not known. */
export function codeIn(fields: readonly Field[]): string | undefined {
  const texts = fields.map(exactText)
  return texts.every((text) => text !== undefined) ? texts.join(' ') : undefined
}

/** A file with code: what the code does is not in the command. */
export function runScriptFile(field: Field, name: string, shell: Shell): void {
  if (STREAM.test(field.text)) {
    // An interpreter other than a shell. Its code is in the command, or it comes from another program.
    if (shell.stdin === undefined || typeof shell.stdin === 'object') shell.found.add('runs_other_code', name)
    else unknown(shell, DYNAMIC)
    return
  }
  if (hasHole(field)) unknown(shell, DYNAMIC)
  noteRead(field, shell)
  shell.found.add('runs_other_code', name)
}

const SHELL = programOf({
  options:
    '-c -o,-O,+o,+O=text --rcfile,--init-file=script --version,--help!stop -e,-x,-u,-v,-n,-l,-i,-s,-p,-f,-r,-a,-b,-h,-k,-m,-t,-B,-C,-E,-H,-P,-T,-D --login,--norc,--noprofile,--posix,--restricted,--verbose,--noediting',
  args: 'command',
})
/** Shells whose language differs too much. */
const OTHER = /^(?:zsh|ksh|mksh|fish|csh|tcsh|nu|xonsh|elvish|rc)$/

/** Returns whether a program is a shell. */
export function isShell(name: string): boolean {
  return /^(?:bash|sh|dash|ash|rbash)$/.test(name) || OTHER.test(name)
}

/** Runs a shell such as `bash -c CODE`, `sh FILE`, or one that reads its standard input. */
export function runShell(name: string, fields: readonly Field[], shell: Shell): ShellOutcome {
  const { rest, given, effects, problems, bound } = readArguments(SHELL, fields, name)
  problems.forEach((why) => unknown(shell, why))
  if (effects.some(({ name: effect }) => effect === 'stop')) return staying(shell)
  if (bound.some(({ use }) => use === 'script')) unknown(shell, DYNAMIC)
  const code = codeArgument(fields)
  if (OTHER.test(name)) unknown(shell, `code of \`${name}\` is not read`)
  else if (given.has('-c'))
    runShellText(code ? [code] : [{ text: '\0', isPattern: false, isMany: false }], shell)
  else if (rest[0] && !given.has('-s')) runFile(rest[0], name, shell)
  else runInput(shell)
  return staying(shell)
}

/** The code is the first argument after all options. Options can follow `-c`, so it is not always the next one. */
function codeArgument(fields: readonly Field[]): Field | undefined {
  let at = 0
  for (; at < fields.length; at++) {
    const text = fields[at]?.text ?? ''
    if (text === '--') return fields[at + 1]
    if (!/^[-+]./.test(text)) break
    // `-o NAME` takes the next argument.
    if (/^[-+][a-zA-Z]*[oO]$/.test(text) && !text.startsWith('--')) at++
  }
  return fields[at]
}

function runFile(field: Field, name: string, shell: Shell): void {
  if (STREAM.test(field.text)) runInput(shell)
  else runScriptFile(field, name, shell)
}

function runInput(shell: Shell): void {
  if (typeof shell.stdin === 'object')
    shell.run.text(shell.stdin.script, fork(shell, { vars: new Map(), stdin: undefined }))
  else unknown(shell, DYNAMIC)
}
