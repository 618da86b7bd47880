// Checks the law of a guard under random faults, see `hostile-law.ts`. `hostile.deep.ts` has more rounds.

import { expect, it } from 'vitest'
import { holdLaw } from './hostile-law.ts'

it('runs a tool at most once per call and never without its ALLOW, under random faults', async () => {
  const tally = await holdLaw(150)
  // Faults are random, so rounds are added until each outcome occurred.
  for (let more = 0; more < 50 && tally.unreported === 0; more++) {
    const { ran, kept, unreported } = await holdLaw(20)
    tally.ran += ran
    tally.kept += kept
    tally.unreported += unreported
  }
  expect(tally.ran).toBeGreaterThan(20)
  expect(tally.kept).toBeGreaterThan(20)
  expect(tally.unreported).toBeGreaterThan(0)
})
