// Judges an implementation by requirements, one after the other.

import { openWorld } from './world.ts'
import type { Requirement, World, WorldOptions } from './requirement.ts'

/** How an implementation keeps a requirement. */
export interface Result {
  readonly requirement: Requirement
  /** The first difference; undefined if the requirement is kept. */
  readonly broken: string | undefined
  readonly ms: number
}

/** @throws Error if the implementation does not start. */
export async function judge(
  options: WorldOptions,
  requirements: readonly Requirement[],
): Promise<readonly Result[]> {
  const world = await openWorld(options)
  try {
    const results: Result[] = []
    for (const requirement of requirements) {
      const began = performance.now()
      const broken = await brokenBy(requirement, world)
      results.push({ requirement, broken, ms: Math.round(performance.now() - began) })
    }
    return results
  } finally {
    await world.close()
  }
}

async function brokenBy({ test }: Requirement, world: World): Promise<string | undefined> {
  try {
    await test(world)
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
