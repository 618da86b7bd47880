// L1: tokens and roles, and effects.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256 } from '../pack.ts'
import { at, listAt, textAt } from '../reading.ts'
import { receiptOf } from './verdicts.ts'
import type { Answer, Caller } from '../caller.ts'
import type { Requirement } from '../requirement.ts'

const HASH = '0'.repeat(64)
/** Routes that a role must not use. */
const FORBIDDEN: Readonly<
  Record<string, readonly (readonly [method: string, path: string, body?: object])[]>
> = {
  agent: [
    ['POST', '/v1/freeze', { scope: 'all', frozen: false }],
    ['POST', '/v1/policy', { text: 'tollgate: 1' }],
    ['POST', '/v1/tokens', { role: 'admin', principal: 'agent:x' }],
    ['POST', `/v1/approvals/${HASH}/approve`, {}],
    ['POST', '/v1/browser/observations', {}],
    ['POST', '/v1/sessions/s/reset', { principal: 'agent:x', because: 'x' }],
    ['POST', '/v1/tools/pin', { tool: 'own/late', hash: HASH }],
    ['POST', '/v1/observe', {}],
    ['GET', '/v1/evidence/export'],
    ['GET', '/v1/tokens'],
  ],
  operator: [
    ['POST', '/v1/evaluate', { tool: 'note/any' }],
    ['POST', '/v1/policy', { text: 'tollgate: 1' }],
    ['POST', '/v1/tokens', { role: 'admin', principal: 'user:x' }],
  ],
  auditor: [
    ['POST', '/v1/evaluate', { tool: 'note/any' }],
    ['POST', '/v1/freeze', { scope: 'all', frozen: true }],
    ['POST', `/v1/approvals/${HASH}/approve`, {}],
  ],
  sentinel: [
    ['POST', '/v1/evaluate', { tool: 'note/any' }],
    ['GET', '/v1/receipts'],
  ],
  metrics: [['GET', '/v1/receipts']],
}

const READS = ['/v1/receipts', '/v1/checkpoint', '/v1/approvals', '/v1/evidence/export', '/v1/policy']

async function isUnknown(caller: Caller): Promise<void> {
  const asked: Answer[] = [await caller.post('/v1/evaluate', { tool: 'note/any' })]
  for (const path of READS) asked.push(await caller.get(path))
  for (const { status, text } of asked) assert.equal(status, 401, text)
}

export const ACCESS: readonly Requirement[] = [
  {
    id: 'A1',
    level: 'L1',
    claims: ['H6'],
    says: 'A request without a token, or with an unknown one, is refused.',
    async test({ withToken }) {
      for (const token of [undefined, '', 'x', `tg_agent_${'A'.repeat(43)}`])
        await isUnknown(withToken(token))
    },
  },
  {
    id: 'A2',
    level: 'L1',
    claims: [],
    says: 'A token of another role is refused.',
    async test({ caller }) {
      for (const [role, routes] of Object.entries(FORBIDDEN)) {
        const holder = await caller(role)
        for (const [method, path, body] of routes) {
          const { status } = body
            ? await holder.send(method, path, JSON.stringify(body))
            : await holder.get(path)
          assert.equal(status, 403, `${role} ${method} ${path}`)
        }
      }
    },
  },
  {
    id: 'A3',
    level: 'L1',
    claims: [],
    says: 'An expired token is refused.',
    async test({ caller }) {
      const agent = await caller('agent', { lasts_seconds: 1 })
      const began = Date.now()
      assert.equal((await agent.evaluate({ tool: 'note/any' })).verdict, 'ALLOW')
      await sleep(1100 - (Date.now() - began))
      await isUnknown(agent)
    },
  },
  {
    id: 'A4',
    level: 'L1',
    claims: [],
    says: 'A revoked token is refused.',
    async test({ admin, withToken }) {
      const { body } = await admin.post('/v1/tokens', { role: 'agent', principal: 'agent:a4' })
      const agent = withToken(textAt(body, 'token'))
      assert.equal((await agent.evaluate({ tool: 'note/any' })).verdict, 'ALLOW')
      assert.equal((await admin.delete(`/v1/tokens/${textAt(body, 'hash')}`)).status, 200)
      await isUnknown(agent)
    },
  },
  {
    id: 'A5',
    level: 'L1',
    claims: [],
    says: 'An agent sees only its own receipts.',
    async test(world) {
      const [one, other] = [await world.caller('agent'), await world.caller('agent')]
      const answer = await one.evaluate({ tool: 'note/any' })
      await other.evaluate({ tool: 'note/any' })
      const path = `/v1/receipts/${textAt(answer, 'receipt')}`
      assert.equal((await one.get(path)).status, 200)
      assert.equal((await other.get(path)).status, 404)
      assert.equal((await other.get(`${path}/proof`)).status, 404)
      const listed = listAt((await other.get('/v1/receipts?kind=decision&limit=1000')).body, 'receipts')
      assert.ok(listed.length > 0, 'it does not see its own')
      for (const each of listed) assert.equal(at(each, 'receipt', 'principal'), other.principal)
    },
  },
  {
    id: 'A6',
    level: 'L1',
    claims: ['H16'],
    says: 'The effect of a call is recorded with the SHA-256 of the canonical output.',
    async test(world) {
      const agent = await world.caller('agent')
      const decision = textAt(await agent.evaluate({ tool: 'note/any' }), 'receipt')
      const output = { text: 'milk', count: 2 }
      const { status, body } = await agent.post('/v1/effects', { decision, status: 'COMPLETED', output })
      assert.equal(status, 201)
      const effect = await receiptOf(world, body)
      assert.equal(at(effect, 'decision'), decision)
      assert.equal(at(effect, 'status'), 'COMPLETED')
      assert.equal(at(effect, 'effect_hash'), sha256('{"count":2,"text":"milk"}'))
    },
  },
  {
    id: 'A7',
    level: 'L1',
    claims: [],
    says: 'An effect is accepted once.',
    async test({ caller }) {
      const agent = await caller('agent')
      const decision = textAt(await agent.evaluate({ tool: 'note/any' }), 'receipt')
      const report = { decision, status: 'COMPLETED', output: 'a' }
      assert.equal((await agent.post('/v1/effects', report)).status, 201)
      assert.equal((await agent.post('/v1/effects', report)).status, 409)
    },
  },
  {
    id: 'A8',
    level: 'L1',
    claims: [],
    says: 'Only the principal of a call can report its effect.',
    async test({ caller }) {
      const [one, other] = [await caller('agent'), await caller('agent')]
      const decision = textAt(await one.evaluate({ tool: 'note/any' }), 'receipt')
      const report = { decision, status: 'COMPLETED', output: 'a' }
      const { status } = await other.post('/v1/effects', report)
      assert.ok(status === 404 || status === 409, `it answered ${status}`)
      assert.equal((await one.post('/v1/effects', report)).status, 201)
    },
  },
  {
    id: 'A9',
    level: 'L1',
    claims: [],
    says: 'A call that was not allowed has no effect.',
    async test({ caller }) {
      const agent = await caller('agent')
      for (const tool of ['note/unruled', 'ask/write']) {
        const decision = textAt(await agent.evaluate({ tool }), 'receipt')
        const { status } = await agent.post('/v1/effects', { decision, status: 'COMPLETED', output: 'a' })
        assert.equal(status, 409, tool)
      }
    },
  },
]
