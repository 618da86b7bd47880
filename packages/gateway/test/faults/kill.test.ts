import { describe, expect, it } from 'vitest'
import { killLoops } from './kill.ts'

describe('a gateway killed under load', () => {
  it('keeps every acknowledged receipt, runs no tool without a record, and closes open calls', async () => {
    const { audit, early } = await killLoops({ loops: 12, seed: 20_260_731, fsckEvery: 6 })
    expect(audit.violations).toEqual([])
    expect(audit.counts.acknowledged).toBeGreaterThan(100)
    expect(audit.counts.effects).toBeGreaterThan(50)
    expect(audit.counts.checkpoints).toBeGreaterThan(5)
    expect(audit.counts.closedUnknown).toBeGreaterThan(5)
    expect(audit.counts.recoveries).toBeGreaterThan(0)
    expect(early).toBeGreaterThan(0)
  }, 600_000)
})
