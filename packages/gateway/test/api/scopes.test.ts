// Scopes of sessions at the doors: who may set one, how others are refused, and the effect of a scope.

import { definitionOf, pinTool } from '@tollgate/kernel/admin'
import { describe, expect, test } from 'vitest'
import { Govern } from '../../src/mcp/govern.ts'
import { OURS } from '../../src/mcp/protocol.ts'
import { createApiRig, script, type ApiRig } from './rig.ts'

const POLICY = `
tollgate: 1
name: scopes
tools:
  "mail/send": { effect: send, sinks: [to], destinations: none }
  "fs/read": { effect: read, destinations: none }
rules: [{ id: work, allow: "*" }]
`
const SCOPE = '{"effects":["send"],"tools":["mail/*"],"sinks":["olga@example.com"]}'
const OPEN = `{"session_id":"s1","scope":${SCOPE}}`
const EVE = '{"tool":"mail/send","arguments":{"to":"eve@example.net"},"session_id":"s1"}'
const OLGA = '{"tool":"mail/send","arguments":{"to":"olga@example.com"},"session_id":"s1"}'

async function check(text: string): Promise<ApiRig> {
  const rig = await createApiRig({ policy: POLICY })
  await script(rig, text)
  return rig
}

describe('over HTTP', () => {
  test('a host token opens a session, and its scope binds the agent', async () => {
    const rig = await check(`
      host POST /v1/sessions ${OPEN}
      status 200
      body session "s1"
      body principal "agent:a"
      agent POST /v1/evaluate ${OLGA}
      body verdict "ALLOW"
      agent POST /v1/evaluate ${EVE}
      body verdict "ESCALATE"
      body reason_code "TASK_SCOPE_EXCEEDED"
      body rung "scope"
      host POST /v1/sessions ${OPEN}
      body receipt null
    `)
    expect(JSON.stringify(rig.receipts())).not.toContain('olga@example.com')
  })

  test('an agent token cannot open a session or send a scope in a call', async () => {
    const rig = await createApiRig({ policy: POLICY })
    const before = rig.receipts().length
    await script(
      rig,
      `
      agent POST /v1/sessions ${OPEN}
      status 403
      body code "role-forbidden"
      has host
      agent GET /v1/sessions/s1/scope
      status 403
      agent POST /v1/evaluate {"tool":"fs/read","session_id":"s1","scope":${SCOPE}}
      status 400
      has POST /v1/sessions
      agent POST /v1/browser/evaluate {"tool_name":"fs/read","session_id":"s1","scope":${SCOPE}}
      status 400
      sentinel POST /v1/sessions ${OPEN}
      status 403
      auditor POST /v1/sessions ${OPEN}
      status 403
    `,
    )
    expect(rig.receipts().length).toBe(before)
  })

  test('a host token opens only sessions of its own principal', async () => {
    await check(`
      host POST /v1/sessions {"session_id":"s1","principal":"agent:b","scope":${SCOPE}}
      status 403
      other POST /v1/evaluate ${EVE}
      body verdict "ALLOW"
      far-operator POST /v1/sessions {"session_id":"s1","principal":"agent:a","scope":${SCOPE}}
      status 200
      agent POST /v1/evaluate ${EVE}
      body verdict "ALLOW"
    `)
  })

  test('a host token sets a scope before the first call, and can only narrow it later', async () => {
    await check(`
      agent POST /v1/evaluate ${EVE}
      host POST /v1/sessions ${OPEN}
      status 409
      body code "scope-refused"
      operator POST /v1/sessions {"session_id":"s1","principal":"agent:a","scope":${SCOPE}}
      status 200
      host POST /v1/sessions {"session_id":"s1","scope":{"effects":["send"]}}
      status 409
      host POST /v1/sessions {"session_id":"s1","scope":{"effects":[],"tools":[],"sinks":[]}}
      status 200
      agent POST /v1/evaluate ${OLGA}
      body reason_code "TASK_SCOPE_EXCEEDED"
    `)
  })

  test('an invalid scope is refused, and no session is opened', async () => {
    await check(`
      host POST /v1/sessions {"session_id":"s1","scope":{"sink":["a"]}}
      status 400
      host POST /v1/sessions {"session_id":"s1","scope":{"looked_up":"yes"}}
      status 400
      host POST /v1/sessions {"session_id":"s1","scope":{"until":"2026-01-05"}}
      status 400
      host POST /v1/sessions {"session_id":"s1"}
      status 400
      operator POST /v1/sessions ${OPEN}
      status 400
      has principal
      host GET /v1/sessions/s1/scope
      body scope null
    `)
  })

  test('an approval is valid once, or widens the scope by the call', async () => {
    await check(`
      host POST /v1/sessions ${OPEN}
      agent POST /v1/evaluate ${EVE}
      let $id = approval
      agent POST /v1/approvals/$id/approve {"widen":true}
      status 403
      host POST /v1/approvals/$id/approve {"widen":true}
      status 403
      operator POST /v1/approvals/$id/deny {"widen":true}
      status 400
      operator POST /v1/approvals/$id/approve {"widen":true}
      status 200
      agent POST /v1/evaluate ${EVE}
      body reason_code "APPROVAL_GRANTED"
      agent POST /v1/evaluate ${EVE}
      body reason_code "RULE_ALLOWED"
      host GET /v1/sessions/s1/scope
      body scope.also [{"tool":"mail/send","sinks":["eve@example.net"]}]
      body scope.sinks ["olga@example.com"]
      operator GET /v1/sessions/s1/scope?principal=agent:a
      body scope.by "host"
    `)
  })

  test('a host token is an agent token in all other respects', async () => {
    await check(`
      host POST /v1/evaluate ${OLGA}
      body verdict "ALLOW"
      host POST /v1/freeze {"scope":"all","frozen":true}
      status 403
      has host
      host GET /v1/sessions/s1
      body principal "agent:a"
    `)
  })
})

describe('at the MCP door', () => {
  const offer = definitionOf({ description: 'sends mail' })
  const call = {
    tool: 'mail/send',
    offered: offer.hash,
    session: 's1',
    approval: undefined,
    delegation: undefined,
  }
  const order = { ...call, answeredBy: 'server' } as const
  const NO_WAIT = { wait: 0, watch: () => () => undefined, ending: new AbortController().signal }
  const done = (): Promise<{ ok: true; result: object }> => Promise.resolve({ ok: true, result: {} })

  test('the scope of a host token is in force before the call that brings it; that of an agent token is refused', async () => {
    const rig = await createApiRig({ policy: POLICY })
    rig.kernel.catalogue.offer('mail/send', offer)
    await pinTool(rig.kernel, 'mail/send', offer.hash, 'user:olga')
    const govern = new Govern(rig.kernel, NO_WAIT)
    const args = { to: 'eve@example.net' }
    const scope = { sinks: ['olga@example.com'] }
    const agent = { tenant: 'default', principal: 'agent:a' }
    const before = rig.receipts().length
    await expect(govern.run({ ...order, caller: agent, args, scope }, done as never)).rejects.toThrow(
      OURS.scope,
    )
    expect(rig.receipts().length).toBe(before)
    const host = { ...agent, mayOpen: true }
    const held = await govern.run({ ...order, caller: host, args, scope }, done as never)
    expect(held).toMatchObject({ kind: 'denied', decided: { reason: 'TASK_SCOPE_EXCEEDED' } })
    const later = await govern.run({ ...order, caller: agent, args, scope: undefined }, done as never)
    expect(later).toMatchObject({ kind: 'denied', decided: { reason: 'TASK_SCOPE_EXCEEDED' } })
    await expect(
      govern.run({ ...order, caller: host, args, scope: { by: 'nobody' } }, done as never),
    ).rejects.toThrow(OURS.scope)
    await expect(
      govern.run({ ...order, caller: host, session: 7, args, scope }, done as never),
    ).rejects.toThrow(OURS.scope)
  })
})
