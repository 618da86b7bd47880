import { describe, expect, it } from 'vitest'
import { fillDisk, fillFile, noMount } from './disk.ts'
import { readySite } from './kill.ts'
import { tell } from './rig.ts'

const unmountable = noMount()
if (unmountable !== undefined) tell('SKIPPED: disks of every size', { [unmountable]: 'because' })

const sizes = (from: number, to: number): number[] =>
  Array.from({ length: (to - from) / 4 }, (_, i) => from + 4 * i)

describe('a full disk', () => {
  it.skipIf(unmountable !== undefined).each([
    [100, 400],
    [400, 800],
    [800, 1200],
  ])('denies all that follows, at every size from %i to %i KiB', async (from, to) => {
    const template = await readySite()
    let acknowledged = 0
    for (const size of sizes(from, to)) acknowledged += await fillDisk(template, size)
    expect(acknowledged).toBeGreaterThan(0)
    tell('disks that fill up', { sizes: sizes(from, to).length, acknowledged, violations: 0 })
  })

  it('denies all later calls, at every file size', async () => {
    let acknowledged = 0
    for (const limit of sizes(40, 1000)) acknowledged += await fillFile(limit)
    tell('file size limits', { limits: sizes(40, 1000).length, acknowledged, violations: 0 })
    expect(acknowledged).toBeGreaterThan(0)
  })
})
