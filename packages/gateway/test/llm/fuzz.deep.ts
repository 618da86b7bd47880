import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { tell } from '../faults/rig.ts'
import { fuzz, tellFailure } from './fuzz.ts'

const STREAMS = 200_000
const PARTS = 8

describe('200,000 mutated replies', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part))(
    'leak nothing of a denied call (part %i of 8)',
    async () => {
      const seed = randomInt(2 ** 31)
      const { failures, ...counts } = await fuzz({ seed, streams: STREAMS / PARTS })
      tell(`bent replies, seed ${seed}`, { ...counts, failures: failures.length })
      expect(failures.map(tellFailure).join('\n\n')).toBe('')
      expect(counts.streams).toBe(STREAMS / PARTS)
      expect(counts.released).toBeGreaterThan(STREAMS / PARTS / 8)
    },
  )
})
