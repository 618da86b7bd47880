import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLoopSpin } from '../../src/store/sqlite/loop-spin.ts'

/** Waits until the loop sleeps most of the time. On a loaded machine other tests of this process keep it busy for a while. */
async function untilItSleeps(): Promise<void> {
  while ((await busyFor(50)) >= 0.5) await sleep(10)
}

/** The share of this many milliseconds in which the loop does not sleep. */
async function busyFor(ms: number): Promise<number> {
  const before = performance.eventLoopUtilization()
  await sleep(ms)
  return performance.eventLoopUtilization(before).utilization
}

test('the loop turns while the spin is kept, and other work continues', async () => {
  const spin = createLoopSpin()
  spin.keep(1000)
  spin.keep(1000)
  expect(await busyFor(50)).toBeGreaterThan(0.9)
  spin.end()
})

test('it sleeps again after the time or the end of the spin', async () => {
  const spin = createLoopSpin()
  spin.keep(5)
  await untilItSleeps()
  spin.keep(60_000)
  spin.end()
  await untilItSleeps()
})
