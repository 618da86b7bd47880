import { describe, expect, it } from 'vitest'
import { untilPoisoned } from '../../src/cli/setup/run-gateway.ts'
import { createSite } from '../gateway-rig.ts'

describe('a gateway with a poisoned ledger', () => {
  it('logs the cause, closes, and returns 1, so that it is restarted', async () => {
    const site = await createSite()
    const gateway = await site.open()
    const logged: unknown[] = []
    const ended = untilPoisoned({ gateway, url: '', close: () => gateway.close() }, (...line) =>
      logged.push(line),
    )
    gateway.kernel.ledger.poison(new Error('the disk is full'))
    expect(await ended).toBe(1)
    expect(logged).toEqual([
      ['error', expect.stringMatching(/every call is denied/), { because: 'the disk is full' }],
    ])
    await (await site.open()).close()
  })
})
