// The gaps in the facts of the observed calls. A rule allows a call with a gap only if its condition names the gap.

import { celList } from './cel.ts'
import type { ObservedCall } from './observed.ts'

const SHELL = ['unknown', 'unknown_programs', 'runs_other_code'] as const

/** The conditions that allow exactly the gaps of the calls: these programs, these reasons, these paths. */
export function gapTerms(calls: readonly ObservedCall[]): readonly string[] {
  const facts = calls.flatMap((call) => (call.facts ? [call.facts] : []))
  const shell = SHELL.flatMap((name) =>
    termOf(
      `shell.${name}`,
      facts.flatMap((each) => each.shell[name]),
    ),
  )
  const unresolved = facts.flatMap(({ files }) => files.unresolved)
  return [...shell, ...termOf('files.unresolved', unresolved)]
}

function termOf(name: string, seen: readonly string[]): readonly string[] {
  return seen.length === 0 ? [] : [`${name}.all(x, x in ${celList([...new Set(seen)].sort())})`]
}
