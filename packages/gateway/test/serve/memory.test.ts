import { describe, expect, it } from 'vitest'
import { collectGarbage, restAfterWork, type Worked } from '../../src/cli/setup/memory.ts'
import { activate, ask, createSite, report } from '../gateway-rig.ts'

const MEGABYTE = 2 ** 20

/** The memory in use after garbage collection. */
function inUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** The answers after a loop that worked and waited this long, per interval. */
function asked(...intervals: readonly Worked[]): readonly boolean[] {
  const sum = { active: 0, idle: 0 }
  const isDue = restAfterWork(() => ({ ...sum }))
  return intervals.map(({ active, idle }) => {
    sum.active += active
    sum.idle += idle
    return isDue()
  })
}

let asks = 0
const WORK: Worked = { active: 4000, idle: 1000 }
const REST: Worked = { active: 10, idle: 4990 }

describe('the memory of a gateway', () => {
  it('keeps nothing of ended calls after garbage collection', async () => {
    const gateway = await (await createSite()).open()
    await activate(gateway)
    const round = async (calls: number): Promise<void> => {
      for (let done = 0; done < calls; done += 50) {
        const asking = Array.from({ length: 50 }, () =>
          ask(gateway, 'notes/read', { text: `${++asks}${'x'.repeat(4000)}` }),
        )
        await Promise.all(
          (await Promise.all(asking)).map(({ decided }) => report(gateway, decided.receipt ?? '')),
        )
      }
    }
    await round(200)
    const before = inUse()
    await round(1000)
    // The requests have four megabytes, and the derived texts as much again.
    expect(inUse() - before).toBeLessThan(2 * MEGABYTE)
    await gateway.close()
  })

  it('does not expose the garbage collector', () => {
    collectGarbage()
    expect('gc' in globalThis).toBe(false)
  })

  it('is collected once after the work ends', () => {
    expect(asked(WORK, WORK, REST, REST, WORK, REST)).toEqual([false, false, true, false, false, true])
  })

  it('is not collected while calls arrive, nor after very few', () => {
    expect(asked(WORK, { active: 500, idle: 4500 }, WORK)).toEqual([false, false, false])
    expect(asked({ active: 500, idle: 4500 }, REST, REST)).toEqual([false, false, false])
  })
})
