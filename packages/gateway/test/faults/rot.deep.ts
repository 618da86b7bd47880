import { describe, expect, it } from 'vitest'
import { tell } from './rig.ts'
import { createSpecimen, rot, type Rot } from './rot.ts'

const PARTS = 8

describe('every byte of a stopped ledger', () => {
  it.each(Array.from({ length: PARTS }, (_, i) => i))(
    'is detected when it changes (part %i of 8)',
    async (part) => {
      const specimen = await createSpecimen(10)
      const rots: Rot[] = []
      for (let offset = part; offset < specimen.bytes.length; offset += PARTS) {
        rots.push(await rot(specimen, offset, 1 << (offset % 8), offset % 97 === 0))
      }
      const found = rots.filter((each) => each.found).length
      const hidden = rots.filter((each) => each.hidden.length > 0)
      tell('bit rot', { bytes: rots.length, found, hidden: hidden.length })
      expect(rots.flatMap(({ violations }) => violations)).toEqual([])
      expect(hidden).toEqual([])
    },
  )
})
