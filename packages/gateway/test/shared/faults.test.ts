import { expect, test } from 'vitest'
import { runBattery } from './faults.ts'

test('four gateways lose, repeat and fork nothing while everything around them fails', async () => {
  const report = await runBattery({ gateways: 4, faults: 30, seed: 27 })
  console.log(JSON.stringify(report))
  expect(report.violations).toEqual([])
  expect(Object.values(report.faults).every((count) => count > 0)).toBe(true)
  expect(report.acknowledged).toBeGreaterThan(100)
  expect(report.checkpoints).toBeGreaterThan(1)
  expect(report.approvalsUsed).toBeGreaterThan(0)
})
