// Finds calls that get past the preceding rules, by asking the evaluator which rule decides.

import type { Policy, Rule } from '@tollgate/kernel/policy'
import { tryCall, type Way } from '@tollgate/kernel/workbench'
import { callOf, withArgument, type Draft } from './draft.ts'
import { along } from './seeds.ts'
import type { World } from './world.ts'

const MAX_WAYS = 6
const MAX_STEPS = 10
const MAX_EXITS = 12
const ALWAYS: readonly Way[] = [[]]

/** Calls like this one that the rule decides, in each policy that has it; empty if none was found. */
export function reaching(world: World, rule: Rule, base: Draft): readonly Draft[] {
  const homes = world.policies.filter(({ rules }) => rules.includes(rule))
  const ways = rule.when ? world.waysOf(rule).when : ALWAYS
  return homes.flatMap((policy) =>
    ways.slice(0, MAX_WAYS).flatMap((way) => reached(world, policy, rule, base, way) ?? []),
  )
}

/** Follows the way, and avoids each rule that decides earlier. */
function reached(world: World, policy: Policy, rule: Rule, base: Draft, into: Way): Draft | undefined {
  let way = into
  let draft = along(world, base, way)
  for (let step = 0; step < MAX_STEPS; step++) {
    const inTheWay = decidedBy(policy, draft)
    if (inTheWay === rule) return draft
    if (!inTheWay) return otherwise(world, draft, way).find((each) => decidedBy(policy, each) === rule)
    if (!inTheWay.when || policy.rules.indexOf(inTheWay) > policy.rules.indexOf(rule)) return undefined
    const exits = world.waysOf(inTheWay).unless.slice(0, MAX_EXITS)
    const out = exits
      .map((exit) => [...way, ...exit])
      .find((each) => decidedBy(policy, along(world, base, each)) !== inTheWay)
    if (!out) return undefined
    way = out
    draft = along(world, base, way)
  }
  return undefined
}

/** The draft with other matching values, because a gate may treat them differently. */
function otherwise(world: World, draft: Draft, way: Way): readonly Draft[] {
  return argumentClues(way).flatMap(([path, clues]) =>
    world.fitting(clues).map((value) => withArgument(draft, path, value)),
  )
}

function argumentClues(way: Way): readonly (readonly [path: readonly string[], clues: Way])[] {
  const clues = way.filter(({ path }) => path[0] === 'args' && path.length > 1 && path.at(-1) !== '#')
  const byPath = new Map(clues.map(({ path }) => [JSON.stringify(path), path]))
  return [...byPath].map(([key, path]) => [
    path.slice(1),
    clues.filter((clue) => JSON.stringify(clue.path) === key),
  ])
}

function decidedBy(policy: Policy, draft: Draft): Rule | undefined {
  const observed = draft.posted === true ? 'sentinel' : 'agent'
  return tryCall(policy, callOf(draft), draft.time, observed).judgement.rule
}
