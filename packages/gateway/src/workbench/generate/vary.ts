// Varies a call in one aspect, and in two where gates combine two.

import type { Json, JsonObject } from '@tollgate/evidence'
import { ITEM, type Clue } from '@tollgate/kernel/workbench'
import { isList, isObject } from '../../tools/offer.ts'
import { valueAt, withArgument, withAt, type Draft } from './draft.ts'
import { STRANGER } from './hosts.ts'
import { HOSTILE, LABELLED, OUTPUTS, RELAYED, RISKY } from './samples.ts'
import { withText } from './seeds.ts'
import { probing } from './values.ts'
import type { World } from './world.ts'

const MAX_PATHS = 48

/** Paths of arguments with the values to try. */
type Arguments = readonly (readonly [path: readonly string[], values: readonly (Json | undefined)[]])[]

/** The values to try for the arguments that clues are about. */
export function argumentsIn(clues: readonly Clue[]): Arguments {
  const byPath = new Map<string, Clue[]>()
  for (const clue of clues) {
    if (clue.path[0] !== 'args' || clue.path.length < 2 || clue.path.at(-1) === '#') continue
    const key = JSON.stringify(clue.path.slice(1))
    const known = byPath.get(key)
    if (known) known.push(clue)
    else if (byPath.size < MAX_PATHS) byPath.set(key, [clue])
  }
  // Sound: the keys are encoded paths.
  return [...byPath].map(([key, of]) => [JSON.parse(key) as string[], probing(of)])
}

/** Varies one argument at a time: first values of all arguments, then second values. */
export function* withEach(draft: Draft, values: Arguments): Iterable<Draft> {
  const most = Math.max(0, ...values.map(([, list]) => list.length))
  for (let i = 0; i < most; i++) {
    for (const [path, list] of values) {
      if (i >= list.length) continue
      yield withArgument(draft, path, list[i])
      if (path.includes(ITEM)) yield withOneMore(draft, path, list[i])
    }
  }
}

/** A list with an additional item: a mixed list can be treated differently. */
function withOneMore(draft: Draft, path: readonly string[], value: Json | undefined): Draft {
  const at = path.indexOf(ITEM)
  const before = valueAt(draft.args, path.slice(0, at))
  const item = withAt(undefined, path.slice(at + 1), value)
  const items = isList(before) ? before : []
  return withArgument(draft, path.slice(0, at), item === undefined ? items : [...items, item])
}

/** Varies two arguments at once, with the first few values of each. */
export function* withPairs(draft: Draft, values: Arguments, most: number): Iterable<Draft> {
  for (const [i, [path, list]] of values.entries()) {
    for (const [other, more] of values.slice(i + 1)) {
      for (const value of list.slice(0, most)) {
        const first = withArgument(draft, path, value)
        for (const second of more.slice(0, most)) yield withArgument(first, other, second)
      }
    }
  }
}

const MAX_EACH = 40

/** Varies the caller, the time and the context. */
export function* elsewhere(world: World, draft: Draft): Iterable<Draft> {
  const lists: readonly (readonly Draft[])[] = [
    world.principals.slice(0, MAX_EACH).map((principal) => ({ ...draft, principal })),
    world.times.map((time) => ({ ...draft, time })),
    world.doors.map((door) => ({ ...draft, door })),
    world.sessions.slice(0, MAX_EACH).map((session) => ({ ...draft, session })),
    [undefined, ...world.environments.slice(0, MAX_EACH)].map((environment) => ({ ...draft, environment })),
    [undefined, ...world.workspaces.slice(0, MAX_EACH)].map((workspace) => ({ ...draft, workspace })),
    world.tenants.slice(0, MAX_EACH).map((tenant) => ({ ...draft, tenant })),
    [
      { ...draft, principal: undefined },
      { ...draft, delegation: '0'.repeat(64) },
    ],
  ]
  yield* inTurn(lists)
}

/** Varies the data and the destination. */
export function* elsewhereTo(world: World, draft: Draft): Iterable<Draft> {
  const { address, addresses, examples, bounds, cost } = world.shapeOf(draft.tool)
  const texts = [...LABELLED.map(({ text }) => text), ...HOSTILE, RISKY]
  const costs = costsOf(world)
  yield* inTurn<Draft>([
    world.addresses.map((url) => withArgument(draft, address, url)),
    addresses.flatMap((path) => places(world).map((value) => withArgument(draft, path, value))),
    texts.map((text) => withText(world, draft, text)),
    bounds.flatMap(([path, values]) => values.map((value) => withArgument(draft, path, value))),
    examples.map((args) => ({ ...draft, args })),
    cost ? costs.map((value) => withArgument(draft, cost, value)) : [],
    [withArgument(draft, ['unnamed-argument'], 1)],
    relays(world, draft),
    isBrowser(world, draft) ? pages(world, draft) : [],
  ])
}

/** Labelled data to each destination: two gates together may object where each alone does not. */
export function* dataTo(world: World, draft: Draft): Iterable<Draft> {
  const { address, text } = world.shapeOf(draft.tool)
  for (const url of world.addresses.slice(0, MAX_EACH)) {
    const there = withArgument(draft, address, url)
    const isSame = JSON.stringify(address) === JSON.stringify(text)
    for (const sample of LABELLED) {
      yield withArgument(there, isSame ? ['note'] : text, sample.text)
    }
  }
}

/** Values in place of an address: some that are not addresses, and a few that are. */
function places({ addresses }: World): readonly Json[] {
  return ['nowhere', 1, '', [addresses[0] ?? '', 'nowhere'], ...addresses.slice(0, 4)]
}

function costsOf({ policies }: World): readonly Json[] {
  const limits = policies.flatMap(({ gates }) => gates.temporal.limits.filter(({ of }) => of === 'cost'))
  return [
    ...new Set(limits.flatMap(({ calls }) => [calls / 1000, calls / 1000 + 1, calls / 1000 - 1])),
  ].concat(0)
}

/** Outputs of tools, in the call or next to it. */
function relays(world: World, draft: Draft): readonly Draft[] {
  return OUTPUTS.flatMap((output) => {
    const informed = { ...draft, sources: [{ output }] }
    const { address, text } = world.shapeOf(draft.tool)
    return [informed, withArgument(informed, text, RELAYED), withArgument(informed, address, RELAYED)]
  })
}

/** Whether a call of this tool counts as a browser call. */
export function isBrowser(world: World, { tool, door }: Draft): boolean {
  return door === 'browser' || world.declared(tool).some(({ browser }) => browser)
}

/** An observation of a page without problems. */
export function pageAt(url: string): JsonObject {
  return {
    observation: {
      url,
      dom_hash: 'a'.repeat(64),
      visual_text_hash: 'b'.repeat(64),
      sentinel_risk: 0,
      sentinel_findings: [],
    },
    planner_ref: 'plan',
  }
}

function pages(world: World, draft: Draft): readonly Draft[] {
  const urls = world.addresses.filter((url) => url.startsWith('http')).slice(0, MAX_EACH)
  const risks = world.policies.flatMap(({ gates }) => {
    const most = gates.browser.maxSentinelRisk
    return [most, most + 1, most - 1]
  })
  const page = draft.browser ?? pageAt(urls[0] ?? `https://${STRANGER}/`)
  const given = page['observation']
  const seen = isObject(given) ? given : {}
  const put = (browser: JsonObject): Draft => ({ ...draft, browser, posted: true })
  return [
    ...urls.map((url) => put(pageAt(url))),
    ...urls.slice(0, 12).map((destination) => put({ ...page, destination })),
    ...risks.map((sentinel_risk) => put({ ...page, observation: { ...seen, sentinel_risk } })),
    ...findingsIn(world).map((code) => put({ ...page, observation: { ...seen, sentinel_findings: [code] } })),
    put({ ...page, observation: { ...seen, dom_hash: null } }),
    put({ ...page, side_effect: true }),
    put({ observation: seen }),
    { ...draft, browser: page, posted: false },
    { ...draft, browser: undefined },
  ]
}

/** Every finding that a policy lists, and one that none lists. */
function findingsIn({ policies }: World): readonly string[] {
  return [...new Set(policies.flatMap(({ gates }) => [...gates.browser.findings.keys()])), 'SOMETHING_NEW']
}

/** Alternates between lists until all are exhausted. */
export function* inTurn<T>(lists: readonly Iterable<T>[]): Iterable<T> {
  let open = lists.map((list) => list[Symbol.iterator]())
  while (open.length > 0) {
    const still: Iterator<T>[] = []
    for (const each of open) {
      const next = each.next()
      if (next.done === true) continue
      yield next.value
      still.push(each)
    }
    open = still
  }
}
