// Runs a program: notes what it does with its arguments, as the table says.

import { exactText, shown, type Field } from '../script/field.ts'
import { either, ENDED, fork, staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { applyEffect, applyUse } from './apply.ts'
import { runDd, runTar } from './archives.ts'
import { BUILTINS, type Special } from './builtins.ts'
import { runFind } from './find.ts'
import { noteRead } from './note.ts'
import { readArguments, type ArgumentReading } from './read.ts'
import { programOf, type Program, type Row } from './row.ts'
import { isShell, runShell } from './shells.ts'
import { ADDITIONS } from './special.ts'
import { TABLE } from './table/index.ts'
import { runEnv, runRest, runWatch, runXargs } from './wrappers.ts'

const SPECIAL: Readonly<Record<string, Special>> = {
  ...BUILTINS,
  env: runEnv,
  xargs: runXargs,
  watch: runWatch,
  find: runFind,
  gfind: runFind,
  tar: runTar,
  gtar: runTar,
  bsdtar: runTar,
  dd: runDd,
}

const SYSTEM = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin\//
/** A program is more work than a word: as much as this many characters. */
const STEPS = 256
const DYNAMIC = 'the name of a program is not known before it runs'

/** Runs a program with its arguments. */
export function runProgram([first, ...args]: readonly Field[], shell: Shell): ShellOutcome {
  shell.found.step(STEPS)
  if (!first) return staying(shell)
  const text = exactText(first)
  if (text === undefined || text === '') {
    unknown(shell, DYNAMIC)
    return staying(shell)
  }
  if (shell.functions.has(text)) return runFunction(text, args, shell)
  const name = text.replace(SYSTEM, '')
  if (name.includes('/')) return runFile(first, shell)
  return runNamed(name, args, shell)
}

/** A program by its path: what it does is not in the command. */
function runFile(field: Field, shell: Shell): ShellOutcome {
  shell.found.add('programs', shown(field))
  shell.found.add('runs_other_code', shown(field))
  noteRead(field, shell)
  return staying(shell)
}

function runNamed(name: string, args: readonly Field[], shell: Shell): ShellOutcome {
  const row = Object.hasOwn(TABLE, name) ? TABLE[name] : undefined
  // On other systems `sed -i ''` has an empty suffix. No file has an empty name.
  const given = name === 'sed' ? args.filter(({ text }) => text !== '') : args
  if (row && !Object.hasOwn(SPECIAL, name)) return runRow(row, name, given, shell)
  shell.found.add('programs', name)
  if (isHelp(args)) return staying(shell)
  const special = Object.hasOwn(SPECIAL, name) ? SPECIAL[name] : undefined
  if (special) return special(args, shell)
  if (isShell(name)) return runShell(name, args, shell)
  shell.found.add('unknown_programs', name)
  return staying(shell)
}

/** Every program of the table only prints then. */
function isHelp(args: readonly Field[]): boolean {
  return args.length === 1 && /^--(?:help|version)$/.test(args[0]?.text ?? '')
}

function runFunction(name: string, args: readonly Field[], shell: Shell): ShellOutcome {
  shell.called.add(name)
  const vars = new Map([...shell.vars].filter(([key]) => !/^(?:\d+|[@*])$/.test(key)))
  if (shell.names.isUntouched('@')) {
    vars.set('@', args)
    vars.set('*', args)
    const isCertain = !args.some(({ isMany }) => isMany)
    if (isCertain) args.forEach((field, i) => vars.set(String(i + 1), [field]))
  }
  let outcome: ShellOutcome = ENDED
  for (const body of shell.functions.get(name) ?? []) {
    const inner = fork(shell, { vars, isFunction: true })
    const { ok, bad } = shell.run.body(body, inner)
    // The function can return anywhere, so every directory that it was in is possible.
    const all = either(shell.cwds, either(ok, bad))
    outcome = { ok: either(outcome.ok, all), bad: either(outcome.bad, all) }
  }
  return outcome
}

/** Runs a program of the table. `name` contains its subcommands. */
function runRow(
  row: Row,
  name: string,
  args: readonly Field[],
  shell: Shell,
  parent?: Program,
): ShellOutcome {
  const program = inherited(programOf(row), parent)
  if (isHelp(args) || !program.commands) shell.found.add('programs', name)
  if (isHelp(args)) return staying(shell)
  const reading = readArguments(program, args, name)
  reading.problems.forEach((why) => unknown(shell, why))
  if (reading.effects.some(({ name: effect }) => effect === 'stop')) {
    shell.found.add('programs', name)
    return staying(shell)
  }
  let inner = fork(shell)
  for (const bound of reading.bound) inner = applyUse(bound, name, inner)
  for (const effect of [...program.does, ...reading.effects]) applyEffect(effect, name, inner)
  if (Object.hasOwn(ADDITIONS, name)) ADDITIONS[name]?.(args, reading, inner)
  if (program.commands) runSubcommand(program, name, reading, inner)
  else if (reading.rest.length > 0) runRest(reading.rest, inner)
  return staying(shell)
}

function runSubcommand(program: Program, name: string, { rest }: ArgumentReading, shell: Shell): void {
  const [first, ...args] = rest
  const command = first && exactText(first)
  if (command === undefined) {
    shell.found.add('programs', name)
    if (first) unknown(shell, `the subcommand of \`${name}\` is not known before it runs`)
    return
  }
  const full = `${name} ${command}`
  const known = program.commands && Object.hasOwn(program.commands, command)
  const row = known ? program.commands[command] : program.otherwise
  if (row) {
    runRow(row, full, args, shell, program)
    return
  }
  shell.found.add('programs', full)
  shell.found.add('unknown_programs', full)
}

/** The options of a program also count after its subcommand, unless that has its own of the same name. */
function inherited(program: Program, parent: Program | undefined): Program {
  if (!parent) return program
  const options = new Map([...parent.options, ...program.options])
  return { ...program, options, long: program.long || parent.long }
}
