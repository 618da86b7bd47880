import { expect, test } from 'vitest'
import { runBattery } from './faults.ts'

test('four gateways survive a thousand faults', async () => {
  const report = await runBattery({ gateways: 4, faults: 1000, seed: Date.now() % 2 ** 31 })
  expect(report.violations).toEqual([])
  console.log(JSON.stringify(report))
})
