// Finds conditions that are never true or always true.

import { DOORS, EFFECT_CLASSES, TIERS, type EffectClass } from '@tollgate/evidence/core'
import type { ASTNode } from '@marcbachmann/cel-js'
import type { Glob } from '../../policy/glob.ts'
import {
  CONDITION_VARIABLES,
  type Policy,
  type Rule,
  type ToolDeclaration,
} from '../../policy/parse/parse.ts'
import { literalOf, type Domain } from './constraint.ts'
import { outcomeOf, type Knowledge, type ReviewOutcome } from './outcome.ts'
import { Directory, type Budget } from './patterns.ts'
import type { RemarkNote } from './remark.ts'
import { loopVariablesIn, namesIn, nodesIn } from './tree.ts'

/** The possible results of a condition, as far as they are certain. */
type ConditionStatus = 'never' | 'always' | 'open'

/** The status of a condition, with remarks. */
interface JudgedCondition {
  readonly status: ConditionStatus
  readonly notes: readonly RemarkNote[]
}

const OPEN: JudgedCondition = { status: 'open', notes: [] }
const WORDS: Readonly<Record<string, readonly string[]>> = {
  effect: EFFECT_CLASSES,
  door: DOORS,
  tier: TIERS,
}
const VARIABLES = new Map(
  Object.entries(CONDITION_VARIABLES).map(([name, type]) => [name, type === 'timestamp']),
)
const ANY_TEXT: Domain = { kind: 'text', accepts: () => true }

/** Returns a function that judges the conditions of a policy's rules. */
export function createJudge(policy: Policy, budget: Budget): (rule: Rule, place: number) => JudgedCondition {
  const effects = createEffects(policy.tools, budget)
  return (rule, place) => {
    const { when } = rule
    if (!when) return OPEN
    const tree = when.tree()
    const notes = wordNotes(tree, place)
    const { status, fails } = statusOf(tree, rule, effects, budget)
    if (status === 'never') return { status, notes: [...notes, neverNote(rule, place, fails)] }
    if (status === 'always') return { status, notes: [...notes, alwaysNote(rule, place)] }
    return { status, notes }
  }
}

function neverNote({ id, action }: Rule, place: number, fails: boolean): RemarkNote {
  const meant =
    action === 'deny'
      ? 'the rule denies nothing; correct the condition, or remove the rule'
      : 'correct the condition, or remove the rule'
  const instead = fails ? 'it is false, or it fails, which denies the call' : 'it is always false'
  return {
    path: ['rules', place, 'when'],
    code: 'CONDITION_NEVER_TRUE',
    message: `the condition of \`${id}\` can never be true: ${instead}`,
    remedy: `${meant}${fails ? '; without the rule, later rules decide the calls for which it fails' : ''}`,
  }
}

function alwaysNote({ id }: Rule, place: number): RemarkNote {
  return {
    path: ['rules', place, 'when'],
    code: 'CONDITION_ALWAYS_TRUE',
    message: `the condition of \`${id}\` is always true`,
    remedy: 'remove `when`, or correct the condition',
  }
}

/** Returns remarks about words that a variable never equals. */
function wordNotes(tree: ASTNode, place: number): readonly RemarkNote[] {
  const loops = loopVariablesIn(tree)
  return nodesIn(tree).flatMap((node) => {
    const [name, texts] = comparedIn(node)
    const words = name === undefined || loops.has(name) ? undefined : WORDS[name]
    const strange = words && texts.find((text) => !words.includes(text))
    if (strange === undefined || words === undefined) return []
    return [
      {
        path: ['rules', place, 'when'],
        code: 'WORD_UNKNOWN' as const,
        message: `\`${name}\` is compared with "${shortened(strange)}", which it never equals`,
        remedy: `write one of ${words.join(', ')}; the rule then applies to such calls`,
      },
    ]
  })
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Returns the variable that a node compares with texts, and the texts. */
function comparedIn(node: ASTNode): readonly [string | undefined, readonly string[]] {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return [undefined, []]
  const [left, right] = node.args
  const variable = left.op === 'id' ? left : right
  const other = left.op === 'id' ? right : left
  const nodes = node.op === 'in' && other.op === 'list' ? other.args : [other]
  const texts = nodes.map(literalOf).filter((literal) => typeof literal === 'string')
  return [variable.op === 'id' ? variable.args : undefined, texts]
}

type Effects = (rule: Rule) => readonly EffectClass[]

function statusOf(
  tree: ASTNode,
  rule: Rule,
  effects: Effects,
  budget: Budget,
): { readonly status: ConditionStatus; readonly fails: boolean } {
  const names = namesIn(tree)
  const choices = {
    door: names.has('door') ? (rule.doors.length > 0 ? rule.doors : DOORS) : undefined,
    effect: names.has('effect') ? effects(rule) : undefined,
    tier: names.has('tier') ? TIERS : undefined,
  }
  const codes: Knowledge['codes'] = new WeakMap()
  const domains = domainsOf(rule)
  const all = combinations(choices).map((values): ReviewOutcome => {
    budget.spend()
    return outcomeOf(tree, { variables: VARIABLES, values, domains, codes })
  })
  const fails = all.some((each) => each.fails)
  if (!all.some((each) => each.true)) return { status: 'never', fails }
  // The budget of loops counts for a whole evaluation, but the parts ran separately.
  const isSure = loopVariablesIn(tree).size === 0 && !fails && !all.some((each) => each.false)
  return { status: isSure ? 'always' : 'open', fails }
}

/** Returns the domains of variables without a closed list of values. */
function domainsOf({ tools, principals, sessions }: Rule): ReadonlyMap<string, Domain> {
  const fitting = (patterns: readonly Glob[]): Domain =>
    patterns.length === 0
      ? ANY_TEXT
      : { kind: 'text', accepts: (text) => patterns.some((pattern) => pattern.matches(text)) }
  return new Map<string, Domain>([
    ['tool', fitting(tools)],
    ['principal', fitting(principals)],
    ['session', fitting(sessions)],
    ['tenant', ANY_TEXT],
    ['environment', ANY_TEXT],
    ['workspace', ANY_TEXT],
    ['risk', { kind: 'number', least: 0, most: 1 }],
    ['trust', { kind: 'number', least: 0, most: 1000 }],
  ])
}

type Choices = Readonly<Record<string, readonly string[] | undefined>>

/** Returns every combination of one value per name. */
function combinations(choices: Choices): readonly Readonly<Record<string, string>>[] {
  let all: readonly Readonly<Record<string, string>>[] = [{}]
  for (const [name, values] of Object.entries(choices)) {
    if (values) all = all.flatMap((each) => values.map((value) => ({ ...each, [name]: value })))
  }
  return all
}

/** Returns the effect classes that the tools of a rule can have. A tool that only a server names is `admin`. */
function createEffects(tools: readonly ToolDeclaration[], budget: Budget): Effects {
  const entries = tools.map((tool): [Glob, ToolDeclaration] => [tool.name, tool])
  const declared = new Directory(entries, budget)
  const exact = new Map(tools.filter(({ name }) => name.exact).map((tool) => [tool.name.source, tool.effect]))
  const known = new Map<string, ReadonlySet<EffectClass>>()
  const ofPattern = (pattern: Glob): ReadonlySet<EffectClass> => {
    const own = pattern.exact ? exact.get(pattern.source) : undefined
    if (own !== undefined) return new Set([own])
    const found = new Set<EffectClass>()
    for (const tool of declared.touching(pattern)) {
      found.add(tool.effect)
      if (found.size === EFFECT_CLASSES.length) return found
    }
    return declared.covers(pattern) ? found : found.add('admin')
  }
  return (rule) => {
    const all = new Set<EffectClass>()
    for (const pattern of rule.tools) {
      const before = known.get(pattern.source) ?? ofPattern(pattern)
      known.set(pattern.source, before)
      for (const effect of before) all.add(effect)
    }
    return [...all]
  }
}
