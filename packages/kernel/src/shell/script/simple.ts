// A simple command: assignments, redirections, and a program with its arguments.

import type { Assignment, Command, CommandArgument } from 'unbash'
import { noteVariable } from '../programs/environment.ts'
import { runProgram } from '../programs/run.ts'
import { checkNumber } from './arithmetic.ts'
import { ANYTHING, exactly, exactText, glued, type Field } from './field.ts'
import { readRedirections } from './redirect.ts'
import { fork, staying, unknown, type ShellOutcome, type Shell } from './shell.ts'
import { expand, expandOne } from './word.ts'
import { setVar } from './variables.ts'

/** Runs a simple command. */
export function runCommand(node: Command, shell: Shell): ShellOutcome {
  shell.found.step()
  const fields = [
    ...(node.name ? expand(node.name, shell) : []),
    ...node.args.flatMap((each) => argument(each, shell)),
  ]
  const assignments = node.prefix.filter((each) => each.type === 'Assignment')
  // `IFS= read` changes nothing but how the line is split.
  const isRead = exactText(fields[0] ?? ANYTHING) === 'read'
  const values = assignments.map((each) => assign(each, shell, !(isRead && each.name === 'IFS')))
  const stdin = readRedirections(node.redirects, shell)
  if (fields.length === 0) {
    if (node.name) unknown(shell, 'the name of a program is not known before it runs')
    assignments.forEach(({ name, append, index }, i) => {
      if (append !== true && !index) setVar(name, values[i], shell)
    })
    return staying(shell)
  }
  const inner = fork(shell, stdin === undefined ? {} : { stdin })
  const outcome = runProgram(fields, inner)
  Object.assign(shell, { cwds: inner.cwds, past: inner.past, vars: inner.vars })
  return outcome
}

/** An argument. One such as `a=b` is an assignment for `export`, and a text for every other program. */
function argument(node: CommandArgument, shell: Shell): readonly Field[] {
  if (node.type === 'Word') return expand(node, shell)
  const value = assign(node, shell)
  return [value ? glued(exactly(`${node.name}${node.append === true ? '+' : ''}=`), value) : ANYTHING]
}

/** Reads an assignment, and returns its value; undefined for an array. */
function assign({ name, value, index }: Assignment, shell: Shell, isNoted = true): Field | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name)) unknown(shell, 'an assignment cannot be read')
  if (index) checkIndex(index, shell)
  if (value.type === 'ArrayValue') {
    value.elements.forEach((element) => {
      // `[i]=x` in a list has an index, which is arithmetic.
      if (/^\[(?!\d+\]=)/.test(element.text)) unknown(shell, 'the index of a variable may contain code')
      expand(element, shell)
    })
    noteVariable(name, ANYTHING, shell)
    return undefined
  }
  const field = expandOne(value, shell)
  if (isNoted) noteVariable(name, field, shell)
  return field
}

function checkIndex(index: Extract<Assignment['index'], object>, shell: Shell): void {
  checkNumber(index, shell)
}
