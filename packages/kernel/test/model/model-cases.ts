// Makes the worlds of the comparison, each from a seed.

import { makeCall, tame } from './model-cases-call.ts'
import { ANY_CALLER, makePolicy, makeRule } from './model-cases-policy.ts'
import { dripStory, drippingTool } from './model-cases-drip.ts'
import { PEOPLE } from './model-cases-event.ts'
import { readingStory } from './model-cases-flow.ts'
import { makeTaint } from './model-cases-gates.ts'
import { happening } from './model-cases-story.ts'
import { BOTH } from './model-names.ts'
import type { ModelPolicy, ModelRule } from './model-policy.ts'
import { Random } from './model-random.ts'
import type { Pace } from './model-risk.ts'
import type { Event, World } from './model-world.ts'

const PLENTY: Pace = { calls: 1000, period: 3_600_000 }

/** The world of a seed. */
export function makeWorld(seed: number): World {
  const random = new Random(seed)
  const kind = random.int(400)
  if (kind === 0) return makeCrowd(random)
  if (kind <= 6) return makeDrips(random)
  if (random.int(40) === 0) return makeReaders(random)
  // A late clock is tried only if every turn leaves a receipt. After a restart, or during a flood, the ledger reads the clock without
  // recording it.
  const stumbles = random.chance(15)
  const policies = Array.from({ length: 1 + random.int(3) }, () => makePolicy(random))
  const calls = Array.from({ length: 2 + random.int(5) }, () => {
    const call = makeCall(random)
    return random.chance(60) ? { ...tame(random, call), word: call.word } : call
  })
  const length = 1 + random.int(40)
  const events: Event[] = random.chance(99) ? [{ do: 'activate', policy: 0, tenants: BOTH }] : []
  while (events.length < length) events.push(...happening(random, { stumbles, policies, calls }))
  return {
    quota: random.chance(25) && !stumbles ? { calls: 3 + random.int(8), period: 60_000 } : PLENTY,
    remembered: random.chance(30) ? 1 + random.int(4) : 10_000,
    salted: random.chance(10),
    policies,
    events: events.slice(0, length),
  }
}

/** A policy under which only taint and session risk object. */
function makeCalm(random: Random): ModelPolicy {
  const policy = { ...makePolicy(random), limits: [], hours: [], scoped: false, compliance: undefined }
  const silent = { threat: undefined, trust: undefined, privilege: undefined } as const
  const rule: ModelRule = { ...makeRule(random), id: 'r0', action: 'allow', tools: ['*'], ...ANY_CALLER }
  const tools = policy.tools.map((tool) => ({ ...tool, browser: false }))
  const { provenance } = makeTaint(random)
  return {
    ...policy,
    ...silent,
    context: { environments: [], tenants: [], workspaces: [] },
    tools,
    rules: [{ ...rule, when: undefined, approvers: [] }],
    egress: { allow: ['ok.test', 'ask.test'], ask: [], deny: [] },
    risk: { ...policy.risk, threshold: 1_000_000 },
    taint: { deny: [], ask: [], internal: [], follow: 'values', provenance, results: {} },
  }
}

function calmWorld(policy: ModelPolicy, stories: readonly (readonly Event[])[]): World {
  const events: readonly Event[] = [{ do: 'activate', policy: 0, tenants: BOTH }, ...stories.flat()]
  return { quota: PLENTY, remembered: 10_000, salted: false, policies: [policy], events }
}

/** Sessions that act on texts they have read. */
function makeReaders(random: Random): World {
  const policy = makeCalm(random)
  const calls = Array.from({ length: 4 }, () => tame(random, makeCall(random)))
  const cast = { stumbles: false, policies: [], calls }
  return calmWorld(
    policy,
    Array.from({ length: 12 }, () => readingStory(random, cast)),
  )
}

/** Sessions of one principal without a user message that send data again and again. */
function makeDrips(random: Random): World {
  const policy = { ...makeCalm(random), tools: [drippingTool(random)] }
  const call = tame(random, makeCall(random))
  return calmWorld(
    policy,
    Array.from({ length: 6 }, () => dripStory(random, call)),
  )
}

/** A principal opens more requests than the limit. */
function makeCrowd(random: Random): World {
  const call = { ...tame(random, makeCall(random)), tool: 'fs/read' }
  const asks = (from: number, to: number): Event[] =>
    Array.from({ length: to - from }, (_, i) => ({ do: 'call', call: { ...call, n: from + i }, behind: 0 }))
  const rule = { ...makeRule(random), id: 'r0', action: 'require', tools: ['*'], ...ANY_CALLER } as const
  const policy = { ...makePolicy(random), rules: [{ ...rule, when: undefined }], limits: [], hours: [] }
  const tools = policy.tools
    .slice(0, 1)
    .map((tool) => ({ ...tool, name: 'fs/read', effect: 'read' as const }))
  const { approver, groups } = random.pick(PEOPLE)
  return {
    quota: PLENTY,
    remembered: 10_000,
    salted: false,
    policies: [{ ...policy, tools }],
    events: [
      { do: 'activate', policy: 0, tenants: BOTH },
      ...asks(0, 97 + random.int(6)),
      ...random.maybe(50, (): Event => ({ do: 'wait', ms: random.pick([rule.expires, rule.expires + 1]) })),
      ...random.maybe(30, (): Event => ({ do: 'restart' })),
      { do: 'activate', policy: 0, tenants: BOTH },
      { do: 'answer', tenant: call.tenant, request: random.int(50), granted: true, approver, groups },
      ...asks(95, 106),
    ],
  }
}
