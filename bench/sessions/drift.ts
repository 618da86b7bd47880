// What everyday life does to honest sessions: nights in between, retries, another task, branches, a session taken up again.

import type { Random } from './random.ts'
import type { Turn } from './session.ts'
import { Story } from './weave.ts'
import type { World } from './world.ts'

const HOUR = 3_600_000
type Bend = (turns: readonly Turn[], random: Random, world: World) => readonly Turn[]

/** The ways in which a benign session is bent, by name. */
export const DRIFTS: Readonly<Record<string, Bend>> = {
  none: (turns) => turns,
  idle: (turns, random) => later(turns, random.below(turns.length), random.between(2, 60) * HOUR),
  retries: (turns, random) =>
    turns.flatMap((turn) => (random.chance(20) ? [turn, { ...turn, at: turn.at + 1500 }] : [turn])),
  'task-switch': (turns, random, world) => {
    const at = random.between(1, turns.length)
    return [
      ...turns.slice(0, at),
      ...everyday(world, random, turns[at - 1], random.between(3, 12)),
      ...turns.slice(at),
    ]
  },
  'parallel-branches': (turns) =>
    turns.map((turn, i) => (turn.filler && i % 2 === 1 ? { ...turn, session: `${turn.session}-b` } : turn)),
  resumed: (turns, random) => {
    const at = random.below(turns.length)
    return later(turns, at, random.between(1, 20) * HOUR).map((turn, i) =>
      i < at ? turn : { ...turn, session: `${turn.session}-again` },
    )
  },
  long: (turns, random, world) =>
    turns.flatMap((turn) => [
      turn,
      ...everyday(world, random, turn, random.between(0, Math.floor(150 / turns.length))),
    ]),
}

/** Everyday calls after a turn, in its session and by its caller. */
export function everyday(
  world: World,
  random: Random,
  after: Turn | undefined,
  count: number,
): readonly Turn[] {
  const story = new Story(world, random, false)
  story.daily(count)
  const { at = 0, session = 's1' } = after ?? {}
  return story.turns.map((turn, i) => ({
    ...turn,
    at: at + (i + 1) * 1000 * random.between(2, 20),
    session,
    ...(after && { principal: after.principal }),
    ...(after?.chain && { chain: after.chain }),
  }))
}

/** The same with a pause before one of the turns. */
export function later(turns: readonly Turn[], from: number, pause: number): readonly Turn[] {
  return turns.map((turn, i) => (i < from ? turn : { ...turn, at: turn.at + pause }))
}

/** The same in an order of time that only goes forward: what comes later in the list is not earlier on the clock. */
export function forward(turns: readonly Turn[]): readonly Turn[] {
  let now = 0
  return turns.map((turn) => ({ ...turn, at: (now = Math.max(now + 1, turn.at)) }))
}
