// Reads the policy file that a command names, and prints the mistakes in it.

import { readFileSync } from 'node:fs'
import { parsePolicy, type Mistake, type Policy } from '@tollgate/kernel/policy'
import { CommandError } from '../program/terminal.ts'

/** The policy of a file. `so` is what follows from mistakes, such as `; nothing changes`. @throws CommandError with every mistake. */
export function policyIn(file: string, so = ''): Policy {
  const parsed = parsePolicy(readFileSync(file, 'utf8'))
  if (parsed.ok) return parsed.policy
  throw new CommandError(`\`${file}\` has mistakes${so}`, ...placed(file, parsed.mistakes))
}

/** Mistakes as lines that editors and terminals can follow to their place. */
export function placed(file: string, mistakes: readonly Mistake[]): readonly string[] {
  return mistakes.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
}
