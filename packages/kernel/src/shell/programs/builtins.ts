// Builtins of the shell: those that change the shell itself.

import { after, exactly, exactText, hasHole, type Field } from '../script/field.ts'
import { ENDED, fork, staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { noteSecret, setVar } from '../script/variables.ts'
import { goTo, goBack } from './directories.ts'
import { noteVariable } from './environment.ts'
import { nameOf, noteRead } from './note.ts'
import { codeIn } from './shells.ts'

/** A program that the table cannot describe. */
export type Special = (args: readonly Field[], shell: Shell) => ShellOutcome

const NOTHING: Special = (_, shell) => staying(shell)
const DYNAMIC = 'code that is not known before it runs'

/** The builtins by name. */
export const BUILTINS: Readonly<Record<string, Special>> = {
  cd: goTo,
  chdir: goTo,
  pushd: goTo,
  popd: goBack,
  exit: () => ENDED,
  return: (_, shell) => (shell.isFunction ? ENDED : staying(shell)),
  eval: (args, shell) => {
    const code = codeIn(args)
    if (code === undefined) unknown(shell, DYNAMIC)
    return code === undefined ? staying(shell) : shell.run.text(code, shell)
  },
  source,
  '.': source,
  exec: (args, shell) => {
    const rest = withoutOptions(args, 'a')
    if (rest.length === 0) return staying(shell)
    shell.run.command(rest, shell)
    return ENDED
  },
  command: (args, shell) => {
    if (args.some(({ text }) => /^-[pvV]*[vV]/.test(text))) return staying(shell)
    return shell.run.command(withoutOptions(args, ''), shell)
  },
  builtin: (args, shell) => shell.run.command(withoutOptions(args, ''), shell),
  trap,
  set,
  shopt,
  export: declare,
  readonly: declare,
  local: declare,
  declare,
  typeset: declare,
  read: setsNames,
  mapfile: setsNames,
  readarray: setsNames,
  getopts: setsNames,
  printf: (args, shell) =>
    args[0]?.text.startsWith('-v') === true ? setsNames(args, shell) : staying(shell),
  unset: setsNames,
  let: (args, shell) => {
    const isSafe = args.every((field) => /^[A-Za-z_]\w*=\d+$/.test(exactText(field) ?? ''))
    if (!isSafe) unknown(shell, 'arithmetic on a value that may contain code')
    return staying(shell)
  },
  test: readTest,
  '[': readTest,
  alias: (args, shell) => refused(args.length > 0, 'an alias changes what programs do', shell),
  unalias: NOTHING,
  enable: (args, shell) => refused(args.length > 0, 'a builtin changes', shell),
  hash: (args, shell) =>
    refused(
      args.some(({ text }) => /^-\w*p/.test(text)),
      'a program gets another file',
      shell,
    ),
  jobs: (args, shell) => {
    const at = args.findIndex(({ text }) => text === '-x')
    return at < 0 ? staying(shell) : shell.run.command(args.slice(at + 1), shell)
  },
  type: NOTHING,
  bind: (args, shell) => refused(args.length > 0, DYNAMIC, shell),
  complete: (args, shell) => refused(args.length > 0, DYNAMIC, shell),
  compgen: (args, shell) =>
    refused(
      args.some(({ text }) => /^-[CFW]/.test(text)),
      DYNAMIC,
      shell,
    ),
  fc: (args, shell) => refused(!args.some(({ text }) => text === '-l'), DYNAMIC, shell),
  kill: (args, shell) => {
    const [first, ...others] = args
    const isProbe = /^-(?:0|l|L)$/.test(first?.text ?? '')
    const skipped = /^-[sn]$/.test(first?.text ?? '')
      ? others.slice(1)
      : first?.text.startsWith('-') === true
        ? others
        : args
    const targets = skipped.filter(({ text }) => text !== '--')
    if (!isProbe) targets.forEach((field) => shell.found.add('kills', nameOf(field)))
    return staying(shell)
  },
  printenv: (args, shell) => {
    if (args.length === 0) shell.found.add('secrets', 'printenv')
    args.forEach((field) => noteSecret(exactText(field) ?? 'SECRET', shell))
    return staying(shell)
  },
}

function refused(isRefused: boolean, why: string, shell: Shell): ShellOutcome {
  if (isRefused) unknown(shell, why)
  return staying(shell)
}

/** Arguments after options of one letter; those in `valued` take a value. */
function withoutOptions(args: readonly Field[], valued: string): readonly Field[] {
  let at = 0
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? ''
    if (text === '--') return args.slice(at + 1)
    if (!/^-[a-z]+$/i.test(text)) break
    if (valued !== '' && text.endsWith(valued)) at++
  }
  return args.slice(at)
}

/** Activating an environment of Python only runs other code. Any other file can change what each later program means. */
function source(args: readonly Field[], shell: Shell): ShellOutcome {
  const [file = exactly('')] = args[0]?.text === '--' ? args.slice(1) : args
  noteRead(file, shell)
  if (/(?:^|\/)bin\/activate$/.test(exactText(file) ?? '')) shell.found.add('runs_other_code', 'source')
  else unknown(shell, 'a file runs in the shell itself')
  return staying(shell)
}

function trap(args: readonly Field[], shell: Shell): ShellOutcome {
  const [code, ...signals] = args[0]?.text === '--' ? args.slice(1) : args
  if (!code || signals.length === 0 || /^-[lp]?$/.test(code.text)) return staying(shell)
  const text = exactText(code)
  if (text === undefined) unknown(shell, DYNAMIC)
  // It runs later, wherever the shell is then.
  else shell.run.text(text, fork(shell, { cwds: undefined, vars: new Map() }))
  return staying(shell)
}

const SAFE_SHOPT =
  /^(?:nullglob|globstar|dotglob|extglob|failglob|nocaseglob|nocasematch|inherit_errexit|checkwinsize|histappend)$/

function set(args: readonly Field[], shell: Shell): ShellOutcome {
  if (args.length === 0) shell.found.add('secrets', 'set')
  for (const field of args) {
    if (field.text === '--' || !/^[-+\0]/.test(field.text)) break
    if (hasHole(field) || /^-\w*k/.test(field.text))
      unknown(shell, 'an option of the shell changes how it reads commands')
  }
  if (args.some(({ text }) => text === 'keyword' || text === 'history'))
    unknown(shell, 'an option of the shell changes how it reads commands')
  return staying(shell)
}

function shopt(args: readonly Field[], shell: Shell): ShellOutcome {
  const sets = args.some(({ text }) => /^-\w*s/.test(text))
  const names = args.filter(({ text }) => !text.startsWith('-'))
  const isSafe = names.every((field) => SAFE_SHOPT.test(exactText(field) ?? ''))
  return refused(sets && !isSafe, 'an option of the shell changes how it reads commands', shell)
}

function declare(args: readonly Field[], shell: Shell): ShellOutcome {
  const options = args.filter(({ text }) => /^[-+][a-zA-Z]+$/.test(text))
  const names = args.filter((field) => !options.includes(field))
  const letters = options.map(({ text }) => text).join('')
  if (/[in]/.test(letters)) unknown(shell, 'arithmetic on a value that may contain code')
  if (names.length === 0 && !/[fF]/.test(letters)) shell.found.add('secrets', 'declare')
  for (const field of names) {
    const [, name, append = ''] = /^([A-Za-z_]\w*)(?:(\+?)=|$)/.exec(field.text) ?? []
    if (name === undefined) {
      unknown(shell, 'a variable is not known before it is set')
      continue
    }
    const equal = field.text.indexOf('=')
    if (equal < 0) continue
    const value = after(field, equal + 1)
    if (/[aA]/.test(letters) && /[`$(]/.test(value.text))
      unknown(shell, 'the value of a variable runs as code')
    noteVariable(name, value, shell)
    if (append === '' && letters === '') setVar(name, value, shell)
  }
  return staying(shell)
}

/** Builtins that set the variables in their arguments. The index of a variable is arithmetic. */
function setsNames(args: readonly Field[], shell: Shell): ShellOutcome {
  for (const field of args) {
    if (/^-[a-z]*C/.test(field.text)) unknown(shell, DYNAMIC)
    if (/^(?:-v)?[A-Za-z_]\w*\[/.test(field.text) || field.text.startsWith('\0'))
      unknown(shell, 'the index of a variable may contain code')
    if (/^(?:-v)?[A-Za-z_]\w*$/.test(field.text))
      noteVariable(field.text.replace(/^-v/, ''), exactly('\0'), shell)
  }
  return staying(shell)
}

function readTest(args: readonly Field[], shell: Shell): ShellOutcome {
  const isIndex = args.some(({ text }, i) => /^-[vR]$/.test(text) && !/^\w*$/.test(args[i + 1]?.text ?? ''))
  // An operator that is not known before the command runs can be `-v`.
  const isHidden =
    args.some((field) => field.isMany && hasHole(field)) && args.some(({ text }) => text.includes('['))
  return refused(
    isIndex || (isHidden && args.at(-1)?.text !== ']'),
    'the index of a variable may contain code',
    shell,
  )
}
