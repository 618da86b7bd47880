import { describe, expect, it } from 'vitest'
import { collectGarbage, restAfterWork, type Worked } from '../../src/cli/setup/memory.ts'
import { activate, ask, createSite, report } from '../gateway-rig.ts'

const MEGABYTE = 2 ** 20

/** What is in use when everything that can go has gone. */
function inUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Asks what a loop that has worked and waited so long says, interval by interval. */
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
  it('holds nothing of calls that have ended, once garbage is collected', async () => {
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
    // What is asked is four megabytes, and as much again in texts made of it.
    expect(inUse() - before).toBeLessThan(2 * MEGABYTE)
    await gateway.close()
  })

  it('leaves no way to the collector behind', () => {
    collectGarbage()
    expect('gc' in globalThis).toBe(false)
  })

  it('is collected once after work, when there is none any more', () => {
    expect(asked(WORK, WORK, REST, REST, WORK, REST)).toEqual([false, false, true, false, false, true])
  })

  it('is not collected while calls come, nor after hardly any', () => {
    expect(asked(WORK, { active: 500, idle: 4500 }, WORK)).toEqual([false, false, false])
    expect(asked({ active: 500, idle: 4500 }, REST, REST)).toEqual([false, false, false])
  })
})
