// A guard against a hostile way to the gateway. The law is in `hostile-law.ts`; `hostile.deep.ts` holds it for longer.

import { expect, it } from 'vitest'
import { holdLaw } from './hostile-law.ts'

it('runs a tool at most once a call, and never without an ALLOW for it, whatever happens on the way', async () => {
  const tally = await holdLaw(150)
  // Chance decides what a storm brings: there are more of them until each outcome was really tried.
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
