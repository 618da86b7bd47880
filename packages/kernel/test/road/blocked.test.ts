// Blocked requests of a browser are recorded, and cost the agent nothing but storage.

import { describe, expect, it } from 'vitest'
import { recordBlocked } from '../../src/index.ts'
import { createRig } from '../rig.ts'

const POLICY = `
tools: { "fs/*": { effect: read } }
rules: [{ id: reading, allow: "fs/*" }]
`
const REQUESTS = {
  tenant: 'default',
  principal: 'agent:ci',
  session: 's1',
  page_host: 'shop.test',
  pages: 1,
  hosts: ['collect.test', 'collect.test:8443'],
  requests: 5,
  types: ['image'],
}

describe('blocked requests', () => {
  it('are one receipt, which the verifier accepts', async () => {
    const rig = await createRig({ policy: POLICY })
    await recordBlocked(rig.kernel, REQUESTS)
    expect(rig.last('blocked')).toMatchObject({ ...REQUESTS, kind: 'blocked' })
    expect((await rig.verify()).findings).toEqual([])
  })

  it('change no decision that follows', async () => {
    const [rig, other] = [await createRig({ policy: POLICY }), await createRig({ policy: POLICY })]
    for (let i = 0; i < 100; i++) await recordBlocked(rig.kernel, REQUESTS)
    for (const each of [rig, other]) await each.enforce()
    const [first, second] = [rig, other].map((each) => each.last('decision'))
    for (const name of [
      'verdict',
      'state_hash',
      'next_state_hash',
      'trajectory_risk_score',
      'trust',
    ] as const) {
      expect(first?.[name], name).toEqual(second?.[name])
    }
    expect(rig.kernel.denials.size + rig.kernel.flooding.size).toBe(0)
  })

  it('count for the storage of the agent, and are not recorded once it is used up', async () => {
    const rig = await createRig({ policy: POLICY, kernel: { storage: 4_000 } })
    let recorded = 0
    for (let i = 0; i < 20; i++) if (await recordBlocked(rig.kernel, REQUESTS)) recorded++
    expect(recorded).toBeGreaterThan(0)
    expect(recorded).toBeLessThan(8)
    expect((await rig.enforce()).decided.reason).toBe('STORAGE_QUOTA_EXCEEDED')
  })
})
