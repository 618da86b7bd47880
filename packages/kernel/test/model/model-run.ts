// Runs the kernel and the model through the same worlds, and stops at the first difference.

import { canonicalize } from '@tollgate/evidence'
import { makeWorld } from './model-cases.ts'
import { LEGEND } from './model-lines.ts'
import { Pair } from './model-pair.ts'
import { Random } from './model-random.ts'
import type { Event, World } from './model-world.ts'

/** The first difference: the events up to it, and both answers. */
interface Difference {
  readonly events: readonly Event[]
  readonly kernel: string
  readonly model: string
}

/** Runs a world. Calls `met` with the observations of each event. */
async function runWorld(
  world: World,
  met: (seen: readonly string[], isCall: boolean) => void,
): Promise<Difference | undefined> {
  const pair = await Pair.open(world)
  for (const [i, event] of world.events.entries()) {
    const { kernel, model, seen = [] } = await pair.meet(event)
    if (kernel !== model) return { events: world.events.slice(0, i + 1), kernel, model }
    met(seen, event.do === 'call')
  }
  return undefined
}

/** The same difference with fewer events: removes one event after the other. */
async function shrink(world: World, found: Difference): Promise<Difference> {
  let smallest = found
  for (let i = smallest.events.length - 2; i >= 0; i--) {
    const events = smallest.events.toSpliced(i, 1)
    smallest = (await runWorld({ ...world, events }, () => undefined)) ?? smallest
    i = Math.min(i, smallest.events.length - 1)
  }
  return smallest
}

/** The result of a run. */
export interface Run {
  readonly cases: number
  /** The number of each observation, such as `reason RULE_ALLOWED`, in calls without replaced steps. */
  readonly seen: ReadonlyMap<string, number>
  /** The description of a difference, if there is one. */
  readonly difference: string | undefined
}

/** Compares model and kernel in at least this number of calls. */
export async function compare(cases: number, seed: number): Promise<Run> {
  const counts = new Map<string, number>()
  const seeds = new Random(seed)
  let done = 0
  const met = (seen: readonly string[], isCall: boolean): void => {
    for (const name of seen) counts.set(name, (counts.get(name) ?? 0) + 1)
    if (isCall) done++
  }
  while (done < cases) {
    const world = makeWorld(seeds.int(2 ** 32))
    const found = await runWorld(world, met)
    if (found)
      return { cases: done, seen: counts, difference: describe(world, await shrink(world, found), seed) }
  }
  return { cases: done, seen: counts, difference: undefined }
}

function describe(world: World, { events, kernel, model }: Difference, seed: number): string {
  const used = new Set(events.map((event) => (event.do === 'activate' ? event.policy : -1)))
  const { quota, remembered, salted } = world
  return [
    `model and kernel differ; run again with TOLLGATE_SEED=${seed}`,
    `world ${canonicalize({ quota, remembered, salted })}`,
    ...world.policies.flatMap((policy, i) => (used.has(i) ? [`policy ${i} ${JSON.stringify(policy)}`] : [])),
    ...events
      .map((event, i) => `${i + 1}. ${JSON.stringify(event)}`)
      .filter((_, i) => i < 30 || i > events.length - 10),
    `kernel: ${kernel}`,
    `model:  ${model}`,
    LEGEND,
  ].join('\n')
}

/** The seed in `TOLLGATE_SEED`, if it is set. */
export function seedFromOutside(): number | undefined {
  const seed = process.env.TOLLGATE_SEED
  return seed === undefined ? undefined : Number(seed)
}
