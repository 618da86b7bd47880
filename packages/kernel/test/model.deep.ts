import { expect, it } from 'vitest'
import { compare, seedFromOutside } from './model-run.ts'

it('decides 1,000,000 calls as the model does', async () => {
  const run = await compare(1_000_000, seedFromOutside() ?? 2)
  expect(run.difference).toBeUndefined()
  expect(run.cases).toBeGreaterThanOrEqual(1_000_000)
})
