// Reads a policy file for a command and formats its mistakes.

import { readFileSync } from 'node:fs'
import { parsePolicy, type Mistake, type Policy } from '@tollgate/kernel/policy'
import { CommandError } from '../program/terminal.ts'

/** Reads the policy of a file. `so` is added to the error, such as `; nothing changes`. @throws CommandError with every mistake. */
export function policyIn(file: string, so = ''): Policy {
  const parsed = parsePolicy(readFileSync(file, 'utf8'))
  if (parsed.ok) return parsed.policy
  throw new CommandError(`\`${file}\` has mistakes${so}`, ...placed(file, parsed.mistakes))
}

/** Formats mistakes as `file:line:column: message`, which editors and terminals can open. */
export function placed(file: string, mistakes: readonly Mistake[]): readonly string[] {
  return mistakes.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
}
