import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createVigil } from '../../src/store/sqlite/vigil.ts'

/** Which part of so many milliseconds the loop does not sleep. */
async function busyFor(ms: number): Promise<number> {
  const before = performance.eventLoopUtilization()
  await sleep(ms)
  return performance.eventLoopUtilization(before).utilization
}

test('the loop turns while the vigil is kept, and other work goes on', async () => {
  const vigil = createVigil()
  vigil.keep(1000)
  vigil.keep(1000)
  expect(await busyFor(50)).toBeGreaterThan(0.9)
  vigil.end()
})

test('it sleeps again once the time is over, or the vigil ends', async () => {
  const vigil = createVigil()
  vigil.keep(5)
  await sleep(20)
  expect(await busyFor(50)).toBeLessThan(0.5)
  vigil.keep(1000)
  vigil.end()
  await sleep(5)
  expect(await busyFor(50)).toBeLessThan(0.5)
})
