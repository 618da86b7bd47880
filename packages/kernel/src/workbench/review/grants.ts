// Rules that allow more than anybody may have thought of.

import type { EffectClass } from '@tollgate/evidence'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy, Rule, ToolDeclaration } from '../../policy/parse/parse.ts'
import { covers, Directory, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote } from './remark.ts'

// Servers put their name before those of their tools.
const EVERYTHING = [glob('*'), glob('*/*')]
const GRAVE: ReadonlySet<EffectClass> = new Set(['delete', 'pay', 'admin', 'execute'])

/** Looks at rules that decide whenever they fit, one after the other; `isDecided` says of a tool that earlier rules do. */
interface GrantReview {
  look(
    rule: Rule,
    place: number,
    unconditional: boolean,
    isDecided: (tool: Glob) => boolean,
  ): readonly RemarkNote[]
}

/** Begins with no rules. */
export function createGrantReview({ tools }: Policy, budget: Budget): GrantReview {
  const grave = tools.filter(({ effect }) => GRAVE.has(effect))
  const directory = new Directory(
    grave.map((tool): [Glob, ToolDeclaration] => [tool.name, tool]),
    budget,
  )
  // Tools of which an earlier rule refuses some calls, or asks: what is left is allowed on purpose.
  const considered = new PatternIndex<true>(budget)
  return {
    look(rule, place, unconditional, isDecided) {
      if (rule.action !== 'allow') for (const tool of rule.tools) considered.add(tool, true)
      if (rule.action !== 'allow' || !unconditional) return []
      if (rule.tools.some((tool) => EVERYTHING.some((all) => covers(tool, all))))
        return [everythingNote(rule, place)]
      const bare = new Map<string, ToolDeclaration>()
      for (const pattern of rule.tools) {
        for (const tool of directory.touching(pattern)) {
          const isSeenTo = considered.covering(tool.name).next().done !== true || isDecided(tool.name)
          if (!isSeenTo) bare.set(tool.name.source, tool)
        }
      }
      return bare.size === 0 ? [] : [graveNote(rule, place, [...bare.values()])]
    },
  }
}

function everythingNote(rule: Rule, place: number): RemarkNote {
  const { principals, sessions, doors } = rule
  const isLimited = principals.length + sessions.length + doors.length > 0
  return {
    path: ['rules', place],
    code: 'ALLOWS_EVERYTHING',
    message: `rule \`${rule.id}\` allows every tool${isLimited ? ' to whom it is for' : ''}, also those that come later`,
    remedy: 'name the tools that are meant; what no rule names is denied',
  }
}

function graveNote(rule: Rule, place: number, tools: readonly ToolDeclaration[]): RemarkNote {
  const classes = [...new Set(tools.map(({ effect }) => effect))].join(', ')
  return {
    path: ['rules', place],
    code: 'ALLOWS_DANGER',
    message: `rule \`${rule.id}\` allows ${listed(tools.map(({ name }) => name.source))} (${classes}) without a condition`,
    remedy: 'add `when`, or write `require` to ask a person',
  }
}
