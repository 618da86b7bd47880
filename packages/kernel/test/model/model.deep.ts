import { expect, it } from 'vitest'
import { tooRare } from './model-least.ts'
import { compare, seedFromOutside } from './model-run.ts'

it.each([
  [20_000, 1],
  [1_000_000, 2],
])('decides %i calls like the model, with every reason', async (cases, seed) => {
  const run = await compare(cases, seedFromOutside() ?? seed)
  expect(run.difference).toBeUndefined()
  expect(run.cases).toBeGreaterThanOrEqual(cases)
  expect(tooRare(run.seen, 20_000)).toEqual([])
})
