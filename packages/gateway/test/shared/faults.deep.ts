import { expect, test } from 'vitest'
import { runBattery } from './faults.ts'

// A fault costs a second or two on a busy machine.
const THREE_HOURS = 3 * 3_600_000
const EACH = 100

test.each(Array.from({ length: 10 }, (_, i) => i))(
  'four gateways survive a hundred faults, time %i of ten',
  async (time) => {
    const report = await runBattery({ gateways: 4, faults: EACH, seed: (Date.now() + time) % 2 ** 31 })
    console.log(JSON.stringify(report))
    expect(report.violations).toEqual([])
  },
  THREE_HOURS,
)
