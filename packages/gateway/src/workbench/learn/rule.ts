// Proposes one rule for the calls of one tool: as strict as fits into a condition, and tested on each call.

import type { Door, EffectClass, Json } from '@tollgate/evidence'
import { CONDITION_VARIABLES, conditionEnvironment, type Action } from '@tollgate/kernel/policy'
import { stricter } from '../../tools/effect-words.ts'
import { allOf, celList, celText, celValue } from './cel.ts'
import { holdsContent } from './content.ts'
import { exactly } from './exact.ts'
import { gapTerms } from './gaps.ts'
import { shapeOfDestinations } from './hosts.ts'
import { principalsOf, toolTerms } from './names.ts'
import {
  add,
  distinct,
  NO_TENANT,
  type Manner,
  type ValueNote,
  type ObservedCall,
  type LearnedShape,
} from './observed.ts'
import { shapeOf } from './values.ts'

/** A proposed rule without its id. */
export interface RuleProposal {
  readonly tool: string
  readonly action: Extract<Action, 'allow' | 'require'>
  readonly principals: readonly string[]
  readonly doors: readonly Door[]
  /** The parts of the condition. All must be true. */
  readonly when: readonly string[]
  readonly notes: readonly ValueNote[]
  /** Why it needs approval, if it does. */
  readonly asks: readonly string[]
  /** The calls it comes from. */
  readonly calls: readonly ObservedCall[]
}

const ARGS = { code: 'args', path: '', depth: 0 }
const MAX_VALUES = 8
const DEEPEST = 4

/** The levels of detail: values; types, lengths and characters; types of arguments; almost nothing. */
const LOOKS = [
  { most: MAX_VALUES, rough: false, deepest: DEEPEST },
  { most: 0, rough: true, deepest: DEEPEST },
  { most: 0, rough: true, deepest: 0 },
  { most: 0, rough: true, deepest: -1 },
] as const

/** A rule for the calls of one tool by values; undefined if they do not fit into a condition. */
export function fineProposal(calls: readonly ObservedCall[]): RuleProposal | undefined {
  return proposalOf(calls, { effect: strictestOf(calls), ...LOOKS[0] })
}

/** A rule that escalates the calls of one tool, with as much detail as fits. */
export function roughProposal(calls: readonly ObservedCall[]): RuleProposal | undefined {
  for (const look of LOOKS.slice(1)) {
    const proposal = proposalOf(calls, { effect: strictestOf(calls), ...look })
    if (proposal) return proposal
  }
  return undefined
}

function strictestOf(calls: readonly ObservedCall[]): EffectClass {
  return calls.map((call) => call.effect).reduce(stricter, 'read')
}

function proposalOf(calls: readonly ObservedCall[], manner: Manner): RuleProposal | undefined {
  const values = calls.map(({ args }) => args)
  const shape = shapeOf(values, ARGS, manner)
  const asks = manner.rough ? [TOO_MUCH, ...shape.asks] : shape.asks
  const proposal = ruleOf(calls, { ...shape, asks }, false)
  return holdsForAll(proposal) ? proposal : undefined
}

const TOO_MUCH = 'the observed values do not fit into a condition'

/** Rules for exactly these calls, which share tool, principal and door. Calls that fit into no condition are left out. */
export function exactProposals(calls: readonly ObservedCall[]): readonly RuleProposal[] {
  const parts: ObservedCall[][] = []
  let remaining = 0
  for (const [args, own] of byArguments(calls)) {
    const length = celValue(args).length
    if (length > MAX_WRITTEN || holdsWrittenContent(own)) continue
    if (remaining < length || parts.length === 0) {
      parts.push([])
      remaining = MAX_WRITTEN
    }
    remaining -= length
    parts.at(-1)?.push(...own)
  }
  return parts.map(exactRule).filter(holdsForAll)
}

function holdsWrittenContent(calls: readonly ObservedCall[]): boolean {
  return calls.some(({ args, effect }) => effect !== 'execute' && holdsContent(args))
}

// Leaves space for the rest of a condition, which is limited to 4,096 characters.
const MAX_WRITTEN = 2400

function byArguments(calls: readonly ObservedCall[]): ReadonlyMap<Json, readonly ObservedCall[]> {
  const groups = new Map<Json, ObservedCall[]>()
  const firsts = new Map<string, Json>()
  for (const call of calls) {
    const text = celValue(call.args)
    const first = firsts.get(text) ?? call.args
    firsts.set(text, first)
    add(groups, first, call)
  }
  return groups
}

function exactRule(calls: readonly ObservedCall[]): RuleProposal {
  return ruleOf(calls, exactly(distinct(calls.map(({ args }) => args)), ARGS), true)
}

function ruleOf(calls: readonly ObservedCall[], args: LearnedShape, exact: boolean): RuleProposal {
  const tool = calls[0]?.tool ?? ''
  const principals = principalsOf(
    calls.map(({ principal }) => principal),
    exact,
  )
  const to = shapeOfDestinations(calls.flatMap(({ destinations }) => destinations))
  const asks = [...new Set([...args.asks, ...to.asks])]
  return {
    tool,
    action: asks.length > 0 ? 'require' : 'allow',
    principals: principals.patterns,
    doors: [...new Set(calls.map(({ door }) => door))].sort(),
    when: [
      ...toolTerms(tool),
      ...principals.when,
      ...surroundings(calls),
      ...(args.parts ?? [args.when]),
      ...(to.parts ?? [to.when]),
      ...gapTerms(calls),
    ],
    notes: [...args.notes, ...to.notes, ...principals.notes, ...crossings(calls)],
    asks,
    calls,
  }
}

/** Conditions for the tenant and, if the calls had them, environment and workspace. */
function surroundings(calls: readonly ObservedCall[]): readonly string[] {
  const tenants = [...new Set(calls.map(({ tenant = NO_TENANT }) => tenant))].sort()
  const [first = ''] = tenants
  return [
    tenants.length === 1 ? `tenant == ${celText(first)}` : `tenant in ${celList(tenants)}`,
    ...placed('environment', calls),
    ...placed('workspace', calls),
  ]
}

function placed(name: 'environment' | 'workspace', calls: readonly ObservedCall[]): readonly string[] {
  const seen = [...new Set(calls.map((call) => call[name] ?? ''))].sort()
  return seen.some((each) => each !== '') ? [`${name} in ${celList(seen)}`] : []
}

/** A note if the rule lets one caller do what only another did. */
function crossings(calls: readonly ObservedCall[]): readonly ValueNote[] {
  const ways = new Set(calls.map(wayOf))
  if (ways.size < 2) return []
  const seen = `${ways.size} combinations of principal, door, environment and workspace`
  return [{ path: '(callers)', seen, wider: 'each caller what any of them did' }]
}

/** Identifies the caller of a call: principal, door and context. */
export function wayOf({
  tenant = '',
  environment = '',
  workspace = '',
  principal,
  door,
}: ObservedCall): string {
  return JSON.stringify([tenant, environment, workspace, principal, door])
}

const conditions = conditionEnvironment(CONDITION_VARIABLES)

/** Whether the condition of a rule compiles and is true for each call it comes from. */
function holdsForAll({ when, calls }: RuleProposal): boolean {
  const compiled = conditions.compile(conditionText(when))
  if (!('test' in compiled)) return false
  return calls.every((call) => {
    const { tool, principal, args, destinations, tenant = NO_TENANT, environment = '', workspace = '' } = call
    const [shell, files] = [{ ...call.facts?.shell }, { ...call.facts?.files }]
    const to = destinations.map(({ scheme, host, port }) => ({ scheme, host, port: BigInt(port) }))
    try {
      return compiled.test({
        tool,
        principal,
        tenant,
        environment,
        workspace,
        args,
        destinations: to,
        shell,
        files,
      })
    } catch {
      // Too many evaluation steps: a simpler condition needs fewer.
      return false
    }
  })
}

// Lines above this number would exceed the nesting limit together with their own nesting.
const MAX_LINES = 24

/** The whole condition, one part per line unless there are too many. */
export function conditionText(when: readonly string[]): string {
  return when.length > MAX_LINES ? allOf(when) : when.join('\n&& ')
}
