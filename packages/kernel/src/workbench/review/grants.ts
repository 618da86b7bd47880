// Finds rules that may allow more than intended.

import type { EffectClass } from '@tollgate/evidence'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy, Rule, ToolDeclaration } from '../../policy/parse/parse.ts'
import { covers, Directory, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote } from './remark.ts'

// Servers prefix the names of their tools with their own.
const EVERYTHING = [glob('*'), glob('*/*')]
const DANGEROUS: ReadonlySet<EffectClass> = new Set(['delete', 'pay', 'admin', 'execute'])

/** Checks unconditional rules in order. `isDecided` returns whether earlier rules decide all calls of a tool. */
interface GrantReview {
  look(
    rule: Rule,
    place: number,
    unconditional: boolean,
    isDecided: (tool: Glob) => boolean,
  ): readonly RemarkNote[]
}

/** Starts without rules. */
export function createGrantReview({ tools }: Policy, budget: Budget): GrantReview {
  const dangerous = tools.filter(({ effect }) => DANGEROUS.has(effect))
  const directory = new Directory(
    dangerous.map((tool): [Glob, ToolDeclaration] => [tool.name, tool]),
    budget,
  )
  // Tools for which an earlier rule denies or escalates some calls: allowing the rest is intended.
  const considered = new PatternIndex<true>(budget)
  return {
    look(rule, place, unconditional, isDecided) {
      if (rule.action !== 'allow') for (const tool of rule.tools) considered.add(tool, true)
      if (rule.action !== 'allow' || !unconditional) return []
      if (rule.tools.some((tool) => EVERYTHING.some((all) => covers(tool, all))))
        return [everythingNote(rule, place)]
      const unchecked = new Map<string, ToolDeclaration>()
      for (const pattern of rule.tools) {
        for (const tool of directory.touching(pattern)) {
          const isChecked = considered.covering(tool.name).next().done !== true || isDecided(tool.name)
          if (!isChecked) unchecked.set(tool.name.source, tool)
        }
      }
      return unchecked.size === 0 ? [] : [dangerNote(rule, place, [...unchecked.values()])]
    },
  }
}

function everythingNote(rule: Rule, place: number): RemarkNote {
  const { principals, sessions, doors } = rule
  const isLimited = principals.length + sessions.length + doors.length > 0
  return {
    path: ['rules', place],
    code: 'ALLOWS_EVERYTHING',
    message: `rule \`${rule.id}\` allows every tool${isLimited ? ' for the callers that it matches' : ''}, including tools that are added later`,
    remedy: 'list the intended tools by name; tools that no rule names are denied',
  }
}

function dangerNote(rule: Rule, place: number, tools: readonly ToolDeclaration[]): RemarkNote {
  const classes = [...new Set(tools.map(({ effect }) => effect))].join(', ')
  return {
    path: ['rules', place],
    code: 'ALLOWS_DANGER',
    message: `rule \`${rule.id}\` allows ${listed(tools.map(({ name }) => name.source))} (${classes}) without a condition`,
    remedy: 'add a `when` condition, or use `require` to ask a person',
  }
}
