// Room: the policy language: evaluation of rules, their conditions in CEL (`cel/`), and the parser of policy files (`parse/`).
// Advice about a policy is in `workbench/`.
//
// Evaluates the rules in order: the first match decides, and without a match nothing is allowed.

import type { Door, EffectClass, Json, Tier } from '@tollgate/evidence'
import type { Destination } from '../destinations/find.ts'
import type { FileFacts, ShellFacts } from '../shell/facts.ts'
import { ONE } from '../units.ts'
import { POINT } from '../units.ts'
import type { ConditionValue, Values } from './condition.ts'
import type { Examined } from './examine.ts'
import type { Policy, Rule } from './parse/parse.ts'

/** The call as rules see it. Functions compute values that few rules use. */
export interface Subject {
  readonly tool: string
  readonly effect: EffectClass
  readonly principal: string
  readonly tier: Tier
  readonly session: string
  readonly door: Door
  readonly tenant: string
  readonly environment: string
  readonly workspace: string
  readonly args: Json
  /** In milliseconds. */
  readonly time: number
  destinations(): readonly Destination[]
  /** The facts of the shell command in the call. */
  shell(): ShellFacts
  /** The facts of the call about files. */
  files(): FileFacts
  /** The labels of the data in the call. */
  labels(): readonly string[]
  /** 0 to 1000, in units of `trust.ts`. */
  trust(): number
  /** 0 to `ONE`. */
  risk(): number
}

/** Why a rule did or did not match. */
export type Match =
  | 'matched'
  | 'other tool'
  | 'other principal'
  | 'other session'
  | 'other door'
  | 'condition is false'
  | 'condition failed'

/** The result of the rules. `fault` is set if the condition of the rule failed. */
interface Ruling {
  readonly rule: Rule
  readonly fault?: string
}

/** One rule in an explanation. */
export interface Explained {
  readonly rule: Rule
  readonly match: Match | 'not reached'
  readonly fault?: string
  /** The match of a rule that was not reached. */
  readonly would?: Match
  /** The condition part by part, if it is or would be false or failed; only for the first such rules. */
  readonly condition?: Examined
}

/** The rules that can match a tool, and the variables of their conditions. */
interface Candidates {
  readonly rules: readonly Rule[]
  readonly uses: ReadonlySet<string>
}

// By tool name. Bounded, because a glob in the catalogue accepts invented names.
const MAX_INDEXED = 4096
const indexes = new WeakMap<Policy, Map<string, Candidates>>()

/** Returns the first rule that matches or whose condition fails; undefined if there is none. */
export function firstMatch(policy: Policy, subject: Subject): Ruling | undefined {
  const { rules, uses } = rulesFor(policy, subject.tool)
  const values = valuesOf(subject, uses)
  for (const rule of rules) {
    const ruling = ask(rule, subject, values)
    if (ruling.match === 'matched') return { rule }
    if (ruling.match === 'condition failed') return { rule, fault: ruling.fault ?? '' }
  }
  return undefined
}

/** Returns every rule in order with its match, by the same evaluation that decides. */
export function explain(policy: Policy, subject: Subject): readonly Explained[] {
  const values = valuesOf(subject, usesOf(policy.rules))
  let decided = false
  let examined = 0
  return policy.rules.map((rule) => {
    const asked = rule.tools.some((tool) => tool.matches(subject.tool))
      ? ask(rule, subject, values)
      : OTHER_TOOL
    const { match } = asked
    const fails = match === 'condition is false' || match === 'condition failed'
    const condition = fails && examined++ < MAX_EXAMINED ? rule.when?.examine(values, OWN_VALUES) : undefined
    const result = decided ? { match: 'not reached' as const, would: match } : asked
    decided ||= match === 'matched' || match === 'condition failed'
    return { rule, ...result, ...(condition && { condition }) }
  })
}

// Splitting a condition costs as much as loading it.
const MAX_EXAMINED = 200

/** The values from the call and the policy, without session state. */
const OWN_VALUES: ReadonlySet<string> = new Set([
  'args',
  'destinations',
  'door',
  'effect',
  'environment',
  'files',
  'principal',
  'session',
  'shell',
  'tenant',
  'time',
  'tool',
  'workspace',
])

function rulesFor(policy: Policy, tool: string): Candidates {
  const index = indexes.get(policy) ?? new Map<string, Candidates>()
  if (index.size === 0) indexes.set(policy, index)
  const known = index.get(tool)
  if (known) return known
  const rules = policy.rules.filter((rule) => rule.tools.some((pattern) => pattern.matches(tool)))
  const candidates = { rules, uses: usesOf(rules) }
  if (index.size >= MAX_INDEXED) index.clear()
  index.set(tool, candidates)
  return candidates
}

/** Evaluates one rule for this tool. */
function ask(rule: Rule, subject: Subject, values: Values): { match: Match; fault?: string } {
  const { principals, sessions, doors, when } = rule
  if (principals.length > 0 && !principals.some((each) => each.matches(subject.principal))) {
    return OTHER_PRINCIPAL
  }
  if (sessions.length > 0 && !sessions.some((each) => each.matches(subject.session))) return OTHER_SESSION
  if (doors.length > 0 && !doors.includes(subject.door)) return OTHER_DOOR
  if (!when) return MATCHED
  try {
    return when.test(values) ? MATCHED : FALSE
  } catch (fault) {
    return { match: 'condition failed', fault: fault instanceof Error ? fault.message : 'it failed' }
  }
}

const OTHER_TOOL = { match: 'other tool' } as const
const OTHER_PRINCIPAL = { match: 'other principal' } as const
const OTHER_SESSION = { match: 'other session' } as const
const OTHER_DOOR = { match: 'other door' } as const
const MATCHED = { match: 'matched' } as const
const FALSE = { match: 'condition is false' } as const

function usesOf(rules: readonly Rule[]): ReadonlySet<string> {
  return new Set(rules.flatMap(({ when }) => [...(when?.uses ?? [])]))
}

const NO_VALUES: Values = {}

/** Returns the values for conditions. Expensive values are computed only if a condition uses them. */
function valuesOf(subject: Subject, uses: ReadonlySet<string>): Values {
  if (uses.size === 0) return NO_VALUES
  return {
    args: subject.args,
    destinations: uses.has('destinations') ? destinationsOf(subject) : null,
    door: subject.door,
    effect: subject.effect,
    environment: subject.environment,
    files: uses.has('files') ? { ...subject.files() } : null,
    labels: uses.has('labels') ? subject.labels() : null,
    principal: subject.principal,
    risk: uses.has('risk') ? subject.risk() / ONE : null,
    session: subject.session,
    shell: uses.has('shell') ? { ...subject.shell() } : null,
    tenant: subject.tenant,
    tier: subject.tier,
    time: uses.has('time') ? { ms: subject.time } : null,
    tool: subject.tool,
    trust: uses.has('trust') ? subject.trust() / POINT : null,
    workspace: subject.workspace,
  }
}

function destinationsOf(subject: Subject): ConditionValue {
  return subject.destinations().map(({ scheme, host, port }) => ({ scheme, host, port: BigInt(port) }))
}
