// Makes policies for the worlds of the comparison.

import { makeGates } from './model-cases-gates.ts'
import { DELEGATORS, DOORS, EFFECTS, LABELS, TIERS, TOOL_GLOBS, TOOLS } from './model-names.ts'
import type { ModelCondition, ModelPolicy, ModelPrincipal, ModelRule, ModelTool } from './model-policy.ts'
import type { Random } from './model-random.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const EXPIRIES = [1000, 60_000, 900_000] as const
// Half of them can be reached exactly: a harmless call of an `admin` tool adds 24,000, sending a password 46,000, sending data outside
// 56,000.
const THRESHOLDS = [
  24_000, 46_000, 48_000, 56_000, 72_000, 92_000, 112_000, 138_000, 200_000, 380_000, 380_000, 380_000,
  700_000, 700_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000,
]
/** A rule for all callers. */
export const ANY_CALLER = { principals: [], sessions: [], doors: [] } as const

/** A policy. */
export function makePolicy(random: Random): ModelPolicy {
  return random.chance(65) ? makeMild(random) : makeStrict(random)
}

/** A random policy, under which many gates deny. */
function makeStrict(random: Random): ModelPolicy {
  return {
    context: {
      environments: random.maybe(12, () => 'prod'),
      tenants: random.maybe(8, () => 'default'),
      workspaces: random.maybe(12, () => 'w1'),
    },
    principals: makePrincipals(random),
    tools: makeTools(random, 90),
    rules: makeRules(random, 5),
    egress: {
      allow: random.chance(6) ? [] : ['ok.test', 'bad.test'],
      ask: random.chance(60) ? ['ask.test'] : [],
      deny: random.chance(80) ? ['bad.test'] : [],
    },
    risk: makeRisk(random, THRESHOLDS),
    ...makeGates(random, 30),
  }
}

/** A policy that allows most calls and has few of the optional gates. */
function makeMild(random: Random): ModelPolicy {
  const all: ModelRule = { ...makeRule(random), id: 'all', tools: ['*'], ...ANY_CALLER, when: undefined }
  return {
    context: { environments: [], tenants: [], workspaces: [] },
    principals: makePrincipals(random),
    tools: makeTools(random, 99),
    rules: [...makeRules(random, 2), { ...all, action: random.chance(85) ? 'allow' : 'require' }],
    egress: {
      allow: ['ok.test', ...random.maybe(70, () => 'ask.test')],
      ask: ['ask.test', 'bad.test'],
      deny: [],
    },
    risk: makeRisk(random, random.chance(75) ? [1_000_000] : THRESHOLDS),
    ...makeGates(random, 18),
  }
}

function makeRules(random: Random, most: number): readonly ModelRule[] {
  const forAll = (): ModelRule => ({ ...makeRule(random), tools: ['*'], ...ANY_CALLER, when: undefined })
  const asking = random.maybe(12, (): ModelRule => ({ ...forAll(), action: 'require' }))
  const rules = [...asking, ...random.list(most, () => makeRule(random)), ...random.maybe(30, forAll)]
  return rules.map((rule, i) => ({ ...rule, id: `r${i}` }))
}

function makeRisk(random: Random, thresholds: readonly number[]): ModelPolicy['risk'] {
  const threshold = random.pick(thresholds)
  return {
    ask: Math.floor(threshold / 2),
    threshold,
    window: random.pick([2, 3, 8, 8, 1000]),
    baseline: random.pick([0, 77_777, 150_000, 150_000]),
    halfLife: random.pick([1000, 60_001, HOUR, HOUR, 30 * DAY]),
    carry: random.pick([0, 333_333, 500_000, 500_000, 1_000_000]),
  }
}

function makePrincipals(random: Random): readonly ModelPrincipal[] {
  const entry = (name: string, key: number | undefined): ModelPrincipal => ({
    name,
    tier: random.pick(TIERS),
    key,
    delegateOnly: random.chance(name === 'agent:boss' ? 3 : 4),
  })
  // A pattern has no key.
  const patterns = random.maybe(25, () => entry(random.pick(['agent:*', '*b']), undefined))
  const own = random
    .some(94, DELEGATORS)
    .map((name) => entry(name, random.chance(4) ? undefined : random.chance(95) ? 0 : 1))
  return random.chance(50) ? [...patterns, ...own] : [...own, ...patterns]
}

function makeTools(random: Random, known: number): readonly ModelTool[] {
  const named = random.some(known, TOOLS)
  return [...random.maybe(30, () => random.pick(TOOL_GLOBS)), ...named].map((name) => ({
    name,
    effect: random.pick(EFFECTS),
    schema: random.chance(60),
    offline: random.chance(10),
    browser: random.chance(name === 'web/click' ? 30 : 1),
    sinks: random.chance(50) ? random.some(50, ['to', 'body']) : [],
    returns: random.chance(15) ? random.some(25, LABELS) : [],
    takes: random.maybe(15, () => ({
      path: random.pick(['*', 'body', 'memo', 'to']),
      labels: [random.pick(LABELS)],
    })),
    cost: random.chance(40)
      ? random.pick([0, 1, 2.5, 0.0001, 'amount', 'amount', 'amount'] as const)
      : undefined,
  }))
}

/** A rule without an id. */
export function makeRule(random: Random): ModelRule {
  const action = random.pick(['allow', 'allow', 'allow', 'allow', 'deny', 'require', 'require'] as const)
  const rule: Omit<ModelRule, 'answer'> = {
    id: '',
    action,
    tools: [
      random.pick(random.chance(50) ? TOOLS : TOOL_GLOBS),
      ...random.maybe(20, () => random.pick(TOOLS)),
    ],
    principals: random.maybe(20, () => random.pick(['agent:*', 'agent:a', '*b', 'agent:a*', '*'])),
    sessions: random.maybe(15, () => random.pick(['s1', 's*', '*2', 'agent:a'])),
    doors: random.maybe(12, () => random.pick(DOORS)),
    when: random.perhaps(35, () => makeCondition(random)),
    approvers:
      action === 'require' ? random.maybe(60, () => random.pick(['ops', 'user:olga', 'agent:a'])) : [],
    expires: action === 'require' ? random.pick(EXPIRIES) : 900_000,
  }
  // The kernel decides so only at the door `hook`, and a policy does not combine it with approvers.
  return { ...rule, answer: rule.approvers.length === 0 && action !== 'deny' ? 'client' : 'approver' }
}

function makeCondition(random: Random): ModelCondition {
  if (random.chance(70)) return { answer: random.int(3) }
  return random.pick<ModelCondition>([
    { risk: random.pick([0, 1, 46_000, 92_000, 150_000, 300_000]) },
    { label: random.pick(LABELS) },
    { tier: random.pick(TIERS) },
    { trust: random.pick([490, 500, 501]) },
  ])
}
