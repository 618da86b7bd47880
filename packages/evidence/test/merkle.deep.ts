import { expect, it } from 'vitest'
import { checkConsistency, checkInclusion } from './merkle-laws.ts'

it(
  'proves every leaf of every tree of up to 256 leaves as the model does',
  { timeout: 600_000 },
  async () => {
    expect(await checkInclusion(256)).toBe((256 * 257) / 2)
  },
)

it(
  'proves every growth between trees of up to 256 leaves as the model does',
  { timeout: 600_000 },
  async () => {
    expect(await checkConsistency(256)).toBe((257 * 258) / 2)
  },
)
