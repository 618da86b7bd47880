// A call tried on a policy file alone.

import { readFileSync } from 'node:fs'
import type { ToolCall } from '@tollgate/kernel'
import { explainCall } from '@tollgate/kernel/explanation'
import { parsePolicy } from '@tollgate/kernel/policy'
import { tryCall } from '@tollgate/kernel/trial'
import { showExplanation, type ShownExplanation } from '../api/explained.ts'
import { CommandError } from './terminal.ts'

/** Explains how a policy file judges a call at a time. @throws CommandError with every mistake in the file. */
export function tryFile(file: string, call: ToolCall, time: number): ShownExplanation {
  const parsed = parsePolicy(readFileSync(file, 'utf8'))
  if (!parsed.ok) {
    throw new CommandError(
      `\`${file}\` has mistakes, so nothing can be explained by it`,
      ...parsed.mistakes.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`),
    )
  }
  const { intent, snapshot } = tryCall(parsed.policy, call, time)
  return showExplanation(explainCall(intent, snapshot), parsed.policy.hash)
}
