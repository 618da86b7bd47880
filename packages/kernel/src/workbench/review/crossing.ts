// Rules that refuse or ask, and that an earlier rule cuts into from the side: `allow: "*/read"` before `deny: "vault/*"`.
//
// An exception that lies wholly inside of what a later rule names is how exceptions are written. Where the two only cross,
// whoever wrote the later rule may believe that it holds for all it names.

import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy, Rule } from '../../policy/parse/parse.ts'
import { covers, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote } from './remark.ts'

interface CrossingEntry {
  readonly rule: Rule
  readonly place: number
  readonly pattern: Glob
}

interface Crossing {
  readonly earlier: Rule
  readonly later: Rule
  readonly place: number
  readonly tools: string[]
}

/** Looks at the tools that are known by name. */
export function crossingNotes(
  policy: Policy,
  names: readonly string[],
  budget: Budget,
): readonly RemarkNote[] {
  const index = new PatternIndex<CrossingEntry>(budget)
  for (const [place, rule] of policy.rules.entries()) {
    // Of rules that allow, only one that always decides can take calls from another.
    if (rule.action === 'allow' && !decidesForAll(rule)) continue
    for (const pattern of rule.tools) index.add(pattern, { rule, place, pattern })
  }
  const found = new Map<string, Crossing>()
  for (const name of names) {
    const entries = [...index.covering(glob(name))].sort((a, b) => a.place - b.place)
    const first = entries.find(({ rule }) => decidesForAll(rule))
    if (first?.rule.action !== 'allow') continue
    for (const { rule, place, pattern } of entries) {
      if (place <= first.place || rule.action === 'allow' || !crosses(first.pattern, pattern)) continue
      const key = `${first.place} ${place}`
      const crossing = found.get(key) ?? { earlier: first.rule, later: rule, place, tools: [] }
      crossing.tools.push(name)
      found.set(key, crossing)
    }
  }
  return [...found.values()].map(noteOf)
}

function decidesForAll({ when, principals, sessions, doors }: Rule): boolean {
  return !when && principals.length === 0 && sessions.length === 0 && doors.length === 0
}

function crosses(a: Glob, b: Glob): boolean {
  return !covers(a, b) && !covers(b, a)
}

function noteOf({ earlier, later, place, tools }: Crossing): RemarkNote {
  return {
    path: ['rules', place],
    code: 'RULE_CROSSED',
    message: `rule \`${later.id}\` does not hold for ${listed(tools)}: \`${earlier.id}\` (line ${earlier.line}) allows before it`,
    remedy: `put it before \`${earlier.id}\`, or name the tools that \`${earlier.id}\` is for`,
  }
}
