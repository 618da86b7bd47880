import { describe, expect, it } from 'vitest'
import { untilGivenUp } from '../../src/cli/setup/run-gateway.ts'
import { createSite } from '../gateway-rig.ts'

describe('a gateway whose ledger is given up', () => {
  it('says why, closes, and ends with 1, so that it is started again', async () => {
    const site = await createSite()
    const gateway = await site.open()
    const said: unknown[] = []
    const ended = untilGivenUp({ gateway, url: '', close: () => gateway.close() }, (...line) =>
      said.push(line),
    )
    gateway.kernel.ledger.poison(new Error('the disk is full'))
    expect(await ended).toBe(1)
    expect(said).toEqual([
      ['error', expect.stringMatching(/nothing passes/), { because: 'the disk is full' }],
    ])
    await (await site.open()).close()
  })
})
