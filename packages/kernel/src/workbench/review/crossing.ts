// Finds rules that deny or escalate and that an earlier rule partly overrides: `allow: "*/read"` before `deny: "vault/*"`.
//
// An earlier rule whose pattern is inside the later one is a normal exception. If the patterns only overlap, the author may believe
// that the later rule applies to everything that it names.

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

/** Checks the tools that are known by name. */
export function crossingNotes(
  policy: Policy,
  names: readonly string[],
  budget: Budget,
): readonly RemarkNote[] {
  const index = new PatternIndex<CrossingEntry>(budget)
  for (const [place, rule] of policy.rules.entries()) {
    // Of the rules that allow, only unconditional ones take calls from others.
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
    message: `rule \`${later.id}\` does not apply to ${listed(tools)}: rule \`${earlier.id}\` (line ${earlier.line}) allows the calls first`,
    remedy: `move it before \`${earlier.id}\`, or list the tools of \`${earlier.id}\` by name`,
  }
}
