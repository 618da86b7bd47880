// All techniques by which a page sends requests, in a guarded Chromium.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findChromium } from '../../src/browser/chromium.ts'
import { startRig, tryTechnique, type EgressRig } from './egress-rig.ts'
import { COMMON, RARE } from './egress-techniques.ts'

const path = findChromium()

describe.skipIf(path === undefined)('a guarded browser', () => {
  let rig: EgressRig
  beforeAll(async () => {
    rig = await startRig(path ?? '')
  })
  afterAll(async () => {
    expect({ connections: rig.evil.connections, paths: rig.evil.paths }).toEqual({
      connections: 0,
      paths: [],
    })
    await rig.close()
  })

  test.each([...COMMON, ...RARE].map((each) => [each.name, each] as const))(
    'sends nothing by %s',
    async (_, technique) => {
      await tryTechnique(rig, technique)
    },
  )
})
