// Generates a bounded, deterministic list of calls that explores where two policies may decide differently.

import type { Policy, Rule } from '@tollgate/kernel/policy'
import type { Way } from '@tollgate/kernel/workbench'
import { type Draft } from './draft.ts'
import { pageInside, STRANGER } from './hosts.ts'
import { namesFor, namesForBoth } from './names.ts'
import { aroundChange } from './change.ts'
import { reaching } from './reach.ts'
import { along } from './seeds.ts'
import {
  argumentsIn,
  dataTo,
  elsewhere,
  elsewhereTo,
  inTurn,
  isBrowser,
  pageAt,
  withEach,
  withPairs,
} from './vary.ts'
import { baseOf, distinctRules, ruleKey, worldOf, type World } from './world.ts'

const USUAL_CALLS = 20_000
const FEWEST_CALLS = 300
const MAX_WORK = 20_000_000

/** The default number of generated calls: fewer where each takes longer. */
export function usualCalls(a: Policy, b: Policy): number {
  const size = [a, b].reduce((sum, { rules, tools, principals }) => {
    const asked = rules.reduce((all, rule) => all + costOf(rule), 0)
    return sum + asked + tools.length + principals.length
  }, 1)
  return Math.max(FEWEST_CALLS, Math.min(USUAL_CALLS, Math.floor(MAX_WORK / size)))
}

/** The relative cost of evaluating a rule. Regular expressions cost most. */
function costOf({ when }: Rule): number {
  if (!when) return 1
  return 1 + (when.source.length / 16) * (when.source.includes('matches') ? 16 : 1)
}

/** Generates at most `most` different calls. */
export function* generateCalls(
  a: Policy,
  b: Policy,
  most: number = usualCalls(a, b),
  seeds: readonly Draft[] = [],
): Iterable<Draft> {
  const world = worldOf(a, b, seeds)
  const { changed, rest } = focusesOf(world, a, b)
  // The seeds were already tried.
  const seen = new Set(seeds.map((seed) => JSON.stringify(seed)))
  const until = seen.size
  // Changed rules get 70 % of the calls first, then the rest, then whatever is left.
  yield* distinct(inTurn(changed), seen, until + Math.ceil(most * 0.7))
  yield* distinct(inTurn(rest), seen, until + most)
  yield* distinct(inTurn(changed), seen, until + most)
}

/** Drafts that were not seen before, until `most` were seen. */
function* distinct(drafts: Iterable<Draft>, seen: Set<string>, most: number): Iterable<Draft> {
  let repeated = 0
  for (const draft of drafts) {
    if (seen.size >= most || repeated > MAX_REPEATED) return
    const key = JSON.stringify(draft)
    if (key.length > LARGEST) continue
    if (seen.has(key)) {
      repeated++
      continue
    }
    seen.add(key)
    yield draft
  }
}

// Small policies run out of new calls and only repeat.
const MAX_REPEATED = 200_000
const LARGEST = 65_536

interface Focuses {
  readonly changed: readonly Iterable<Draft>[]
  readonly rest: readonly Iterable<Draft>[]
}

const MAX_CHANGED = 2000
const MAX_PATTERNS = 20
const MAX_NEIGHBOURS = 24
const TOOLS_OF_A_RULE = 4

function focusesOf(world: World, a: Policy, b: Policy): Focuses {
  const rules = distinctRules([a, b])
  const moved = changedRules(a, b)
  const changed = rules.filter((rule) => moved.has(ruleKey(rule))).slice(0, MAX_CHANGED)
  const declared = world.tools.filter((tool) => isRedeclared(world, tool)).slice(0, MAX_CHANGED)
  return {
    changed: [
      ...changed.map((rule) => ofChange(world, rule)),
      ...changed.map((rule) => ofRule(world, rule)),
      ...changed.map((rule) => lazily(() => inTurn(pairsWith(world, rule, rules)))),
      ...declared.map((tool) => lazily(() => inTurn([ofTool(world, tool), ...rulesAt(world, tool)]))),
    ],
    rest: [...world.tools.map((tool) => ofTool(world, tool)), ...rules.map((rule) => ofRule(world, rule))],
  }
}

/** Rules that only one policy has, or whose relative order differs. */
function changedRules(a: Policy, b: Policy): ReadonlySet<string> {
  const [left, right] = [a, b].map(({ rules }) => rules.map(ruleKey))
  const inRight = new Set(right)
  const inLeft = new Set(left)
  const sharedLeft = (left ?? []).filter((key) => inRight.has(key))
  const sharedRight = (right ?? []).filter((key) => inLeft.has(key))
  return new Set([
    ...(left ?? []).filter((key) => !inRight.has(key)),
    ...(right ?? []).filter((key) => !inLeft.has(key)),
    ...sharedLeft.filter((key, i) => sharedRight[i] !== key),
  ])
}

function isRedeclared(world: World, tool: string): boolean {
  return world.redeclared.some((name) => name.matches(tool))
}

/** The tools to try a rule with: declared ones first, one per effect class. */
function toolsFor(world: World, rule: Rule): readonly string[] {
  const own = rule.tools.slice(0, MAX_PATTERNS).flatMap(namesFor)
  const others = world.tools.filter((tool) => rule.tools.some((each) => each.matches(tool)))
  const fit = [...own, ...others]
  const known = fit.filter((tool) => world.declared(tool).length > 0)
  const effects = new Map(
    known.map((tool) => [
      world
        .declared(tool)
        .map(({ effect }) => effect)
        .join(' '),
      tool,
    ]),
  )
  return [...new Set([...effects.values(), ...known, ...fit.slice(0, 1)])].slice(0, TOOLS_OF_A_RULE)
}

function ofRule(world: World, rule: Rule): Iterable<Draft> {
  return lazily(() => inTurn(toolsFor(world, rule).map((tool) => trying(world, rule, tool))))
}

/** Calls that reach the rule, with texts that its old and new conditions may treat differently. */
function ofChange(world: World, rule: Rule): Iterable<Draft> {
  return lazily(() =>
    inTurn(
      toolsFor(world, rule).map((tool) =>
        lazily(() => aroundChange(world, rule, startsFor(world, rule, tool))),
      ),
    ),
  )
}

/** The initial calls: those of cases, and those that reach the rule. */
function startsFor(world: World, rule: Rule, tool: string): readonly Draft[] {
  const base = callerFor(rule, world, baseOf(world, tool))
  const seeds = seedsFor(world, tool)
  const reached = [base, ...seeds].flatMap((each) => reaching(world, rule, prepared(world, each)))
  return [...reached.slice(0, MAX_STARTS), ...seeds]
}

function seedsFor(world: World, tool: string): readonly Draft[] {
  return world.seeds.filter((seed) => seed.tool === tool).slice(0, MAX_SEEDS)
}

const MAX_SEEDS = 12
const MAX_RULES_OF_A_TOOL = 24

function rulesAt(world: World, tool: string): readonly Iterable<Draft>[] {
  return world
    .rulesFor(tool)
    .slice(0, MAX_RULES_OF_A_TOOL)
    .map((rule) => trying(world, rule, tool))
}

function ofTool(world: World, tool: string): Iterable<Draft> {
  return lazily(function* () {
    const draft = prepared(world, baseOf(world, tool))
    const seeds = seedsFor(world, tool)
    yield draft
    // An undeclared tool is always denied.
    if (world.declared(tool).length === 0) return
    yield* inTurn([
      elsewhere(world, draft),
      ...callers(world, draft).map((each) => inTurn([elsewhereTo(world, each), dataTo(world, each)])),
      ...seeds.map((each) => inTurn([elsewhere(world, each), elsewhereTo(world, each), dataTo(world, each)])),
    ])
  })
}

/** The draft, and a copy for a principal of each other tier. */
function callers(world: World, draft: Draft): readonly Draft[] {
  const tiers = new Map(world.principals.map((name) => [world.tiersOf(name).join(' '), name]))
  tiers.delete(world.tiersOf(draft.principal ?? '').join(' '))
  return [draft, ...[...tiers.values()].slice(0, MAX_CALLERS).map((principal) => ({ ...draft, principal }))]
}

const MAX_CALLERS = 4
const ANY_WAY: readonly Way[] = [[]]
const MAX_STARTS = 6
const PAIRED_VALUES = 5

/** A rule with one tool: every way into its condition and around it, then single variations. */
function trying(world: World, rule: Rule, tool: string): Iterable<Draft> {
  return lazily(function* () {
    const base = callerFor(rule, world, baseOf(world, tool))
    const { when, unless } = rule.when ? world.waysOf(rule) : { when: ANY_WAY, unless: [] }
    const reached = reaching(world, rule, prepared(world, base))
    const into = [...reached, ...when.map((way) => prepared(world, along(world, base, way)))]
    const past = unless.map((way) => prepared(world, along(world, base, way)))
    yield* inTurn([into, past])
    if (world.declared(tool).length === 0) return
    const [first = base] = into
    const own = argumentsIn(world.waysOf(rule).clues)
    const all = argumentsIn(
      world
        .rulesFor(tool)
        .slice(0, MAX_RULES_OF_A_TOOL)
        .flatMap((each) => world.waysOf(each).clues),
    )
    const starts = [...into.slice(0, MAX_STARTS), ...past.slice(0, MAX_STARTS)]
    yield* inTurn([
      inTurn(starts.map((start) => withEach(start, own))),
      elsewhere(world, first),
      elsewhereTo(world, first),
      withEach(first, all),
      dataTo(world, first),
      withPairs(first, own, PAIRED_VALUES),
      inTurn(seedsFor(world, tool).map((seed) => inTurn([withEach(seed, own), elsewhere(world, seed)]))),
    ])
    yield* inTurn(starts.slice(1).flatMap((start) => [elsewhere(world, start), elsewhereTo(world, start)]))
    yield* withPairs(first, all, PAIRED_VALUES)
  })
}

/** Calls that two rules match: their order matters. */
function pairsWith(world: World, rule: Rule, rules: readonly Rule[]): readonly Iterable<Draft>[] {
  const at = rules.indexOf(rule)
  const near = rules
    .map((other, i) => [other, Math.abs(i - at)] as const)
    .filter(([other]) => other !== rule && meeting(rule, other).length > 0)
    .sort(([, x], [, y]) => x - y)
    .slice(0, MAX_NEIGHBOURS)
  return near.map(([other]) => lazily(() => ofBoth(world, rule, other)))
}

function meeting(a: Rule, b: Rule): readonly string[] {
  return a.tools.flatMap((x) => b.tools.flatMap((y) => namesForBoth(x, y)))
}

function* ofBoth(world: World, a: Rule, b: Rule): Iterable<Draft> {
  const known = world.tools.filter(
    (tool) =>
      world.declared(tool).length > 0 &&
      [a, b].every(({ tools }) => tools.some((each) => each.matches(tool))),
  )
  for (const tool of [...known.slice(0, TOOLS_OF_A_RULE), ...meeting(a, b).slice(0, 1)]) {
    const base = callerFor(a, world, callerFor(b, world, baseOf(world, tool)))
    const [first, second] = [a, b].map((rule) => (rule.when ? world.waysOf(rule).when : ANY_WAY))
    for (const way of first ?? []) {
      for (const other of (second ?? []).slice(0, MAX_STARTS)) {
        yield prepared(world, along(world, base, [...way, ...other]))
      }
    }
  }
}

/** The draft with a caller that the rule matches. A matching caller is kept. */
function callerFor({ principals, sessions, doors }: Rule, world: World, draft: Draft): Draft {
  const fits = (patterns: Rule['principals'], name: string): boolean =>
    patterns.length === 0 || patterns.some((each) => each.matches(name))
  const pick = (patterns: Rule['principals'], names: readonly string[], now: string): string =>
    fits(patterns, now) ? now : (names.find((name) => fits(patterns, name)) ?? now)
  const [door = draft.door] = doors.length === 0 || doors.includes(draft.door) ? [draft.door] : doors
  return {
    ...draft,
    principal: pick(principals, world.principals, draft.principal ?? ''),
    session: pick(sessions, world.sessions, draft.session),
    door,
  }
}

/** The draft with the data that a browser call needs. */
function prepared(world: World, draft: Draft): Draft {
  if (!isBrowser(world, draft) || draft.browser) return draft
  const url = pageInside(world.policies)
  return { ...draft, browser: pageAt(url ?? `https://${STRANGER}/`), posted: true }
}

/** Computes an iterable on demand, again for each iteration. */
function lazily(make: () => Iterable<Draft>): Iterable<Draft> {
  return { [Symbol.iterator]: () => make()[Symbol.iterator]() }
}
