// Gaps in the facts of a call. A rule allows a call with a gap only if its condition names the gap.

import { GAPS, type CallFacts, type Gap } from './facts.ts'
import type { Rule } from '../policy/parse/parse.ts'

/**
 * Returns why a rule does not allow a call whose facts may be incomplete; undefined if it does. Without this, a rule that only looks
 * at deleted files would allow a command that deletes files in a way that nothing shows.
 */
export function gapDetail({ id, when }: Rule, facts: CallFacts): string | undefined {
  const open = GAPS.filter((gap) => itemsOf(gap, facts).length > 0 && when?.names.has(gap) !== true)
  if (open.length === 0) return undefined
  const named = open.map((gap) => `\`${gap}\``).join(', ')
  return `the facts of the call may be incomplete (${named}), and the condition of the rule \`${id}\` does not name this`
}

function itemsOf(gap: Gap, { shell, files }: CallFacts): readonly string[] {
  switch (gap) {
    case 'shell.unknown':
      return shell.unknown
    case 'shell.unknown_programs':
      return shell.unknown_programs
    case 'shell.runs_other_code':
      return shell.runs_other_code
    case 'files.unresolved':
      return files.unresolved
  }
}
