// Checks the law of a guard in many more rounds.

import { expect, it } from 'vitest'
import { holdLaw } from './hostile-law.ts'

it('runs a tool at most once per call and never without its ALLOW, under thousands of random faults', async () => {
  const { ran, kept, unreported } = await holdLaw(3_000)
  expect(Math.min(ran, kept, unreported)).toBeGreaterThan(100)
})
