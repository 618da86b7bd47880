// Finds rules that earlier rules make unreachable, completely or in part.
//
// An earlier rule certainly decides if it has no condition, or exactly the same one: if that is false it is false again, and if it
// fails the earlier rule denies. Rules that could decide are not reported.

import { DOORS } from '@tollgate/evidence/core'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Rule } from '../../policy/parse/parse.ts'
import { covers, PatternIndex, type Budget } from './patterns.ts'
import { listed, type RemarkNote } from './remark.ts'

const ALL_DOORS = 2 ** DOORS.length - 1
const ANY = glob('*')

/** A rule that decides all matching calls of one tool pattern. */
interface Cover {
  readonly rule: Rule
  readonly place: number
  readonly doors: number
}

/** The result for one rule. */
interface Reach {
  /** Whether it can never decide. */
  readonly isDead: boolean
  readonly notes: readonly RemarkNote[]
}

/** Checks rules one by one, in order. */
interface Tracker {
  /** Returns what earlier rules leave of this one; `unconditional` if its condition does not matter. */
  look(rule: Rule, place: number, unconditional: boolean): Reach
  /** Returns whether earlier unconditional rules decide all calls of this tool. */
  isDecided(tool: Glob): boolean
}

/** Starts without rules. */
export function createTracker(budget: Budget): Tracker {
  // By condition, because only rules without one or with the same one are compared.
  const indexes = new Map<string, PatternIndex<Cover>>()
  const indexFor = (condition: string): PatternIndex<Cover> => {
    const index = indexes.get(condition) ?? new PatternIndex<Cover>(budget)
    indexes.set(condition, index)
    return index
  }
  const coversOf = (tool: Glob, condition: string): readonly Cover[] => [
    ...indexFor('').covering(tool),
    ...(condition === '' ? [] : indexFor(condition).covering(tool)),
  ]
  return {
    look(rule, place, unconditional) {
      const condition = unconditional ? '' : (rule.when?.source.trim() ?? '')
      const parts = partsOf(rule, (tool) => coversOf(tool, condition), budget)
      const isDead = parts.every(({ left }) => left === 0)
      // A rule that covers a dead rule also covers everything that the dead rule covers.
      const cover = { rule, place, doors: doorsOf(rule) }
      if (!isDead) for (const tool of rule.tools) indexFor(condition).add(tool, cover)
      return { isDead, notes: isDead ? [deadNote(rule, place, parts)] : shadowNotes(rule, place, parts) }
    },
    isDecided: (tool) =>
      [...indexFor('').covering(tool)].some(
        ({ rule, doors }) =>
          doors === ALL_DOORS && includes(rule.principals, ANY) && includes(rule.sessions, ANY),
      ),
  }
}

/** One tool, principal and session of a rule: the doors at which it still decides, and the rules that decide at the others. */
interface ReachPart {
  readonly tool: number
  readonly principal: number
  readonly session: number
  /** One bit per door. */
  readonly left: number
  readonly by: readonly Cover[]
}

function partsOf(
  rule: Rule,
  coversOf: (tool: Glob) => readonly Cover[],
  budget: Budget,
): readonly ReachPart[] {
  const principals = rule.principals.length > 0 ? rule.principals : [ANY]
  const sessions = rule.sessions.length > 0 ? rule.sessions : [ANY]
  return rule.tools.flatMap((pattern, tool) => {
    const covering = coversOf(pattern)
    return principals.flatMap((who, principal) =>
      sessions.map((which, session) => {
        budget.spend()
        const by = covering.filter((cover) => {
          budget.spend()
          return includes(cover.rule.principals, who) && includes(cover.rule.sessions, which)
        })
        const left = by.reduce((doors, cover) => doors & ~cover.doors, doorsOf(rule))
        return { tool, principal, session, left, by }
      }),
    )
  })
}

/** Returns whether a list of patterns, empty for any, has one that covers this one. */
function includes(patterns: readonly Glob[], inner: Glob): boolean {
  return patterns.length === 0 || patterns.some((outer) => covers(outer, inner))
}

function doorsOf({ doors }: Rule): number {
  return doors.length === 0 ? ALL_DOORS : doors.reduce((mask, door) => mask | (1 << DOORS.indexOf(door)), 0)
}

function deadNote(rule: Rule, place: number, parts: readonly ReachPart[]): RemarkNote {
  return {
    path: ['rules', place],
    code: 'RULE_UNREACHABLE',
    message: `rule \`${rule.id}\` is never reached: ${deciders(parts)}`,
    remedy: `${remedyFor(rule, parts)}, or remove it`,
  }
}

function remedyFor({ action }: Rule, parts: readonly ReachPart[]): string {
  const before = rulesIn(parts)
  const [first] = before
  const place = first ? `before \`${first.id}\`` : 'earlier'
  // Denying or escalating earlier never allows more.
  const opens = action === 'allow' && before.some((rule) => rule.action !== 'allow')
  return `move it ${place}${opens ? ' (it then allows calls that are now denied or escalated)' : ''}`
}

/** Returns `a (line 3) decides these calls first`. */
function deciders(parts: readonly ReachPart[]): string {
  const rules = rulesIn(parts)
  const names = rules.slice(0, 3).map(({ id, line }) => `\`${id}\` (line ${line})`)
  const more = rules.length > 3 ? ` and ${rules.length - 3} more rules` : ''
  return `${names.join(', ')}${more} ${rules.length === 1 ? 'decides' : 'together decide'} these calls first`
}

/** Returns the rules that decide these parts; for each part a single rule if possible. */
function rulesIn(parts: readonly ReachPart[]): readonly Rule[] {
  const found = new Map<number, Rule>()
  for (const { by } of parts) {
    const alone = by.find(({ doors }) => doors === ALL_DOORS)
    for (const { place, rule } of alone ? [alone] : by) found.set(place, rule)
  }
  return [...found].sort(([a], [b]) => a - b).map(([, rule]) => rule)
}

/** Finds names of a rule that have no effect, because earlier rules decide all their calls. */
function shadowNotes(rule: Rule, place: number, parts: readonly ReachPart[]): readonly RemarkNote[] {
  const note = (
    path: RemarkNote['path'],
    what: string,
    names: readonly string[],
    dead: readonly ReachPart[],
  ): RemarkNote => ({
    path: ['rules', place, ...path],
    code: 'RULE_SHADOWED',
    message: `${what} ${listed(names)} of rule \`${rule.id}\` ${names.length === 1 ? 'has' : 'have'} no effect: ${deciders(dead)}`,
    remedy: `${remedyFor(rule, dead)}, or remove ${names.length === 1 ? 'this name' : 'these names'}`,
  })
  const dead = (of: 'tool' | 'principal' | 'session', count: number): readonly number[] => {
    const alive = new Set(parts.filter(({ left }) => left !== 0).map((part) => part[of]))
    return count < 2 ? [] : range(count).filter((i) => !alive.has(i))
  }
  const notes: RemarkNote[] = []
  for (const [of, key, what, patterns] of [
    ['tool', rule.action, 'the tool', rule.tools],
    ['principal', 'principal', 'the principal', rule.principals],
    ['session', 'session', 'the session', rule.sessions],
  ] as const) {
    const indexes = dead(of, patterns.length)
    if (indexes.length === 0) continue
    const names = indexes.map((i) => patterns[i]?.source ?? '')
    const among = new Set(indexes)
    const theirs = parts.filter((part) => among.has(part[of]))
    notes.push(note([key, indexes[0] ?? 0], names.length === 1 ? what : `${what}s`, names, theirs))
  }
  const doors = rule.doors.filter((door) =>
    parts.every(({ left }) => (left & (1 << DOORS.indexOf(door))) === 0),
  )
  if (doors.length > 0)
    notes.push(note(['door'], doors.length === 1 ? 'the door' : 'the doors', doors, parts))
  return notes
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i)
}
