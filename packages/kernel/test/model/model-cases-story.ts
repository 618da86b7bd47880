// Makes single events and stories for the worlds of the comparison.

import { tame } from './model-cases-call.ts'
import {
  activation,
  answerOf,
  callOf,
  closing,
  maybeWait,
  restartStory,
  scoping,
  waitOf,
  WAITS,
  type Cast,
} from './model-cases-event.ts'
import { dataStory, delegationStory, effectOf } from './model-cases-flow.ts'
import { SESSIONS, TENANTS, TOOLS } from './model-names.ts'
import type { Random } from './model-random.ts'
import type { CallSpec, Event, FreezeTarget } from './model-world.ts'

/** The next event or story. */
export function happening(random: Random, cast: Cast): readonly Event[] {
  const kind = random.int(100)
  if (kind < 16) return [callOf(random, cast, random.pick(cast.calls))]
  if (kind < 23) return observeStory(random, cast)
  if (kind < 29) return scopeStory(random, cast)
  if (kind < 35) return burst(random, cast)
  if (kind < 54) return approvalStory(random, cast)
  if (kind < 67) return dataStory(random, cast)
  if (kind < 76) return delegationStory(random, cast)
  if (kind < 82) return [effectOf(random, random.int(4))]
  if (kind < 88) return [waitOf(random, cast)]
  if (kind < 90) return [answerOf(random, random.int(4), random.pick(TENANTS))]
  if (kind < 92) return freezeStory(random, cast)
  if (kind < 94) return [activation(random, cast)]
  if (kind < 95) return [closing(random.pick(cast.calls))]
  if (kind < 98 && !cast.stumbles) return restartStory(random, cast)
  return catalogueStory(random, cast)
}

/** The same call several times, perhaps in several sessions, to reach risk thresholds and rates. */
function burst(random: Random, cast: Cast): readonly Event[] {
  const call = random.pick(cast.calls)
  const waits = random.chance(30)
  const spreads = random.chance(40)
  return Array.from({ length: 2 + random.int(5) }, () => [
    callOf(random, cast, spreads ? { ...call, session_id: random.pick(SESSIONS) } : call),
    ...(waits ? maybeWait(random, cast) : []),
  ]).flat()
}

/** A call is escalated, a person answers, and the call is repeated. */
function approvalStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  const call = { ...(random.chance(85) ? tame(random, some) : some), n: random.int(90) }
  const claims = random.chance(50) ? 0 : undefined
  const wait = (): readonly Event[] =>
    random.maybe(35, () => ({ do: 'wait', ms: random.pick(WAITS.slice(0, 14)) }))
  return [
    callOf(random, cast, call),
    ...wait(),
    ...random.maybe(90, () => answerOf(random, 0, random.chance(95) ? call.tenant : 'other')),
    ...wait(),
    ...random.maybe(10, () => activation(random, cast)),
    ...(random.chance(8) && !cast.stumbles ? restartStory(random, cast) : []),
    callOf(random, cast, random.chance(90) ? call : random.pick(cast.calls), claims),
    ...(random.chance(12) && !cast.stumbles ? restartStory(random, cast) : []),
    ...wait(),
    ...random.maybe(15, () => activation(random, cast)),
    ...random.maybe(60, () => callOf(random, cast, call, claims)),
  ]
}

/** A session gets a scope, a call is outside it, and a person may widen the scope. */
function scopeStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  const tamed = random.chance(85) ? tame(random, some) : some
  const call = random.chance(60) ? { ...tamed, session_id: `task-${random.int(1000)}` } : tamed
  const { approver, groups } = { approver: 'user:olga', groups: ['ops'] }
  const yes = { do: 'answer', tenant: call.tenant, request: 0, granted: true, approver, groups } as const
  return [
    scoping(random, call),
    callOf(random, cast, call),
    ...random.maybe(10, () => scoping(random, call)),
    ...random.maybe(85, (): Event => ({ ...yes, widen: random.chance(90) })),
    ...(random.chance(10) && !cast.stumbles ? restartStory(random, cast) : []),
    callOf(random, cast, call),
    ...random.maybe(20, () => waitOf(random, cast)),
    callOf(random, cast, { ...call, n: random.int(90) }),
  ]
}

/** One or two targets are frozen for some time. */
function freezeStory(random: Random, cast: Cast): readonly Event[] {
  const call = random.pick(cast.calls)
  const targets = [freezeTarget(random, call), ...random.maybe(40, () => freezeTarget(random, call))]
  const set = (frozen: boolean, percent: number): readonly Event[] =>
    targets.flatMap((target) => random.maybe(percent, (): Event => ({ do: 'freeze', frozen, target })))
  const during = random.list(2, () =>
    callOf(random, cast, random.chance(60) ? call : random.pick(cast.calls)),
  )
  return [...set(true, 85), ...during, ...set(false, 80)]
}

/** Observe mode is on for some time, and perhaps switched off before its end. */
function observeStory(random: Random, cast: Cast): readonly Event[] {
  const some = random.pick(cast.calls)
  const call = random.chance(80) ? tame(random, some) : some
  const { tenant, principal = '(nobody)', door } = call
  const target = random.chance(50)
    ? ({ scope: 'door', target: door } as const)
    : ({ scope: 'principal', target: principal } as const)
  const set = (lasts: number | null): Event => ({ do: 'observe', tenant, ...target, lasts })
  const calls = (): readonly Event[] =>
    random.list(5, () => callOf(random, cast, random.chance(80) ? call : random.pick(cast.calls)))
  return [
    set(random.pick([1, 60_000, 86_400_000])),
    ...calls(),
    ...random.maybe(40, () => waitOf(random, cast)),
    ...calls(),
    ...random.maybe(60, () => set(null)),
    ...calls(),
  ]
}

function freezeTarget(random: Random, call: CallSpec): FreezeTarget {
  const { tenant, principal = '(nobody)', session_id = principal, tool } = call
  return random.pick<FreezeTarget>([
    { scope: 'all', tenant },
    { scope: 'principal', tenant, target: principal },
    { scope: 'principal', tenant, target: principal },
    { scope: 'tool', tenant, target: tool },
    { scope: 'tool', tenant, target: tool },
    { scope: 'session', tenant, target: session_id },
    { scope: 'session', tenant, target: session_id },
  ])
}

/** A server offers a tool, a person may pin it, and the server offers another version. */
function catalogueStory(random: Random, cast: Cast): readonly Event[] {
  const tool = random.pick(TOOLS)
  const call = { ...random.pick(cast.calls), tool }
  const act = (): Event => {
    if (random.chance(40)) return { do: 'offer', tool, version: random.pick(['v1', 'v2']) }
    return { do: random.pick(['pin', 'pin', 'unpin', 'withdraw']), tool }
  }
  return [
    { do: 'offer', tool, version: 'v1' },
    ...random.maybe(50, (): Event => ({ do: 'pin', tool })),
    ...random.maybe(50, act),
    callOf(random, cast, random.chance(50) ? tame(random, call) : call),
    ...random.maybe(70, act),
    callOf(random, cast, random.chance(50) ? tame(random, call) : call),
  ]
}
