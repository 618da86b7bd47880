// The values of variables, as far as they are known before the command runs.

import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart, Word } from 'unbash'
import { ANYTHING, exactly, type Field } from './field.ts'
import { unknown, type Shell } from './shell.ts'

/** Reads the words inside of a parameter. */
interface WordReader {
  readonly expand: (word: Word) => readonly Field[]
  /** Checks a word that the shell evaluates as arithmetic. */
  readonly checkNumber: (word: Word) => void
}

const SECRET =
  /(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|APIKEY|KEY|CREDENTIALS?|AUTH|COOKIE|PAT|DSN)(?:_|$)|DATABASE_URL|CONNECTION_STRING/
const MAX_VARS = 128
const NO_SECRET = new Set(['PWD', 'OLDPWD', 'SSH_AUTH_SOCK'])
/** Values that are numbers: a number in a path leads nowhere else. */
const NUMBER: Field = { text: '*', isPattern: true, isMany: false }
const NUMBERS = new Set([
  '?',
  '#',
  '$',
  '!',
  'RANDOM',
  'SRANDOM',
  'LINENO',
  'UID',
  'EUID',
  'PPID',
  'SECONDS',
  'BASHPID',
  'COLUMNS',
  'LINES',
])

/** Returns the values of `$x` or `${x…}`, and runs the code in it. */
export function readParameter(
  part: SimpleExpansionPart | ParameterExpansionPart,
  shell: Shell,
  reader: WordReader,
): readonly Field[] {
  if (part.type === 'SimpleExpansion') return valuesOf(part.text.slice(1), shell)
  const { parameter, prefix, index, operation, text } = part
  noteSecret(parameter, shell)
  if (index && !/^[@*]$/.test(index.text)) reader.checkNumber(index)
  if (operation) readOperation(operation, shell, reader)
  if (prefix === '#') return [NUMBER]
  if (prefix === undefined && !index && !operation) {
    if (text === `\${${parameter}}`) return valuesOf(parameter, shell)
    unknown(shell, 'a word cannot be read')
  }
  return [ANYTHING]
}

function readOperation(
  operation: ParameterOperation,
  shell: Shell,
  { expand, checkNumber }: WordReader,
): void {
  switch (operation.type) {
    case 'Default':
    case 'Remove':
      expand(operation.operand)
      return
    case 'Replace':
      expand(operation.pattern)
      expand(operation.replacement)
      return
    case 'Slice':
      checkNumber(operation.offset)
      if (operation.length) checkNumber(operation.length)
      return
    case 'CaseModification':
      if (operation.operand) expand(operation.operand)
      return
    case 'Names':
      return
    case 'Transform':
      // `@P` runs the commands in the value.
      if (!/^[QEAaKkUuL]$/.test(operation.operand.text))
        unknown(shell, 'the value of a variable runs as code')
      return
    case 'Unknown':
      unknown(shell, 'a word cannot be read')
  }
}

/** The values of a variable by its name. */
function valuesOf(name: string, shell: Shell): readonly Field[] {
  noteSecret(name, shell)
  if (NUMBERS.has(name)) return [NUMBER]
  const known = shell.vars.get(name)
  if (known) return known
  if (name === 'HOME' && shell.home !== undefined && shell.names.isUntouched('HOME'))
    return [exactly(shell.home)]
  if (name === 'PWD' && shell.cwds?.length === 1 && shell.names.isUntouched('PWD'))
    return [exactly(shell.cwds[0] ?? '')]
  return [ANYTHING]
}

/** Notes a variable that contains a secret by its name, unless the script itself has given it its value. */
export function noteSecret(name: string, { found, vars }: Shell): void {
  if (SECRET.test(name) && !NO_SECRET.has(name) && !vars.has(name)) found.add('secrets', `$${name}`)
}

/** Gives a variable a value, if only this place of the script does. */
export function setVar(name: string, value: Field | undefined, shell: Shell): void {
  if (value && shell.names.isSetOnce(name) && shell.vars.size < MAX_VARS)
    shell.vars = withVar(shell.vars, name, [value])
}

/** Returns the variables with another value for one of them. */
export function withVar(vars: Shell['vars'], name: string, value: readonly Field[]): Shell['vars'] {
  return new Map([...vars, [name, value]])
}
