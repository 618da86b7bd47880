// Reads a shell command: what it does to files, hosts and processes, as far as its text shows that before it runs.

import { forEachChild } from 'unbash'
import { NO_COMMAND, type CommandFacts } from './facts.ts'
import { createFound, TooMuch, type FactsFound } from './found.ts'
import type { Start } from './place.ts'
import { runProgram } from './programs/run.ts'
import { createNames } from './script/names.ts'
import { parseScript } from './script/parse.ts'
import { staying, unknown, type ShellOutcome, type Runner, type Shell } from './script/shell.ts'
import { functionsIn, runBody, runNodes } from './script/walk.ts'

/** Returns the facts of a command that starts in a directory. `undefined` is a command that is no text. Never throws. */
export function readCommand(text: string | undefined, start: Start): CommandFacts {
  if (text === undefined) return { ...NO_COMMAND, unknown: ['the command is not a text'] }
  const found = createFound()
  try {
    read(text, start, found)
  } catch (fault) {
    // The parser reads nested parts when they are visited, and its faults come out there.
    const why =
      fault instanceof TooMuch ? 'the command is too long or nested too deep' : 'the command cannot be read'
    return withUnknown(found.facts(), why)
  }
  return found.facts()
}

function withUnknown(facts: CommandFacts, why: string): CommandFacts {
  return { ...facts, unknown: [...facts.unknown, why] }
}

function read(text: string, { cwd, home }: Start, found: FactsFound): void {
  const shell: Shell = {
    found,
    names: createNames(found),
    home,
    cwds: cwd === undefined ? undefined : [cwd],
    past: [],
    vars: new Map(),
    functions: new Map(),
    depth: 0,
    stdin: undefined,
    isFunction: false,
    called: new Set(),
    run: RUNNER,
  }
  runText(text, shell)
}

// Each level repeats the work of the parser.
const MAX_DEPTH = 8

const RUNNER: Runner = {
  nodes: (code, shell) => runNodes(code, deeper(shell)),
  body: (body, shell) => runBody(body, deeper(shell)),
  text: runText,
  command: (fields, shell) => runProgram(fields, deeper(shell)),
}

function deeper(shell: Shell): Shell {
  if (shell.depth >= MAX_DEPTH) throw new TooMuch()
  return { ...shell, depth: shell.depth + 1 }
}

/** Runs code that is a text. The functions in it can be called anywhere in it. */
function runText(text: string, shell: Shell): ShellOutcome {
  shell.found.step(text.length)
  const script = parseScript(text)
  if ('refused' in script) {
    unknown(shell, script.refused)
    return staying(shell)
  }
  shell.names.add(script)
  const functions = functionsIn(script, shell.found, forEachChild)
  const inner = { ...deeper(shell), functions: joined(shell.functions, functions) }
  const outcome = runNodes(script, inner)
  // A function that is not called here may still be called later, by another command in the same shell.
  const others = [...functions].filter(([name]) => !shell.called.has(name))
  for (const body of others.flatMap(([, bodies]) => bodies))
    runBody(body, { ...inner, vars: new Map(), isFunction: true })
  return outcome
}

function joined(a: Shell['functions'], b: Shell['functions']): Shell['functions'] {
  return new Map([
    ...a,
    ...[...b].map(([name, bodies]) => [name, [...(a.get(name) ?? []), ...bodies]] as const),
  ])
}
