// Walks through a script in the order in which a shell runs it, and follows the directories that it is in.

import type {
  AndOr,
  Case,
  CommandNode,
  CompoundCommand,
  CompoundList,
  For,
  Function as FunctionNode,
  If,
  ParsedScript,
  PipelineNode,
  Redirected,
  Select,
  Statement,
  SyntaxNode,
  While,
} from 'unbash'
import { readArithmetic } from './arithmetic.ts'
import { ANYTHING } from './field.ts'
import { readRedirections } from './redirect.ts'
import { either, ENDED, fork, staying, unknown, type ShellOutcome, type Shell } from './shell.ts'
import { runCommand } from './simple.ts'
import { readTest } from './test.ts'
import { withVar } from './variables.ts'
import { expand } from './word.ts'

type Runnable = PipelineNode | AndOr | CompoundList

/** Runs the statements of a script or of a list. */
export function runNodes(code: ParsedScript | CompoundList, shell: Shell): ShellOutcome {
  let last = staying(shell)
  for (const statement of code.commands) {
    const start = shell.cwds
    last = runStatement(statement, shell)
    const after = either(last.ok, last.bad)
    // Nothing runs after `exit`, but the reader continues, so that it never misses a command.
    shell.cwds = after?.length === 0 ? start : after
  }
  return last
}

function runStatement({ command, background }: Statement, shell: Shell): ShellOutcome {
  shell.found.step()
  if (background !== true) return run(command, shell)
  shell.found.set('background')
  run(command, fork(shell))
  return staying(shell)
}

function run(node: Runnable, shell: Shell): ShellOutcome {
  shell.found.step()
  if (isCompound(node)) return runCompound(node, shell)
  switch (node.type) {
    case 'AndOr':
      return runAndOr(node, shell)
    case 'Pipeline':
      return runPipeline(
        node.commands,
        node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1,
        shell,
      )
    case 'CompoundList':
      return runNodes(node, shell)
    case 'Command':
      return runCommand(node, shell)
    case 'Function':
      // A function runs where it is called. Its redirections belong to that call.
      return staying(shell)
    case 'Coproc':
      shell.found.set('background')
      run(node.body, fork(shell, { stdin: 'pipe' }))
      return staying(shell)
    case 'Redirected':
      return runRedirected(node, shell)
  }
}

const COMPOUND =
  /^(?:If|For|ArithmeticFor|Select|While|Subshell|BraceGroup|Case|TestCommand|ArithmeticCommand)$/

function isCompound(node: Runnable): node is CompoundCommand {
  return COMPOUND.test(node.type)
}

function runRedirected({ command, redirects }: Redirected, shell: Shell): ShellOutcome {
  const stdin = readRedirections(redirects, shell)
  const inner = fork(shell, stdin === undefined ? {} : { stdin })
  const outcome = runCompound(command, inner)
  Object.assign(shell, { cwds: inner.cwds, past: inner.past, vars: inner.vars })
  return outcome
}

function runAndOr({ commands, operators }: AndOr, shell: Shell): ShellOutcome {
  const [first, ...others] = commands
  if (!first) return staying(shell)
  let outcome = run(first, shell)
  const { vars } = shell
  for (const [i, command] of others.entries()) {
    const isAnd = operators[i] === '&&'
    const start = isAnd ? outcome.ok : outcome.bad
    // A part that never runs is read all the same.
    shell.cwds = start?.length === 0 ? either(outcome.ok, outcome.bad) : start
    const next = run(command, shell)
    const skipped = isAnd ? outcome.bad : outcome.ok
    outcome = isAnd
      ? { ok: next.ok, bad: either(next.bad, skipped) }
      : { ok: either(next.ok, skipped), bad: next.bad }
  }
  if (others.length > 0) shell.vars = vars
  return outcome
}

function runPipeline(commands: readonly CommandNode[], isNegated: boolean, shell: Shell): ShellOutcome {
  const [only, ...others] = commands
  if (only && others.length === 0) {
    const { ok, bad } = run(only, shell)
    return isNegated ? { ok: bad, bad: ok } : { ok, bad }
  }
  for (const [i, command] of commands.entries()) run(command, fork(shell, i === 0 ? {} : { stdin: 'pipe' }))
  return staying(shell)
}

function runCompound(node: CompoundCommand, shell: Shell): ShellOutcome {
  switch (node.type) {
    case 'Subshell':
      runNodes(node.body, fork(shell))
      return staying(shell)
    case 'BraceGroup':
      return runNodes(node.body, shell)
    case 'If':
      return runIf(node, shell)
    case 'For':
      return runFor(node, shell)
    case 'Select':
      return runLoop(node, [node.body], shell)
    case 'While':
      return runLoop(node, [node.clause, node.body], shell)
    case 'ArithmeticFor':
      for (const part of [node.initialize, node.test, node.update]) if (part) readArithmetic(part, shell)
      return runLoop(node, [node.body], shell)
    case 'Case':
      return runCase(node, shell)
    case 'TestCommand':
      readTest(node.expression, shell)
      return staying(shell)
    case 'ArithmeticCommand':
      readArithmetic(node.expression, shell)
      return staying(shell)
  }
}

/** Runs parts of which the shell runs at most one. Each starts where the previous one did. */
function runBranches(
  shell: Shell,
  branches: readonly (() => ShellOutcome)[],
  isComplete: boolean,
): ShellOutcome {
  const { cwds: start, vars } = shell
  let outcome: ShellOutcome = isComplete ? ENDED : staying(shell)
  for (const branch of branches) {
    Object.assign(shell, { cwds: start, vars })
    const { ok, bad } = branch()
    outcome = { ok: either(outcome.ok, ok), bad: either(outcome.bad, bad) }
  }
  Object.assign(shell, { cwds: start, vars })
  return outcome
}

function runIf(node: If, shell: Shell): ShellOutcome {
  const conditions = [node, ...node.elif]
  const branches = conditions.map(({ clause, then }) => () => {
    const { ok } = runNodes(clause, shell)
    if (ok?.length !== 0) shell.cwds = ok
    return runNodes(then, shell)
  })
  // A condition that fails can also have changed the directory.
  const skip = (): ShellOutcome => {
    for (const { clause } of conditions) {
      const { bad } = runNodes(clause, shell)
      if (bad?.length !== 0) shell.cwds = bad
    }
    return node.else ? runNodes(node.else, shell) : staying(shell)
  }
  return runBranches(shell, [...branches, skip], true)
}

function runCase(node: Case, shell: Shell): ShellOutcome {
  expand(node.word, shell)
  for (const { pattern } of node.items) for (const word of pattern) expand(word, shell)
  return runBranches(
    shell,
    node.items.map(
      ({ body }) =>
        () =>
          runNodes(body, shell),
    ),
    false,
  )
}

const MAX_ROUNDS = 16

/** Runs the body for each item, if the items are known. */
function runFor(node: For, shell: Shell): ShellOutcome {
  const name = node.name.text
  const items = node.wordlist?.flatMap((word) => expand(word, shell)) ?? [ANYTHING]
  const start = shell.cwds
  if (items.length > MAX_ROUNDS || !shell.names.isSetOnce(name))
    return runLoop({ ...node, wordlist: [] }, [node.body], shell)
  const { vars } = shell
  for (const item of items) {
    shell.vars = withVar(shell.vars, name, [{ ...item, isMany: false }])
    const { ok, bad } = runNodes(node.body, shell)
    // `break`, `exit` and `continue` end a round early.
    shell.cwds = either(either(ok, bad), start)
  }
  shell.vars = vars
  return staying(shell)
}

type LoopNode = For | Select | While | Extract<CompoundCommand, { readonly type: 'ArithmeticFor' }>

function runLoop(node: LoopNode, parts: readonly CompoundList[], shell: Shell): ShellOutcome {
  if ('wordlist' in node) node.wordlist?.forEach((word) => expand(word, shell))
  const { vars, cwds: start } = shell
  const round = (): void => parts.forEach((part) => void runNodes(part, shell))
  round()
  // A later round starts where the first one ended, which can lead anywhere.
  if (String(shell.cwds) !== String(start)) {
    shell.cwds = undefined
    round()
    shell.cwds = undefined
  }
  shell.vars = vars
  return staying(shell)
}

/** Returns the functions that a script defines anywhere, by name. */
export function functionsIn(
  script: ParsedScript,
  found: Shell['found'],
  each: (node: SyntaxNode, visit: (child: SyntaxNode) => void) => void,
): Map<string, FunctionNode['body'][]> {
  const functions = new Map<string, FunctionNode['body'][]>()
  const visit = (node: SyntaxNode): void => {
    found.step()
    if (node.type === 'Function') {
      const name = node.name.text
      functions.set(name, [...(functions.get(name) ?? []), node.body])
    }
    each(node, visit)
  }
  visit(script)
  return functions
}

/** Runs the body of a function. */
export function runBody(body: FunctionNode['body'], shell: Shell): ShellOutcome {
  if (body.type === 'CompoundList') unknown(shell, 'a function cannot be read')
  return run(body, shell)
}
