import { describe, expect, it } from 'vitest'
import { killLoops } from './kill.ts'

const LEDGERS = Array.from({ length: 20 }, (_, i) => 1000 + i)

describe('a gateway killed 10,000 times under load', () => {
  it.each(LEDGERS)('keeps its invariants on a ledger that grows over 500 kills (seed %i)', async (seed) => {
    const { audit } = await killLoops({ loops: 500, seed, fsckEvery: 50 })
    expect(audit.violations).toEqual([])
  })
})
