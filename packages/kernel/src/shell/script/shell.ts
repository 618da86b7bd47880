// The state of a shell while its commands are read: directories, variables, functions.

import type { CompoundList, Function as FunctionNode, ParsedScript } from 'unbash'
import type { FactsFound } from '../found.ts'
import type { Field } from './field.ts'
import type { ScriptNames } from './names.ts'

/** Directories that a shell may be in. `undefined`: it may be in any. An empty list: the shell has ended. */
export type Cwds = readonly string[] | undefined

/** Directories after a command, if it succeeded and if it failed. */
export interface ShellOutcome {
  readonly ok: Cwds
  readonly bad: Cwds
}

/** The standard input of a command, if it is known: a script, or something from elsewhere. */
export type Stdin = { readonly script: string } | 'pipe' | undefined

/** One shell. A subshell is a copy. */
export interface Shell {
  readonly found: FactsFound
  readonly names: ScriptNames
  readonly home: string | undefined
  cwds: Cwds
  /** Every directory that the shell was in, for `cd -` and `popd`. */
  past: readonly string[]
  /** The variables that have a known value. */
  vars: ReadonlyMap<string, readonly Field[]>
  readonly functions: ReadonlyMap<string, readonly FunctionNode['body'][]>
  /** The depth of nested scripts and functions. */
  readonly depth: number
  readonly stdin: Stdin
  /** The code is the body of a function, so that `return` ends it. */
  readonly isFunction: boolean
  /** The functions that were called. */
  readonly called: Set<string>
  /** Reads nested code. Here, because words contain scripts and scripts contain words. */
  readonly run: Runner
}

/** Reads code in a shell. */
export interface Runner {
  /** Code in a tree, such as a substitution. */
  readonly nodes: (code: ParsedScript | CompoundList, shell: Shell) => ShellOutcome
  /** The body of a function. */
  readonly body: (body: FunctionNode['body'], shell: Shell) => ShellOutcome
  /** Code as text, such as that of `bash -c`. */
  readonly text: (code: string, shell: Shell) => ShellOutcome
  /** A command of another command, such as that of `sudo`. */
  readonly command: (fields: readonly Field[], shell: Shell) => ShellOutcome
}

const MAX_CWDS = 8

/** Returns a copy of a shell: what happens in it does not change the directories and variables of the first. */
export function fork(shell: Shell, changes: Partial<Shell> = {}): Shell {
  return { ...shell, ...changes }
}

/** The outcome of a command that stays in the directory. */
export function staying({ cwds }: Shell): ShellOutcome {
  return { ok: cwds, bad: cwds }
}

/** The outcome of a command after which the shell does not continue. */
export const ENDED: ShellOutcome = { ok: [], bad: [] }

/** Returns all directories of both lists. */
export function either(a: Cwds, b: Cwds): Cwds {
  if (!a || !b) return undefined
  const all = [...new Set([...a, ...b])]
  return all.length > MAX_CWDS ? undefined : all
}

/** Notes a reason why a part of the command is not known. */
export function unknown(shell: Shell, why: string): void {
  shell.found.add('unknown', why)
}
