// The same as in `generate.test.ts`, over far more policies and changes.

import { expect, test } from 'vitest'
import { knownPolicies, measure, randomPolicy } from './mutants.ts'

test.each([
  ['known', knownPolicies()],
  ['made-up', Array.from({ length: 500 }, (_, seed) => randomPolicy(seed))],
])('changes of %s policies at random are found', (_, policies) => {
  const { rate, found, missed } = measure(policies, 1500, 2000)
  console.info(`found ${found}, missed ${missed.length} (${(rate * 100).toFixed(1)} %): ${missed.join('; ')}`)
  expect(rate).toBeGreaterThanOrEqual(0.95)
})
