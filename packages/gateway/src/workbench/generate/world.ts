// Collects the names and values in two policies that generated calls are built from.

import { DOORS, TIERS, type Door, type JsonObject, type Tier } from '@tollgate/evidence'
import { isDelegateOnly } from '@tollgate/kernel/admin'
import type { Policy, Rule, ToolDeclaration } from '@tollgate/kernel/policy'
import { waysOf, type Ways } from '@tollgate/kernel/workbench'
import { declaredPath, withArgument, type Draft } from './draft.ts'
import { addressesOf, insideOf } from './hosts.ts'
import { namesFor, namesForBoth, namesNear, type NamePattern } from './names.ts'
import { boundsOf, examplesOf, schemasIn, type Bounds } from './shape.ts'
import { toolsThatDiffer } from '../settings.ts'
import { timesOf } from './times.ts'
import { createFitting, type Fitting } from './values.ts'

/** The contents of two policies. In each list, items that only one policy has come first. */
export interface World {
  readonly policies: readonly Policy[]
  readonly tools: readonly string[]
  readonly principals: readonly string[]
  readonly sessions: readonly string[]
  readonly doors: readonly Door[]
  readonly tenants: readonly string[]
  readonly environments: readonly string[]
  readonly workspaces: readonly string[]
  readonly times: readonly number[]
  readonly addresses: readonly string[]
  readonly fitting: Fitting
  /** Calls of case files. */
  readonly seeds: readonly Draft[]
  /** Tool declarations that differ between the policies. */
  readonly redeclared: readonly NamePattern[]
  /** The ways to make a rule's condition true or false. */
  waysOf(rule: Rule): Ways
  /** The declarations of a tool: none, one or two. */
  declared(tool: string): readonly ToolDeclaration[]
  shapeOf(tool: string): ArgumentsShape
  /** The distinct rules of all policies that match a tool. */
  rulesFor(tool: string): readonly Rule[]
  /** A call without a tool and without objections. */
  usual(): Draft
  /** The tier of a principal in each policy. */
  tiersOf(principal: string): readonly Tier[]
}

/** The known arguments of a tool. */
interface ArgumentsShape {
  /** Arguments that probably match its schema; at least one. */
  readonly examples: readonly JsonObject[]
  /** Values at the limits of the schema. */
  readonly bounds: Bounds
  /** The path of an argument for text. */
  readonly text: readonly string[]
  /** The path of an argument for an address. */
  readonly address: readonly string[]
  /** All declared destination arguments. */
  readonly addresses: readonly (readonly string[])[]
  /** The argument with the cost of the call. */
  readonly cost: readonly string[] | undefined
}

const MAX_NAMES = 2000
const MAX_MET = 400
const STRANGER = 'agent:probe'

/** Collects the contents of two policies. */
export function worldOf(a: Policy, b: Policy, seeds: readonly Draft[] = []): World {
  const policies = [a, b]
  const ways = new Map<string, Ways>()
  const schemas = policies.map(({ text }) => schemasIn(text))
  const shapes = new Map<string, ArgumentsShape>()
  const perTool = new Map<string, readonly Rule[]>()
  const tiers = new Map<string, readonly Tier[]>()
  const distinct = distinctRules(policies)
  const finders = policies.map(declarationsOf)
  const known = new Map<string, readonly ToolDeclaration[]>()
  const declared = (tool: string): readonly ToolDeclaration[] =>
    kept(known, tool, () => finders.flatMap((find) => find(tool)))
  let usual: Draft | undefined
  const world: World = {
    policies,
    tools: toolsOf(policies),
    principals: namesOf(policies, (policy) => [
      ...policy.principals.map(({ name }) => name),
      ...policy.rules.flatMap(({ principals }) => principals),
    ]).concat(STRANGER),
    sessions: namesOf(policies, ({ rules }) => rules.flatMap(({ sessions }) => sessions)).concat('probe'),
    doors: DOORS,
    tenants: listed(policies, ({ context }) => context.tenants).concat('default'),
    environments: listed(policies, ({ context }) => context.environments).concat('elsewhere'),
    workspaces: listed(policies, ({ context }) => context.workspaces).concat('elsewhere'),
    times: timesOf(policies),
    addresses: addressesOf(...policies),
    fitting: createFitting(),
    seeds,
    redeclared: toolsThatDiffer(a, b),
    waysOf: ({ when }) => kept(ways, when?.source ?? 'true', waysOf),
    declared,
    shapeOf: (tool) => kept(shapes, tool, () => shapeOf(declared(tool), schemas)),
    rulesFor: (tool) =>
      kept(perTool, tool, () => distinct.filter(({ tools }) => tools.some((each) => each.matches(tool)))),
    tiersOf: (principal) => kept(tiers, principal, () => policies.map((policy) => tierIn(policy, principal))),
    usual: () => (usual ??= usualOf(world)),
  }
  return world
}

const MAX_KEPT = 4096
const MAX_ADDRESSES = 8

function kept<T>(store: Map<string, T>, key: string, make: (key: string) => T): T {
  const known = store.get(key)
  if (known !== undefined) return known
  if (store.size >= MAX_KEPT) store.clear()
  const made = make(key)
  store.set(key, made)
  return made
}

/** A rule as one text, equal for rules with the same effect. */
export function ruleKey({ id, action, tools, principals, sessions, doors, when }: Rule): string {
  const sources = (patterns: readonly NamePattern[]): string[] => patterns.map(({ source }) => source)
  return JSON.stringify([
    id,
    action,
    sources(tools),
    sources(principals),
    sources(sessions),
    doors,
    when?.source ?? null,
  ])
}

/** The distinct rules of all policies. */
export function distinctRules(policies: readonly Policy[]): readonly Rule[] {
  return [
    ...new Map(policies.flatMap(({ rules }) => rules.map((rule) => [ruleKey(rule), rule] as const))).values(),
  ]
}

/** The distinct items of both policies. Those that only one policy has come first. */
function listed(policies: readonly Policy[], read: (policy: Policy) => readonly string[]): string[] {
  const lists = policies.map((policy) => new Set(read(policy)))
  const all = new Set(lists.flatMap((list) => [...list]))
  const isShared = (name: string): boolean => lists.every((list) => list.has(name))
  return [...all].sort((x, y) => Number(isShared(x)) - Number(isShared(y))).slice(0, MAX_NAMES)
}

function namesOf(policies: readonly Policy[], read: (policy: Policy) => readonly NamePattern[]): string[] {
  const patterns = new Map(policies.flatMap((policy) => read(policy).map((each) => [each.source, each])))
  const sources = listed(policies, (policy) => read(policy).map(({ source }) => source))
  const found = sources.flatMap((source) => patterns.get(source) ?? [])
  return unique([...found.flatMap(namesFor), ...meetings(found, found), ...found.flatMap(namesNear)])
}

/** Names that match two patterns at once, for a limited number of pairs. */
function meetings(a: readonly NamePattern[], b: readonly NamePattern[]): readonly string[] {
  const [left, right] = [a, b].map((list) => list.filter(({ exact }) => !exact).slice(0, 40))
  return (left ?? [])
    .flatMap((x) => (right ?? []).flatMap((y) => (x === y ? [] : namesForBoth(x, y))))
    .slice(0, MAX_MET)
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MAX_NAMES)
}

function toolsOf(policies: readonly Policy[]): readonly string[] {
  const patternsOf = (policy: Policy): readonly NamePattern[] => [
    ...policy.tools.map(({ name }) => name),
    ...policy.rules.flatMap(({ tools }) => tools),
    ...policy.gates.temporal.hours.map(({ tools }) => tools),
    ...(policy.gates.compliance?.rules ?? []).flatMap(({ tools }) => tools),
  ]
  return [...namesOf(policies, patternsOf), 'undeclared/tool']
}

/** Finds a declaration as the kernel does: exact names first. */
function declarationsOf({ tools }: Policy): (tool: string) => readonly ToolDeclaration[] {
  const exact = new Map(tools.toReversed().map((each) => [each.name.source, each]))
  const patterns = tools.filter(({ name }) => !name.exact)
  return (tool) => {
    const own = exact.get(tool)
    const found = own?.name.exact === true ? own : patterns.find(({ name }) => name.matches(tool))
    return found ? [found] : []
  }
}

function shapeOf(
  declared: readonly ToolDeclaration[],
  schemas: readonly ReadonlyMap<string, JsonObject>[],
): ArgumentsShape {
  const own = declared
    .flatMap(({ name }) => schemas.map((each) => each.get(name.source)))
    .filter((each) => each !== undefined)
  const texts = own.flatMap((schema) => textual(schema))
  const addresses = declared.flatMap(({ destinations }) => (destinations === 'none' ? [] : destinations))
  const cost = declared.flatMap((each) => (typeof each.cost === 'string' ? [each.cost] : []))[0]
  const [address = texts[0] ?? 'url'] = addresses
  return {
    examples: own.length === 0 ? [{}] : own.flatMap(examplesOf),
    bounds: own.flatMap(boundsOf),
    text: declaredPath(texts[0] ?? declared.flatMap(({ sinks }) => sinks)[0] ?? 'note'),
    address: declaredPath(address),
    addresses: [...new Set(addresses)].slice(0, MAX_ADDRESSES).map(declaredPath),
    cost: cost === undefined ? undefined : declaredPath(cost),
  }
}

/** Arguments that may have any text, judged by the examples. */
function textual(schema: JsonObject): readonly string[] {
  const [, all] = examplesOf(schema)
  return Object.entries(all ?? {}).flatMap(([name, value]) => (value === 'x' ? [name] : []))
}

function tierIn({ principals }: Policy, principal: string): Tier {
  return principals.find(({ name }) => name.matches(principal))?.tier ?? 'observer'
}

/** A call that probably gets no objection under both policies. */
export function baseOf(world: World, tool: string): Draft {
  const { examples, addresses } = world.shapeOf(tool)
  const draft = { ...world.usual(), tool, args: examples[0] ?? {} }
  const inside = insideOf(world.policies)
  return inside === undefined
    ? draft
    : addresses.reduce((sofar, path) => withArgument(sofar, path, inside), draft)
}

function usualOf(world: World): Draft {
  const { policies, tenants, environments, workspaces, times } = world
  const shared = (
    read: (policy: Policy) => readonly string[],
    all: readonly string[],
  ): string | undefined => {
    if (policies.every((policy) => read(policy).length === 0)) return undefined
    const fits = (name: string): boolean =>
      policies.every((policy) => read(policy).length === 0 || read(policy).includes(name))
    return all.find(fits) ?? all[0]
  }
  return {
    tool: '',
    args: {},
    principal: strongest(world),
    session: 'probe',
    door: 'mcp',
    tenant: shared(({ context }) => context.tenants, tenants) ?? 'default',
    environment: shared(({ context }) => context.environments, environments),
    workspace: shared(({ context }) => context.workspaces, workspaces),
    time: times[0] ?? 0,
  }
}

/** The principal with the highest tier that may act without a delegation. */
function strongest(world: World): string {
  const { principals, policies } = world
  const rank = (name: string): number => Math.min(...world.tiersOf(name).map((tier) => TIERS.indexOf(tier)))
  const acts = (name: string): boolean => policies.every((policy) => !isDelegateOnly(policy, name))
  const [best] = principals
    .slice(0, MAX_RANKED)
    .filter(acts)
    .map((name) => [name, rank(name)] as const)
    .sort(([, x], [, y]) => y - x)
  return best?.[0] ?? STRANGER
}

const MAX_RANKED = 300
