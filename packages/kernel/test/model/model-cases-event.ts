// Makes single events for the worlds of the comparison.

import { EFFECT_CLASSES } from '@tollgate/evidence'
import { makeReplaced } from './model-cases-call.ts'
import { BOTH, TOOL_GLOBS } from './model-names.ts'
import type { ModelPolicy } from './model-policy.ts'
import type { Random } from './model-random.ts'
import type { CallSpec, Event, Lost, Reply } from './model-world.ts'

const DAY = 86_400_000
/** The people who answer requests. */
export const PEOPLE: readonly Pick<Reply, 'approver' | 'groups'>[] = [
  { approver: 'user:olga', groups: ['ops'] },
  { approver: 'user:olga', groups: ['ops'] },
  { approver: 'user:olga', groups: ['staff', 'ops'] },
  { approver: 'user:olga', groups: ['ops'] },
  { approver: 'user:mia', groups: [] },
  { approver: 'agent:a', groups: ['ops'] },
  { approver: 'ops', groups: [] },
]
// Exact half-lives, expiries and refills, and one millisecond more or less.
export const WAITS = [
  1, 7, 333, 500, 999, 1000, 1001, 30_000, 59_999, 60_000, 60_001, 899_999, 900_000, 900_001, 1_800_000,
  3_600_000, 86_400_000, 86_401_000, 86_401_001, 86_460_000, 87_300_000, 87_300_001,
]

/** The policies and calls of a world. */
export interface Cast {
  readonly stumbles: boolean
  readonly policies: readonly ModelPolicy[]
  readonly calls: readonly CallSpec[]
}

/** A policy is activated. */
export function activation(random: Random, { policies }: Cast): Extract<Event, { do: 'activate' }> {
  return {
    do: 'activate',
    policy: random.int(policies.length),
    tenants: random.pick([BOTH, BOTH, ['default'], ['other']]),
  }
}

/** A call. */
export function callOf(random: Random, { stumbles }: Cast, call: CallSpec, approval?: number): Event {
  const claim = approval ?? (random.chance(4) ? random.int(4) - 1 : undefined)
  return {
    do: 'call',
    call: {
      ...call,
      ...varied(random, call),
      ...(claim !== undefined && { approval: claim }),
      ...(random.chance(6) && { replaced: makeReplaced(random) }),
    },
    behind: stumbles && random.chance(40) ? random.pick([1, 1000, 60_000, 3_600_000]) : 0,
  }
}

/** Sometimes another call, or the same call on a page with another risk. */
function varied(random: Random, { n, page }: CallSpec): Pick<CallSpec, 'n' | 'page'> {
  const other = random.chance(92) ? undefined : random.int(3)
  if (other === undefined) return { n }
  return page ? { n, page: { ...page, risk: [0, 12, 70][other] ?? 0 } } : { n: other }
}

/** Time passes. */
export function waitOf(random: Random, { stumbles }: Cast): Event {
  if (stumbles) return { do: 'wait', ms: random.pick(WAITS.filter((ms) => ms < DAY / 100)) }
  return { do: 'wait', ms: random.chance(75) ? random.pick(WAITS) : random.int(3 * DAY) }
}

/** Time may pass. */
export function maybeWait(random: Random, cast: Cast, percent = 35): readonly Event[] {
  return random.chance(percent) ? [waitOf(random, cast)] : []
}

/** A person answers a request. */
export function answerOf(random: Random, request: number, tenant: string): Event {
  const widen = random.chance(15) && { widen: true }
  return { do: 'answer', tenant, request, granted: random.chance(85), ...widen, ...random.pick(PEOPLE) }
}

/** After a restart the policy is activated again, because the model's policies have no text to load. */
export function restartStory(
  random: Random,
  cast: Cast,
  whose = whoseIs(random.pick(cast.calls)),
): readonly Event[] {
  const kind = random.pick(['session', 'provenance', 'principal', 'tenant', 'tenant'] as const)
  const lost: Lost = { kind, ...whose }
  const between = random.chance(15) ? [callOf(random, cast, random.pick(cast.calls))] : []
  const restart: Event = {
    do: 'restart',
    ...(random.chance(60) && { lost }),
    ...(random.chance(10) && { delegation: random.int(2) }),
  }
  return [restart, ...between, { ...activation(random, cast), ...(random.chance(85) && { tenants: BOTH }) }]
}

/** The session of a call. */
export function whoseIs({
  tenant,
  principal,
  session_id,
  delegation_session_id,
}: CallSpec): Omit<Lost, 'kind'> {
  const session = session_id ?? delegation_session_id ?? principal ?? '(nobody)'
  return { tenant, principal, session }
}

/** The session of a call gets a scope. */
export function scoping(random: Random, call: CallSpec): Event {
  return {
    do: 'scope',
    whose: whoseIs(call),
    host: random.chance(60),
    effects: random.perhaps(60, () => random.some(35, EFFECT_CLASSES)),
    tools: random.perhaps(50, () => [
      random.chance(50) ? call.tool : random.pick(TOOL_GLOBS),
      random.pick(TOOL_GLOBS),
    ]),
    lasts: random.perhaps(25, () => random.pick(WAITS)),
  }
}

/** The session of a call is closed. */
export function closing(call: CallSpec): Event {
  return { do: 'close', whose: whoseIs(call) }
}
