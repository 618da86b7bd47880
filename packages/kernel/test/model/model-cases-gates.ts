// Makes the settings of the optional gates for the worlds of the comparison.

import { EFFECT_CLASSES, type EffectClass, type Tier } from '@tollgate/evidence'
import type { Severity } from '../../src/gates/threat/finding.ts'
import { EFFECTS, LABELS, TIERS, TOOL_GLOBS } from './model-names.ts'
import type { ModelCompliance, ModelHours, ModelLimit, ModelPolicy, ModelTaint } from './model-policy.ts'
import type { Random } from './model-random.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

type OptionalGates = Pick<
  ModelPolicy,
  'taint' | 'threat' | 'trust' | 'privilege' | 'scoped' | 'limits' | 'hours' | 'compliance'
>

/** Some of the optional gates, so that none hides the others. */
export function makeGates(random: Random, percent: number): OptionalGates {
  return {
    taint: random.perhaps(2 * percent, () => makeTaint(random)),
    threat: random.perhaps(1.5 * percent, () => makeThreat(random)),
    trust: random.perhaps(percent, () => makeTrust(random)),
    privilege: random.perhaps(1.5 * percent, () => makePrivilege(random)),
    scoped: random.chance(percent / 6),
    limits: random.chance(1.5 * percent) ? makeLimits(random) : [],
    hours: random.chance(percent / 4) ? random.list(2, () => makeHours(random)) : [],
    compliance: random.perhaps(1.5 * percent, () => makeCompliance(random)),
  }
}

/** Settings of taint. */
export function makeTaint(random: Random): ModelTaint {
  const rule = (): 'allow' | 'ask' | 'deny' => random.pick(['allow', 'ask', 'deny'])
  return {
    deny: random.some(15, LABELS),
    ask: random.some(40, LABELS),
    internal: random.some(40, ['ok.test', 'ask.test']),
    follow: random.chance(70) ? 'values' : 'session',
    provenance: { untrusted: rule(), ordered: rule(), flagged: random.chance(50) ? 'deny' : rule() },
    results: Object.fromEntries(
      random.some(30, LABELS).map((label) => [label, random.pick(['redact', 'withhold'] as const)]),
    ),
  }
}

function makeThreat(random: Random): NonNullable<ModelPolicy['threat']> {
  const severities: readonly Severity[] = ['high', 'medium', 'low']
  const each = <T>(actions: readonly T[]): Record<Severity, T> =>
    // Sound: each of the three has its action.
    Object.fromEntries(severities.map((name) => [name, random.pick(actions)])) as Record<Severity, T>
  return {
    arguments: random.chance(50)
      ? { high: 'deny', medium: 'ask', low: 'label' }
      : each(['label', 'ask', 'deny']),
    results: each(['label', 'redact', 'withhold']),
    sources: random.chance(50)
      ? { high: 'ask', medium: 'label', low: 'label' }
      : each(['label', 'ask', 'deny']),
  }
}

function makeTrust(random: Random): NonNullable<ModelPolicy['trust']> {
  const good = random.pick([0, 1, 40, 1000])
  const bad = random.pick([0, -3, -40, -200, -1000])
  return {
    halfLife: random.pick([1000, 7000, 60_000, HOUR, DAY]),
    deltas: {
      completed: good,
      approved: random.pick([5, good]),
      failed: random.pick([-2, bad]),
      unknown: random.pick([-5, bad]),
      denied: random.pick([-10, bad]),
      refused: -40,
      hostile: -60,
    },
    needs: Object.fromEntries(
      random
        .some(50, EFFECT_CLASSES)
        .map((effect) => [effect, random.pick([1, 300, 460, 490, 495, 500, 501, 540])]),
    ),
  }
}

function makePrivilege(random: Random): NonNullable<ModelPolicy['privilege']> {
  const needs = EFFECT_CLASSES.map((effect) => [effect, random.pick(TIERS)] as const)
  return {
    // Sound: every class has its tier.
    needs: Object.fromEntries(needs) as Record<EffectClass, Tier>,
    elevation: random.perhaps(80, () => ({
      upTo: random.pick(TIERS.slice(1)),
      lasts: random.pick([1000, 60_000, 900_000]),
    })),
  }
}

const SCOPES = ['principal', 'session', 'tool', 'tenant'] as const
const PERIODS = [1000, 60_000, HOUR, DAY] as const

/** Bursts, then rates, then budgets, in the order of a policy. */
function makeLimits(random: Random): readonly ModelLimit[] {
  const period = (): number => random.pick(PERIODS)
  const bursts = (['deny', 'ask'] as const).flatMap((then) =>
    random.maybe(then === 'ask' ? 50 : 25, (): ModelLimit => {
      const pace = { calls: 2 + random.int(6), period: period() }
      return { kind: 'burst', of: 'calls', scope: 'principal', name: 'burst', tools: '*', then, ...pace }
    }),
  )
  const rates = random.some(30, ['*', 'fs/*', 'mail/send', 'a*']).flatMap((tools) =>
    random.some(40, SCOPES).map((scope): ModelLimit => {
      const pace = { calls: 1 + random.int(4), period: random.chance(10) ? 7 : period() }
      return { kind: 'rate', of: 'calls', scope, name: tools, tools, then: 'deny', ...pace }
    }),
  )
  const budgets = (['calls', 'cost'] as const).flatMap((of) =>
    random.some(20, SCOPES).map((scope): ModelLimit => {
      const calls = (of === 'cost' ? 1000 : 1) * (1 + random.int(5))
      return { kind: 'budget', of, scope, name: of, tools: '*', then: 'deny', calls, period: period() }
    }),
  )
  return [...bursts, ...rates, ...budgets]
}

function makeHours(random: Random): ModelHours {
  const days = random.some(70, [0, 1, 2, 3, 4, 5, 6])
  const from = random.pick([0, 540, 541, 1320])
  return {
    tools: random.pick(TOOL_GLOBS),
    days: days.length > 0 ? days : [0],
    from,
    to: random.pick([360, 542, 1080, 1440].filter((to) => to !== from)),
    offset: random.pick([0, 0, 60, -330, 840]),
  }
}

function makeCompliance(random: Random): ModelCompliance {
  const places = ['eu', 'us']
  const rules = Array.from({ length: 1 + random.int(3) }, (_, i) => ({
    id: `c${i}`,
    labels: random.chance(65) ? [random.pick(LABELS), ...random.maybe(40, () => random.pick(LABELS))] : [],
    tools: random.maybe(20, () => random.pick(TOOL_GLOBS)),
    effects: random.chance(30) ? [random.pick(EFFECTS), random.pick(EFFECTS)] : [],
    inside: random.maybe(25, () => random.pick(places)),
    outside: random.maybe(25, () => random.pick(places)),
    then: random.pick(['allow', 'ask', 'ask', 'deny'] as const),
    because: undefined,
  }))
  return {
    jurisdictions: { eu: ['ok.test'], us: random.chance(50) ? ['ask.test'] : ['ask.test', 'ok.test'] },
    rules,
  }
}
