// Programs that run a command which is among their arguments, with rules of their own.

import { after, ANYTHING, exactly, type Field } from '../script/field.ts'
import { fork, staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { into } from './apply.ts'
import { noteVariable } from './environment.ts'
import { noteRead } from './note.ts'
import { readArguments } from './read.ts'
import { programOf } from './row.ts'
import { runShellText } from './shells.ts'

/** Notes the assignments before a command, and returns the command. */
function withoutAssignments(fields: readonly Field[], shell: Shell): readonly Field[] {
  let at = 0
  for (; at < fields.length; at++) {
    const field = fields[at] ?? exactly('')
    const [, name] = /^([^=\0]+)=/.exec(field.text) ?? []
    if (name === undefined) break
    noteVariable(name, after(field, name.length + 1), shell)
  }
  return fields.slice(at)
}

const ENV = programOf({
  options:
    '-u,--unset,-a,--argv0=text -S,--split-string=text -C,--chdir=chdir -i,--ignore-environment -0,--null -v,--debug --block-signal,--default-signal,--ignore-signal? --version,--help!stop',
  args: 'command',
})

/** `env`. Without a command it prints all variables. */
export function runEnv(args: readonly Field[], shell: Shell): ShellOutcome {
  const { rest, bound, given, effects, problems } = readArguments(ENV, args, 'env')
  problems.forEach((why) => unknown(shell, why))
  if (effects.length > 0) return staying(shell)
  if (given.has('-S')) unknown(shell, 'code that is not known before it runs')
  const inner = bound
    .filter(({ use }) => use === 'chdir')
    .reduce((at, { field }) => into(field, at), fork(shell))
  const command = withoutAssignments(rest, inner)
  if (command.length === 0) shell.found.add('secrets', 'env')
  else shell.run.command(command, inner)
  return staying(shell)
}

const XARGS = programOf({
  options:
    '-0,--null -r,--no-run-if-empty -t,--verbose -p,--interactive -o,--open-tty -x,--exit -n,--max-args,-L,--max-lines,-P,--max-procs,-I,-J,-R,-S,-d,--delimiter,-s,--max-chars,-E,--process-slot-var=text -a,--arg-file=read -i,-e,-l,--replace,--eof?text --help,--version!stop',
  args: 'command',
})

/** `xargs`: its command gets arguments that nothing in the command shows. */
export function runXargs(args: readonly Field[], shell: Shell): ShellOutcome {
  const { rest, bound, given, effects, problems } = readArguments(XARGS, args, 'xargs')
  problems.forEach((why) => unknown(shell, why))
  if (effects.length > 0) return staying(shell)
  bound.filter(({ use }) => use === 'read').forEach(({ field }) => noteRead(field, shell))
  if (rest.length === 0) return shell.run.command([exactly('echo')], shell)
  const marker = markerIn(args, given)
  const command =
    marker === undefined ? [...rest, ANYTHING] : rest.map((field) => filled(field, marker, exactly('\0')))
  shell.run.command(command, fork(shell, { stdin: 'pipe' }))
  return staying(shell)
}

/** The text that `xargs` replaces, as in `-I{}`. */
function markerIn(args: readonly Field[], given: ReadonlySet<string>): string | undefined {
  if (given.has('-i') || given.has('--replace')) return '{}'
  if (!given.has('-I') && !given.has('-J')) return undefined
  const at = args.findIndex(({ text }) => /^-[a-zA-Z0-9]*[IJ]/.test(text))
  const attached = args[at]?.text.replace(/^-[a-zA-Z0-9]*?[IJ]/, '') ?? ''
  return attached === '' ? (args[at + 1]?.text ?? '{}') : attached
}

/** Puts a value in place of a marker. */
export function filled(field: Field, marker: string, value: Field): Field {
  if (!field.text.includes(marker)) return field
  return {
    text: field.text.replaceAll(marker, value.text),
    isPattern: field.isPattern || value.isPattern,
    isMany: field.isMany || value.isMany,
  }
}

const WATCH = programOf({
  options:
    '-n,--interval,-q,--equexit=text -d,--differences?text -t,--no-title,-b,--beep,-e,--errexit,-g,--chgexit,-c,--color,-x,--exec,-p,--precise,-w,--no-wrap --help,--version!stop',
  args: 'command',
})

/** `watch`: a shell reads its arguments as one text. */
export function runWatch(args: readonly Field[], shell: Shell): ShellOutcome {
  const { rest, problems } = readArguments(WATCH, args, 'watch')
  problems.forEach((why) => unknown(shell, why))
  return rest.length > 0 ? runShellText(rest, shell) : staying(shell)
}

/** `sudo` and the like take assignments before the command. */
export function runRest(rest: readonly Field[], shell: Shell): ShellOutcome {
  const command = withoutAssignments(rest, shell)
  if (command.length > 0) shell.run.command(command, shell)
  return staying(shell)
}
