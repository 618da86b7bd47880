import { expect, it } from 'vitest'
import { hashNumberLines, PUBLISHED } from './canonical-numbers.ts'

it('writes the first 10,000,000 numbers of the published sequence', { timeout: 600_000 }, () => {
  expect(hashNumberLines(10_000_000)).toEqual(PUBLISHED)
})
