// One rule for the calls of one tool: as tight as fits into a condition, and tried on each of them.

import type { Door, EffectClass, Json } from '@tollgate/evidence'
import { CONDITION_VARIABLES, conditionEnvironment, type Action } from '@tollgate/kernel/policy'
import { stricter } from '../../tools/effect-words.ts'
import { allOf, celList, celText, celValue } from './cel.ts'
import { exactly } from './exact.ts'
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

/** A rule as it is proposed, without its id. */
export interface RuleProposal {
  readonly tool: string
  readonly action: Extract<Action, 'allow' | 'require'>
  readonly principals: readonly string[]
  readonly doors: readonly Door[]
  /** The parts of the condition: all of them must hold. */
  readonly when: readonly string[]
  readonly notes: readonly ValueNote[]
  /** Why it asks a person, if it does. */
  readonly asks: readonly string[]
  /** The calls it was made from. */
  readonly calls: readonly ObservedCall[]
}

const ARGS = { code: 'args', path: '', depth: 0 }
const MAX_VALUES = 8
const DEEPEST = 4

/** How closely a rule looks: at values; at types, lengths and letters; at the types of arguments; at next to nothing. */
const LOOKS = [
  { most: MAX_VALUES, rough: false, deepest: DEEPEST },
  { most: 0, rough: true, deepest: DEEPEST },
  { most: 0, rough: true, deepest: 0 },
  { most: 0, rough: true, deepest: -1 },
] as const

/** The rule for the calls of one tool, looking at values; undefined if no condition has room for them. */
export function fineProposal(calls: readonly ObservedCall[]): RuleProposal | undefined {
  return proposalOf(calls, { effect: strictestOf(calls), ...LOOKS[0] })
}

/** A rule that asks a person about calls of one tool, looking as closely as there is room for. */
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

const TOO_MUCH = 'what was seen does not fit into a condition value by value'

/** Rules for exactly these calls, which have tool, principal and door in common; what fits into no condition is left out. */
export function exactProposals(calls: readonly ObservedCall[]): readonly RuleProposal[] {
  const parts: ObservedCall[][] = []
  let room = 0
  for (const [args, own] of byArguments(calls)) {
    const length = celValue(args).length
    if (length > MAX_WRITTEN) continue
    if (room < length || parts.length === 0) {
      parts.push([])
      room = MAX_WRITTEN
    }
    room -= length
    parts.at(-1)?.push(...own)
  }
  return parts.map(exactRule).filter(holdsForAll)
}

// With what else a condition says it stays below 4,096 characters, mostly.
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
    ],
    notes: [...args.notes, ...to.notes, ...principals.notes, ...crossings(calls)],
    asks,
    calls,
  }
}

/** Whose calls they were, and where they came from as far as they said so. */
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

/** Says so where calls of one principal or door become those of another. */
function crossings(calls: readonly ObservedCall[]): readonly ValueNote[] {
  const ways = new Set(calls.map(wayOf))
  if (ways.size < 2) return []
  const seen = `${ways.size} kinds: of principal, door, and where they say they are`
  return [{ path: '(callers)', seen, wider: 'each of them what any of them did' }]
}

/** Who made a call, and from where. */
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

/** Whether the condition of a rule can be used, and holds for each call that it was made from. */
function holdsForAll({ when, calls }: RuleProposal): boolean {
  const compiled = conditions.compile(conditionText(when))
  if (!('test' in compiled)) return false
  return calls.every((call) => {
    const { tool, principal, args, destinations, tenant = NO_TENANT, environment = '', workspace = '' } = call
    const to = destinations.map(({ scheme, host, port }) => ({ scheme, host, port: BigInt(port) }))
    try {
      return compiled.test({ tool, principal, tenant, environment, workspace, args, destinations: to })
    } catch {
      // Too many steps for these arguments: a looser condition takes fewer.
      return false
    }
  })
}

// As deep as a chain of lines may nest, so that there is room for what each of them nests.
const MAX_LINES = 24

/** The whole condition, one part a line where they are not too many. */
export function conditionText(when: readonly string[]): string {
  return when.length > MAX_LINES ? allOf(when) : when.join('\n&& ')
}
