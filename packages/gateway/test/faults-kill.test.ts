import { describe, expect, it } from 'vitest'
import { killLoops } from './faults-kill.ts'

describe('a gateway that is killed under load', () => {
  it('keeps every receipt it acknowledged, runs no tool unrecorded, and closes what was open', async () => {
    const { audit, early } = await killLoops({ loops: 100, seed: 20_260_731, fsckEvery: 25 })
    expect(audit.violations).toEqual([])
    expect(audit.counts.acknowledged).toBeGreaterThan(1000)
    expect(audit.counts.effects).toBeGreaterThan(500)
    expect(audit.counts.checkpoints).toBeGreaterThan(50)
    expect(audit.counts.closedUnknown).toBeGreaterThan(50)
    expect(audit.counts.recoveries).toBeGreaterThan(20)
    expect(early).toBeGreaterThan(0)
  }, 180_000)
})
