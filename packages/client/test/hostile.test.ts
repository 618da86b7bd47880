// A guard against a hostile way to the gateway. The law is in `hostile-law.ts`; `hostile.deep.ts` holds it for longer.

import { expect, it } from 'vitest'
import { holdLaw } from './hostile-law.ts'

it('runs a tool at most once a call, and never without an ALLOW for it, whatever happens on the way', async () => {
  const { ran, kept, unreported } = await holdLaw(150)
  // All three were really tried.
  expect(ran).toBeGreaterThan(20)
  expect(kept).toBeGreaterThan(20)
  expect(unreported).toBeGreaterThan(0)
})
