// The law of a guard, over far more storms.

import { expect, it } from 'vitest'
import { holdLaw } from './hostile-law.ts'

it('runs a tool at most once a call, and never without an ALLOW for it, through thousands of storms', async () => {
  const { ran, kept, unreported } = await holdLaw(3_000)
  expect(Math.min(ran, kept, unreported)).toBeGreaterThan(100)
})
