// Actions of people over HTTP: approvals, freezes, policies, tokens.

import { sha256Hex } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { createApiRig, POLICY, script, type ApiRig, type RigOptions } from './rig.ts'

async function check(text: string, options: RigOptions = {}): Promise<ApiRig> {
  const rig = await createApiRig(options)
  await script(rig, text)
  return rig
}

const MAIL = '{"tool":"mail/send","arguments":{"to":"a@example.com"},"session_id":"s1"}'
const ASK = `
  agent POST /v1/evaluate ${MAIL}
  let $id = approval
`

describe('approvals', () => {
  test('wait, are granted once, and are used by the call', async () => {
    await check(`${ASK}
      operator GET /v1/approvals
      body approvals.0.id "$id"
      body approvals.0.status "waiting"
      body approvals.0.tool "mail/send"
      body approvals.0.effect_class "send"
      body approvals.0.rule "mail"
      body approvals.0.opened "2026-01-05T09:00:00.000Z"
      operator POST /v1/approvals/$id/approve {"because":"it is fine"}
      status 200
      body answer "GRANTED"
      operator GET /v1/approvals
      body approvals []
      agent GET /v1/approvals/$id
      body status "granted"
      body approver "user:olga"
      operator POST /v1/approvals/$id/deny
      status 409
      has the request was already answered
      agent POST /v1/evaluate ${MAIL}
      body verdict "ALLOW"
      agent GET /v1/approvals/$id
      body status "used"
      body approver "user:olga"
      body principal "agent:a"
      operator POST /v1/approvals/$id/approve
      status 409
    `)
  })

  test('are refused with a body or without', async () => {
    await check(`${ASK}
      operator POST /v1/approvals/$id/deny {}
      body answer "REFUSED"
      agent GET /v1/approvals/$id
      body status "refused"
      agent POST /v1/evaluate ${MAIL}
      body reason_code "APPROVAL_REFUSED"
    `)
  })

  test('have their approver and reason in every answer, even after use', async () => {
    const reason = (text: string): string => `{"because":"${text}"}`
    const rig = await check(`${ASK}
      operator POST /v1/approvals/$id/approve ${reason('use AKIAIOSFODNN7EXAMPLE')}
      status 400
      has seems to contain a secret
      operator POST /v1/approvals/$id/approve ${reason('the list is right')}
      status 200
      agent GET /v1/approvals/$id
      body because "the list is right"
      agent POST /v1/evaluate ${MAIL}
      body verdict "ALLOW"
      agent GET /v1/approvals/$id
      body status "used"
      body approver "user:olga"
      body because "the list is right"
    `)
    expect(rig.receipts().find(({ kind }) => kind === 'approval')).toMatchObject({
      answer: 'GRANTED',
      approver: 'user:olga',
      because: 'the list is right',
    })
  })

  test('need a reason if the policy requires it, for denials too', async () => {
    await check(
      `${ASK}
      operator GET /v1/approvals/$id
      body reason_required true
      operator POST /v1/approvals/$id/approve
      status 409
      has requires a reason
      operator POST /v1/approvals/$id/deny {"because":" "}
      status 409
      operator POST /v1/approvals/$id/deny {"because":"not today"}
      status 200
      agent GET /v1/approvals/$id
      body status "refused"
      body because "not today"
    `,
      { policy: `${POLICY}approvals: { reason: required }\n` },
    )
  })

  test('show the page of a browser call to the approver', async () => {
    const hash = 'ab'.repeat(32)
    const seen = {
      dom_hash: hash,
      visual_text_hash: hash,
      sentinel_risk: 7,
      sentinel_findings: ['HIDDEN_TEXT'],
    }
    const observation = { url: 'https://example.com/pay?to=7', ...seen }
    const rig = await createApiRig()
    const body = { tool_name: 'web/click', planner_ref: 'plan', observation }
    const asked = await rig.ask('agent', 'POST', '/v1/browser/evaluate', body)
    expect(asked.json).toMatchObject({
      verdict: 'ESCALATE',
      reason_code: 'COGNITIVE_FIREWALL_APPROVAL_REQUIRED',
    })
    const path = `/v1/approvals/${String(asked.json.approval)}`
    const page = { page_host: 'example.com', planner_ref: `sha256:${sha256Hex('plan')}`, ...seen }
    const { json } = await rig.ask('operator', 'GET', path)
    expect(json.page).toMatchObject({ url: observation.url, ...page })
    const { json: audited } = await rig.ask('auditor', 'GET', path)
    expect(audited.page).toMatchObject(page)
    expect(audited.page).not.toHaveProperty('url')
  })

  test('expire', async () => {
    const rig = await check(ASK)
    const id = String(rig.store.entries.at(-1)?.id)
    rig.host.time += 16 * 60_000
    await script(
      rig,
      `agent GET /v1/approvals/${id}\nbody status "timed_out"\noperator GET /v1/approvals\nbody approvals []`,
    )
    await script(rig, `operator POST /v1/approvals/${id}/approve\nstatus 409\nhas the request has expired`)
  })

  test('cannot be given by the requester', async () => {
    const rig = await createApiRig()
    const { token } = await rig.tokens.issue(
      { role: 'operator', tenant: 'default', principal: 'agent:a' },
      'test',
    )
    const asked = await rig.ask('agent', 'POST', '/v1/evaluate', MAIL)
    const url = `http://x/v1/approvals/${String(asked.json.approval)}/approve`
    const headers = { authorization: `Bearer ${token}` }
    const response = await rig.app.fetch(new Request(url, { method: 'POST', headers }))
    expect(response.status).toBe(409)
    expect(await response.text()).toContain('you cannot approve your own call')
  })

  test('go to the approvers that the rule names, by name or by group', async () => {
    const named = (who: string): RigOptions => ({
      policy: POLICY.replace('require: "mail/send"', `$&, approvers: [${who}]`),
    })
    await check(`${ASK}\noperator POST /v1/approvals/$id/approve\nstatus 200`, named('ops'))
    await check(`${ASK}\noperator POST /v1/approvals/$id/approve\nstatus 200`, named('"user:olga"'))
    await check(
      `${ASK}\noperator POST /v1/approvals/$id/approve\nstatus 409\nhas does not list you as an approver`,
      named('legal'),
    )
  })

  test('that were never asked for are not found', async () => {
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file"}
      let $id = receipt
      agent GET /v1/approvals/$id
      status 404
      agent GET /v1/approvals/${'0'.repeat(64)}
      status 404
      agent GET /v1/approvals/${'0'.repeat(64)}?wait=61
      status 400
    `)
    expect(rig.receipts().length).toBeGreaterThan(0)
  })

  test('wake the requests that wait for them', async () => {
    const rig = await check(ASK)
    const id = String(rig.store.entries.at(-1)?.id)
    const start = performance.now()
    const waiting = rig.ask('agent', 'GET', `/v1/approvals/${id}?wait=20`)
    await new Promise((resolve) => setTimeout(resolve, 30))
    await rig.ask('operator', 'POST', `/v1/approvals/${id}/approve`)
    expect((await waiting).json.status).toBe('granted')
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test('limit the number of simultaneous waiting requests', async () => {
    const rig = await check(ASK)
    const url = `/v1/approvals/${String(rig.store.entries.at(-1)?.id)}?wait=60`
    const asking = Array.from({ length: 300 }, () => rig.ask('agent', 'GET', url))
    await new Promise((resolve) => setTimeout(resolve, 50))
    rig.app.end()
    const statuses = (await Promise.all(asking)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(32)
    expect(statuses.filter((status) => status === 429)).toHaveLength(268)
  })

  test('show the arguments only to approvers and the requester', async () => {
    const rig = await check(ASK)
    const url = `/v1/approvals/${String(rig.store.entries.at(-1)?.id)}`
    for (const [person, shown] of [
      ['agent', true],
      ['operator', true],
      ['admin', true],
      ['auditor', false],
    ] as const) {
      expect('arguments' in (await rig.ask(person, 'GET', url)).json).toBe(shown)
      const { text } = await rig.ask(person, 'GET', '/v1/approvals')
      expect(text.includes('a@example.com')).toBe(shown)
    }
  })

  test('end waiting requests on timeout, when the gateway stops, and when the token is revoked', async () => {
    const rig = await check(ASK)
    const url = `/v1/approvals/${String(rig.store.entries.at(-1)?.id)}?wait=`
    const start = performance.now()
    expect((await rig.ask('agent', 'GET', `${url}1`)).json.status).toBe('waiting')
    expect(performance.now() - start).toBeGreaterThan(900)
    const waiting = rig.ask('agent', 'GET', `${url}60`)
    await new Promise((resolve) => setTimeout(resolve, 20))
    rig.app.end()
    expect((await waiting).json.status).toBe('waiting')
    const revoked = rig.ask('agent', 'GET', `${url}60`)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const own = rig.tokens
      .list()
      .find(({ tenant, principal }) => tenant === 'default' && principal === 'agent:a')
    await rig.tokens.revoke(own?.hash ?? '', 'test')
    expect((await revoked).status).toBe(401)
  })
})

describe('freezes', () => {
  test('stop a principal, a tool, a session and everything, and are lifted', async () => {
    for (const [order, code] of [
      ['"scope":"principal","target":"agent:a"', 'AGENT_KILLED'],
      ['"scope":"tool","target":"fs/read_file"', 'TOOL_FROZEN'],
      ['"scope":"session","target":"s1"', 'SESSION_FROZEN'],
      ['"scope":"all"', 'SYSTEM_FROZEN'],
    ]) {
      await check(`
        operator POST /v1/freeze {${order},"frozen":true,"because":"a test"}
        status 200
        agent POST /v1/evaluate {"tool":"fs/read_file","session_id":"s1"}
        body reason_code "${code}"
        auditor GET /v1/freeze
        body freezes.0.by "user:olga"
        body freezes.0.because "a test"
        operator POST /v1/freeze {${order},"frozen":false}
        agent POST /v1/evaluate {"tool":"fs/read_file","session_id":"s1"}
        body verdict "ALLOW"
        auditor GET /v1/freeze
        body freezes []
      `)
    }
  })

  test('refuse an ambiguous order', async () => {
    await check(`
      operator POST /v1/freeze {"scope":"all","target":"agent:a","frozen":true}
      status 400
      operator POST /v1/freeze {"scope":"tool","frozen":true}
      status 400
      operator POST /v1/freeze {"scope":"tool","target":"x"}
      status 400
      operator POST /v1/freeze {"scope":"tool","target":"x","frozen":"false"}
      status 400
      operator POST /v1/freeze {"scope":"tool","target":"a\\nb","frozen":true}
      status 400
      operator POST /v1/freeze {"scope":"tool","target":"x","frozen":true,"because":""}
      status 400
    `)
  })
})

describe('the policy', () => {
  const NEXT = 'tollgate: 1\nname: next\nrules: []\n'

  test('is shown with its steps, and with a pending file', async () => {
    const rig = await check(`
      operator GET /v1/policy
      body name "test"
      body hash "${sha256Hex(POLICY)}"
      body rungs.0.rung "freeze"
      body pending null
    `)
    rig.policyFile = NEXT
    await script(rig, `operator GET /v1/policy\nbody pending {"hash":"${sha256Hex(NEXT)}","mistakes":[]}`)
    rig.policyFile = 'tollgate: 2'
    const { json } = await rig.ask('operator', 'GET', '/v1/policy')
    expect((json.pending as { mistakes: unknown[] }).mistakes.length).toBeGreaterThan(0)
    rig.policyFile = undefined
    await script(rig, 'operator GET /v1/policy\nbody pending null')
  })

  test('is replaced by one without mistakes', async () => {
    const rig = await check(`
      admin POST /v1/policy ${JSON.stringify({ text: NEXT })}
      status 200
      body name "next"
      agent POST /v1/evaluate {"tool":"fs/read_file"}
      body verdict "DENY"
    `)
    expect(rig.receipts().findLast(({ kind }) => kind === 'policy')).toMatchObject({
      by: 'user:ada',
      name: 'next',
    })
  })

  test('stays when the new one has mistakes, each with its position', async () => {
    await check(`
      admin POST /v1/policy {"text":"tollgate: 1\\nname: next\\nrulez: []\\n"}
      status 422
      body code "policy-invalid"
      body mistakes.1.line 3
      agent POST /v1/evaluate {"tool":"fs/read_file"}
      body verdict "ALLOW"
    `)
  })

  test('stays when another one is in force than the one that was changed', async () => {
    const text = JSON.stringify(NEXT)
    await check(`
      admin POST /v1/policy {"text":${text},"replaces":"${sha256Hex(NEXT)}"}
      status 409
      body code "policy-changed"
      admin GET /v1/policy
      body name "test"
      admin POST /v1/policy {"text":${text},"replaces":"${sha256Hex(POLICY)}"}
      status 200
      admin GET /v1/policy
      body name "next"
    `)
  })

  test('explains a call with the same ladder, without a receipt', async () => {
    const rig = await createApiRig()
    const before = rig.receipts().length
    await script(
      rig,
      `
      auditor POST /v1/policy/explain {"tool":"mail/send","principal":"agent:a","arguments":{"to":"a@example.com"}}
      body verdict "ESCALATE"
      body rule "mail"
      body rules.0.match "other tool"
      body rules.2.match "matched"
      body rules.3.match "not reached"
      auditor POST /v1/policy/explain {"tool":"mail/send","principal":"agent:a","arguments":{"to":"a@evil.test"}}
      body verdict "DENY"
      body rung "egress"
      auditor POST /v1/policy/explain {"tool":"nonsense","principal":"agent:a"}
      body reason_code "DENY_TOOL_NOT_FOUND"
      auditor POST /v1/policy/explain {"tool":"fs/read_file"}
      status 400
      `,
    )
    expect(rig.receipts().length).toBe(before)
  })

  test('explains the answer of every step, the failing part of a condition, and all objections', async () => {
    const rig = await check(`
      admin POST /v1/policy {"text":"tollgate: 1\\nname: next\\ntools: { a: { effect: write, destinations: [to] } }\\nrules:\\n  - { id: few, allow: a, when: 'args.n < 3.0 && risk >= 0.0' }\\n  - { id: users, require: a, principal: 'user:*' }\\n"}
      status 200
      auditor POST /v1/policy/explain {"tool":"a","principal":"agent:a","arguments":{"n":7,"to":"https://evil.test"}}
      body rung "egress"
      body rungs.0 {"rung":"capture","standing":"active","asked":true,"verdict":null,"reason_code":null,"detail":null,"rule":null}
      body rungs.6.verdict "DENY"
      body rungs.14 {"rung":"policy","standing":"active","asked":false,"verdict":"DENY","reason_code":"NO_RULE_MATCHED","detail":null,"rule":null}
      body rules.0.match "condition is false"
      body rules.0.parts.1 {"depth":1,"text":"args.n < 3.0","truth":"false","joins":null,"fault":null,"looks":[{"name":"args.n","value":"7","missing":false}]}
      body rules.0.parts.2.looks.0 {"name":"risk","value":null,"missing":false}
      body obstacles.0.reason_code "DATA_EGRESS_BLOCKED"
      body obstacles.0.goes.0 {"at":"/to","host":"evil.test"}
      body obstacles.1.reason_code "NO_RULE_MATCHED"
      body obstacles.1.near ["few","users"]
      body relies null
      auditor POST /v1/policy/explain {"tool":"a","principal":"agent:a","arguments":{"n":1}}
      body verdict "ALLOW"
      body obstacles []
      body relies {"rule":"few","next":null}
      body rules.1.match "not reached"
      body rules.1.would "other principal"
    `)
    expect(rig.receipts().filter(({ kind }) => kind === 'decision')).toEqual([])
  })

  test('explains with the stored state and freezes', async () => {
    const explain =
      'auditor POST /v1/policy/explain {"tool":"fs/read_file","principal":"agent:a","session_id":"s1"}'
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file","session_id":"s1"}
      ${explain}
      body verdict "ALLOW"
      operator POST /v1/freeze {"scope":"session","target":"s1","frozen":true}
      ${explain}
      body reason_code "SESSION_FROZEN"
    `)
    expect(rig.kernel.openings.size).toBe(1)
  })
})

describe('tokens', () => {
  test('are issued, used, listed and revoked, each with a receipt', async () => {
    const rig = await createApiRig()
    const issued = await rig.ask('admin', 'POST', '/v1/tokens', {
      role: 'agent',
      principal: 'agent:new',
      groups: ['g'],
      lasts_seconds: 60,
    })
    expect(issued.status).toBe(201)
    const { token, hash } = issued.json as { token: string; hash: string }
    expect(hash).toBe(sha256Hex(token))
    expect(issued.json.expires).toBe('2026-01-05T09:01:00.000Z')
    const status = (): Promise<Response> =>
      rig.app.fetch(new Request('http://x/v1/status', { headers: { authorization: `bearer ${token}` } }))
    expect(await (await status()).json()).toMatchObject({ principal: 'agent:new', role: 'agent' })
    const listed = await rig.ask('admin', 'GET', '/v1/tokens')
    expect(listed.text).toContain(hash)
    expect(listed.text).not.toContain(token)
    expect((await rig.ask('admin', 'DELETE', `/v1/tokens/${hash.slice(0, 7)}`)).status).toBe(404)
    expect((await rig.ask('admin', 'DELETE', `/v1/tokens/${hash.slice(0, 12)}`)).json.hash).toBe(hash)
    expect((await status()).status).toBe(401)
    expect((await rig.ask('admin', 'DELETE', `/v1/tokens/${hash}`)).status).toBe(404)
    const changes = rig
      .receipts()
      .filter((receipt) => receipt.kind === 'token' && receipt.token_hash === hash)
    expect(changes).toMatchObject([
      { op: 'issue', by: 'user:ada' },
      { op: 'revoke', by: 'user:ada' },
    ])
    expect(rig.store.envelopes.some((envelope) => Buffer.from(envelope).toString().includes(token))).toBe(
      false,
    )
  })

  test('are refused without a valid principal', async () => {
    await check(`
      admin POST /v1/tokens {"role":"agent","principal":""}
      status 400
      admin POST /v1/tokens {"role":"root","principal":"x"}
      status 400
      admin POST /v1/tokens {"role":"agent","principal":"x","tenant":"far"}
      status 400
      admin POST /v1/tokens {"role":"agent","principal":"x","lasts_seconds":0}
      status 400
      admin DELETE /v1/tokens/abc
      status 404
    `)
  })
})

describe('metrics', () => {
  test('count decisions, effects and requests, without labels chosen by callers', async () => {
    const rig = await check(`
      agent POST /v1/evaluate {"tool":"fs/read_file"}
      let $id = receipt
      agent POST /v1/effects {"decision":"$id","status":"COMPLETED"}
      agent POST /v1/evaluate {"tool":"evil-name-of-a-tool"}
      nobody GET /evil-name-of-a-path
      status 404
      operator GET /metrics
      has tollgate_decisions_total{door="http",verdict="ALLOW",reason_code="RULE_ALLOWED",gate="policy"} 1
      has tollgate_decisions_total{door="http",verdict="DENY",reason_code="DENY_TOOL_NOT_FOUND",gate="schema"} 1
      has tollgate_effects_total{status="COMPLETED",reported_by="caller"} 1
      has tollgate_http_requests_total{route="evaluate",status="2xx"} 2
      has tollgate_http_requests_total{route="none",status="4xx"} 1
      has tollgate_decision_seconds_count{door="http"} 2
      has tollgate_durable_seconds_count{door="http"} 2
      has tollgate_ledger_poisoned 0
    `)
    const { text } = await rig.ask('operator', 'GET', '/metrics')
    expect(text).not.toContain('evil')
    expect(text).not.toContain('agent:a')
    expect(text).toMatch(/^tollgate_ledger_entries \d+$/m)
    rig.kernel.ledger.poison('x')
    expect((await rig.ask('operator', 'GET', '/metrics')).text).toContain('tollgate_ledger_poisoned 1')
  })
})
